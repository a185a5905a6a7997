//! BFV: keys, batched vectors, and sums of their numbers.

use crate::integers::{self, Bytes};
use crate::keys::{Packed, engine, opened, read_long, warn_if_shared};
use crate::memory::room;
use crate::{errors, threads};
use hearith_bfv::{Ciphertext, Error, ErrorKind, MAX_KEY_TEXT, PrivateKey, PublicKey, Set, Sums, Total};
use hearith_paillier::{DEFAULT_ITERATIONS, EncryptedJwk, KeyKind, SecretText};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use rayon::prelude::*;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Bytes of the little-endian length before each ciphertext and total.
const LENGTH: usize = 4;

/// Batched numbers. Each ciphertext holds as many as the parameter set has slots, the last one
/// possibly fewer.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct BfvVector(Vec<Ciphertext>);

#[pymethods]
impl BfvVector {
    fn __len__(&self) -> usize {
        self.0.iter().map(Ciphertext::count).sum()
    }

    /// Bits of a plaintext; `None` for an empty vector.
    #[getter]
    fn bits(&self) -> Option<u32> {
        self.0.first().map(Ciphertext::bits)
    }

    /// The ciphertexts in sequence, each preceded by its length.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| framed(self.0.iter().map(Ciphertext::to_bytes))))
    }
}

/// Encrypted sums.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct BfvTotals(Vec<Total>);

#[pymethods]
impl BfvTotals {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Bits of a plaintext; `None` without totals.
    #[getter]
    fn bits(&self) -> Option<u32> {
        self.0.first().map(Total::bits)
    }

    /// Selects totals by their indices.
    fn select(&self, places: Vec<usize>) -> PyResult<Self> {
        let total = |place: usize| self.0.get(place).cloned();
        let chosen: Option<Vec<Total>> = places.into_iter().map(total).collect();
        chosen.map(Self).ok_or_else(|| pyo3::exceptions::PyIndexError::new_err("there is no such total"))
    }

    /// The totals in sequence, each preceded by its length.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| framed(self.0.iter().map(Total::to_bytes))))
    }
}

/// A public key. Python's arrays find their key again through a weak reference.
#[pyclass(frozen, weakref, module = "hearith._native")]
pub(crate) struct BfvPublicKey(pub(crate) PublicKey);

