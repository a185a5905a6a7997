//! FHE over the integers: keys, encrypted bits, circuits.

use crate::integers::{self, Bytes};
use crate::keys::engine;
use crate::{errors, threads};
use hearith_dghv::circuit::Circuit;
use hearith_dghv::format::{CiphertextReader, CiphertextWriter};
use hearith_dghv::{
    Ciphertext, Error, ErrorKind, InsecureHistoricalParameters, KeyPair, Ladder, Parameters, PrivateKeys, PublicKey,
    PublicKeys, RecryptionKey, Scheme, Size,
};
use pyo3::exceptions::{PyIndexError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::fs::{File, Permissions};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

fn acknowledged(insecure: bool) -> PyResult<InsecureHistoricalParameters> {
    match insecure {
        true => Ok(InsecureHistoricalParameters),
        false => Err(errors::insecure(
            "every key of these schemes is broken and protects nothing: insecure_historical_parameters=True takes it",
        )),
    }
}

/// Reads booleans of one byte each.
fn truth(data: &Bytes<'_>) -> Zeroizing<Vec<bool>> {
    Zeroizing::new(integers::bytes(data).iter().map(|&byte| byte != 0).collect())
}

/// Writes a file that appears only when complete.
fn write(
    path: &Path,
    mode: u32,
    replace: bool,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> PyResult<()> {
    let made = || -> io::Result<()> {
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(directory)?;
        content(&mut file)?;
        file.as_file().sync_all()?;
        match replace {
            true => file.persist(path),
            false => file.persist_noclobber(path),
        }?;
        Ok(())
    };
    made().map_err(|error| errors::io(path, &error))
}

/// A public key.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct DghvPublicKey(PublicKeys);

#[pymethods]
impl DghvPublicKey {
    #[staticmethod]
    #[pyo3(signature = (path, *, insecure_historical_parameters=false, engine=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        insecure_historical_parameters: bool,
        engine: Option<&str>,
    ) -> PyResult<Self> {
        let insecure = acknowledged(insecure_historical_parameters)?;
        let engine = self::engine(engine)?;
        let input = File::open(&path).map_err(|error| errors::io(&path, &error))?;
        let read = py.detach(|| PublicKeys::read_from(BufReader::new(input), engine, insecure));
        read.map(Self).map_err(|error| errors::file::<errors::InvalidKeyError>(&path, error))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write(&path, 0o666, true, |file| self.0.write_to(BufWriter::new(file))))
    }

    #[getter]
    fn id(&self) -> String {
        self.0.key.id().to_string()
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.0.key.parameters().scheme().name()
    }

    /// The name of the parameters, such as `cnt toy`.
    #[getter]
    fn parameters(&self) -> String {
        self.0.key.parameters().to_string()
    }

    #[getter]
    fn recrypts(&self) -> bool {
        self.0.recryption.is_some()
    }

    /// The number of levels below the key's own.
    #[getter]
    fn rungs(&self) -> usize {
        self.0.ladder.as_ref().map_or(0, |ladder| ladder.rungs().len())
    }

    fn encrypt(&self, py: Python<'_>, data: &Bytes<'_>) -> PyResult<DghvCiphertexts> {
        let bits = truth(data);
        self.rows(threads::run(py, || self.0.key.encrypt(&bits))?)
    }

    /// Encodes plaintext bits as ciphertexts without noise, which hide nothing.
    fn plain(&self, data: &Bytes<'_>) -> PyResult<DghvCiphertexts> {
        self.rows(Ok(self.0.key.constants(&truth(data))))
    }

    fn add(&self, py: Python<'_>, a: &DghvCiphertexts, b: &DghvCiphertexts) -> PyResult<DghvCiphertexts> {
        self.rows(threads::run(py, || self.0.add(&a.rows, &b.rows))?)
    }

    fn multiply(&self, py: Python<'_>, a: &DghvCiphertexts, b: &DghvCiphertexts) -> PyResult<DghvCiphertexts> {
        self.rows(threads::run(py, || self.0.multiply(&a.rows, &b.rows))?)
    }

    fn switch(&self, py: Python<'_>, bits: &DghvCiphertexts, level: usize) -> PyResult<DghvCiphertexts> {
        self.rows(threads::run(py, || self.0.switch(&bits.rows, level))?)
    }

    /// Evaluates a circuit in Bristol Fashion, and returns its output values.
    fn evaluate(
        &self,
        py: Python<'_>,
        circuit: &str,
        inputs: Vec<Py<DghvCiphertexts>>,
    ) -> PyResult<Vec<DghvCiphertexts>> {
        let circuit = Circuit::parse(circuit).map_err(errors::circuit)?;
        let values: Vec<&DghvCiphertexts> = inputs.iter().map(Py::get).collect();
        let found: Vec<usize> = values.iter().map(|value| value.rows.len()).collect();
        if found != circuit.inputs() {
            return Err(errors::inputs(circuit.inputs(), &found));
        }
        let row: Vec<Ciphertext> = values.iter().flat_map(|value| &value.rows).cloned().collect();
        let outputs = threads::run(py, || self.0.evaluator().evaluate(&circuit, &[row]))?;
        let mut bits = outputs.map_err(|error| errors::bits(&error))?.concat().into_iter();
        let value = |&count: &usize| self.rows(Ok(bits.by_ref().take(count).collect()));
        circuit.outputs().iter().map(value).collect()
    }

    fn load_bits(&self, py: Python<'_>, path: PathBuf) -> PyResult<DghvCiphertexts> {
        let input = File::open(&path).map_err(|error| errors::io(&path, &error))?;
        let read = py.detach(|| {
            let mut reader = CiphertextReader::new(BufReader::new(input))?;
            let (header, rows) = (reader.header().clone(), reader.read(usize::MAX)?);
            reader.finish().map(|()| (header, rows))
        });
        let (header, rows) = read.map_err(|error| errors::file::<errors::CiphertextError>(&path, error))?;
        let key = self.0.at_level(header.parameters.level().into());
        match key.is_some_and(|key| header.key == key.id() && header.parameters == *key.parameters()) {
            true => self.rows(Ok(rows)),
            false => Err(errors::bits(&ErrorKind::OtherKey.into())),
        }
    }
}

