//! The cards of this machine as devices that users choose by the name `cuda`.

use hearith_device::{Computes, ComputingDevice, DecryptingDevice, Decrypts, Error, Kind, State, System, Trust};
use hearith_paillier::{PrivateKey, PublicKey};

use crate::LoadedCard;
use crate::card::check_age;
use crate::driver::Driver;
use crate::fault::Fault;
use crate::images::suited;
use crate::loaded::failed;

/// Graphics cards, as users know them.
pub static CUDA: System = System { name: "cuda", does: "encrypts, adds and decrypts with Paillier keys" };

const REQUIRES: &str = "an NVIDIA card of compute capability 8.0 or newer, with driver 580 or newer";

/// The first card that has kernels. `CUDA_VISIBLE_DEVICES`, which the driver heeds, chooses among
/// several.
pub static CARDS: Cards = Cards(());

/// The cards of this machine.
#[derive(Debug)]
pub struct Cards(());

impl Cards {
    /// The driver and the number of the first card that has kernels.
    fn first() -> Result<(Driver, usize), Fault> {
        let driver = Driver::load()?;
        let mut too_old = Fault::NoCard;
        for number in 0..driver.count()? {
            match check_age(&driver.properties(number)?) {
                Ok(()) => return Ok((driver, number)),
                Err(fault) => too_old = fault,
            }
        }
        Err(too_old)
    }
}

/// What there is of each card, in one line: found, no driver, or too old.
///
/// # Errors
/// Why there is no card at all.
pub fn describe() -> Result<String, Fault> {
    let driver = Driver::load()?;
    let count = driver.count()?;
    if count == 0 {
        return Err(Fault::NoCard);
    }
    let card = |number| {
        let properties = driver.properties(number)?;
        Ok(match check_age(&properties) {
            Ok(()) => format!("card {number}: {properties}, {} kernels", suited(properties.capability)),
            Err(fault) => format!("card {number}: {fault}"),
        })
    };
    Ok((0..count).map(card).collect::<Result<Vec<_>, Fault>>()?.join("; "))
}

impl Kind for Cards {
    fn system(&self) -> &'static System {
        &CUDA
    }

    fn state(&self) -> State {
        let found = describe();
        let available = Cards::first().is_ok();
        State { available, description: found.unwrap_or_else(|fault| fault.to_string()), requires: REQUIRES }
    }

    fn decrypts(&self) -> Option<&dyn Decrypts> {
        Some(self)
    }

    fn computes(&self) -> Option<&dyn Computes> {
        Some(self)
    }
}

impl Decrypts for Cards {
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error> {
        let (driver, number) = Cards::first().map_err(failed)?;
        Ok(Box::new(LoadedCard::with_private(&driver, number, key, trust)?))
    }
}

impl Computes for Cards {
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error> {
        let (driver, number) = Cards::first().map_err(failed)?;
        Ok(Box::new(LoadedCard::with_public(&driver, number, key, trust)?))
    }
}
