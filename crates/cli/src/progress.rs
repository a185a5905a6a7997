//! Progress bars, shown on a terminal and only if a step takes more than a second.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time before a step shows a bar.
const SHOW_DELAY: Duration = Duration::from_secs(1);
/// Interval between updates of a bar.
const TICK: Duration = Duration::from_millis(100);

/// The length of a step, in the unit of its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// A number of rows.
    Rows(u64),
    /// A number of input bytes.
    Bytes(u64),
    /// An expected number of candidates.
    #[cfg(feature = "distributed")]
    Candidates(u64),
    /// Steps. The work itself reports how many there are.
    #[cfg(feature = "dghv")]
    Steps,
    /// Unknown: the input is a stream, or the step is a search.
    Unknown,
}

/// A step's progress. Dropping this clears it from the screen.
pub(crate) struct Progress {
    bar: ProgressBar,
    stop: Option<Sender<()>>,
    display: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins a step, described by a word such as `encrypting`.
    pub(crate) fn start(what: &'static str, length: Length) -> Self {
        let (total, template) = match length {
            Length::Rows(rows) => {
                (Some(rows), "{prefix} {wide_bar} {percent:>3}%  {human_pos} rows  {per_sec}  {eta} left")
            }
            Length::Bytes(bytes) => {
                (Some(bytes), "{prefix} {wide_bar} {percent:>3}%  {msg}  {bytes_per_sec}  {eta} left")
            }
            #[cfg(feature = "distributed")]
            Length::Candidates(expected) => {
                (Some(expected), "{prefix} {wide_bar} {human_pos} candidates, {human_len} expected  {elapsed}")
            }
            #[cfg(feature = "dghv")]
            Length::Steps => (Some(u64::MAX), "{prefix} {wide_bar} {percent:>3}%  {eta} left"),
            Length::Unknown => (None, "{prefix} {spinner} {msg}  {elapsed}"),
        };
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        let (stop, stopped) = mpsc::channel();
        let shown = bar.clone();
        let display = std::io::stderr().is_terminal().then(|| {
            thread::spawn(move || {
                if stopped.recv_timeout(SHOW_DELAY) == Err(RecvTimeoutError::Timeout) {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(TICK);
                }
            })
        });
        Self { bar, stop: Some(stop), display }
    }

    /// Sets the progress, in the unit of the length, and the number of rows so far.
    pub(crate) fn set(&self, position: u64, rows: u64) {
        self.bar.set_position(position);
        self.bar.set_message(format!("{rows} rows"));
    }

    /// Sets the number of bytes read.
    #[cfg(feature = "election")]
    pub(crate) fn set_bytes(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// Sets the number of candidates tried, and of those expected.
    #[cfg(feature = "distributed")]
    pub(crate) fn set_candidates(&self, tried: u64, expected: u64) {
        self.bar.set_length(expected.max(tried));
        self.bar.set_position(tried);
    }

    /// Sets the number of finished steps, and of all steps.
    #[cfg(feature = "dghv")]
    pub(crate) fn set_of(&self, done: u64, all: u64) {
        self.bar.set_length(all);
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(display) = self.display.take() {
            let _ = display.join();
        }
        self.bar.finish_and_clear();
    }
}
