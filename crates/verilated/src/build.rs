//! The helper for build scripts: designs in, a static library and `designs.rs` out.
//!
//! Each design is verilated with all warnings on, none waived: a warning stops the build. Finished
//! models are kept in a cache outside of `target`.

mod binding;

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash, Hasher};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::cache::{self, Cache, Entry};
use crate::headers;
use crate::verilator::Verilator;

use binding::{Port, binding};

/// A design to compile.
#[derive(Clone, Debug)]
pub struct Design {
    name: String,
    top: String,
    parameters: Vec<(String, String)>,
    sources: Vec<String>,
    shared: Vec<String>,
    memories: Vec<(String, String)>,
    waves: bool,
    long: bool,
    optimisation: u32,
}

/// The designs of a crate.
#[derive(Debug, Default)]
pub struct Build {
    libraries: Vec<PathBuf>,
    covers: Vec<PathBuf>,
    designs: Vec<Design>,
}

impl Design {
    /// A design by the name that Rust knows it under (lower case), and its top module.
    pub fn new(name: &str, top: &str) -> Self {
        let (name, top) = (name.into(), top.into());
        Self {
            name,
            top,
            parameters: Vec::new(),
            sources: Vec::new(),
            shared: Vec::new(),
            memories: Vec::new(),
            waves: false,
            long: false,
            optimisation: 1,
        }
    }

    /// Sets a parameter of the top module.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl ToString) -> Self {
        self.parameters.push((name.into(), value.to_string()));
        self
    }

    /// Adds a source that is not found by the name of a module, such as a package; a path from the
    /// crate's directory.
    #[must_use]
    pub fn source(mut self, path: &str) -> Self {
        self.sources.push(path.into());
        self
    }

    /// Keeps modules with many instances whole, instead of copying them into what instantiates
    /// them: large designs become much quicker to compile, and run about as fast.
    #[must_use]
    pub fn shared(mut self, modules: &[&str]) -> Self {
        self.shared.extend(modules.iter().map(|&module| module.into()));
        self
    }

    /// Lets tests reach a memory, or a register, behind the design's back: a module and the name of
    /// its variable. In the model it is called by its instance (`Model::peek`). What can be reached
    /// is kept as it is written, and so is a little slower.
    #[must_use]
    pub fn memory(mut self, module: &str, variable: &str) -> Self {
        self.memories.push((module.into(), variable.into()));
        self
    }

    /// Makes a model that can write waveforms (`Model::record`), even without `HEARITH_WAVES`.
    #[must_use]
    pub fn waves(mut self) -> Self {
        self.waves = true;
        self
    }

    /// Sets the C++ compiler's level of optimisation (1 by default). A higher one pays off for long
    /// simulations. `HEARITH_OPTIMISATION` overrides it for all designs.
    #[must_use]
    pub fn optimisation(mut self, level: u32) -> Self {
        self.optimisation = level;
        self
    }

    /// Says that only long tests simulate it: with `HEARITH_SHORT` it is not compiled.
    #[must_use]
    pub fn long(mut self) -> Self {
        self.long = true;
        self
    }

    fn has_waves(&self) -> bool {
        self.waves || waves()
    }

    fn level(&self) -> u32 {
        let asked = env::var("HEARITH_OPTIMISATION").ok();
        asked.map_or(self.optimisation, |level| level.parse().expect("HEARITH_OPTIMISATION is a number, 0 to 3"))
    }

    fn constant(&self) -> String {
        self.name.to_uppercase()
    }

    /// Whether to compile this design: `HEARITH_MODELS`, names separated by commas, contains it or
    /// is not set. The first asterisk in a name stands for any characters. Other designs are not
    /// compiled, which saves time, but their tests fail for lack of a model. `HEARITH_SHORT` leaves
    /// out designs that only long tests simulate.
    fn is_wanted(&self) -> bool {
        if self.long && env::var_os("HEARITH_SHORT").is_some() {
            return false;
        }
        let named = |pattern: &str| match pattern.split_once('*') {
            Some((start, end)) => self.name.starts_with(start) && self.name[start.len()..].ends_with(end),
            None => self.name == pattern,
        };
        env::var("HEARITH_MODELS").map_or(true, |list| list.split(',').any(|pattern| named(pattern.trim())))
    }

    /// The prefix of all C++ and C names, unique in a program.
    fn prefix(&self) -> String {
        let package = env::var("CARGO_PKG_NAME").expect("set by Cargo").replace('-', "_");
        format!("V{package}_{}", self.name)
    }
}

impl Build {
    /// No designs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory with modules, one a file named after the module; a path from the crate's
    /// directory.
    #[must_use]
    pub fn library(mut self, path: impl Into<PathBuf>) -> Self {
        self.libraries.push(path.into());
        self
    }

