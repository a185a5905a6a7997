//! The available simulated devices.

use hearith_device::{State, System};
use hearith_verilated::Design;

/// The state of a system's designs, each described by its parameters.
pub(crate) fn state(system: &System, designs: &[&Design], describe: impl Fn(&Design) -> String) -> State {
    let built = designs.iter().filter(|design| design.is_available());
    let sizes: Vec<String> = built.map(|design| describe(design)).collect();
    let description = match sizes.is_empty() {
        false => format!("{}, simulated: {}", system.does, sizes.join(", ")),
        true => String::new(),
    };
    State { available: !sizes.is_empty(), description, requires: "Verilator, when Hearith is built" }
}
