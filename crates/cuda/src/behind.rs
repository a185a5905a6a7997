//! The CPU's share of a batch, done behind the card: while the card computes some rows, one thread
//! turns those before them into results and checks them.

use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;

use hearith_device::Error;

/// Parts that wait for the CPU: a card that is faster stops there, which bounds the memory.
const WAITING: usize = 1;

/// Has `card` hand over parts of a batch, in order, and `finish` turn each into its result on a
/// thread of its own. None of the results is given out before all parts are finished.
///
/// # Errors
/// The card's, or else the first of `finish`.
pub(crate) fn behind<P: Send, T: Send>(
    card: impl FnOnce(&mut dyn FnMut(P)) -> Result<(), Error>,
    finish: impl Fn(P) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let finisher = scope.spawn(|| receiver.into_iter().map(&finish).collect::<Result<Vec<T>, Error>>());
        // A finisher that has failed takes no more parts; its error is met below.
        let computed = card(&mut |part| _ = sender.send(part));
        drop(sender);
        let finished = finisher.join().unwrap_or_else(|panic| resume_unwind(panic));
        computed.and(finished)
    })
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
            behind(parts(9), |part| Ok(part * part)).unwrap(),
            (0..9).map(|part| part * part).collect::<Vec<_>>()
        );
        assert!(behind(parts(0), Ok).unwrap().is_empty());
    }

    #[test]
    fn nothing_is_given_out_if_one_part_fails() {
        let third = |part| if part == 2 { Err(Error::from(ErrorKind::FailedCheck)) } else { Ok(part) };
        assert!(matches!(behind(parts(9), third).unwrap_err().kind(), ErrorKind::FailedCheck));
        let card = |hand_over: &mut dyn FnMut(u32)| {
            hand_over(0);
            Err(Error::from(ErrorKind::NoKey))
        };
        assert!(matches!(behind(card, Ok).unwrap_err().kind(), ErrorKind::NoKey));
    }

    #[test]
    #[should_panic(expected = "part 1")]
    fn a_panic_of_the_finisher_is_not_swallowed() {
        let _ = behind(parts(3), |part| if part == 1 { panic!("part {part}") } else { Ok(part) });
    }
}
