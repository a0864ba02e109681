//! Learning from a batch allocates nothing once a model has settled.

// Counting allocations takes a global allocator, and implementing one is unsafe by definition; this one only counts
// and passes on to the system's.
#![allow(unsafe_code)]

use bayestream::data::Batch;
use bayestream::model::{Config, Kind, Model};
use bayestream::synthetic::{Covariance, ofab_truth};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // The counter is gone when a thread ends; what is allocated then is nobody's business.
    let _ = N_ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(at, layout, new_size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of each update of a settled model.
fn allocations(kind: Kind) -> Vec<u64> {
    let (n_settled, n_counted, batch) = (30_000, 40, 500);
    let truth = ofab_truth(10, 3, Covariance::Aat, 20_030);
    let (rows, _) = truth.sample(n_settled + n_counted * batch, 20_030);
    let columns = vec!["a".into(), "b".into(), "c".into()];
    let mut model = Model::new(Config { seed: 20_030, ..Config::new(kind, columns) }).unwrap();
    let mut counts = Vec::new();
    for (ix, rows) in rows.chunks(batch * 3).enumerate() {
        let batch_of_rows = Batch::new(rows, 3).unwrap();
        let before = N_ALLOCATIONS.get();
        model.update(&batch_of_rows).unwrap();
        if ix * batch >= n_settled {
            counts.push(N_ALLOCATIONS.get() - before);
        }
    }
    counts
}

/// Structure is looked at from time to time, and newborn components come to rows in the far tails; those updates may
/// allocate. All others, most of them, must not.
#[test]
fn most_updates_of_a_settled_model_allocate_nothing() {
    for kind in [Kind::GmmOfab, Kind::GmmDp] {
        let counts = allocations(kind);
        let n_free = counts.iter().filter(|n| **n == 0).count();
        assert!(2 * n_free > counts.len(), "{kind}: allocations of each update: {counts:?}");
    }
}
