//! Devices as engines: those that this program was built with, and those that it could have been.

use hearith_device::{Device, Error, Kind, SYSTEMS, System};

use crate::failure::Failure;

/// How to get the devices that are not built in.
pub(crate) const HOW: &str = "`cargo install --path crates/simulated` installs hearith-simulated, which simulates it";

/// The kinds of devices that whoever built the program gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Devices(pub(crate) &'static [&'static dyn Kind]);

impl Devices {
    /// The systems that there are drivers for, but no devices in this program.
    pub(crate) fn absent(self) -> impl Iterator<Item = &'static System> {
        SYSTEMS.into_iter().filter(move |system| self.0.iter().all(|kind| kind.system() != *system))
    }

    /// The device of this name; none if it is no device's.
    pub(crate) fn named(self, name: &str) -> Result<Option<&'static dyn Kind>, Failure> {
        if self.absent().any(|system| system.name == name) {
            return Err(Failure::new(format!("the engine '{name}' is not built in: {HOW}")));
        }
        Ok(self.0.iter().find(|kind| kind.system().name == name).copied())
    }

    /// The names and what they do, for whoever named none of them: nothing if there are none.
    pub(crate) fn choice(self) -> String {
        let named = |kind: &&dyn Kind| format!("{} ({})", kind.system().name, kind.system().does);
        match self.0 {
            [] => String::new(),
            kinds => format!("; devices: {}", kinds.iter().map(named).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// The failure of a device, which the engine's name stands before.
pub(crate) fn failed(kind: &dyn Kind, error: Error) -> Failure {
    Failure::at(format!("engine {}", kind.system().name), error)
}

/// What a device is and how many of its clock cycles it took.
pub(crate) fn note(kind: &dyn Kind, device: &mut (impl Device + ?Sized), rows: &str) -> Result<String, Failure> {
    let counters = device.counters().map_err(|error| failed(kind, error))?;
    let (cycles, delivered) = (counters.busy_cycles, counters.delivered);
    Ok(format!("{}: {cycles} cycles for {delivered} {rows}", device.describe()))
}
