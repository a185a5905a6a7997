//! Concurrent reading, arithmetic and writing, in order and in bounded memory.
//!
//! One thread reads ahead and one writes behind. Between them the caller's thread computes on all
//! cores. At most a few batches wait on either side.

use std::iter;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use arrow_array::RecordBatch;

use crate::failure::CliError;
use crate::input::Piece;
use crate::progress::Progress;
use crate::sink::Sink;

/// Batches that may wait on each side.
const QUEUE_CAPACITY: usize = 2;

/// Items that another thread reads ahead. The thread is abandoned if it still waits for input when
/// its items are no longer wanted.
#[derive(Debug)]
pub struct ReadAhead<T> {
    items: Receiver<Result<T, CliError>>,
    reader: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> ReadAhead<T> {
    /// Starts reading.
    pub fn start(source: impl Iterator<Item = Result<T, CliError>> + Send + 'static) -> Self {
        let (sender, items) = sync_channel(QUEUE_CAPACITY);
        let reader = thread::spawn(move || {
            for item in source {
                let last = item.is_err();
                if sender.send(item).is_err() || last {
                    break;
                }
            }
        });
        Self { items, reader: Some(reader) }
    }
}

impl<T> Iterator for ReadAhead<T> {
    type Item = Result<T, CliError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(item) = self.items.recv() {
            return Some(item);
        }
        // The end of the items, unless the reader panicked.
        match self.reader.take()?.join() {
            Ok(()) => None,
            Err(_) => Some(Err(CliError::new("internal error while reading"))),
        }
    }
}

/// Runs `produce`, and writes its items with `write` on another thread, in the order produced.
///
/// `produce` receives a function that passes items on. If that function fails, writing has failed,
/// and the returned error is that of writing.
///
/// # Errors
/// The error of writing, or else that of `produce`.
pub fn write_behind<T: Send>(
    mut write: impl FnMut(T) -> Result<(), CliError> + Send,
    produce: impl FnOnce(&mut dyn FnMut(T) -> Result<(), CliError>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    thread::scope(|scope| {
        let (sender, items): (SyncSender<T>, Receiver<T>) = sync_channel(QUEUE_CAPACITY);
        let writer = scope.spawn(move || iter::from_fn(|| items.recv().ok()).try_for_each(&mut write));
        let mut pass = |item| sender.send(item).map_err(|_| CliError::new("writing has ended"));
        let produced = produce(&mut pass);
        drop(sender);
        let written = writer.join();
        written.unwrap_or_else(|_| Err(CliError::new("internal error while writing"))).and(produced)
    })
}

/// Writes the batch that `make` returns for each piece, in order, and shows the progress. Returns
/// the number of rows read.
///
/// # Errors
/// As for [`write_behind`].
pub(crate) fn write_each(
    pieces: impl Iterator<Item = Result<Piece, CliError>>,
    sink: &mut Sink,
    progress: &Progress,
    mut make: impl FnMut(&Piece) -> Result<RecordBatch, CliError>,
) -> Result<u64, CliError> {
    let mut rows = 0;
    write_behind(
        |batch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                pass(make(&piece)?)?;
                rows = piece.end_row();
                progress.set(piece.position, rows);
            }
            Ok(())
        },
    )?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order() {
        let source = ReadAhead::start((0..100).map(Ok));
        let mut written = Vec::new();
        let write = |item: i32| {
            written.push(item);
            Ok(())
        };
        write_behind(write, |pass| source.into_iter().try_for_each(|item| pass(item? * 2))).unwrap();
        assert_eq!(written, (0..100).map(|item| item * 2).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_while_reading_ends_the_stream() {
        let items = [Ok(1), Err(CliError::new("broken")), Ok(2)];
        let mut source = ReadAhead::start(items.into_iter());
        assert!(matches!(source.next(), Some(Ok(1))));
        assert!(matches!(source.next(), Some(Err(_))));
        assert!(source.next().is_none());
    }

    #[test]
    fn a_reader_that_breaks_down_is_not_the_end() {
        let mut source = ReadAhead::<u8>::start(iter::from_fn(|| panic!("reader")));
        assert!(matches!(source.next(), Some(Err(_))));
        assert!(source.next().is_none());
    }

    #[test]
    fn the_error_of_writing_is_the_one_told() {
        let write = |_: u32| Err(CliError::new("disk full"));
        let produce = |pass: &mut dyn FnMut(u32) -> Result<(), CliError>| (0..).try_for_each(pass);
        let error = write_behind(write, produce).unwrap_err();
        assert_eq!(error.to_string(), "disk full");
    }

    #[test]
    fn no_more_than_a_few_items_wait() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let read = std::sync::Arc::new(AtomicUsize::new(0));
        let counted = read.clone();
        let mut source = ReadAhead::start((0..1000).map(move |item| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(item)
        }));
        source.next();
        thread::sleep(std::time::Duration::from_millis(50));
        assert!(read.load(Ordering::SeqCst) <= QUEUE_CAPACITY + 2);
    }
}
