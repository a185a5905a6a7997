//! A design that can be simulated, as linked in by its build script.

use std::error::Error;
use std::ffi::{c_char, c_void};
use std::fmt;

use crate::model::Model;

/// A design: a top module with its parameters.
#[derive(Debug)]
pub struct Design {
    name: &'static str,
    top: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    ports: &'static [Port],
    binding: Option<Binding>,
}

/// A port of the top module.
#[derive(Debug)]
pub struct Port {
    /// Its name.
    pub name: &'static str,
    /// Whether the model reads or writes it.
    pub direction: Direction,
    /// Its width in bits.
    pub width: u32,
}

/// The direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Read by the model.
    Input,
    /// Written by the model.
    Output,
}

/// The functions of a linked model. Only generated code creates values of this type.
#[derive(Debug)]
pub struct Binding {
    /// Creates a model.
    pub new: unsafe extern "C" fn() -> *mut c_void,
    /// Destroys a model.
    pub delete: unsafe extern "C" fn(*mut c_void),
    /// Evaluates a model.
    pub eval: unsafe extern "C" fn(*mut c_void),
    /// The storage of a port, by its number in [`Design::ports`].
    pub port: unsafe extern "C" fn(*mut c_void, u32) -> *mut u8,
    /// Writes the coverage counted so far to a file, if the model counts it.
    pub save_coverage: unsafe extern "C" fn(*mut c_void, *const c_char),
    /// Starts to write waveforms to a file. Returns false if the model cannot, or if the file
    /// cannot be created.
    pub record: unsafe extern "C" fn(*mut c_void, *const c_char) -> bool,
    /// Adds the current values to the waveforms, at this time.
    pub dump: unsafe extern "C" fn(*mut c_void, u64),
    /// The storage of a variable that the build script makes accessible, by its instance and name,
    /// or null. Also returns its shape: bits of a word, words, bytes from one word to the next.
    pub variable: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, *mut u32) -> *mut u8,
}

/// The design was built without Verilator, or was not among the designs that Verilator compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoVerilator {
    design: &'static str,
}

impl fmt::Display for NoVerilator {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "the design {} has no model: Verilator was not found, or not asked for it, when this program was built",
            self.design
        )
    }
}

impl Error for NoVerilator {}

impl Design {
    /// Creates a design, with its binding if it was compiled.
    ///
    /// # Safety
    /// The functions must all belong to the same Verilated model, and its ports must be these, in
    /// this order.
    pub const unsafe fn new(
        name: &'static str,
        top: &'static str,
        parameters: &'static [(&'static str, &'static str)],
        ports: &'static [Port],
        binding: Option<Binding>,
    ) -> Self {
        Self { name, top, parameters, ports, binding }
    }

    /// The name given in the build script.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The top module.
    pub fn top(&self) -> &'static str {
        self.top
    }

    /// The parameters set, as given in the build script.
    pub fn parameters(&self) -> &'static [(&'static str, &'static str)] {
        self.parameters
    }

    /// The value of a parameter that was set to a decimal number, with or without a width
    /// (`64'd17`).
    ///
    /// # Panics
    /// If the parameter is not set to such a number.
    pub fn parameter(&self, name: &str) -> u32 {
        let value = self.parameters.iter().find(|(parameter, _)| *parameter == name).map(|(_, value)| value);
        let digits = value.map(|value| value.split_once("'d").map_or(*value, |(_, digits)| digits));
        digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{}: no number {name}", self.name))
    }

    /// The ports of the top module; empty without Verilator.
    pub fn ports(&self) -> &'static [Port] {
        self.ports
    }

    /// The port with this name, if there is one.
    pub fn port(&self, name: &str) -> Option<&'static Port> {
        self.ports.iter().find(|port| port.name == name)
    }

    /// The port of a bus that is named by the prefix and the name, with or without `_i` or `_o`
    /// after it, if there is one.
    pub fn find_bus_port(&self, prefix: &str, name: &str) -> Option<&'static Port> {
        ["_i", "_o", ""].iter().find_map(|suffix| self.port(&format!("{prefix}{name}{suffix}")))
    }

    /// The port of a bus.
    ///
    /// # Panics
    /// If there is none: see [`Design::find_bus_port`].
    pub fn bus_port(&self, prefix: &str, name: &str) -> &'static Port {
        self.find_bus_port(prefix, name).unwrap_or_else(|| panic!("{} has no port {prefix}{name}", self.name))
    }

    /// Whether Verilator was available when the program was built.
    pub fn is_available(&self) -> bool {
        self.binding.is_some()
    }

    /// Creates a model with all inputs 0. Registers without reset have random values, the same
    /// every time.
    ///
    /// # Errors
    /// The program was built without Verilator.
    pub fn instantiate(&'static self) -> Result<Model, NoVerilator> {
        let binding = self.binding.as_ref().ok_or(NoVerilator { design: self.name })?;
        Ok(Model::new(self, binding))
    }

    /// Creates a model, for tests.
    ///
    /// # Panics
    /// If the program was built without Verilator.
    pub fn model(&'static self) -> Model {
        self.instantiate().unwrap_or_else(|error| panic!("{error}"))
    }
}
