//! Whether a device's results are checked.

/// Whether what a device answers is checked before anything of it is given out.
///
/// A device that errs, be it in one bit of one constant of a key, gives wrong plaintexts, and one
/// of them with the right one beside it gives the key away (\[BDL97\]). So answers are checked
/// unless somebody asks for the contrary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trust {
    /// Every batch is checked on this CPU by random linear combinations, which no wrong batch
    /// passes but with a probability of `2^-64`
    /// ([`PrivateKey::check`](hearith_paillier::PrivateKey::check), for plaintexts). The driver
    /// keeps the private key for it, in this process's memory, and wipes it when it is dropped.
    #[default]
    Checked,
    /// Whatever is below the modulus is believed. **A faulty device then gives the private key
    /// away** to whoever sees what it decrypts; and a device that lies decides what the plaintexts
    /// are.
    Unchecked,
}
