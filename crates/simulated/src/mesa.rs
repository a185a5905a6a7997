//! The simulated MESAs.

use hearith_device::mesa::{Loaded, MESA, MesaParameters};

use crate::decryptors::Decryptors;
use crate::designs::MESAS;

pub(crate) static PROVIDER: Decryptors = Decryptors {
    system: &MESA,
    designs: &MESAS,
    units: |design| format!("{} MEs", 2 * design.parameter("Stages")),
    load: Loaded::<MesaParameters>::boxed,
};
