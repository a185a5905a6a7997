//! The choice whether to check a device's results.

/// Whether the driver checks a device's answers before it returns any of them.
///
/// A device that errs, even in one bit of one constant of a key, returns wrong plaintexts. A wrong
/// plaintext together with the right one leaks the key (\[BDL97\]). Answers are therefore checked
/// by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trust {
    /// Every batch is checked on this CPU by random linear combinations.
    ///
    /// A wrong batch passes with a probability of at most `2^-64`
    /// ([`PrivateKey::check`](hearith_paillier::PrivateKey::check), for plaintexts). The driver
    /// keeps the private key in this process's memory for the check and wipes it on drop.
    #[default]
    Checked,
    /// Every answer below the modulus is accepted. **A faulty device then leaks the private key**
    /// to anyone who sees its plaintexts, and a malicious device can choose the plaintexts.
    Unchecked,
}
