//! Verilator's C++ headers, compiled once for all models of a build: of a small model they are most
//! of what the compiler reads.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::verilator::Verilator;

/// The high words of a wide constant, those from the bit `lsb` on with the highest first, and zeros
/// above them. Verilator's own functions of these names write the zeros behind the number, over
/// whatever lies there, before its pull request 4556 (5.018).
const CONSTANTS: &str = "
template <typename... Words>
static inline WDataOutP hearith_high_words(int bits, int lsb, WDataOutP number, Words... words) {
    const EData given[] = {static_cast<EData>(words)...};
    int at = VL_WORDS_I(lsb);
    for (int k = sizeof...(words); k-- > 0;) number[at++] = given[k];
    while (at < VL_WORDS_I(bits)) number[at++] = 0;
    return number;
}
#define VL_CONSTHI_W_1X hearith_high_words
#define VL_CONSTHI_W_2X hearith_high_words
#define VL_CONSTHI_W_3X hearith_high_words
#define VL_CONSTHI_W_4X hearith_high_words
#define VL_CONSTHI_W_5X hearith_high_words
#define VL_CONSTHI_W_6X hearith_high_words
#define VL_CONSTHI_W_7X hearith_high_words
#define VL_CONSTHI_W_8X hearith_high_words
";

/// The compiler for models at a level of optimisation, 0 to 3. Precompiled headers can be used only
/// with the same flags.
pub(crate) fn compiler(verilator: &Verilator, level: u32, coverage: bool) -> cc::Build {
    let include = verilator.include();
    let mut compiler = cc::Build::new();
    compiler.cpp(true).std("c++17").opt_level(level).debug(false).warnings(false).cargo_metadata(false);
    compiler.include(&include).include(include.join("vltstd"));
    compiler.define("VM_COVERAGE", if coverage { "1" } else { "0" });
    for flag in ["-fno-strict-aliasing", "-pthread"] {
        compiler.flag_if_supported(flag);
    }
    compiler
}

/// The path in `directory` of the header that every model of a level includes first.
pub(crate) fn header(verilator: &Verilator, directory: &Path, level: u32, coverage: bool) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (verilator.version(), level, coverage, include_str!("headers.rs")).hash(&mut hasher);
    directory.join(format!("models_{:016x}.h", hasher.finish()))
}

/// Writes this header and compiles it. A compiler without precompiled headers reads it with each
/// model.
pub(crate) fn precompile(verilator: &Verilator, directory: &Path, level: u32, coverage: bool) {
    let header = header(verilator, directory, level, coverage);
    let compiled = header.with_extension("h.gch");
    if header.exists() && compiled.exists() {
        return;
    }
    let cover = if coverage { "#include \"verilated_cov.h\"\n" } else { "" };
    let text = format!("#pragma once\n#include \"verilated.h\"\n{cover}{CONSTANTS}");
    fs::write(&header, text).expect("OUT_DIR can be written");
    // Complete, or not there: a build may be stopped at any time.
    let unfinished = header.with_extension("h.part");
    let mut command = compiler(verilator, level, coverage).get_compiler().to_command();
    command.args(["-x", "c++-header"]).arg(&header).arg("-o").arg(&unfinished);
    if command.output().is_ok_and(|output| output.status.success()) {
        // Without it the header is read as it is.
        let _ = fs::rename(&unfinished, &compiled);
    }
}
