//! The simulated MESAs in dual numbers.

use hearith_device::mesa::{Loaded, MESA_DUAL, MesaDualParameters};

use crate::decryptors::Decryptors;
use crate::designs::MESAS_DUAL;

pub(crate) static PROVIDER: Decryptors = Decryptors {
    system: &MESA_DUAL,
    designs: &MESAS_DUAL,
    units: |design| format!("{} lanes", 2 * design.parameter("Lanes")),
    load: Loaded::<MesaDualParameters>::boxed,
};
