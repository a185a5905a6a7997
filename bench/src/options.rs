//! The few options that the programs share.

use crate::Result;
use std::path::PathBuf;

/// What the command line asks for.
pub struct Options {
    /// Key sizes, in bits of `n`, if any are named.
    pub bits: Vec<u32>,
    /// A short run that shows that everything works; its numbers mean little.
    pub quick: bool,
    /// A part of the name of what is to be measured, if not all is; for programs that measure many
    /// things apart.
    pub only: Option<String>,
    /// Where results go.
    pub out: PathBuf,
}

impl Options {
    /// From the arguments of this process.
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