impl DghvPublicKey {
    /// Wraps ciphertexts of one level. An empty list is at the key's own level.
    fn rows(&self, rows: Result<Vec<Ciphertext>, Error>) -> PyResult<DghvCiphertexts> {
        let rows = rows.map_err(|error| errors::bits(&error))?;
        let level = rows.first().map_or(Ok(0), |row| self.0.level_of(row)).map_err(|error| errors::bits(&error))?;
        let key: &PublicKey = self.0.at_level(level).unwrap_or(&self.0.key);
        Ok(DghvCiphertexts { rows, key: key.id(), parameters: key.parameters().clone() })
    }
}

/// A private key.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct DghvPrivateKey(PrivateKeys);

#[pymethods]
impl DghvPrivateKey {
    /// Generates a key pair.
    #[staticmethod]
    #[pyo3(signature = (
        scheme, parameters, *, short_coefficients=false, recryption=true, ladder=0,
        insecure_historical_parameters=false, engine=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "options of Python's keyword arguments")]
    fn generate(
        py: Python<'_>,
        scheme: &str,
        parameters: &str,
        short_coefficients: bool,
        recryption: bool,
        ladder: usize,
        insecure_historical_parameters: bool,
        engine: Option<&str>,
    ) -> PyResult<(DghvPublicKey, Self)> {
        let insecure = acknowledged(insecure_historical_parameters)?;
        let engine = self::engine(engine)?;
        let named = || -> Result<Parameters, Error> {
            Ok(Parameters::historical(scheme.parse::<Scheme>()?, parameters.parse::<Size>()?))
        };
        let parameters = named().map_err(|error| errors::bits(&error))?;
        let parameters = if short_coefficients { parameters.with_short_coefficients() } else { parameters };
        let make = || -> Result<(PublicKeys, PrivateKeys), Error> {
            if ladder > 0 {
                Ladder::check_rungs(&parameters, ladder)?;
            }
            let KeyPair { private, public } = KeyPair::generate(&parameters, engine, insecure)?;
            let recrypts = recryption && RecryptionKey::can_recrypt(&parameters);
            let recryption = recrypts.then(|| RecryptionKey::generate(&private, &public, insecure)).transpose()?;
            let ladder = (ladder > 0).then(|| Ladder::generate(&private, &public, ladder, insecure)).transpose()?;
            let (ladder, rungs) = ladder.unzip();
            let private = PrivateKeys { key: private, rungs: rungs.unwrap_or_default() };
            Ok((PublicKeys { key: public, recryption, ladder }, private))
        };
        let (public, private) = threads::run(py, make)?.map_err(|error| errors::bits(&error))?;
        Ok((DghvPublicKey(public), Self(private)))
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, insecure_historical_parameters=false))]
    fn load(py: Python<'_>, path: PathBuf, insecure_historical_parameters: bool) -> PyResult<Self> {
        let insecure = acknowledged(insecure_historical_parameters)?;
        let input = File::open(&path).map_err(|error| errors::io(&path, &error))?;
        let metadata = input.metadata().map_err(|error| errors::io(&path, &error))?;
        // Unbuffered, because a buffer would keep a copy.
        let key = PrivateKeys::read_from(input, insecure)
            .map_err(|error| errors::file::<errors::InvalidKeyError>(&path, error))?;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            let text = "other users can read this private key (chmod 600 fixes it)";
            let warning = std::ffi::CString::new(format!("{}: {text}", path.display()))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &warning, 2)?;
        }
        Ok(Self(key))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        write(&path, 0o600, false, |file| self.0.write_to(file))
    }

    #[getter]
    fn id(&self) -> String {
        self.0.key.id().to_string()
    }

    /// Decrypts bits, one byte each.
    fn decrypt<'py>(&self, py: Python<'py>, bits: &DghvCiphertexts) -> PyResult<Bound<'py, PyByteArray>> {
        let bits = threads::run(py, || self.0.decrypt(&bits.rows).map(Zeroizing::new))?;
        let bits = bits.map_err(|error| errors::bits(&error))?;
        let bytes = Zeroizing::new(bits.iter().map(|&bit| u8::from(bit)).collect::<Vec<u8>>());
        Ok(PyByteArray::new(py, &bytes))
    }
}

