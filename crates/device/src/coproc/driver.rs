//! The driver of the co-processor.

use hearith_arith::{Batch, Exponents, natural};
use hearith_paillier::{Ciphertexts, ErrorKind as SchemeErrorKind, KeyId, Plaintexts, PrivateKey, PublicKey};

use super::command::{self, Command, Number, Operation, Refusal};
use super::constants::{Finish, Moduli, exponent_bits, secret_exponent};
use super::parameters::CoprocParameters;
use super::randomness;
use crate::accelerator::Accelerator;
use crate::mesa::{Constant, Secret};
use crate::randomised::{self, Payload, Randomisers};
use crate::registers::coproc::IDENTITY;
use crate::{Counters, Error, ErrorKind, Transport, Trust};

const NAME: &str = "co-processor";
/// Commands sent at a time, a limit on the memory of a batch.
const CHUNK: usize = 4096;
/// One in this many results is recomputed, where no combined check is cheaper than computing them
/// again.
const SAMPLED: usize = 16;

/// A co-processor behind a transport. Dropping it wipes the key on the device.
///
/// Answers are checked unless [`Trust::Unchecked`] is set. Random linear combinations check whole
/// batches of encryptions, re-randomisations and decryptions; a wrong plaintext passes with a
/// probability of at most `2^-64`. Sums and products have no check that is cheaper than computing
/// them. Of each batch, one result in 16 and at least one is therefore recomputed, selected
/// unpredictably. If a batch fails its check, no result is returned and the device is wiped.
#[derive(Debug)]
pub struct Coproc {
    device: Accelerator,
    parameters: CoprocParameters,
    trust: Trust,
    key: Option<LoadedKey>,
    /// Whether the device has the constants of a modulus.
    loaded: bool,
}

/// The driver's data of the key on the device.
struct LoadedKey {
    public: PublicKey,
    moduli: Moduli,
    /// The comb's entries, if the key has a generator.
    comb: Option<Batch>,
    /// Whether the comb is on the device: a flush drops it.
    combed: bool,
    finish: Option<Finish>,
    /// The private key, for checks of decryptions.
    private: Option<PrivateKey>,
}

