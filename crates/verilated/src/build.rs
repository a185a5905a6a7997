//! The helper for build scripts: designs in, a static library and `designs.rs` out.
//!
//! Each design is verilated with all warnings on, none waived: a warning stops the build. A
//! finished model is kept in `OUT_DIR` and used again while its sources, parameters and Verilator stay the same.

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

use crate::headers;
use crate::verilator::Verilator;

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

/// A port as Verilator's header declares it.
#[derive(Debug)]
struct Port {
    name: String,
    input: bool,
    width: u32,
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

    /// Adds a source that is not found by the name of a module, such as a package; a path from the crate's directory.
    #[must_use]
    pub fn source(mut self, path: &str) -> Self {
        self.sources.push(path.into());
        self
    }

    /// Keeps modules with many instances whole, instead of copying them into what instantiates them: large designs become
    /// much quicker to compile, and run about as fast.
    #[must_use]
    pub fn shared(mut self, modules: &[&str]) -> Self {
        self.shared.extend(modules.iter().map(|&module| module.into()));
        self
    }

    /// Lets tests reach a memory, or a register, behind the design's back: a module and the name of its variable. In the model it is called by
    /// its instance (`Model::peek`). What can be reached is kept as it is written, and so is a little slower.
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

    /// Sets how hard the C++ compiler tries (1): more pays for long simulations. `HEARITH_OPTIMISATION` says so for all designs instead.
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

    /// Whether `HEARITH_MODELS`, a list of parts of names with commas between them, lets this design be compiled; without it all are.
    /// Who works on one design need not wait for the others, whose tests then fail for want of a model. With `HEARITH_SHORT` those that only
    /// long tests simulate are left out.
    fn is_wanted(&self) -> bool {
        if self.long && env::var_os("HEARITH_SHORT").is_some() {
            return false;
        }
        env::var("HEARITH_MODELS").map_or(true, |list| list.split(',').any(|part| self.name.contains(part.trim())))
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

    /// Adds a directory with modules, one a file named after the module; a path from the crate's directory.
    #[must_use]
    pub fn library(mut self, path: impl Into<PathBuf>) -> Self {
        self.libraries.push(path.into());
        self
    }

    /// Adds a directory of cover points: files that bind modules of `cover property` to the designs' modules. They are read when
    /// models count coverage. A path from the crate's directory.
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

    /// Compiles the designs that are wanted over the available cores, and gives the ports of each.
    fn compile_all(&self, verilator: &Verilator) -> Vec<Option<Vec<Port>>> {
        let workers = thread::available_parallelism().map_or(1, NonZero::get).min(self.designs.len());
        let next = Mutex::new(self.designs.iter().enumerate().filter(|(_, design)| design.is_wanted()));
        let levels: BTreeSet<u32> =
            self.designs.iter().filter(|design| design.is_wanted()).map(Design::level).collect();
        levels.iter().for_each(|level| headers::precompile(verilator, &out_directory(), *level, coverage()));
        let done: Mutex<Vec<Option<Vec<Port>>>> = Mutex::new(self.designs.iter().map(|_| None).collect());
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let taken = next.lock().expect("no worker panics while it holds this").next();
                        let Some((index, design)) = taken else { return };
                        let ports = Model { build: self, verilator, design }.make();
                        done.lock().expect("no worker panics while it holds this")[index] = Some(ports);
                    }
                });
            }
        });
        let out = out_directory();
        println!("cargo::rustc-link-search=native={}", out.display());
        let wanted = self.designs.iter().filter(|design| design.is_wanted());
        wanted.clone().for_each(|design| println!("cargo::rustc-link-lib=static={}", design.prefix()));
        if wanted.clone().any(Design::has_waves) {
            compile_waves(verilator);
        }
        done.into_inner().expect("the workers are done")
    }
}

/// A design being compiled.
struct Model<'a> {
    build: &'a Build,
    verilator: &'a Verilator,
    design: &'a Design,
}