    /// Adds a directory of cover points: files that bind modules of `cover property` to the
    /// designs' modules. They are read when models count coverage. A path from the crate's
    /// directory.
    #[must_use]
    pub fn covers(mut self, path: impl Into<PathBuf>) -> Self {
        self.covers.push(path.into());
        self
    }

    /// Adds designs.
    #[must_use]
    pub fn designs(mut self, designs: impl IntoIterator<Item = Design>) -> Self {
        self.designs.extend(designs);
        self
    }

    /// Compiles all designs, tells Cargo to link them, and writes `designs.rs`.
    ///
    /// # Panics
    /// If Verilator or the C++ compiler refuses a design; the message is theirs.
    pub fn finish(&self) {
        println!("cargo::rustc-check-cfg=cfg(verilator)");
        println!("cargo::rerun-if-env-changed=HEARITH_RTL_COVERAGE");
        println!("cargo::rerun-if-env-changed=HEARITH_RTL_TOGGLES");
        println!("cargo::rerun-if-env-changed=HEARITH_WAVES");
        println!("cargo::rerun-if-env-changed=HEARITH_MODELS");
        println!("cargo::rerun-if-env-changed=HEARITH_SHORT");
        println!("cargo::rerun-if-env-changed=HEARITH_OPTIMISATION");
        println!("cargo::rerun-if-changed=build.rs");
        let directories = self.libraries.iter().chain(&self.covers);
        directories.for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
        let sources = self.designs.iter().flat_map(|design| &design.sources);
        sources.for_each(|path| println!("cargo::rerun-if-changed={path}"));
        let out = out_directory();
        let bindings = match Verilator::find() {
            Some(verilator) => {
                println!("cargo::rustc-cfg=verilator");
                let ports = self.compile_all(&verilator);
                let bound = self.designs.iter().zip(&ports);
                bound.map(|(design, ports)| binding(design, ports.as_ref())).collect::<String>()
            }
            None => self.designs.iter().map(|design| binding(design, None)).collect(),
        };
        write_if_changed(&out.join("designs.rs"), &bindings);
    }

    /// Finds or compiles the designs that are wanted, and gives the ports of each.
    fn compile_all(&self, verilator: &Verilator) -> Vec<Option<Vec<Port>>> {
        let out = out_directory();
        let cache = Cache::open(&out, &self.libraries);
        let model = |design| Model { build: self, verilator, design };
        let wanted: Vec<(usize, &Design)> =
            self.designs.iter().enumerate().filter(|(_, design)| design.is_wanted()).collect();
        let requests: Vec<String> = wanted.iter().map(|&(_, design)| model(design).request()).collect();
        let found: Vec<Option<Entry>> = requests.iter().map(|request| cache.find(request)).collect();
        let missing = wanted.iter().zip(&found).filter(|(_, entry)| entry.is_none()).map(|((_, design), _)| design);
        let levels: BTreeSet<u32> = missing.flat_map(|design| [design.level(), BEGINNING]).collect();
        levels.iter().for_each(|level| headers::precompile(verilator, &out, *level, coverage()));

        let workers = thread::available_parallelism().map_or(1, NonZero::get).min(wanted.len());
        let next = Mutex::new(wanted.iter().zip(&requests).zip(found));
        let done: Mutex<Vec<Option<Vec<Port>>>> = Mutex::new(self.designs.iter().map(|_| None).collect());
        let efforts = Mutex::new(String::new());
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let taken = next.lock().expect("no worker panics while it holds this").next();
                        let Some(((&(index, design), request), found)) = taken else { return };
                        let (entry, effort) = match found {
                            Some(entry) => (entry, None),
                            None => {
                                let (entry, effort) = model(design).make(&cache, request);
                                (entry, Some(effort))
                            }
                        };
                        entry.link(&out.join(format!("lib{}.a", design.prefix())));
                        let line = Effort::line(design, effort.as_ref());
                        efforts.lock().expect("no worker panics while it holds this").push_str(&line);
                        let ports = Port::from_list(&entry.ports());
                        done.lock().expect("no worker panics while it holds this")[index] = Some(ports);
                    }
                });
            }
        });
        cache.prune();
        let efforts = efforts.into_inner().expect("the workers are done");
        fs::write(out.join("models.tsv"), efforts).expect("OUT_DIR can be written");
        println!("cargo::rustc-link-search=native={}", out.display());
        let designs = || wanted.iter().map(|(_, design)| design);
        designs().for_each(|design| println!("cargo::rustc-link-lib=static={}", design.prefix()));
        if designs().any(|design| design.has_waves()) {
            compile_waves(verilator);
        }
        done.into_inner().expect("the workers are done")
    }
}

/// The level of optimisation of code that runs only when a model starts.
const BEGINNING: u32 = 0;

