//! The cards of this machine as devices that users choose by the name `cuda`.

use hearith_device::{
    Computes, ComputingDevice, DecryptingDevice, Decrypts, DeviceProvider, Error, State, System, Trust,
};
use hearith_paillier::{PrivateKey, PublicKey};

use crate::card::check_age;
use crate::choice::Choice;
use crate::driver::Driver;
use crate::fault::Fault;
use crate::images::suited;
use crate::shared::LoadedCards;

/// The system of graphics cards.
pub static CUDA: System = System { name: "cuda", does: "encrypts, adds and decrypts with Paillier keys" };

const REQUIRES: &str = "an NVIDIA card of compute capability 8.0 or newer, with driver 580 or newer";

/// The first card that has kernels.
pub static CARDS: Cards = Cards(Choice::First);

/// Cards of this machine.
#[derive(Debug)]
pub struct Cards(Choice);

/// A line with the state of every card: usable, or too old.
///
/// # Errors
/// The reason why there is no card at all.
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

impl DeviceProvider for Cards {
    fn system(&self) -> &'static System {
        &CUDA
    }

    fn state(&self) -> State {
        let found = describe();
        let available = Driver::load().and_then(|driver| self.0.cards(&driver)).is_ok();
        State { available, description: found.unwrap_or_else(|fault| fault.to_string()), requires: REQUIRES }
    }

    fn part(&self, which: &str) -> Option<&'static dyn DeviceProvider> {
        let choice = Choice::part(which).ok()?;
        // A program parses its engine name once, so the leak is small.
        Some(Box::leak(Box::new(Cards(choice))))
    }

    fn automatic(&self) -> Option<&'static dyn DeviceProvider> {
        static AUTOMATIC: Cards = Cards(Choice::Auto);
        Some(&AUTOMATIC)
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
        Ok(Box::new(LoadedCards::with_private(self.0, key, trust)?))
    }
}

impl Computes for Cards {
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error> {
        Ok(Box::new(LoadedCards::with_public(self.0, key, trust)?))
    }

    fn load_owner(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error> {
        Ok(Box::new(LoadedCards::with_private(self.0, key, trust)?))
    }
}