#[pymethods]
impl BfvPublicKey {
    /// Reads a key from the text of its file; from a private key's text, the public half.
    #[staticmethod]
    #[pyo3(signature = (text, *, engine=None))]
    fn from_text(py: Python<'_>, text: &str, engine: Option<&str>) -> PyResult<Self> {
        let engine = self::engine(engine)?;
        py.detach(|| PublicKey::from_text(text, engine)).map(Self).map_err(|error| errors::lattice_key(&error))
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, engine=None))]
    fn load(py: Python<'_>, path: PathBuf, engine: Option<&str>) -> PyResult<Self> {
        Self::from_text(py, read_long(&path, MAX_KEY_TEXT)?.as_str(), engine)
    }

    fn to_text(&self) -> String {
        self.0.to_text()
    }

    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// The name of the parameter set.
    #[getter]
    fn parameters(&self) -> &'static str {
        self.0.set().name()
    }

    /// The number of integers that a ciphertext holds.
    #[getter]
    fn slots(&self) -> usize {
        self.0.set().degree()
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.0.engine().name()
    }

    /// Checks that plaintexts may have this many bits.
    fn check_bits(&self, bits: u32) -> PyResult<()> {
        self.0.set().check_bits(bits).map_err(|error| errors::lattice(&error))
    }

    /// Encrypts packed integers of at most `bits` bits, including the sign.
    fn encrypt(&self, py: Python<'_>, data: &Bytes<'_>, width: usize, bits: u32) -> PyResult<BfvVector> {
        let numbers = integers::small(data, width)?;
        chunks(py, &numbers, self.0.set(), |numbers| self.0.encrypt(numbers, bits))
    }

    /// The element-wise sum of the vectors, each multiplied by its factor.
    fn combine(&self, py: Python<'_>, terms: Vec<Py<BfvVector>>, factors: Vec<i64>) -> PyResult<BfvVector> {
        let terms: Vec<&[Ciphertext]> = terms.iter().map(|term| &term.get().0[..]).collect();
        let count = terms.first().map_or(0, |first| first.len());
        if terms.len() != factors.len() || terms.iter().any(|term| term.len() != count) {
            return Err(errors::lattice(&ErrorKind::Differs("the number of numbers").into()));
        }
        let together = |place: usize| {
            let mut sum: Option<Ciphertext> = None;
            for (term, &factor) in terms.iter().zip(&factors) {
                let multiple = if factor == 1 { term[place].clone() } else { self.0.multiply(&term[place], factor)? };
                sum = Some(match &sum {
                    None => multiple,
                    Some(sum) => self.0.add(sum, &multiple)?,
                });
            }
            sum.ok_or_else(|| ErrorKind::Differs("the number of numbers").into())
        };
        vector(py, count, together)
    }

    /// The same numbers, re-randomised so that decryption reveals nothing about how they were
    /// computed.
    fn release(&self, py: Python<'_>, numbers: &BfvVector) -> PyResult<BfvVector> {
        vector(py, numbers.0.len(), |place| self.0.release(&numbers.0[place]))
    }

    /// Sums integers of `bits` bits by groups. `places` has the group of each number, from 0 on;
    /// numbers with a group below 0 are left out. `weights` has their weights. Both are packed.
    /// There are `groups` groups, some of which may be empty.
    #[pyo3(signature = (numbers, bits, groups, places, weights=None))]
    fn sums(
        &self,
        py: Python<'_>,
        numbers: &BfvVector,
        bits: u32,
        groups: u32,
        places: &Bytes<'_>,
        weights: Option<&Bytes<'_>>,
    ) -> PyResult<BfvTotals> {
        let places: Vec<u32> =
            small(places)?.into_iter().map(|group| u32::try_from(group).unwrap_or(u32::MAX)).collect();
        let weights = weights.map(small).transpose()?;
        let beyond = places.iter().any(|&group| group >= groups && group != hearith_bfv::NO_GROUP);
        if beyond
            || places.len() != numbers.__len__()
            || weights.as_ref().is_some_and(|weights| weights.len() != places.len())
        {
            let (count, found) = (numbers.__len__(), places.len());
            return Err(errors::lattice(&ErrorKind::Rows { what: "groups", found, count }.into()));
        }
        let lattice = |error| errors::lattice(&error);
        let mut sums = Sums::new(&self.0, bits).map_err(lattice)?;
        let mut start = 0;
        threads::pieces(py, numbers.0.len(), |ciphertexts| {
            for ciphertext in &numbers.0[ciphertexts] {
                let rows = start..start + ciphertext.count();
                sums.add(ciphertext, &places[rows.clone()], weights.as_ref().map(|weights| &weights[rows]))?;
                start += ciphertext.count();
            }
            Ok(())
        })?
        .map_err(lattice)?;
        totals(py, || {
            if sums.groups() < groups as usize {
                // The last groups are empty. Their sums are 0, and look like any other.
                let nothing = self.0.encrypt(&vec![0; groups.min(self.slots() as u32) as usize], bits)?;
                for first in (0..groups).step_by(nothing.count()) {
                    let named: Vec<u32> =
                        (0..nothing.count() as u32).map(|place| (first + place).min(groups - 1)).collect();
                    sums.add(&nothing, &named, None)?;
                }
            }
            sums.release()
        })
    }

    /// The sums of several sets of totals of equal length, of integers of `bits` bits.
    fn add_totals(&self, py: Python<'_>, terms: Vec<Py<BfvTotals>>, bits: u32) -> PyResult<BfvTotals> {
        totals(py, || {
            let mut sums = Sums::new(&self.0, bits)?;
            for term in &terms {
                for (place, total) in term.get().0.iter().enumerate() {
                    sums.add_total(total, place as u32)?;
                }
            }
            sums.release()
        })
    }

    /// Reads a vector from its bytes.
    fn vector(&self, py: Python<'_>, data: &[u8]) -> PyResult<BfvVector> {
        let frames = frames(data).map_err(|error| errors::lattice(&error))?;
        let read = vector(py, frames.len(), |place| Ciphertext::from_bytes(frames[place], &self.0))?;
        let full = read.0.iter().rev().skip(1).all(|ciphertext| ciphertext.count() == self.slots());
        match full && read.0.iter().all(|ciphertext| Some(ciphertext.bits()) == read.bits()) {
            true => Ok(read),
            false => Err(errors::lattice(&ErrorKind::Malformed("the ciphertexts do not belong to one vector").into())),
        }
    }

    /// Reads totals from their bytes.
    fn totals(&self, py: Python<'_>, data: &[u8]) -> PyResult<BfvTotals> {
        let read =
            totals(py, || frames(data)?.into_par_iter().map(|bytes| Total::from_bytes(bytes, &self.0)).collect())?;
        match read.0.iter().all(|total| Some(total.bits()) == read.bits()) {
            true => Ok(read),
            false => Err(errors::lattice(&ErrorKind::Differs("the length of plaintexts").into())),
        }
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

/// A private key.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct BfvPrivateKey(pub(crate) PrivateKey);

#[pymethods]
impl BfvPrivateKey {
    #[staticmethod]
    #[pyo3(signature = (parameters, *, engine=None))]
    fn generate(py: Python<'_>, parameters: &str, engine: Option<&str>) -> PyResult<Self> {
        let engine = self::engine(engine)?;
        let made = threads::run(py, || PrivateKey::generate(parameters.parse()?, engine))?;
        made.map(Self).map_err(|error| errors::lattice_key(&error))
    }

    #[staticmethod]
    #[pyo3(signature = (text, *, passphrase=None, engine=None))]
    fn from_text(py: Python<'_>, text: &str, passphrase: Option<&str>, engine: Option<&str>) -> PyResult<Self> {
        Self::read(py, SecretText::from(text.to_owned()), passphrase, engine)
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase=None, engine=None))]
    fn load(py: Python<'_>, path: PathBuf, passphrase: Option<&str>, engine: Option<&str>) -> PyResult<Self> {
        let text = read_long(&path, MAX_KEY_TEXT)?;
        warn_if_shared(py, &path, &text)?;
        Self::read(py, text, passphrase, engine)
    }

    fn to_text(&self) -> String {
        self.0.to_text().to_string()
    }

    fn to_encrypted_text(&self, py: Python<'_>, passphrase: &str) -> PyResult<String> {
        let id = self.0.public().id().to_string();
        py.detach(|| EncryptedJwk::seal(&self.0.to_text(), id.parse()?, passphrase, DEFAULT_ITERATIONS))
            .map_err(errors::key)
    }

    #[getter]
    fn public(&self) -> BfvPublicKey {
        BfvPublicKey(self.0.public().clone())
    }

    /// Encrypts like the public key, in half the space.
    fn encrypt(&self, py: Python<'_>, data: &Bytes<'_>, width: usize, bits: u32) -> PyResult<BfvVector> {
        let numbers = integers::small(data, width)?;
        chunks(py, &numbers, self.0.public().set(), |numbers| self.0.encrypt(numbers, bits))
    }

    /// Decrypts the numbers of a vector, packed.
    fn decrypt<'py>(&self, py: Python<'py>, numbers: &BfvVector) -> PyResult<Packed<'py>> {
        let slots = self.0.public().set().degree();
        let found = threads::run(py, || {
            let each = |(place, ciphertext): (usize, &Ciphertext)| {
                self.0.decrypt(ciphertext).map_err(|error| error.at_row(place * slots))
            };
            let parts: Vec<Zeroizing<Vec<i128>>> =
                numbers.0.par_iter().enumerate().map(each).collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
            let mut all = Zeroizing::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
            parts.iter().for_each(|part| all.extend_from_slice(part));
            Ok(integers::pack_small(&all))
        })?;
        packed(py, found)
    }

    /// Decrypts the sums, packed.
    fn decrypt_totals<'py>(&self, py: Python<'py>, totals: &BfvTotals) -> PyResult<Packed<'py>> {
        let found = threads::run(py, || {
            // Allocated in full, because a growing vector leaves copies in memory.
            let mut numbers = Zeroizing::new(vec![0; totals.0.len()]);
            let each = |(place, (total, number)): (usize, (&Total, &mut i128))| {
                *number = self.0.decrypt_total(total).map_err(|error| error.at_row(place))?;
                Ok::<_, Error>(())
            };
            let decrypted = totals.0.par_iter().zip(numbers.par_iter_mut()).enumerate().map(each);
            // All rows are computed before any is checked, so the error is always that of the first
            // row.
            decrypted.collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()?;
            Ok(integers::pack_small(&numbers))
        })?;
        packed(py, found)
    }
}

