//! The subject of comparisons: ways to carry out operations, and the libraries that do so.

use crate::Result;
use crate::workload::Workload;
use rug::{Complete, Integer};

/// An operation of Paillier's scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A plaintext to a ciphertext.
    Encrypt,
    /// A ciphertext to a plaintext.
    Decrypt,
    /// Two ciphertexts to a ciphertext of the sum.
    Add,
    /// A ciphertext and a 64-bit number to a ciphertext of the product.
    Scale,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 4] = [Operation::Encrypt, Operation::Decrypt, Operation::Add, Operation::Scale];
}

/// A way to carry out an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Public-key encryption with a fresh `r^n`.
    EncryptPublic,
    /// The key owner's encryption, through `p` and `q`.
    EncryptOwner,
    /// Encryption with a DJN key: `(h^n)^a`, a short exponent over a fixed base.
    EncryptDjn,
    /// The online part of encryption with precomputed randomisers.
    EncryptOnline,
    /// Decryption with `lambda` and `mu`.
    DecryptStandard,
    /// Decryption by the Chinese remainder theorem (the paper's Algorithm 3).
    DecryptCrt,
    /// Decryption with merged constants (the paper's Algorithm 4).
    DecryptEcrt,
    /// Decryption by dual-number arithmetic, the default.
    DecryptDual,
    /// The default decryption, one ciphertext per call.
    DecryptOne,
    /// Addition of two ciphertexts.
    Add,
    /// Multiplication by a 64-bit number.
    Scale,
}

impl Way {
    /// Every way.
    pub const ALL: [Way; 11] = [
        Way::EncryptPublic,
        Way::EncryptOwner,
        Way::EncryptDjn,
        Way::EncryptOnline,
        Way::DecryptStandard,
        Way::DecryptCrt,
        Way::DecryptEcrt,
        Way::DecryptDual,
        Way::DecryptOne,
        Way::Add,
        Way::Scale,
    ];

    /// The operation that this way carries out.
    pub fn operation(self) -> Operation {
        match self {
            Way::EncryptPublic | Way::EncryptOwner | Way::EncryptDjn | Way::EncryptOnline => Operation::Encrypt,
            Way::Add => Operation::Add,
            Way::Scale => Operation::Scale,
            _ => Operation::Decrypt,
        }
    }

    /// The title in tables.
    pub fn title(self) -> &'static str {
        match self {
            Way::EncryptPublic => "encrypt, public key (r^n)",
            Way::EncryptOwner => "encrypt, key owner",
            Way::EncryptDjn => "encrypt, DJN",
            Way::EncryptOnline => "encrypt, online part",
            Way::DecryptStandard => "decrypt, standard",
            Way::DecryptCrt => "decrypt, crt",
            Way::DecryptEcrt => "decrypt, ecrt",
            Way::DecryptDual => "decrypt, dual (default)",
            Way::DecryptOne => "decrypt, dual, one a call",
            Way::Add => "add",
            Way::Scale => "scalar, 64 bits",
        }
    }

    /// The name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Way::EncryptPublic => "encrypt_public",
            Way::EncryptOwner => "encrypt_owner",
            Way::EncryptDjn => "encrypt_djn",
            Way::EncryptOnline => "encrypt_online",
            Way::DecryptStandard => "decrypt_standard",
            Way::DecryptCrt => "decrypt_crt",
            Way::DecryptEcrt => "decrypt_ecrt",
            Way::DecryptDual => "decrypt_dual",
            Way::DecryptOne => "decrypt_one",
            Way::Add => "add",
            Way::Scale => "scalar64",
        }
    }
}

/// A library with a workload loaded.
pub trait Contestant {
    /// The name in tables.
    fn name(&self) -> &str;

    /// The ways that it supports.
    fn ways(&self) -> &[Way];

    /// Its way that is the fair comparison to one of ours, if there is one.
    fn comparable(&self, way: Way) -> Option<Way>;

    /// The least number of rows that fill the library's lanes.
    fn fewest_rows(&self) -> usize {
        1
    }

    /// Carries a way out on the first `rows` rows, `repeats` times, and returns the seconds.
    fn run(&mut self, way: Way, rows: usize, repeats: usize) -> Result<f64>;

    /// The results of a way on the first `rows` rows.
    fn output(&mut self, way: Way, rows: usize) -> Result<Vec<Integer>>;
}

/// Checks a library's results against the textbook formulas.
pub fn check(contestant: &mut dyn Contestant, way: Way, workload: &Workload) -> Result<()> {
    let rows = 3;
    let output = contestant.output(way, rows)?;
    let expected: Vec<Integer> = (0..rows).map(|row| expected(way, workload, row)).collect();
    let found: Vec<Integer> = match way.operation() {
        Operation::Encrypt => output.iter().map(|ciphertext| workload.decrypt(ciphertext)).collect(),
        _ => output.clone(),
    };
    if found != expected {
        return Err(format!("{}: {}: wrong result at {} bits", contestant.name(), way.title(), workload.bits).into());
    }
    if way.operation() == Operation::Encrypt && contestant.output(way, rows)? == output {
        return Err(format!("{}: {}: the same randomisers twice", contestant.name(), way.title()).into());
    }
    Ok(())
}

/// The expected result of a row; for encryption, the expected result of its decryption.
fn expected(way: Way, workload: &Workload, row: usize) -> Integer {
    let left = &workload.left[row];
    match way.operation() {
        Operation::Encrypt | Operation::Decrypt => workload.plaintexts[row].clone(),
        Operation::Add => (left * &workload.right[row]).complete() % &workload.n_squared,
        Operation::Scale => left
            .pow_mod_ref(&Integer::from(workload.scalars[row]), &workload.n_squared)
            .map(Integer::from)
            .expect("a positive exponent"),
    }
}
