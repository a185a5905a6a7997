//! A cache of finished models outside `target`, keyed by their inputs. With it, a second checkout,
//! another branch or another set of features does not compile them again.
//!
//! A request consists of everything known before Verilator runs: its version, its arguments, and
//! the C++ compiler with its flags. The sources of a design are known only afterwards. A request's
//! directory therefore holds one entry per state of the sources. An entry is valid while every
//! source has the same [`code`] and is still the first of its name in the libraries.

use std::collections::HashMap;
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// The environment variable that names the cache's directory. With the value `none`, models are
/// stored in `OUT_DIR`.
pub(crate) const VARIABLE: &str = "HEARITH_MODEL_CACHE";
/// How long an unused entry stays.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);
/// The files of an entry: the sources with their hashes, the ports, the static library.
const SOURCES: &str = "sources";
const PORTS: &str = "ports";
const LIBRARY: &str = "model.a";

/// The cache's directory, and the hashes of sources already read.
#[derive(Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
    libraries: Vec<PathBuf>,
    hashes: Mutex<HashMap<PathBuf, Option<String>>>,
}

/// A finished model.
#[derive(Debug)]
pub(crate) struct Entry(PathBuf);

impl Cache {
    /// Opens the cache that the environment names, or else the user's, or else one in `out`.
    /// Modules are looked up in `libraries`, in order.
    pub(crate) fn open(out: &Path, libraries: &[PathBuf]) -> Self {
        println!("cargo::rerun-if-env-changed={VARIABLE}");
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        let folder = |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = || folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        let directory = match named {
            Some(name) if name == "none" => out.join("models"),
            Some(name) => name.into(),
            None => user().map_or_else(|| out.join("models"), |cache| cache.join("hearith/models")),
        };
        Self { directory, libraries: libraries.to_vec(), hashes: Mutex::default() }
    }

    /// The model that was made for a request from the current state of the sources.
    pub(crate) fn find(&self, request: &str) -> Option<Entry> {
        let entries = fs::read_dir(self.directory.join(request)).ok()?;
        let mut entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let entry = entries.find(|entry| self.is_current(entry))?;
        // Marks the entry as used. A cache that cannot be written can still be read.
        let _ = File::options()
            .append(true)
            .open(entry.join(SOURCES))
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(Entry(entry))
    }

    fn is_current(&self, entry: &Path) -> bool {
        let Ok(listed) = fs::read_to_string(entry.join(SOURCES)) else { return false };
        entry.join(LIBRARY).exists()
            && listed.lines().all(|line| {
                let Some((hash, path)) = line.split_once(' ') else { return false };
                let path = Path::new(path);
                self.hash(path).as_deref() == Some(hash) && self.is_first(path)
            })
    }

    /// Whether no earlier library has a file with the source's name.
    fn is_first(&self, source: &Path) -> bool {
        let (Some(directory), Some(name)) = (source.parent(), source.file_name()) else { return false };
        let before = self.libraries.iter().take_while(|library| *library != directory);
        match self.libraries.iter().any(|library| library == directory) {
            true => before.into_iter().all(|library| !library.join(name).exists()),
            false => true,
        }
    }

    fn hash(&self, path: &Path) -> Option<String> {
        let mut hashes = self.hashes.lock().expect("no thread panics while it holds this");
        hashes
            .entry(path.to_owned())
            .or_insert_with(|| Some(hexadecimal(&Sha256::digest(code(&fs::read(path).ok()?)))))
            .clone()
    }

