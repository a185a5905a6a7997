//! The distributed election verifier, for records that are verified on several machines.

use crate::errors::HearithError;
use crate::keys::{engine, policy};
use crate::threads;
use hearith_election::cluster;
use pyo3::prelude::*;

/// The error for a record that cannot be verified. Faults in verifiable records are in the report.
fn unreadable(error: hearith_election::Error) -> PyErr {
    HearithError::new_err(error.to_string())
}

/// A worker that reads files of a record.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct ElectionWorker(cluster::Worker);

#[pymethods]
impl ElectionWorker {
    #[new]
    #[pyo3(signature = (setup, *, insecure=false))]
    fn new(py: Python<'_>, setup: &str, insecure: bool) -> PyResult<Self> {
        let engine = engine(None)?;
        let worker = threads::run(py, || cluster::Worker::new(setup, policy(insecure), engine))?;
        worker.map(Self).map_err(unreadable)
    }

    fn outline(&self, py: Python<'_>, file: &[u8]) -> PyResult<String> {
        threads::run(py, || self.0.outline(file))
    }

    fn check(&self, py: Python<'_>, files: Vec<(String, Vec<u8>)>) -> PyResult<String> {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(task, file)| (&task[..], &file[..])).collect();
        threads::run(py, || self.0.check(&files))?.map_err(unreadable)
    }
}

/// The coordinator that combines the workers' results.
#[pyclass(module = "hearith._native")]
pub(crate) struct ElectionCoordinator(Option<cluster::Coordinator>);

impl ElectionCoordinator {
    fn open(&mut self) -> PyResult<&mut cluster::Coordinator> {
        self.0.as_mut().ok_or_else(|| HearithError::new_err("the report has already been made"))
    }
}

#[pymethods]
impl ElectionCoordinator {
    #[new]
    #[pyo3(signature = (first, heads, *, insecure=false))]
    fn new(py: Python<'_>, first: &[u8], heads: &[u8], insecure: bool) -> PyResult<Self> {
        let engine = engine(None)?;
        let coordinator = threads::run(py, || cluster::Coordinator::new(first, heads, policy(insecure), engine))?;
        coordinator.map(|coordinator| Self(Some(coordinator))).map_err(unreadable)
    }

    fn setup(&mut self) -> PyResult<Option<String>> {
        Ok(self.open()?.setup().map(str::to_owned))
    }

    fn take(&mut self, py: Python<'_>, outline: &str, last: bool) -> PyResult<bool> {
        let coordinator = self.open()?;
        threads::run(py, || coordinator.take(outline, last))?.map_err(unreadable)
    }

    fn task(&mut self, file: u64) -> PyResult<Option<String>> {
        Ok(self.open()?.task(file))
    }

    fn note(&mut self, py: Python<'_>, found: &str) -> PyResult<()> {
        let coordinator = self.open()?;
        threads::run(py, || coordinator.note(found))?.map_err(unreadable)
    }

    /// The report as JSON.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        self.open()?;
        let coordinator = self.0.take();
        let report = threads::run(py, || coordinator.map(cluster::Coordinator::finish))?;
        let report = report.transpose().map_err(unreadable)?;
        Ok(report.map(|report| report.to_json().to_string()).unwrap_or_default())
    }
}
