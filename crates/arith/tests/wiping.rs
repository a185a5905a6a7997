//! Checks the memory that a dropped batch leaves: secrets are wiped, public numbers need not be.
//! Blocks of memory are inspected when they are freed.

use hearith_arith::{Batch, Engine, Modulus};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// A limb that occurs nowhere else.
const MARK: u64 = 0x5ec2_e75e_c2e7_5ec3;

thread_local! {
    /// Number of blocks that contain the mark and were freed by this thread; `None` when not
    /// counting.
    static FOUND: Cell<Option<usize>> = const { Cell::new(None) };
}

struct Watching;

// SAFETY: blocks come from the system's allocator and are returned to it with the same layout. They
// are read before that, in whole limbs within them. Every block is zeroed when it is allocated, so
// no uninitialised memory is read.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() >= align_of::<u64>()
            && let Ok(Some(found)) = FOUND.try_with(Cell::get)
        {
            let limbs = block.cast::<u64>();
            // SAFETY: these limbs are in the block, which was zeroed when it was allocated.
            let marked = (0..layout.size() / 8).any(|at| unsafe { limbs.add(at).read_volatile() } == MARK);
            _ = FOUND.try_with(|cell| cell.set(Some(found + usize::from(marked))));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// Number of blocks with the mark that are freed during `work`.
fn left_behind(work: impl FnOnce()) -> usize {
    FOUND.set(Some(0));
    work();
    FOUND.take().unwrap()
}

/// Uses all operations that copy numbers to other batches.
fn handle(batch: Batch) {
    let parts = [batch.clone(), batch.select(&[1, 0, 1]), batch.range(0..1), batch.resize(7), batch.resize(1)];
    let all = Batch::concat(&[&batch, &parts[0]]);
    // An unknown size: the batch grows.
    let grown = Batch::from_rows(3, batch.rows().cycle().take_while(|_| true).take(9));
    drop((grown, all));
}

#[test]
fn secret_batches_are_wiped_and_public_ones_are_not() {
    let batch = || Batch::from_rows(3, [&[MARK, 2, 3][..], &[4, MARK]]);
    assert_eq!(left_behind(|| handle(batch())), 0);
    assert_eq!(left_behind(|| drop(batch().public())), 1);
    // The five parts that contain the mark, the concatenated batch and the batch itself. A growing
    // batch is secret whatever its source.
    assert_eq!(left_behind(|| handle(batch().public())), 7);
}

#[test]
fn arithmetic_wipes_its_copies_of_public_numbers() {
    for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
        let modulus = Modulus::new(engine, &[u64::MAX, 0, 1 << 63]).unwrap();
        let public = Batch::from_rows(3, [&[MARK, 2, 3][..], &[4, MARK]]).public();
        // Multiplying by one returns the mark.
        let one = Batch::from_rows(3, [&[1][..], &[1]]);
        assert_eq!(left_behind(|| assert_eq!(modulus.mul(&public, &one), public)), 0, "{engine}");
    }
}