impl Model<'_> {
    /// Compiles the model unless the finished one is still good, and gives its ports.
    fn make(&self) -> Vec<Port> {
        let prefix = self.design.prefix();
        let directory = out_directory().join(&prefix);
        let header = directory.join(format!("{prefix}.h"));
        let stamp = directory.join("stamp");
        if fs::read_to_string(&stamp).is_ok_and(|old| old == self.stamp(&directory)) {
            return ports(&header);
        }
        let _ = fs::remove_dir_all(&directory);
        self.verilate(&directory);
        let ports = ports(&header);
        fs::write(directory.join("shim.cpp"), self.shim(&ports)).expect("OUT_DIR can be written");
        self.compile(&directory);
        fs::write(stamp, self.stamp(&directory)).expect("OUT_DIR can be written");
        ports
    }

    /// The file `TOP_monitors.sv` beside the top module, if there is one: it binds assertions to the top's ports, and nothing names it.
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

    fn verilate(&self, directory: &Path) {
        let control = out_directory().join(format!("{}.vlt", self.design.prefix()));
        let shared = self.design.shared.iter().map(|module| format!("no_inline -module \"{module}\"\n"));
        let memories = self.design.memories.iter();
        let memories =
            memories.map(|(module, variable)| format!("public_flat_rw -module \"{module}\" -var \"{variable}\"\n"));
        write_if_changed(&control, &format!("`verilator_config\n{}", shared.chain(memories).collect::<String>()));
        let mut command = self.verilator.command();
        command.arg(control).args(self.arguments()).arg("--Mdir").arg(directory);
        let output = command.output().expect("Verilator was found");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "Verilator refuses {}:\n{messages}", self.design.name);
    }

    /// Compiles all C++ files as one: the headers, which are what takes time, are read once.
    fn compile(&self, directory: &Path) {
        let mut all = String::new();
        for path in files(directory).iter().filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        {
            writeln!(all, "#include {:?}", path.file_name().expect("a file")).expect("a string takes all");
        }
        let unit = directory.join("all.cc");
        fs::write(&unit, all).expect("OUT_DIR can be written");
        let level = self.design.level();
        let header = headers::header(self.verilator, &out_directory(), level, coverage());
        let mut library = headers::compiler(self.verilator, level, coverage());
        library.out_dir(out_directory()).include(directory).flag("-include").flag(header).file(unit);
        if let Err(error) = library.try_compile(&self.design.prefix()) {
            panic!("the C++ compiler refuses {}: {error}", self.design.name);
        }
    }

    /// What the finished model depends on: the arguments, Verilator's version, and the content of the
    /// files that Verilator read.
    fn stamp(&self, directory: &Path) -> String {
        let mut hasher = DefaultHasher::new();
        (self.verilator.version(), self.arguments(), &self.design.shared, &self.design.memories).hash(&mut hasher);
        self.design.level().hash(&mut hasher);
        (include_str!("build.rs"), include_str!("headers.rs")).hash(&mut hasher);
        let dependencies = directory.join(format!("{}__ver.d", self.design.prefix()));
        let read = fs::read_to_string(dependencies).unwrap_or_default();
        let sources = read.split_once(':').map_or("", |(_, sources)| sources);
        for source in sources.split_whitespace().filter(|path| path.ends_with(".sv") || path.ends_with(".svh")) {
            (source, fs::read(source).ok()).hash(&mut hasher);
        }
        format!("{:016x}", hasher.finish())
    }
}

/// The ports in a model's header, where macros such as `VL_IN8(&clk_i,0,0)` declare them.
fn ports(header: &Path) -> Vec<Port> {
    let text = fs::read_to_string(header).expect("Verilator wrote a header");
    let port = |line: &str| {
        let declaration = line.trim().strip_prefix("VL_")?;
        let input = declaration.starts_with("IN");
        if !input && !declaration.starts_with("OUT") {
            return None;
        }
        let (_, rest) = declaration.split_once("(&")?;
        let mut parts = rest.trim_end_matches([';', ')']).split(',');
        let name = parts.next()?.to_owned();
        let high: u32 = parts.next()?.parse().ok()?;
        let low: u32 = parts.next()?.parse().ok()?;
        Some(Port { name, input, width: high - low + 1 })
    };
    text.lines().filter_map(port).collect()
}

