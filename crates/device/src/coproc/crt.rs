//! Decryption by the Chinese remainder theorem, on two co-processors for keys of half the length.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use hearith_arith::{Batch, Modulus, natural};
use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend, Plaintexts, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use super::constants::{Moduli, quotients};
use super::driver::Coproc;
use super::loaded::decrypt_error;
use crate::mesa::Secret;
use crate::mesa::constants::{less, merged};
use crate::{Counters, DecryptingDevice, Device, Error, ErrorKind, Transport, Trust};

/// Two co-processors that decrypt in parallel, one with `p` as its modulus, the other with `q`.
/// Each raises ciphertexts to its prime less 1, modulo the prime's square.
///
/// Compared with one device for the whole key, each has half the width and half the exponent bits.
/// Together they are about four times as fast as one device with the same number of multipliers.
/// They support no other operation with the key. Dropping this wipes both.
///
/// If a device loses its prime in a failure, the next batch reloads it.
#[derive(Debug)]
pub struct CrtCoproc {
    public: PublicKey,
    /// Arithmetic modulo `n`.
    root: Modulus,
    primes: [Prime; 2],
    /// The private key, for the checks.
    private: Option<PrivateKey>,
    devices: Mutex<[Coproc; 2]>,
}

/// The data of one prime.
struct Prime {
    moduli: Moduli,
    /// The secret exponent.
    exponent: Secret,
    /// The factor that maps `L(c^(p-1))` to its part of the plaintext modulo `n`.
    merged: Secret,
}

impl Prime {
    fn new(prime: &[u64], other: &[u64], root: &Modulus) -> Result<Self, Error> {
        let exponent = less(prime, 1);
        let merged = merged([prime, other], &exponent, root, 0).map_err(hearith_paillier::Error::from)?;
        Ok(Self { moduli: Moduli::new(root.engine(), prime)?, exponent, merged })
    }

    /// The part of the plaintexts modulo `n` that is 0 modulo the other prime.
    fn part(&self, root: &Modulus, device: &mut Coproc, ciphertexts: &Batch) -> Result<Batch, Error> {
        if !device.is_loaded() {
            device.load_modulus(&self.moduli, &self.exponent)?;
        }
        let powers = device.secret_powers(&self.moduli.squared.reduce(ciphertexts))?;
        let quotients = quotients(&powers, &self.moduli.n).ok_or(ErrorKind::NotAPlaintext)?;
        Ok(root.mul(&root.reduce(&quotients), &Batch::repeat(&self.merged, quotients.len())))
    }
}

impl std::fmt::Debug for Prime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prime")
    }
}

impl CrtCoproc {
    /// Opens the devices at the other ends of two transports and loads a private key.
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`] if a device is not for keys of exactly the primes' length, or a
    /// failure of a device.
    pub fn new(transports: [Box<dyn Transport>; 2], key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let public = key.public();
        let n =
            natural::from_be(&public.modulus_be(), public.plaintext_limbs()).expect("the modulus has so many limbs");
        let root = Modulus::new(public.engine(), &n).map_err(hearith_paillier::Error::from)?;
        let [p, q] = key.primes();
        let primes = [Prime::new(p, q, &root)?, Prime::new(q, p, &root)?];
        let [first, second] = transports;
        let mut devices = [Coproc::open(first)?, Coproc::open(second)?];
        for (device, prime) in devices.iter_mut().zip(&primes) {
            device.load_modulus(&prime.moduli, &prime.exponent)?;
        }
        let private = (trust == Trust::Checked).then(|| key.clone());
        Ok(Self { public: public.clone(), root, primes, private, devices: Mutex::new(devices) })
    }

    /// Decrypts every ciphertext, on both devices in parallel. Constant time in the key, the
    /// ciphertexts and the plaintexts.
    ///
    /// # Errors
    /// Those of [`Coproc::decrypt`].
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        self.public.check_coprime(ciphertexts)?;
        let [first, second] = &mut *self.devices();
        let decrypted = self.plaintexts(ciphertexts, [first, second]);
        if decrypted.is_err() {
            for device in [first, second] {
                // A failure to wipe adds nothing to this error, and dropping the driver wipes
                // again.
                let _ = device.wipe();
            }
        }
        decrypted
    }

    fn plaintexts(&self, ciphertexts: &Ciphertexts, devices: [&mut Coproc; 2]) -> Result<Plaintexts, Error> {
        let ([first, second], [p, q]) = (devices, &self.primes);
        let (root, batch) = (&self.root, ciphertexts.batch());
        let parts = thread::scope(|scope| {
            let other = scope.spawn(|| q.part(root, second, batch));
            let part = p.part(root, first, batch);
            Ok::<_, Error>([part?, other.join().expect("a driver does not panic")?])
        })?;
        let numbers = root.add(&parts[0], &parts[1]);
        let bytes = Zeroizing::new(numbers.to_be_bytes(self.public.plaintext_bytes()));
        let plaintexts = self.public.plaintexts_from_be(&bytes)?;
        match &self.private {
            Some(key) => super::driver::checked(key, ciphertexts, plaintexts),
            None => Ok(plaintexts),
        }
    }

    /// Locks the devices. After a panic they are flushed or failing, and can be queried either way.
    fn devices(&self) -> MutexGuard<'_, [Coproc; 2]> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DecryptionBackend for CrtCoproc {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.decrypt(ciphertexts).map_err(decrypt_error)
    }
}

impl Device for CrtCoproc {
    fn describe(&self) -> String {
        let devices = self.devices();
        let [first, second] = [&devices[0], &devices[1]].map(|device| device.parameters());
        format!("{}, two: N = {} with {} cores each", devices[0].describe(), first.bits, first.cores.min(second.cores))
    }

    /// Totals of both devices: the larger number of cycles, the sum of the products.
    fn counters(&mut self) -> Result<Counters, Error> {
        let [first, second] = &mut *self.devices();
        let (first, second) = (first.counters()?, second.counters()?);
        Ok(Counters {
            busy_cycles: first.busy_cycles.max(second.busy_cycles),
            products: first.products + second.products,
            discarded: first.discarded + second.discarded,
            ..first
        })
    }

    fn batch_size(&self) -> usize {
        self.devices()[0].batch_size()
    }
}

impl DecryptingDevice for CrtCoproc {}
