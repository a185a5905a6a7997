//! What a batch leaves behind when it is dropped: secrets are wiped, public numbers need not be.
//! Blocks of memory are looked at when they are given back.

use hearith_arith::{Batch, Engine, Modulus};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// A limb that nothing else holds.
const MARK: u64 = 0x5ec2_e75e_c2e7_5ec3;

thread_local! {
    /// How many blocks with the mark in them this thread has given back; `None` while nobody looks.
    static FOUND: Cell<Option<usize>> = const { Cell::new(None) };
}

struct Watching;

// SAFETY: blocks come from the system's allocator and go back to it with the same layout; they are
// read before, in full limbs that lie within them. Every block is zeroed when it is made, so that
// nothing is read that was never written.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() >= align_of::<u64>()
            && let Ok(Some(found)) = FOUND.try_with(Cell::get)
        {
            let limbs = block.cast::<u64>();
            // SAFETY: these limbs are in the block, which was zeroed when it was made.
            let marked = (0..layout.size() / 8).any(|at| unsafe { limbs.add(at).read_volatile() } == MARK);
            _ = FOUND.try_with(|cell| cell.set(Some(found + usize::from(marked))));
        }
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// How many blocks with the mark are given back while something is done.
fn left_behind(work: impl FnOnce()) -> usize {
    FOUND.set(Some(0));
    work();
    FOUND.take().unwrap()
}

/// Takes the ways by which numbers get into other batches.
fn handle(batch: Batch) {
    let parts = [batch.clone(), batch.select(&[1, 0, 1]), batch.range(0..1), batch.resize(7), batch.resize(1)];
    let all = Batch::concat(&[&batch, &parts[0]]);
    // A size that is not known beforehand: the batch grows.
    let grown = Batch::from_rows(3, batch.rows().cycle().take_while(|_| true).take(9));
    drop((grown, all));
}

#[test]
fn secret_batches_are_wiped_and_public_ones_are_not() {
    let batch = || Batch::from_rows(3, [&[MARK, 2, 3][..], &[4, MARK]]);
    assert_eq!(left_behind(|| handle(batch())), 0);
    assert_eq!(left_behind(|| drop(batch().public())), 1);
    // The five parts that hold the mark, the joined one and the batch; what grows is secret
    // whatever it is made from.
    assert_eq!(left_behind(|| handle(batch().public())), 7);
}

#[test]
fn arithmetic_wipes_its_copies_of_public_numbers() {
    for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
        let modulus = Modulus::new(engine, &[u64::MAX, 0, 1 << 63]).unwrap();
        let public = Batch::from_rows(3, [&[MARK, 2, 3][..], &[4, MARK]]).public();
        // Whoever multiplies by one gets the mark back.
        let one = Batch::from_rows(3, [&[1][..], &[1]]);
        assert_eq!(left_behind(|| assert_eq!(modulus.mul(&public, &one), public)), 0, "{engine}");
    }
}
