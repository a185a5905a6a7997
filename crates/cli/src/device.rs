//! Devices as engines: those built in, and those that only another build contains.

use hearith_columns::ErrorKind;
#[cfg(feature = "election")]
use hearith_device::ballot::{CountsBallots, MakesBallots};
use hearith_device::{Device, DeviceProvider, Error, SYSTEMS, System};

use crate::failure::CliError;
use crate::remote::failed as failed_at;

/// How to get devices that are not built in.
pub(crate) const HOW: &str = "`cargo install --path crates/simulated` installs hearith-simulated, which simulates it";

/// The devices that are built into this program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Devices(pub(crate) &'static [&'static dyn DeviceProvider]);

impl Devices {
    /// Returns the systems that have a driver, but no device in this program.
    pub(crate) fn absent(self) -> impl Iterator<Item = &'static System> {
        SYSTEMS.iter().copied().filter(move |system| self.0.iter().all(|provider| provider.system() != *system))
    }

    /// Returns the device with this name (`cuda`) or a part of it (`cuda:1`). Returns `None` if no
    /// device has the name.
    pub(crate) fn named(self, name: &str) -> Result<Option<&'static dyn DeviceProvider>, CliError> {
        if let Some((system, which)) = name.split_once(':')
            && let Some(provider) = self.named(system)?
        {
            let unknown = || {
                CliError::new(format!(
                    "there is no engine '{name}': it may be {system}, {system}:all, {system}:0 and so on"
                ))
            };
            return provider.part(which).map(Some).ok_or_else(unknown);
        }
        if self.absent().any(|system| system.name == name) {
            return Err(CliError::new(format!("the engine '{name}' is not built in: {HOW}")));
        }
        Ok(self.0.iter().find(|provider| provider.system().name == name).copied())
    }

    /// Returns the device that takes batches automatically if they are large enough, if there is
    /// one.
    pub(crate) fn automatic(self) -> Option<&'static dyn DeviceProvider> {
        self.0.iter().find_map(|provider| provider.automatic())
    }

    /// Returns the device that makes ballots, with its provider.
    #[cfg(feature = "election")]
    pub(crate) fn ballot_machine(self) -> Result<(&'static dyn DeviceProvider, &'static dyn MakesBallots), CliError> {
        self.machine(|provider| provider.makes_ballots())
    }

    /// Returns the device that counts ballots, with its provider.
    #[cfg(feature = "election")]
    pub(crate) fn tally_board(self) -> Result<(&'static dyn DeviceProvider, &'static dyn CountsBallots), CliError> {
        self.machine(|provider| provider.counts_ballots())
    }

    #[cfg(feature = "election")]
    fn machine<M: ?Sized>(
        self,
        able: impl Fn(&'static dyn DeviceProvider) -> Option<&'static M>,
    ) -> Result<(&'static dyn DeviceProvider, &'static M), CliError> {
        let machine = self.0.iter().find_map(|&provider| Some((provider, able(provider)?)));
        machine.ok_or_else(|| CliError::new(format!("no ballot machine is built in: {HOW}")))
    }

    /// Lists the devices and what they do, for users who selected none. Empty if there are none.
    pub(crate) fn choice(self) -> String {
        let named = |provider: &&dyn DeviceProvider| format!("{} ({})", provider.system().name, provider.system().does);
        match self.0 {
            [] => String::new(),
            kinds => format!("; devices: {}", kinds.iter().map(named).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// A failure of a device, prefixed with the engine's name.
pub(crate) fn failed(provider: &dyn DeviceProvider, error: Error) -> CliError {
    CliError::at(format!("engine {}", provider.system().name), error)
}

/// Describes a device and its clock cycles.
pub(crate) fn note(
    provider: &dyn DeviceProvider,
    device: &mut (impl Device + ?Sized),
    rows: &str,
) -> Result<String, CliError> {
    device.note(rows).map_err(|error| failed(provider, error))
}

/// The failure for a piece of a table: a device's own failure, prefixed with its name, or a fault
/// of the table or a service.
///
/// A device counts only rows that hold a ciphertext, so its error is reported without a row.
pub(crate) fn failure(device: Option<&dyn DeviceProvider>, table: &str, error: hearith_columns::Error) -> CliError {
    let (ErrorKind::Device(cause) | ErrorKind::Service(cause)) = error.kind() else { return failed_at(table, error) };
    match (device, cause.downcast_ref::<Error>()) {
        (Some(provider), Some(cause)) => failed(provider, cause.kind().clone().into()),
        _ => failed_at(table, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_device::{State, System, mesa};

    #[derive(Debug)]
    struct Fake;

    impl DeviceProvider for Fake {
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
