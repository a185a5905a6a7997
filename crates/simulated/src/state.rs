//! Which simulated devices there are.

use hearith_device::{State, System};
use hearith_verilated::Design;

/// The state of a system's designs, each described by its parameters.
pub(crate) fn state(system: &System, designs: &[&Design], describe: impl Fn(&Design) -> String) -> State {
    let available = designs.iter().any(|design| design.is_available());
    let sizes: Vec<String> = designs.iter().map(|design| describe(design)).collect();
    let description = match available {
        true => format!("{}, simulated: {}", system.does, sizes.join(", ")),
        false => String::new(),
    };
    State { available, description, requires: "Verilator, when Hearith is built" }
}
