//! Devices as engines: those in this program, and those that another build can have.

use hearith_columns::ErrorKind;
#[cfg(feature = "election")]
use hearith_device::ballot::{CountsBallots, MakesBallots};
use hearith_device::{Device, Error, Kind, SYSTEMS, System};

use crate::failure::Failure;
use crate::remote::failed as failed_at;

/// How to get the devices that are not built in.
pub(crate) const HOW: &str = "`cargo install --path crates/simulated` installs hearith-simulated, which simulates it";

/// The kinds of devices that whoever built the program gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Devices(pub(crate) &'static [&'static dyn Kind]);

impl Devices {
    /// The systems that there are drivers for, but no devices in this program.
    pub(crate) fn absent(self) -> impl Iterator<Item = &'static System> {
        SYSTEMS.iter().copied().filter(move |system| self.0.iter().all(|kind| kind.system() != *system))
    }

    /// The device of this name, `cuda`, or some of them, `cuda:1`; none if it is no device's.
    pub(crate) fn named(self, name: &str) -> Result<Option<&'static dyn Kind>, Failure> {
        if let Some((system, which)) = name.split_once(':')
            && let Some(kind) = self.named(system)?
        {
            let unknown = || {
                Failure::new(format!(
                    "there is no engine '{name}': it may be {system}, {system}:all, {system}:0 and so on"
                ))
            };
            return kind.part(which).map(Some).ok_or_else(unknown);
        }
        if self.absent().any(|system| system.name == name) {
            return Err(Failure::new(format!("the engine '{name}' is not built in: {HOW}")));
        }
        Ok(self.0.iter().find(|kind| kind.system().name == name).copied())
    }

    /// The device that takes the batches that are large enough, if there is one.
    pub(crate) fn automatic(self) -> Option<&'static dyn Kind> {
        self.0.iter().find_map(|kind| kind.automatic())
    }

    /// What makes ballots, and its name.
    #[cfg(feature = "election")]
    pub(crate) fn ballot_machine(self) -> Result<(&'static dyn Kind, &'static dyn MakesBallots), Failure> {
        self.machine(|kind| kind.makes_ballots())
    }

    /// What counts ballots, and its name.
    #[cfg(feature = "election")]
    pub(crate) fn tally_board(self) -> Result<(&'static dyn Kind, &'static dyn CountsBallots), Failure> {
        self.machine(|kind| kind.counts_ballots())
    }

    #[cfg(feature = "election")]
    fn machine<M: ?Sized>(
        self,
        able: impl Fn(&'static dyn Kind) -> Option<&'static M>,
    ) -> Result<(&'static dyn Kind, &'static M), Failure> {
        let machine = self.0.iter().find_map(|&kind| Some((kind, able(kind)?)));
        machine.ok_or_else(|| Failure::new(format!("no ballot machine is built in: {HOW}")))
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
    device.note(rows).map_err(|error| failed(kind, error))
}

/// Why a piece of a table could not be computed: a device's own failure, which its name stands
/// before, or what is wrong with the table or a service. The rows of a device are those that hold a
/// ciphertext, so its error is told without one.
pub(crate) fn failure(device: Option<&dyn Kind>, table: &str, error: hearith_columns::Error) -> Failure {
    let (ErrorKind::Device(cause) | ErrorKind::Service(cause)) = error.kind() else { return failed_at(table, error) };
    match (device, cause.downcast_ref::<Error>()) {
        (Some(kind), Some(cause)) => failed(kind, cause.kind().clone().into()),
        _ => failed_at(table, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_device::{State, System, mesa};

    #[derive(Debug)]
    struct Fake;

    impl Kind for Fake {
        fn system(&self) -> &'static System {
            &mesa::MESA
        }

        fn state(&self) -> State {
            State { available: true, description: String::new(), requires: "" }
        }
    }

    #[test]
    fn a_device_fails_by_its_name_and_a_table_by_its_own() {
        let [cause, other] = [3, 4].map(|row| Error::from(hearith_device::ErrorKind::NotAPlaintext).at_row(row));
        for kind in [ErrorKind::Device(Box::new(cause)), ErrorKind::Service(Box::new(other))] {
            let text = failure(Some(&Fake), "totals.parquet", kind.into()).to_string();
            assert_eq!(text, "engine mesa: the device returned something that is not a plaintext");
        }
        let error = ErrorKind::Overflow.in_column("salary").at_row(3);
        let text = failure(Some(&Fake), "totals.parquet", error).to_string();
        assert!(text.starts_with("totals.parquet: row 4, column salary: "), "{text}");
    }
}
