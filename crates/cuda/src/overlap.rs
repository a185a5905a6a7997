//! The CPU's share of a batch, overlapped with the card: while the card computes some rows, threads
//! convert the previous rows to results and check them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use hearith_device::Error;

/// Threads that finish parts. While one part is in a single-threaded step, another part uses the
/// CPU.
const FINISHERS: usize = 3;
/// Most parts waiting to be finished: a faster card blocks, which bounds the memory.
const MAX_QUEUED: usize = 1;

/// Lets `card` hand over the parts of a batch in order, and `finish` convert each to its result on
/// other threads. No result is returned before all parts are finished.
///
/// # Errors
/// The card's error, or else that of the first part for which `finish` fails.
pub(crate) fn overlap<P: Send, T: Send>(
    card: impl FnOnce(&mut dyn FnMut(P)) -> Result<(), Error>,
    finish: impl Fn(P) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let (sender, receiver) = sync_channel(MAX_QUEUED);
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let finisher = || scope.spawn(|| finished(&receiver, &finish));
        let finishers: Vec<_> = (0..FINISHERS).map(|_| finisher()).collect();
        let mut number = 0;
        let computed = card(&mut |part| {
            sender.send((number, part)).expect("finishers take parts up to the last");
            number += 1;
        });
        drop(sender);
        let made = finishers.into_iter().map(|finisher| finisher.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let mut results: Vec<(usize, Finished<T>)> = made.flatten().collect();
        results.sort_by_key(|(number, _)| *number);
        let results = results.into_iter().map(|(_, result)| result.unwrap_or_else(|panic| resume_unwind(panic)));
        computed.and_then(|()| results.collect())
    })
}

/// A part's result, or the panic of its finisher.
type Finished<T> = std::thread::Result<Result<T, Error>>;

/// The results of one thread, by the numbers of the parts. After a failure or a panic, the thread
/// receives and drops further parts, so that the card does not block for ever.
fn finished<P, T>(
    parts: &Mutex<Receiver<(usize, P)>>,
    finish: &impl Fn(P) -> Result<T, Error>,
) -> Vec<(usize, Finished<T>)> {
    let mut results: Vec<(usize, Finished<T>)> = Vec::new();
    loop {
        let next = parts.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, part)) = next else { return results };
        if results.last().is_none_or(|(_, result)| matches!(result, Ok(Ok(_)))) {
            results.push((number, catch_unwind(AssertUnwindSafe(|| finish(part)))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_device::ErrorKind;

    fn parts(count: u32) -> impl FnOnce(&mut dyn FnMut(u32)) -> Result<(), Error> {
        move |hand_over| {
            (0..count).for_each(hand_over);
            Ok(())
        }
    }

    #[test]
    fn results_keep_the_order_of_the_parts() {
        assert_eq!(
            overlap(parts(9), |part| Ok(part * part)).unwrap(),
            (0..9).map(|part| part * part).collect::<Vec<_>>()
        );
        assert!(overlap(parts(0), Ok).unwrap().is_empty());
    }

    #[test]
    fn nothing_is_given_out_if_one_part_fails() {
        let third = |part| if part == 2 { Err(Error::from(ErrorKind::FailedCheck)) } else { Ok(part) };
        assert!(matches!(overlap(parts(9), third).unwrap_err().kind(), ErrorKind::FailedCheck));
        let card = |hand_over: &mut dyn FnMut(u32)| {
            hand_over(0);
            Err(Error::from(ErrorKind::NoKey))
        };
        assert!(matches!(overlap(card, Ok).unwrap_err().kind(), ErrorKind::NoKey));
    }

    #[test]
    fn the_first_part_that_fails_is_the_one_that_is_named() {
        let late = |part: u32| -> Result<u32, Error> {
            std::thread::sleep(std::time::Duration::from_millis(if part == 3 { 20 } else { 1 }));
            if part < 3 { Ok(part) } else { Err(Error::from(ErrorKind::FailedCheck).at_row(part as usize)) }
        };
        assert_eq!(overlap(parts(9), late).unwrap_err().row(), Some(3));
    }

    #[test]
    #[should_panic(expected = "part 1")]
    fn a_panic_of_the_finisher_is_not_swallowed() {
        let _ = overlap(parts(99), |part| if part == 1 { panic!("part {part}") } else { Ok(part) });
    }
}
