//! Settings of a simulated machine that deviate from the default.

use std::path::PathBuf;
use std::str::FromStr;

use hearith_device::{Error, ErrorKind};

use super::noise::NoiseFault;

/// The valid settings, for error messages.
const THERE_ARE: &str = "flash=FILE, wire=RATE or wire=cut, noise=stuck or noise=gone";

/// Settings of a simulated machine that deviate from the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    /// File for the content of its memory. Without it, the content is lost with the machine.
    pub(super) flash: Option<PathBuf>,
    /// Fraction of wrong bits on the serial line.
    pub(super) wire: Option<f64>,
    /// Whether the serial line is cut.
    pub(super) cut: bool,
    /// Fault of its noise source.
    pub(super) noise: Option<NoiseFault>,
}

impl FromStr for Settings {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut settings = Self::default();
        for setting in text.split(',').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("flash", path)) if !path.is_empty() => settings.flash = Some(path.into()),
                Some(("wire", "cut")) => settings.cut = true,
                Some(("wire", rate)) => {
                    let rate = rate.parse::<f64>().ok().filter(|rate| (0.0..=0.5).contains(rate));
                    let what = "wire=RATE takes the part of all bits that is wrong, from 0 to 0.5";
                    settings.wire = Some(rate.ok_or_else(|| ErrorKind::Settings { what: what.to_owned() })?);
                }
                Some(("noise", "stuck")) => settings.noise = Some(NoiseFault::Stuck),
                Some(("noise", "gone")) => settings.noise = Some(NoiseFault::Gone),
                _ => {
                    let what = format!("the simulated machine has no setting '{setting}': there are {THERE_ARE}");
                    return Err(ErrorKind::Settings { what }.into());
                }
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_what_they_say() {
        let read = |text: &str| text.parse::<Settings>();
        assert_eq!(read("").unwrap(), Settings::default());
        let all = read("flash=a b.bin,wire=1e-4,noise=gone").unwrap();
        assert_eq!((all.flash.unwrap().to_str(), all.wire, all.cut), (Some("a b.bin"), Some(1e-4), false));
        assert_eq!(all.noise, Some(NoiseFault::Gone));
        assert!(read("wire=cut").unwrap().cut);
        assert_eq!(read("noise=stuck").unwrap().noise, Some(NoiseFault::Stuck));
        for wrong in ["flash", "flash=", "wire=0.6", "wire=-1", "wire=nan", "noise=loud", "speed=1"] {
            assert!(matches!(read(wrong).unwrap_err().kind(), ErrorKind::Settings { .. }), "{wrong}");
        }
    }
}
