//! The code generated around a model: its ports, the C functions that access them, and its constant
//! in Rust.

use super::{Design, coverage};

/// A port as Verilator's header declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    name: String,
    input: bool,
    width: u32,
}

impl Port {
    /// The ports in a model's header, where macros such as `VL_IN8(&clk_i,0,0)` declare them.
    pub(super) fn declared(header: &str) -> Vec<Self> {
        header.lines().filter_map(Self::from_declaration).collect()
    }

    fn from_declaration(line: &str) -> Option<Self> {
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
        Some(Self { name, input, width: high - low + 1 })
    }

    /// The ports as the cache keeps them: a line each, `input 8 name`.
    pub(super) fn listed(ports: &[Self]) -> String {
        let line =
            |port: &Self| format!("{} {} {}\n", if port.input { "input" } else { "output" }, port.width, port.name);
        ports.iter().map(line).collect()
    }

    /// Reads the ports of such a list.
    ///
    /// # Panics
    /// If the text is not such a list.
    pub(super) fn from_list(list: &str) -> Vec<Self> {
        let port = |line: &str| {
            let mut words = line.split(' ');
            let mut word = || words.next().expect("a direction, a width and a name");
            let (direction, width) = (word(), word().parse().expect("a width"));
            Self { input: direction == "input", width, name: word().to_owned() }
        };
        list.lines().map(port).collect()
    }
}

/// The C functions around a model.
pub(super) fn shim(design: &Design, ports: &[Port]) -> String {
    let prefix = design.prefix();
    let cases = ports.iter().enumerate().map(|(index, port)| {
        format!("        case {index}: return reinterpret_cast<unsigned char*>(&model->top.{});\n", port.name)
    });
    let cases: String = cases.collect();
    let save = if coverage() { "static_cast<Instance*>(self)->context.coveragep()->write(path);" } else { "" };
    let waves = design.has_waves();
    let (include, member, start, end) = match waves {
        true => {
            ("#include \"verilated_fst_c.h\"", "VerilatedFstC waves;", "context.traceEverOn(true);", "waves.close();")
        }
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
    let top = &design.top;
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

/// The constant of a design in `designs.rs`.
pub(super) fn binding(design: &Design, ports: Option<&Vec<Port>>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_kept_as_they_are_declared() {
        let header = "class Vadder {\n    VL_IN8(&clk_i,0,0);\n    VL_INW(&a_i,99,0,4);\n    VL_OUT64(&sum_o,63,0);\n    int x;\n";
        let ports = Port::declared(header);
        assert_eq!(Port::listed(&ports), "input 1 clk_i\ninput 100 a_i\noutput 64 sum_o\n");
        assert_eq!(Port::from_list(&Port::listed(&ports)), ports);
    }
}