    /// Stores a model that was made from `sources`. The entry appears complete or not at all.
    pub(crate) fn keep(&self, request: &str, sources: &[PathBuf], ports: &str, library: &Path) -> Entry {
        let mut listed = String::new();
        for source in sources {
            let hash = self.hash(source).expect("Verilator has read it");
            writeln!(listed, "{hash} {}", source.display()).expect("a string takes all");
        }
        let entry = self.directory.join(request).join(hexadecimal(&Sha256::digest(&listed)));
        let unfinished = entry.with_extension(format!("part-{}", process::id()));
        let store = || {
            fs::create_dir_all(&unfinished)?;
            fs::write(unfinished.join(PORTS), ports)?;
            fs::copy(library, unfinished.join(LIBRARY))?;
            fs::write(unfinished.join(SOURCES), &listed)?;
            // Another build may have been faster, with the same result.
            if fs::rename(&unfinished, &entry).is_err() {
                fs::remove_dir_all(&unfinished)?;
            }
            Ok::<_, std::io::Error>(())
        };
        store().unwrap_or_else(|error| {
            panic!(
                "{}: {error}: {VARIABLE} names another directory for finished models, or none",
                self.directory.display()
            )
        });
        Entry(entry)
    }

    /// Removes entries that no build has used for a month, and remains of interrupted builds.
    pub(crate) fn prune(&self) {
        let folders =
            |path: &Path| fs::read_dir(path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        for request in folders(&self.directory) {
            for entry in folders(&request) {
                let used =
                    fs::metadata(entry.join(SOURCES)).or_else(|_| fs::metadata(&entry)).and_then(|it| it.modified());
                if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > UNUSED)) {
                    let _ = fs::remove_dir_all(&entry);
                }
            }
            // Removes the directory only if it is empty.
            let _ = fs::remove_dir(&request);
        }
    }
}

impl Entry {
    /// The stored ports.
    pub(crate) fn ports(&self) -> String {
        fs::read_to_string(self.0.join(PORTS)).expect("an entry is complete")
    }

    /// Puts the static library where the linker looks: as a hard link if the file system can, else
    /// as a copy.
    pub(crate) fn link(&self, path: &Path) {
        let _ = fs::remove_file(path);
        let library = self.0.join(LIBRARY);
        if fs::hard_link(&library, path).is_err() {
            fs::copy(&library, path).expect("OUT_DIR can be written");
        }
    }
}

/// The SHA-256 of several texts, each with its length, so that different lists have different
/// inputs.
pub(crate) fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hexadecimal(&hasher.finalize())
}

