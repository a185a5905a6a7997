//! The designs compiled from `rtl/`. If they could not be compiled, using one reports the reason.

hearith_verilated::designs!();

/// The MESAs, smallest first.
#[cfg(feature = "mesa")]
pub static MESAS: [&hearith_verilated::Design; 5] = [&MESA_64, &MESA_128, &MESA_256, &MESA_1024, &MESA_2048];

/// The MESAs in dual numbers, smallest first.
#[cfg(feature = "mesa-dual")]
pub static MESAS_DUAL: [&hearith_verilated::Design; 5] =
    [&MESA_DUAL_64, &MESA_DUAL_128, &MESA_DUAL_256, &MESA_DUAL_1024, &MESA_DUAL_2048];

/// The residue banks, smallest first.
#[cfg(feature = "rns")]
pub static RESIDUE_BANKS: [&hearith_verilated::Design; 5] =
    [&RESIDUE_BANK_60, &RESIDUE_BANK_200, &RESIDUE_BANK_360, &RESIDUE_BANK_400, &RESIDUE_BANK_1440];

/// The co-processors, smallest first.
#[cfg(feature = "coproc")]
pub static COPROCS: [&hearith_verilated::Design; 3] = [&COPROC_64, &COPROC_256, &COPROC_512];

/// The encryptor boards of the ballot machine.
#[cfg(feature = "ballot-machine")]
pub static ENCRYPTOR_BOARDS: [&hearith_verilated::Design; 1] = [&ENCRYPTOR_BOARD];

/// The tally boards of the ballot machine.
#[cfg(feature = "ballot-machine")]
pub static TALLY_BOARDS: [&hearith_verilated::Design; 1] = [&TALLY_BOARD];

/// The accelerators of encryption over the integers, smallest first.
#[cfg(feature = "dghv")]
pub static DGHVS: [&hearith_verilated::Design; 2] = [&DGHV_TINY, &DGHV_SMALL];
