//! Hearith on one engine.

use crate::Result;
use crate::contestant::{Contestant, Operation, Way};
use crate::number::{from_be, to_be};
use crate::workload::{SCALAR_BITS, Workload};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Randomisers};
use rug::Integer;
use rug::integer::Order;
use std::hint::black_box;
use std::time::Instant;

/// Hearith with a workload loaded.
pub struct Ours {
    name: String,
    /// Without the generator, so that it encrypts with `r^n`.
    standard: PublicKey,
    djn: PublicKey,
    private: PrivateKey,
    /// Without the generator, so that it encrypts through the primes.
    owner: PrivateKey,
    paper: PaperKey,
    plaintexts: Plaintexts,
    left: Ciphertexts,
    right: Ciphertexts,
    scalars: Vec<i128>,
}

/// The first rows of the inputs.
struct Rows {
    plaintexts: Plaintexts,
    left: Ciphertexts,
    right: Ciphertexts,
    scalars: Vec<i128>,
    singles: Vec<Ciphertexts>,
}

impl Ours {
    /// Prepares the workload for an engine.
    pub fn new(workload: &Workload, engine: Engine) -> Result<Self> {
        let private = PrivateKey::from_jwk(&workload.jwk, KeyPolicy::AllowInsecure, engine)?;
        let djn = private.public().clone();
        let standard = PublicKey::new(&djn.modulus_be(), None, KeyPolicy::AllowInsecure, engine)?;
        let [p, q] = [&workload.p, &workload.q].map(|prime| prime.to_digits::<u8>(Order::MsfBe));
        let owner = PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, engine)?;
        let bytes = |numbers: &[Integer], width: usize| -> Vec<u8> {
            numbers.iter().flat_map(|number| to_be(number, width)).collect()
        };
        Ok(Ours {
            name: format!("hearith ({engine})"),
            plaintexts: djn.plaintexts_from_be(&bytes(&workload.plaintexts, djn.plaintext_bytes()))?,
            left: djn.ciphertexts_from_be(&bytes(&workload.left, djn.ciphertext_bytes()))?,
            right: djn.ciphertexts_from_be(&bytes(&workload.right, djn.ciphertext_bytes()))?,
            scalars: workload.scalars.iter().copied().map(i128::from).collect(),
            standard,
            djn,
            paper: PaperKey::new(&private)?,
            private,
            owner,
        })
    }

    fn rows(&self, rows: usize) -> Result<Rows> {
        Ok(Rows {
            plaintexts: self.plaintexts.range(0..rows)?,
            left: self.left.range(0..rows)?,
            right: self.right.range(0..rows)?,
            scalars: self.scalars[..rows].to_vec(),
            singles: (0..rows).map(|row| self.left.range(row..row + 1)).collect::<std::result::Result<_, _>>()?,
        })
    }

    /// Randomisers for the online part; empty for the other ways.
    fn pool(&self, way: Way, len: usize) -> Result<Randomisers> {
        Ok(self.owner.randomisers(if way == Way::EncryptOnline { len } else { 0 })?)
    }

    fn encrypt(&self, way: Way, input: &Rows, pool: &mut Randomisers) -> Result<Ciphertexts> {
        Ok(match way {
            Way::EncryptPublic => self.standard.encrypt(&input.plaintexts)?,
            Way::EncryptOwner => self.owner.encrypt(&input.plaintexts)?,
            Way::EncryptDjn => self.djn.encrypt(&input.plaintexts)?,
            Way::EncryptOnline => self.standard.encrypt_with(&input.plaintexts, pool)?,
            Way::Add => self.djn.add(&input.left, &input.right)?,
            Way::Scale => self.djn.multiply_deterministic(&input.left, &input.scalars, SCALAR_BITS)?,
            _ => return Err("gives plaintexts".into()),
        })
    }

    fn decrypt(&self, way: Way, input: &Rows) -> Result<Plaintexts> {
        let algorithm = match way {
            Way::DecryptStandard => Decryption::Standard,
            Way::DecryptCrt => Decryption::Crt,
            Way::DecryptEcrt => Decryption::Ecrt,
            Way::DecryptDual => return Ok(self.private.decrypt(&input.left)?),
            Way::DecryptOne => {
                let rows: Vec<_> =
                    input.singles.iter().map(|row| self.private.decrypt(row)).collect::<std::result::Result<_, _>>()?;
                let (first, rest) = rows.split_first().ok_or("no rows")?;
                return Ok(Plaintexts::concat(first, &rest.iter().collect::<Vec<_>>())?);
            }
            _ => return Err("gives ciphertexts".into()),
        };
        Ok(self.paper.decrypt(algorithm, &input.left)?)
    }
}

impl Contestant for Ours {
    fn name(&self) -> &str {
        &self.name
    }

    fn ways(&self) -> &[Way] {
        &Way::ALL
    }

    fn comparable(&self, way: Way) -> Option<Way> {
        Some(way)
    }

    fn fewest_rows(&self) -> usize {
        16
    }

    fn run(&mut self, way: Way, rows: usize, repeats: usize) -> Result<f64> {
        let input = self.rows(rows)?;
        let mut pool = self.pool(way, rows * repeats)?;
        let start = Instant::now();
        for _ in 0..repeats {
            if way.operation() == Operation::Decrypt {
                black_box(self.decrypt(way, &input)?);
            } else {
                black_box(self.encrypt(way, &input, &mut pool)?);
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn output(&mut self, way: Way, rows: usize) -> Result<Vec<Integer>> {
        let input = self.rows(rows)?;
        let (bytes, width) = if way.operation() == Operation::Decrypt {
            (self.decrypt(way, &input)?.to_be_bytes().to_vec(), self.djn.plaintext_bytes())
        } else {
            let mut pool = self.pool(way, rows)?;
            (self.encrypt(way, &input, &mut pool)?.to_be_bytes(), self.djn.ciphertext_bytes())
        };
        Ok(bytes.chunks_exact(width).map(from_be).collect())
    }
}