impl BfvPrivateKey {
    fn read(py: Python<'_>, text: SecretText, passphrase: Option<&str>, engine: Option<&str>) -> PyResult<Self> {
        let engine = self::engine(engine)?;
        let text = opened(py, text, passphrase)?;
        if text.kind() == KeyKind::Encrypted {
            return Err(errors::key(hearith_paillier::ErrorKind::EncryptedKey.into()));
        }
        let read = py.detach(|| PrivateKey::from_text(text.as_str(), engine));
        read.map(Self).map_err(|error| errors::lattice_key(&error))
    }
}

fn packed(py: Python<'_>, found: Result<(Zeroizing<Vec<u8>>, usize), Error>) -> PyResult<Packed<'_>> {
    let (data, width) = found.map_err(|error| errors::lattice(&error))?;
    Ok((PyByteArray::new(py, &data), width))
}

/// Computes the ciphertexts of a vector independently.
fn vector(
    py: Python<'_>,
    count: usize,
    each: impl Fn(usize) -> Result<Ciphertext, Error> + Sync,
) -> PyResult<BfvVector> {
    let mut made = Vec::with_capacity(count);
    threads::pieces(py, count, |places| {
        // A whole piece is computed before any result is checked, so the error is always the first
        // one.
        let found = places.into_par_iter().map(&each).collect::<Vec<_>>();
        made.extend(found.into_iter().collect::<Result<Vec<_>, _>>()?);
        Ok(())
    })?
    .map_err(|error| errors::lattice(&error))?;
    Ok(BfvVector(made))
}

fn totals(py: Python<'_>, work: impl FnOnce() -> Result<Vec<Total>, Error> + Send) -> PyResult<BfvTotals> {
    threads::run(py, work)?.map(BfvTotals).map_err(|error| errors::lattice(&error))
}

/// Encrypts as many numbers at a time as a ciphertext holds. Errors give the index in the full
/// sequence.
fn chunks(
    py: Python<'_>,
    numbers: &[i128],
    set: Set,
    encrypt: impl Fn(&[i128]) -> Result<Ciphertext, Error> + Sync,
) -> PyResult<BfvVector> {
    let slots = set.degree();
    let chunks: Vec<&[i128]> = numbers.chunks(slots).collect();
    // Two polynomials of 64-bit residues.
    room(chunks.len(), 2 * slots * set.moduli().len() * size_of::<u64>())?;
    vector(py, chunks.len(), |chunk| {
        encrypt(chunks[chunk]).map_err(|error| match error.row() {
            Some(row) => error.at_row(chunk * slots + row),
            None => error,
        })
    })
}

/// Reads packed 64-bit integers.
fn small(data: &Bytes<'_>) -> PyResult<Vec<i64>> {
    Ok(integers::small(data, size_of::<i64>())?.iter().map(|&integer| integer as i64).collect())
}

fn framed(parts: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend((part.len() as u32).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

/// Splits the output of [`framed`].
fn frames(mut data: &[u8]) -> Result<Vec<&[u8]>, Error> {
    let cut = || Error::from(ErrorKind::Malformed("the bytes end in the middle of a ciphertext"));
    let mut parts = Vec::new();
    while let Some((length, rest)) = data.split_first_chunk::<LENGTH>() {
        let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
        parts.push(part);
        data = rest;
    }
    if data.is_empty() { Ok(parts) } else { Err(cut()) }
}