/// Plaintext integers that ciphertexts are multiplied by.
#[derive(Clone, Copy, Debug)]
pub enum Scalars<'a> {
    /// Public numbers: the time depends on the length of the longest.
    Public(&'a Plaintexts),
    /// Secret numbers: the time is that of the longest possible number.
    Secret(&'a Plaintexts),
}

impl Coproc {
    /// Opens the device at the other end of a transport.
    ///
    /// # Errors
    /// There is no co-processor, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, Error> {
        let device = Accelerator::open(transport, NAME, IDENTITY)?;
        let unknown = ErrorKind::UnknownParameters { name: NAME };
        let parameters = CoprocParameters::read(device.parameters()).ok_or(unknown)?;
        Ok(Self { device, parameters, trust: Trust::default(), key: None, loaded: false })
    }

    /// Sets whether answers are checked, from the next key on. They are by default.
    pub fn with_trust(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }

    /// The parameters that the device was built with.
    pub fn parameters(&self) -> CoprocParameters {
        self.parameters
    }

    /// The location of the device, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// Whether a key is loaded.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Number of commands from which the time to fill the device is negligible.
    pub fn batch_size(&self) -> usize {
        self.parameters.batch_size()
    }

    /// Loads a public key of exactly the device's size, and the comb of a DJN or subgroup key.
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`], or a failure of the device, which then has no key.
    pub fn load_key(&mut self, key: &PublicKey) -> Result<(), Error> {
        self.load(key, None)
    }

    /// Loads a private key: as [`Coproc::load_key`], plus the secret exponent with which the device
    /// decrypts.
    ///
    /// The constant for the last step of decryptions stays in this process, and so does the key
    /// itself if answers are checked.
    ///
    /// # Errors
    /// Those of [`Coproc::load_key`].
    pub fn load_private_key(&mut self, key: &PrivateKey) -> Result<(), Error> {
        self.load(key.public(), Some(key))
    }

    fn load(&mut self, public: &PublicKey, private: Option<&PrivateKey>) -> Result<(), Error> {
        self.key = None;
        let (bits, takes) = (public.bits(), self.parameters.bits);
        if bits != takes {
            return Err(ErrorKind::KeySize { bits, takes }.into());
        }
        let moduli = Moduli::of(public)?;
        let mut constants = moduli.constants(&self.parameters)?;
        let mut finish = None;
        if let Some(key) = private {
            let (made, exponent) = Finish::new(key, &self.parameters)?;
            constants.push(exponent);
            finish = Some(made);
        }
        self.write(&constants)?;
        self.key = Some(LoadedKey {
            comb: moduli.comb(public, &self.parameters),
            public: public.clone(),
            moduli,
            combed: false,
            finish,
            private: private.filter(|_| self.trust == Trust::Checked).cloned(),
        });
        Ok(())
    }

    /// Loads a modulus that is no key, such as a prime of one, and a secret exponent of at most as
    /// many bits, for [`Coproc::secret_powers`].
    pub(super) fn load_modulus(&mut self, moduli: &Moduli, exponent: &Secret) -> Result<(), Error> {
        (self.key, self.loaded) = (None, false);
        let (bits, takes) = (natural::bit_length(&moduli.n), self.parameters.bits);
        if bits != takes {
            return Err(ErrorKind::KeySize { bits, takes }.into());
        }
        let mut constants = moduli.constants(&self.parameters)?;
        constants.push(secret_exponent(exponent.clone(), &self.parameters));
        self.write(&constants)
    }

    /// Whether a modulus is loaded, of a key or not.
    pub(super) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// The powers of numbers below the square of the modulus, by the loaded exponent. Results are
    /// not checked.
    pub(super) fn secret_powers(&mut self, numbers: &Batch) -> Result<Batch, Error> {
        let commands: Vec<Command<'_>> = numbers.rows().map(|x| Command::new(Operation::Decrypt, x, &[])).collect();
        self.send(&commands)
    }

    /// Replaces everything that an earlier key left, above all its secret exponent, with these
    /// constants.
    fn write(&mut self, constants: &[Constant]) -> Result<(), Error> {
        self.loaded = false;
        self.device.wipe()?;
        self.device.load_key(constants.iter().map(|(region, limbs, bits)| (*region, &limbs[..], *bits)))?;
        self.loaded = true;
        Ok(())
    }

    /// Runs raw commands and returns for each a number or the reason for refusal. Results are not
    /// checked. Groups and the comb are empty at the beginning.
    ///
    /// # Errors
    /// [`ErrorKind::NoKey`], or any failure of the device.
    ///
    /// # Panics
    /// If an operand has more limbs than a number modulo `n^2`.
    pub fn run(&mut self, commands: &[Command<'_>]) -> Result<Vec<Result<Number, Refusal>>, Error> {
        self.key()?;
        self.flush()?;
        let results = self.exchange(commands);
        let results = self.recover_after(results)?;
        self.flush()?;
        Ok(results)
    }

    /// Encrypts every plaintext with a randomiser of its own from the operating system's generator.
    ///
    /// The randomiser is `r^n`, or a power of `h^n` by the comb if the key has a generator. For a
    /// subgroup key the exponents have the length that the key states.
    ///
    /// # Errors
    /// Those of [`PublicKey::encrypt`], or any failure of the device.
    pub fn encrypt(&mut self, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        self.check_key_id(plaintexts.key_id())?;
        self.randomised(Payload::Plaintexts(plaintexts.batch()))
    }

    /// Returns other ciphertexts of the same plaintexts. They cannot be linked to the given ones
    /// without the private key.
    ///
    /// # Errors
    /// Those of [`PublicKey::rerandomise`], or any failure of the device.
    pub fn rerandomise(&mut self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_key_id(ciphertexts.key_id())?;
        self.randomised(Payload::Numbers(ciphertexts.batch()))
    }

    /// Adds row by row and returns the ciphertexts of the sums.
    ///
    /// # Errors
    /// Those of [`PublicKey::add`], or any failure of the device.
    pub fn add(&mut self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_key_id(a.key_id())?;
        self.check_key_id(b.key_id())?;
        same_length(a.len(), b.len())?;
        let rows = a.batch().rows().zip(b.batch().rows());
        let commands: Vec<Command<'_>> = rows.map(|(x, y)| Command::new(Operation::Multiply, x, y)).collect();
        let results = self.send(&commands).and_then(|results| {
            let key = self.key()?;
            self.spot_check(&results, |rows| key.moduli.squared.mul(&a.batch().select(rows), &b.batch().select(rows)))?;
            key.ciphertexts(&results)
        });
        self.recover_after(results)
    }

    /// Multiplies plaintexts by plaintext integers, row by row, and returns the ciphertexts of the
    /// products.
    ///
    /// The results are powers and are not re-randomised: anyone who has the ciphertext can test
    /// guesses of the number.
    ///
    /// # Errors
    /// [`WrongKey`](SchemeErrorKind::WrongKey), [`Lengths`](SchemeErrorKind::Lengths), or any
    /// failure of the device.
    pub fn multiply(&mut self, ciphertexts: &Ciphertexts, scalars: Scalars<'_>) -> Result<Ciphertexts, Error> {
        let (Scalars::Public(by) | Scalars::Secret(by)) = scalars;
        self.check_key_id(ciphertexts.key_id())?;
        self.check_key_id(by.key_id())?;
        same_length(ciphertexts.len(), by.len())?;
        let length = match scalars {
            Scalars::Public(by) => by.batch().rows().map(natural::bit_length).max().unwrap_or(1).max(1),
            Scalars::Secret(_) => self.parameters.bits,
        };
        self.powers(ciphertexts.batch(), by.batch(), length)
    }

    /// Multiplies plaintexts by integers of magnitude below `2^bits`, row by row. The results equal
    /// those of [`PublicKey::multiply_deterministic`]. The time depends on `bits` alone.
    ///
    /// # Errors
    /// Those of [`PublicKey::multiply_deterministic`], or any failure of the device.
    pub fn multiply_signed(
        &mut self,
        ciphertexts: &Ciphertexts,
        scalars: &[i128],
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        self.check_key_id(ciphertexts.key_id())?;
        same_length(ciphertexts.len(), scalars.len())?;
        let inverses = self.key()?.public.negate(ciphertexts)?;
        let (mut bases, mut magnitudes) = (ciphertexts.batch().clone(), Batch::zeros(scalars.len(), 2));
        for (row, &scalar) in scalars.iter().enumerate() {
            let sign = (scalar >> 127) as u128;
            let magnitude = (scalar as u128 ^ sign).wrapping_sub(sign);
            // This branch reveals nothing about a valid scalar.
            if magnitude.checked_shr(bits).unwrap_or(0) != 0 {
                return Err(Error::from(ErrorKind::Scheme(SchemeErrorKind::ScalarTooLarge { bits })).at_row(row));
            }
            natural::assign_if(bases.row_mut(row), inverses.batch().row(row), sign as u64 & 1);
            magnitudes.row_mut(row).copy_from_slice(&[magnitude as u64, (magnitude >> 64) as u64]);
        }
        self.powers(&bases, &magnitudes, bits.clamp(1, i128::BITS))
    }

    /// Powers with exponents of `length` bits, row by row.
    fn powers(&mut self, bases: &Batch, exponents: &Batch, length: u32) -> Result<Ciphertexts, Error> {
        let power = |(x, y)| Command { length, ..Command::new(Operation::Power, x, y) };
        let commands: Vec<Command<'_>> = bases.rows().zip(exponents.rows()).map(power).collect();
        let results = self.send(&commands).and_then(|results| {
            let key = self.key()?;
            self.spot_check(&results, |rows| {
                let exponents = exponents.select(rows);
                key.moduli.squared.pow(&bases.select(rows), Exponents::Each(&exponents, length))
            })?;
            key.ciphertexts(&results)
        });
        self.recover_after(results)
    }

    /// Returns a ciphertext of the sum of each group of rows, given by row numbers: as
    /// [`PublicKey::sum_groups`].
    ///
    /// # Errors
    /// Those of [`PublicKey::sum_groups`], or any failure of the device.
    pub fn sum_groups(&mut self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, Error> {
        self.check_key_id(ciphertexts.key_id())?;
        let rows = ciphertexts.len();
        if let Some(&beyond) = groups.iter().flatten().find(|&&row| row as usize >= rows) {
            return Err(Error::from(ErrorKind::Scheme(SchemeErrorKind::NoSuchRow { rows })).at_row(beyond as usize));
        }
        let results = self.totals(ciphertexts.batch(), groups).and_then(|totals| {
            let key = self.key()?;
            self.spot_check(&totals, |chosen| {
                let groups: Vec<&Vec<u32>> = chosen.iter().map(|&group| &groups[group]).collect();
                key.moduli.squared.products(ciphertexts.batch(), &groups)
            })?;
            key.ciphertexts(&totals)
        });
        self.recover_after(results)
    }

    /// Returns a ciphertext of the sum of all rows, as a batch of one. Without rows it is the
    /// trivial ciphertext of 0.
    ///
    /// # Errors
    /// Those of [`Coproc::sum_groups`].
    pub fn sum(&mut self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.sum_groups(ciphertexts, &[(0..).take(ciphertexts.len()).collect()])
    }

    /// Decrypts every ciphertext.
    ///
    /// The device raises it to the secret exponent, and the driver computes the plaintext from the
    /// power. Constant time in the key, the ciphertexts and the plaintexts.
    ///
    /// # Errors
    /// Those of [`PrivateKey::decrypt`], [`ErrorKind::NoKey`] for a public key, or any failure of
    /// the device.
    pub fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        self.check_key_id(ciphertexts.key_id())?;
        let key = self.key()?;
        if key.finish.is_none() {
            return Err(ErrorKind::NoKey.into());
        }
        key.public.check_coprime(ciphertexts)?;
        let results = self.secret_powers(ciphertexts.batch());
        let results = results.and_then(|powers| self.key()?.plaintexts(ciphertexts, &powers));
        self.recover_after(results)
    }

    /// The device's counters. A product is one modulo `n^2`.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        self.device.counters()
    }

    /// Clears the key on the device and drops everything in flight.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn wipe(&mut self) -> Result<(), Error> {
        (self.key, self.loaded) = (None, false);
        self.device.wipe()
    }

    /// The driver's data of the loaded key.
    fn key(&self) -> Result<&LoadedKey, Error> {
        self.key.as_ref().ok_or_else(|| ErrorKind::NoKey.into())
    }

    /// Fails unless the id is that of the loaded key.
    fn check_key_id(&self, found: KeyId) -> Result<(), Error> {
        let expected = self.key()?.public.id();
        if expected == found {
            return Ok(());
        }
        Err(ErrorKind::Scheme(SchemeErrorKind::WrongKey { expected, found }).into())
    }

    /// Multiplies payloads by fresh randomisers.
    fn randomised(&mut self, payload: Payload<'_>) -> Result<Ciphertexts, Error> {
        let results = self.randomise(&payload);
        self.recover_after(results)
    }

    fn randomise(&mut self, payload: &Payload<'_>) -> Result<Ciphertexts, Error> {
        let bits = exponent_bits(&self.key()?.public);
        let combed = self.comb()?;
        let numbers = match payload {
            Payload::Plaintexts(numbers) | Payload::Numbers(numbers) => *numbers,
        };
        let drawn = match combed {
            true => randomness::bits(numbers.len(), natural::limbs_of(bits), bits)?,
            false => randomness::residues(numbers.len(), &self.key()?.moduli.n)?,
        };
        let operation = match (combed, payload) {
            (true, Payload::Plaintexts(_)) => Operation::CombEncrypt,
            (true, Payload::Numbers(_)) => Operation::CombRerandomise,
            (false, Payload::Plaintexts(_)) => Operation::Encrypt,
            (false, Payload::Numbers(_)) => Operation::Rerandomise,
        };
        let command = |(number, drawn)| match combed {
            true => Command { length: bits, ..Command::new(operation, number, drawn) },
            false => Command::new(operation, drawn, number),
        };
        let commands: Vec<Command<'_>> = numbers.rows().zip(drawn.rows()).map(command).collect();
        let results = self.send(&commands)?;
        let key = self.key()?;
        let ciphertexts = key.ciphertexts(&results)?;
        if self.trust == Trust::Checked {
            let randomisers = match &key.comb {
                // Entry 1 is the base.
                Some(comb) => Randomisers::Comb(comb.row(1), &drawn, bits),
                None => Randomisers::Units(&drawn),
            };
            randomised::check(&key.moduli.n, &key.moduli.squared, &results, &randomisers, payload)?;
        }
        Ok(ciphertexts)
    }

    /// Loads the comb if necessary. Returns whether the key has one.
    fn comb(&mut self) -> Result<bool, Error> {
        let key = self.key.as_ref().ok_or(ErrorKind::NoKey)?;
        let Some(comb) = key.comb.clone() else { return Ok(false) };
        if !key.combed {
            let entry = |(group, x)| Command { group, ..Command::new(Operation::SetComb, x, &[]) };
            let commands: Vec<Command<'_>> = (0..).zip(comb.rows()).map(entry).collect();
            self.send(&commands)?;
            if let Some(key) = &mut self.key {
                key.combed = true;
            }
        }
        Ok(true)
    }

    /// The product of the rows of each group. The groups are processed in chunks of as many as the
    /// device can hold.
    fn totals(&mut self, rows: &Batch, groups: &[Vec<u32>]) -> Result<Batch, Error> {
        let mut totals = Batch::zeros(groups.len(), self.parameters.limbs());
        let mut first = 0;
        for chunk in groups.chunks(self.parameters.groups as usize) {
            let mut commands = Vec::new();
            // Rows of one group wait for each other, so they are sent as far apart as possible.
            let longest = chunk.iter().map(Vec::len).max().unwrap_or(0);
            for position in 0..longest {
                for (group, members) in (0..).zip(chunk) {
                    if let Some(&row) = members.get(position) {
                        commands.push(Command {
                            group,
                            ..Command::new(Operation::Accumulate, rows.row(row as usize), &[])
                        });
                    }
                }
            }
            let taken = commands.len();
            let filled: Vec<u16> =
                (0..).zip(chunk).filter(|(_, members)| !members.is_empty()).map(|(group, _)| group).collect();
            commands.extend(filled.iter().map(|&group| Command { group, ..Command::new(Operation::Total, &[], &[]) }));
            let results = self.send(&commands)?;
            for row in first..first + chunk.len() {
                totals.row_mut(row)[0] = 1;
            }
            for (&group, result) in filled.iter().zip(results.rows().skip(taken)) {
                totals.row_mut(first + usize::from(group)).copy_from_slice(result);
            }
            first += chunk.len();
        }
        Ok(totals)
    }

    /// The results of commands, a row each. They are not checked.
    fn send(&mut self, commands: &[Command<'_>]) -> Result<Batch, Error> {
        let mut results = Batch::zeros(commands.len(), self.parameters.limbs());
        for (row, result) in self.exchange(commands)?.into_iter().enumerate() {
            let refused = |refusal| Error::from(ErrorKind::CommandRefused { refusal }).at_row(row);
            results.row_mut(row).copy_from_slice(&result.map_err(refused)?);
        }
        Ok(results)
    }

    /// The result or refusal of each command.
    fn exchange(&mut self, commands: &[Command<'_>]) -> Result<Vec<Result<Number, Refusal>>, Error> {
        let (limbs, shape) = (self.parameters.limbs(), self.parameters.shape());
        let mut results = Vec::with_capacity(commands.len());
        for chunk in commands.chunks(CHUNK) {
            let answers = self.device.process(&command::items(chunk, &self.parameters), 1 + limbs, shape)?;
            let found = command::results(chunk, &answers).map_err(|error| error.offset_rows(results.len()))?;
            results.extend(found);
        }
        Ok(results)
    }

    /// Recomputes an unpredictable sample of the results on this CPU. Fails unless they agree.
    fn spot_check(&self, results: &Batch, again: impl Fn(&[usize]) -> Batch) -> Result<(), Error> {
        if self.trust == Trust::Unchecked || results.is_empty() {
            return Ok(());
        }
        let rows = randomness::sample(results.len(), results.len().div_ceil(SAMPLED))?;
        if again(&rows) == results.select(&rows) { Ok(()) } else { Err(ErrorKind::FailedCheck.into()) }
    }

    /// Prepares the device for the next batch after a failure: wipes it after a wrong answer, and
    /// records what a flush dropped.
    fn recover_after<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        let Err(error) = &result else { return result };
        match error.kind() {
            ErrorKind::FailedCheck | ErrorKind::NotAPlaintext | ErrorKind::NotACiphertext | ErrorKind::WrongAnswer => {
                // A failure to wipe adds nothing to this error, and dropping the driver wipes
                // again.
                let _ = self.wipe();
            }
            ErrorKind::NotReady | ErrorKind::WasReset | ErrorKind::Vanished => (self.key, self.loaded) = (None, false),
            _ => {
                // The batch may have been cut off in the middle: groups and the comb are dropped.
                let _ = self.flush();
            }
        }
        result
    }

    /// Drops everything in flight, the groups and the comb.
    fn flush(&mut self) -> Result<(), Error> {
        if let Some(key) = &mut self.key {
            key.combed = false;
        }
        self.device.flush()
    }
}

impl LoadedKey {
    /// Converts results to ciphertexts.
    fn ciphertexts(&self, results: &Batch) -> Result<Ciphertexts, Error> {
        let bytes = results.to_be_bytes(self.public.ciphertext_bytes());
        let no_ciphertext = |error: hearith_paillier::Error| match error.row() {
            Some(row) => Error::from(ErrorKind::NotACiphertext).at_row(row),
            None => ErrorKind::NotACiphertext.into(),
        };
        self.public.ciphertexts_from_be(&bytes).map_err(no_ciphertext)
    }

    /// Computes and checks the plaintexts of ciphertexts from the device's powers.
    fn plaintexts(&self, ciphertexts: &Ciphertexts, powers: &Batch) -> Result<Plaintexts, Error> {
        let finish = self.finish.as_ref().ok_or(ErrorKind::NoKey)?;
        let numbers = finish.plaintexts(powers).ok_or(ErrorKind::NotAPlaintext)?;
        let bytes = zeroize::Zeroizing::new(numbers.to_be_bytes(self.public.plaintext_bytes()));
        let plaintexts = self.public.plaintexts_from_be(&bytes)?;
        match &self.private {
            Some(key) => checked(key, ciphertexts, plaintexts),
            None => Ok(plaintexts),
        }
    }
}

impl std::fmt::Debug for LoadedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedKey").field("public", &self.public).field("decrypts", &self.finish.is_some()).finish()
    }
}

/// Returns the plaintexts if they match the ciphertexts.
pub(super) fn checked(
    key: &PrivateKey,
    ciphertexts: &Ciphertexts,
    plaintexts: Plaintexts,
) -> Result<Plaintexts, Error> {
    match key.check(ciphertexts, &plaintexts) {
        Ok(()) => Ok(plaintexts),
        Err(error) if matches!(error.kind(), SchemeErrorKind::WrongDecryption) => Err(ErrorKind::FailedCheck.into()),
        Err(error) => Err(error.into()),
    }
}

/// Fails unless two batches have equally many rows.
fn same_length(a: usize, b: usize) -> Result<(), Error> {
    if a == b { Ok(()) } else { Err(ErrorKind::Scheme(SchemeErrorKind::Lengths { left: a, right: b }).into()) }
}