/// How long a model took to build: written to `models.tsv` in `OUT_DIR`, which
/// `scripts/slowest.py` lists.
struct Effort {
    verilated: Duration,
    compiled: Duration,
}

impl Effort {
    /// Name, level, seconds of Verilator and of the C++ compiler; 0 for what was found in the
    /// cache.
    fn line(design: &Design, effort: Option<&Self>) -> String {
        let seconds = |of: fn(&Self) -> Duration| effort.map_or(0.0, |effort| of(effort).as_secs_f64());
        let (verilated, compiled) = (seconds(|it| it.verilated), seconds(|it| it.compiled));
        format!("{}\t{}\t{verilated:.2}\t{compiled:.2}\n", design.name, design.level())
    }
}

/// A design being compiled.
struct Model<'a> {
    build: &'a Build,
    verilator: &'a Verilator,
    design: &'a Design,
}

impl Model<'_> {
    /// What the finished model depends on in addition to its sources: see the module `cache`.
    fn request(&self) -> String {
        let compiler = headers::compiler(self.verilator, self.design.level(), coverage()).get_compiler();
        let version = compiler.to_command().arg("--version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let flags: Vec<String> = compiler.args().iter().map(|flag| flag.to_string_lossy().into_owned()).collect();
        let control = self.control();
        let known = [self.verilator.version(), &version, &control];
        let helper = [include_str!("build.rs"), include_str!("build/binding.rs"), include_str!("headers.rs")];
        let arguments = self.arguments();
        let texts = known.into_iter().chain(helper).chain(arguments.iter().chain(&flags).map(String::as_str));
        cache::digest(texts)
    }

    /// Compiles the model and keeps it in the cache.
    fn make(&self, cache: &Cache, request: &str) -> (Entry, Effort) {
        let prefix = self.design.prefix();
        let directory = out_directory().join(&prefix);
        let _ = fs::remove_dir_all(&directory);
        let start = Instant::now();
        self.verilate(&directory);
        let verilated = start.elapsed();
        let header = fs::read_to_string(directory.join(format!("{prefix}.h"))).expect("Verilator wrote a header");
        let ports = Port::declared(&header);
        fs::write(directory.join("shim.cpp"), binding::shim(self.design, &ports)).expect("OUT_DIR can be written");
        self.compile(&directory);
        let library = directory.join(format!("lib{prefix}.a"));
        let entry = cache.keep(request, &self.sources(&directory), &Port::listed(&ports), &library);
        let effort = Effort { verilated, compiled: start.elapsed() - verilated };
        // Hundreds of megabytes of C++ all in all.
        let _ = fs::remove_dir_all(&directory);
        (entry, effort)
    }

    /// The file `TOP_monitors.sv` next to the top module, if it exists: it binds assertions to the
    /// top's ports, and no other file refers to it.
    fn monitors(&self) -> Option<PathBuf> {
        let name = format!("{}_monitors.sv", self.design.top);
        self.build.libraries.iter().map(|library| library.join(&name)).find(|path| path.exists())
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["--cc", "-O3", "-Wall", "--assert", "--x-assign", "0", "--x-initial", "unique"].map(String::from).to_vec();
        if coverage() {
            arguments.extend(["--coverage-line", "--coverage-user"].map(String::from));
            if toggles() {
                arguments.extend(["--coverage-toggle", "--coverage-max-width", "64"].map(String::from));
            }
            let covers = self.build.covers.iter().flat_map(|directory| files(directory));
            arguments.extend(covers.map(|path| path.display().to_string()));
        }
        if self.design.has_waves() {
            arguments.extend(["--trace-fst", "--trace-structs"].map(String::from));
        }
        arguments.extend(["--prefix".into(), self.design.prefix(), "--top-module".into(), self.design.top.clone()]);
        arguments.extend(self.design.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        for path in &self.build.libraries {
            arguments.extend(["-y".into(), path.display().to_string(), format!("+incdir+{}", path.display())]);
        }
        arguments.extend(["+libext+.sv".into()]);
        arguments.extend(self.design.sources.iter().cloned());
        arguments.extend(self.monitors().map(|path| path.display().to_string()));
        arguments.push(format!("{}.sv", self.design.top));
        arguments
    }

    /// Verilator's settings for modules and variables.
    fn control(&self) -> String {
        let shared = self.design.shared.iter().map(|module| format!("no_inline -module \"{module}\"\n"));
        let memories = self.design.memories.iter();
        let memories =
            memories.map(|(module, variable)| format!("public_flat_rw -module \"{module}\" -var \"{variable}\"\n"));
        format!("`verilator_config\n{}", shared.chain(memories).collect::<String>())
    }

    fn verilate(&self, directory: &Path) {
        let control = out_directory().join(format!("{}.vlt", self.design.prefix()));
        write_if_changed(&control, &self.control());
        let mut command = self.verilator.command();
        command.arg(control).args(self.arguments()).arg("--Mdir").arg(directory);
        let output = command.output().expect("Verilator was found");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "Verilator refuses {}:\n{messages}", self.design.name);
    }

    /// Compiles the C++ files as two, so that headers are read twice at most: what runs in every
    /// cycle, and what runs only when a model begins, half of the code, which is not optimised.
    fn compile(&self, directory: &Path) {
        let is_cpp = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "cpp");
        let is_slow = |path: &PathBuf| path.to_string_lossy().ends_with("__Slow.cpp");
        let (slow, fast): (Vec<_>, Vec<_>) = files(directory).into_iter().filter(is_cpp).partition(is_slow);
        let objects = [("fast", fast, self.design.level()), ("slow", slow, BEGINNING)]
            .map(|(name, sources, level)| self.compile_unit(directory, name, &sources, level));
        let mut library = headers::compiler(self.verilator, self.design.level(), coverage());
        library.out_dir(directory).objects(objects.into_iter().flatten());
        library.compile(&self.design.prefix());
    }

    /// Compiles some of the files as one at a level of optimisation, and gives the object file.
    fn compile_unit(&self, directory: &Path, name: &str, sources: &[PathBuf], level: u32) -> Vec<PathBuf> {
        let mut all = String::new();
        for path in sources {
            writeln!(all, "#include {:?}", path.file_name().expect("a file")).expect("a string takes all");
        }
        let unit = directory.join(format!("{name}.cc"));
        fs::write(&unit, all).expect("OUT_DIR can be written");
        let header = headers::header(self.verilator, &out_directory(), level, coverage());
        let mut compiler = headers::compiler(self.verilator, level, coverage());
        compiler.out_dir(directory).include(directory).flag("-include").flag(header).file(unit);
        compiler
            .try_compile_intermediates()
            .unwrap_or_else(|error| panic!("the C++ compiler refuses {}: {error}", self.design.name))
    }

    /// The sources that Verilator read, of which it writes a list for `make`; its own are those of
    /// its version.
    fn sources(&self, directory: &Path) -> Vec<PathBuf> {
        let dependencies = directory.join(format!("{}__ver.d", self.design.prefix()));
        let read = fs::read_to_string(dependencies).expect("Verilator wrote a list of what it read");
        let (_, listed) = read.split_once(':').expect("what is made, and what it is made of");
        let listed = listed.split_whitespace().map(PathBuf::from);
        let hardware = |path: &PathBuf| {
            path.extension().is_some_and(|extension| ["sv", "svh", "v"].iter().any(|it| extension == *it))
        };
        let mut sources: Vec<PathBuf> =
            listed.filter(|path| hardware(path) && !path.starts_with(self.verilator.include())).collect();
        sources.sort();
        sources.dedup();
        sources
    }
}

