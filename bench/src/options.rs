//! The options that the programs share.

use crate::Result;
use std::path::PathBuf;

/// The options of the command line.
pub struct Options {
    /// Key sizes in bits of `n`, if given.
    pub bits: Vec<u32>,
    /// A short run that only shows that everything works. Its numbers mean little.
    pub quick: bool,
    /// Restricts the run to measurements whose name contains this text, for programs that measure
    /// many things separately.
    pub only: Option<String>,
    /// The directory for results.
    pub out: PathBuf,
}

impl Options {
    /// Parses the arguments of this process.
    pub fn from_args() -> Result<Self> {
        let mut options = Options {
            bits: Vec::new(),
            quick: false,
            only: None,
            out: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/results")),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--only" => options.only = Some(value()?),
                "--out" => options.out = value()?.into(),
                "--bits" => {
                    options.bits = value()?.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?
                }
                _ => return Err("options: [--quick] [--bits N,N...] [--only NAME] [--out FOLDER]".into()),
            }
        }
        std::fs::create_dir_all(&options.out)?;
        Ok(options)
    }
}