impl Model<'_> {
    /// The C functions around a model.
    fn shim(&self, ports: &[Port]) -> String {
        let prefix = self.design.prefix();
        let cases = ports.iter().enumerate().map(|(index, port)| {
            format!("        case {index}: return reinterpret_cast<unsigned char*>(&model->top.{});\n", port.name)
        });
        let cases: String = cases.collect();
        let save = if coverage() { "static_cast<Instance*>(self)->context.coveragep()->write(path);" } else { "" };
        let waves = self.design.has_waves();
        let (include, member, start, end) = match waves {
            true => (
                "#include \"verilated_fst_c.h\"",
                "VerilatedFstC waves;",
                "context.traceEverOn(true);",
                "waves.close();",
            ),
            false => ("", "", "", ""),
        };
        let record = match waves {
            true => {
                "Instance* model = static_cast<Instance*>(self);
    model->enter();
    model->top.trace(&model->waves, 99);
    model->waves.open(path);
    return model->waves.isOpen();"
            }
            false => "(void)self; (void)path; return false;",
        };
        let dump = if waves { "static_cast<Instance*>(self)->waves.dump(time);" } else { "(void)self; (void)time;" };
        let top = &self.design.top;
        format!(
            r#"#include "{prefix}.h"
#include "verilated.h"
#include "verilated_cov.h"
#include "verilated_syms.h"
{include}
namespace {{
struct Instance {{
    VerilatedContext context;
    {prefix} top;
    {member}
    Instance() : context{{}}, top{{(context.randSeed(1), context.randReset(2), &context)}} {{ {start} }}
    // Verilator asks the thread for the context: that of this model, not of the one that was made last and may be gone.
    void enter() {{ Verilated::threadContextp(&context); }}
    ~Instance() {{ enter(); {end} top.final(); }}
}};
}}
extern "C" {{
void* {prefix}_new() {{ return new Instance; }}
void {prefix}_delete(void* self) {{ delete static_cast<Instance*>(self); }}
void {prefix}_eval(void* self) {{ static_cast<Instance*>(self)->enter(); static_cast<Instance*>(self)->top.eval(); }}
unsigned char* {prefix}_port(void* self, unsigned index) {{
    Instance* model = static_cast<Instance*>(self);
    switch (index) {{
{cases}        default: return nullptr;
    }}
}}
void {prefix}_save_coverage(void* self, const char* path) {{ (void)self; (void)path; {save} }}
bool {prefix}_record(void* self, const char* path) {{
    {record}
}}
void {prefix}_dump(void* self, uint64_t time) {{ {dump} }}
// The storage of a variable, and its shape: bits of a word, words, bytes from a word to the next.
unsigned char* {prefix}_variable(void* self, const char* instance, const char* name, unsigned* shape) {{
    Instance* model = static_cast<Instance*>(self);
    std::string path = "TOP.{top}";
    if (*instance) path += std::string(".") + instance;
    const VerilatedScope* scope = model->context.scopeFind(path.c_str());
    const VerilatedVar* variable = scope ? scope->varFind(name) : nullptr;
    if (!variable || variable->udims() > 1) return nullptr;
    shape[0] = variable->packed().elements();
    shape[1] = variable->udims() ? variable->unpacked().elements() : 1;
    shape[2] = variable->entSize();
    return static_cast<unsigned char*>(variable->datap());
}}
}}
"#
        )
    }
}

/// The constant of a design in `designs.rs`.
fn binding(design: &Design, ports: Option<&Vec<Port>>) -> String {
    let Design { name, top, parameters, .. } = design;
    let (constant, prefix) = (design.constant(), design.prefix());
    let parameters: String = parameters.iter().map(|(name, value)| format!("({name:?}, {value:?}), ")).collect();
    let set = if parameters.is_empty() { String::new() } else { format!(" with {}", parameters.replace('"', "")) };
    let list = ports.iter().copied().flatten().map(|port| {
        let direction = if port.input { "Input" } else { "Output" };
        let Port { name, width, .. } = port;
        format!(
            "::hearith_verilated::Port {{ name: {name:?}, direction: ::hearith_verilated::Direction::{direction}, width: {width} }}, "
        )
    });
    let list: String = list.collect();
    let (declared, bound) = match ports {
        None => (String::new(), "None".to_owned()),
        Some(_) => (
            format!(
                "unsafe extern \"C\" {{
        fn {prefix}_new() -> *mut ::std::ffi::c_void;
        fn {prefix}_delete(model: *mut ::std::ffi::c_void);
        fn {prefix}_eval(model: *mut ::std::ffi::c_void);
        fn {prefix}_port(model: *mut ::std::ffi::c_void, index: u32) -> *mut u8;
        fn {prefix}_save_coverage(model: *mut ::std::ffi::c_void, path: *const ::std::ffi::c_char);
        fn {prefix}_record(model: *mut ::std::ffi::c_void, path: *const ::std::ffi::c_char) -> bool;
        fn {prefix}_dump(model: *mut ::std::ffi::c_void, time: u64);
        fn {prefix}_variable(model: *mut ::std::ffi::c_void, instance: *const ::std::ffi::c_char, name: *const ::std::ffi::c_char, shape: *mut u32) -> *mut u8;
    }}"
            ),
            format!(
                "Some(::hearith_verilated::Binding {{ new: {prefix}_new, delete: {prefix}_delete, eval: {prefix}_eval, port: {prefix}_port, save_coverage: {prefix}_save_coverage, record: {prefix}_record, dump: {prefix}_dump, variable: {prefix}_variable }})"
            ),
        ),
    };
    format!(
        "/// The module `{top}`{set}.
pub static {constant}: ::hearith_verilated::Design = {{
    {declared}
    // SAFETY: the functions were generated for this model and these ports.
    unsafe {{ ::hearith_verilated::Design::new({name:?}, {top:?}, &[{parameters}], &[{list}], {bound}) }}
}};
"
    )
}

/// Whether models count coverage (`HEARITH_RTL_COVERAGE` is set).
pub fn coverage() -> bool {
    env::var_os("HEARITH_RTL_COVERAGE").is_some()
}

/// Whether coverage counts toggled bits, too (`HEARITH_RTL_TOGGLES` is set), which makes wide models too long for the C++ compiler.
fn toggles() -> bool {
    env::var_os("HEARITH_RTL_TOGGLES").is_some()
}

/// Whether models can write waveforms (`HEARITH_WAVES` is set): the directory is asked for again when they run.
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