/// Whether models count coverage (`HEARITH_RTL_COVERAGE` is set).
pub fn coverage() -> bool {
    env::var_os("HEARITH_RTL_COVERAGE").is_some()
}

/// Whether coverage counts toggled bits, too (`HEARITH_RTL_TOGGLES` is set), which makes wide
/// models too long for the C++ compiler.
fn toggles() -> bool {
    env::var_os("HEARITH_RTL_TOGGLES").is_some()
}

/// Whether models can write waveforms (`HEARITH_WAVES` is set). They read the directory from the
/// variable again when they run.
fn waves() -> bool {
    env::var_os("HEARITH_WAVES").is_some()
}

/// Compiles Verilator's writer of FST files, once, and links it with zlib.
///
/// # Panics
/// If the C++ compiler refuses it, as it does without zlib's header.
fn compile_waves(verilator: &Verilator) {
    let mut hasher = DefaultHasher::new();
    (verilator.version(), include_str!("build.rs")).hash(&mut hasher);
    // A name of its own for each program's build: the linker takes the first that it meets.
    let name = format!("verilated_waves_{:016x}", hasher.finish());
    if !out_directory().join(format!("lib{name}.a")).exists() {
        let include = verilator.include();
        let mut library = cc::Build::new();
        library.cpp(true).std("c++17").opt_level(1).debug(false).warnings(false).flag("-pthread");
        library.cargo_metadata(false).out_dir(out_directory());
        library.include(&include).include(include.join("vltstd")).file(include.join("verilated_fst_c.cpp"));
        if let Err(error) = library.try_compile(&name) {
            panic!("waveforms need zlib with its header (on Debian the package zlib1g-dev): {error}");
        }
    }
    println!("cargo::rustc-link-lib=static={name}");
    println!("cargo::rustc-link-lib=z");
}

fn out_directory() -> PathBuf {
    env::var_os("OUT_DIR").expect("set by Cargo").into()
}

/// The files of a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("Verilator wrote it");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).expect("OUT_DIR can be written");
}