/// Ciphertexts of one key, one per bit.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct DghvCiphertexts {
    rows: Vec<Ciphertext>,
    key: hearith_dghv::KeyId,
    parameters: Parameters,
}

#[pymethods]
impl DghvCiphertexts {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The level in the key's ladder.
    #[getter]
    fn level(&self) -> u8 {
        self.parameters.level()
    }

    /// Id of their key.
    #[getter]
    fn key_id(&self) -> String {
        self.key.to_string()
    }

    /// Upper bounds of the noise in bits.
    fn noise(&self) -> Vec<f64> {
        self.rows.iter().map(Ciphertext::noise).collect()
    }

    /// Remaining levels of multiplications.
    fn levels(&self) -> Vec<u32> {
        self.rows.iter().map(|row| row.levels_left(&self.parameters)).collect()
    }

    /// The ciphertexts of these rows, in this order.
    fn select(&self, rows: Vec<usize>) -> PyResult<Self> {
        let row =
            |row: usize| self.rows.get(row).cloned().ok_or_else(|| PyIndexError::new_err(format!("no row {row}")));
        let rows = rows.into_iter().map(row).collect::<PyResult<_>>()?;
        Ok(Self { rows, key: self.key, parameters: self.parameters.clone() })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            write(&path, 0o666, true, |file| {
                let count = self.rows.len() as u64;
                let mut writer = CiphertextWriter::new(BufWriter::new(file), &self.parameters, self.key, count)?;
                writer.write(&self.rows)?;
                writer.finish()?.flush()
            })
        })
    }
}