/// A source without comments, except those that Verilator reads, and with white space normalised:
/// changes in the rest do not change the model.
fn code(source: &[u8]) -> Vec<u8> {
    let mut code = Vec::with_capacity(source.len());
    let mut rest = source;
    while let &[first, ..] = rest {
        let length = match rest {
            [b'/', b'/', ..] => until(rest, 2, b"\n"),
            [b'/', b'*', ..] => until(rest, 2, b"*/") + 2,
            [b'"', ..] => string(rest),
            _ => 1,
        };
        let (token, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        let comment = token.len() > 1 && first == b'/';
        if comment && !token.windows(9).any(|word| word == b"verilator") || first.is_ascii_whitespace() {
            let space = if first == b'\n' { b'\n' } else { b' ' };
            match code.last_mut() {
                Some(last @ b' ') => *last = space,
                Some(b'\n') => {}
                _ => code.push(space),
            }
        } else {
            code.extend_from_slice(token);
        }
    }
    code
}

/// The number of bytes before `end`, which is searched from byte `from` on.
fn until(text: &[u8], from: usize, end: &[u8]) -> usize {
    let found = text[from..].windows(end.len()).position(|window| window == end);
    found.map_or(text.len(), |at| from + at)
}

/// The length of the string literal at the start of `text`.
fn string(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text[1..].iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |at| at + 2)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scratch directory with two libraries, deleted when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("hearith-cache-{name}-{}", process::id()));
            let _ = fs::remove_dir_all(&path);
            for library in ["first", "second"] {
                fs::create_dir_all(path.join(library)).unwrap();
            }
            fs::write(path.join("second/adder.sv"), "module adder; endmodule").unwrap();
            fs::write(path.join("library.a"), "code").unwrap();
            Self(path)
        }

        fn cache(&self) -> Cache {
            let libraries = ["first", "second"].map(|library| self.0.join(library)).to_vec();
            Cache { directory: self.0.join("cache"), libraries, hashes: Mutex::default() }
        }

        fn keep(&self) -> Entry {
            self.cache().keep("request", &[self.0.join("second/adder.sv")], "a_i", &self.0.join("library.a"))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_model_is_found_again_by_its_request_alone() {
        let scratch = Scratch::new("found");
        assert!(scratch.cache().find("request").is_none());
        scratch.keep();
        let entry = scratch.cache().find("request").unwrap();
        assert_eq!(entry.ports(), "a_i");
        let linked = scratch.0.join("linked.a");
        entry.link(&linked);
        entry.link(&linked);
        assert_eq!(fs::read_to_string(linked).unwrap(), "code");
        assert!(scratch.cache().find("another request").is_none());
    }

    #[test]
    fn a_changed_source_finds_no_model_and_the_old_one_finds_its_own() {
        let scratch = Scratch::new("changed");
        scratch.keep();
        let source = scratch.0.join("second/adder.sv");
        fs::write(&source, "module adder; wire x; endmodule").unwrap();
        assert!(scratch.cache().find("request").is_none());
        scratch.keep();
        assert!(scratch.cache().find("request").is_some());
        fs::write(&source, "module adder; endmodule").unwrap();
        assert!(scratch.cache().find("request").is_some());
        fs::remove_file(&source).unwrap();
        assert!(scratch.cache().find("request").is_none());
    }

    #[test]
    fn comments_and_white_space_change_no_model() {
        let same = |one: &str, other: &str| code(one.as_bytes()) == code(other.as_bytes());
        let source = "wire a; // one\nwire b; /* two */\n";
        for other in
            ["wire a;\nwire b;\n", "// x\n// y\nwire  a;\n\n  wire b; // \"\n", "/* \" */ wire a;\n\twire b;\n"]
        {
            assert!(same(&format!("\n{source}"), &format!("\n{other}")), "{other}");
        }
        for other in
            ["wire a; wire b;\n", "wirea;\nwire b;\n", "wire a;\n", "wire a; // verilator public\nwire b;\n", "/"]
        {
            assert!(!same(source, other), "{other}");
        }
        // A string is code, even if parts of it look like comments.
        assert!(!same(r#"f("a // b");"#, r#"f("a // c");"#));
        assert!(!same(r#"f("\"/* b */");"#, r#"f("\"/* c */");"#));
        assert!(!same("f(\"a  b\");", "f(\"a b\");"));
        assert_eq!(code(b"a /* no end"), b"a ");
        assert_eq!(code(b"\"no end"), b"\"no end");
    }

    #[test]
    fn a_new_module_in_an_earlier_library_hides_the_one_that_was_read() {
        let scratch = Scratch::new("hidden");
        scratch.keep();
        fs::write(scratch.0.join("first/adder.sv"), "module adder; endmodule").unwrap();
        assert!(scratch.cache().find("request").is_none());
    }

    #[test]
    fn an_unfinished_entry_is_none() {
        let scratch = Scratch::new("unfinished");
        let Entry(entry) = scratch.keep();
        fs::remove_file(entry.join(LIBRARY)).unwrap();
        assert!(scratch.cache().find("request").is_none());
    }

    #[test]
    fn what_nobody_uses_goes() {
        let scratch = Scratch::new("unused");
        let Entry(entry) = scratch.keep();
        let cache = scratch.cache();
        cache.prune();
        assert!(entry.exists());
        let sources = File::options().append(true).open(entry.join(SOURCES)).unwrap();
        sources.set_modified(SystemTime::now() - UNUSED - Duration::from_secs(60)).unwrap();
        cache.prune();
        assert!(!entry.exists() && !cache.directory.join("request").exists());
    }

    #[test]
    fn lists_of_texts_have_hashes_of_their_own() {
        // NIST's value for "abc". The digest differs from it because of the length in front.
        assert_eq!(hexadecimal(&Sha256::digest("abc"))[..8], *"ba7816bf");
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_eq!(digest(["ab", "c"]), digest(["ab", "c"]));
    }
}
