//! What a model says it needs is what it takes, within a factor of two.

// Measuring memory takes a global allocator, and implementing one is unsafe by definition; this one only counts and passes
// on to the system's.
#![allow(unsafe_code)]

use bayestream::data::Batch;
use bayestream::model::{Config, FeatureConfig, FeatureKind, FeatureModel, KINDS, Kind, Model};
use bayestream::num;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

struct Measuring;

fn change(by: i64) {
    // The counters are gone when a thread ends; what is allocated then is nobody's business.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + by);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        change(new_size as i64 - layout.size() as i64);
        unsafe { System.realloc(at, layout, new_size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        change(-(layout.size() as i64));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Measuring = Measuring;

/// The most bytes held at once, beside its rows, while a model is learnt and looked at.
fn peak(rows: &[f64], d: usize, mut learn: impl FnMut(&Batch<'_>)) -> i64 {
    let before = HELD.get();
    PEAK.set(before);
    rows.chunks(20 * d).for_each(|rows| learn(&Batch::new(rows, d).unwrap()));
    PEAK.get() - before
}

fn noise(n: usize, d: usize) -> Vec<f64> {
    let mut rng = num::stream(20_060, d as u64, 0);
    (0..n * d).map(|_| rng.normal()).collect()
}

fn columns(d: usize) -> Vec<String> {
    (0..d).map(|j| format!("x{j}")).collect()
}

/// Estimates must be right within a factor of two.
fn assert_honest(what: &str, told: u64, measured: i64) {
    let off = measured as f64 / told as f64;
    assert!((0.5..=2.0).contains(&off), "{what}: {told} bytes told, {measured} measured");
}

#[test]
fn mixtures_take_the_memory_that_they_say_they_need() {
    for info in &KINDS {
        for d in [60, 110] {
            let mut config = Config::new(info.kind, columns(d));
            config.settings.start_components = 20;
            // As many rows as make as many components as the estimate is for: greedy kinds give each row of noise its own.
            let n = if info.kind.is_dirichlet() { 50 } else { 100 };
            // Components of these are those that rows have: as many groups far apart.
            let n_groups = match info.kind {
                kind if kind.is_ofab() => Some((config.settings.start_components, 40)),
                Kind::GmmDp => Some((50, 4)),
                _ => None,
            };
            let n = n_groups.map_or(n, |(groups, rows_each)| groups * rows_each);
            let mut rows = noise(n, d);
            if let Some((n_groups, _)) = n_groups {
                rows.chunks_exact_mut(d).enumerate().for_each(|(i, row)| row[i % n_groups] += 100.0);
            }
            let told = config.memory_needed();
            let mut model = None;
            let measured = peak(&rows, d, |batch| {
                let model = model.get_or_insert_with(|| Model::new(config.clone()).unwrap());
                model.update(batch).unwrap();
                if model.n_seen() == n as u64 {
                    model.finish();
                    model.snapshot();
                }
            });
            assert_honest(&format!("{} with {d} columns", info.name), told, measured);
        }
    }
}

#[test]
fn features_take_the_memory_that_they_say_they_need() {
    for d in [100, 400] {
        let config = FeatureConfig::new(FeatureKind::OnlineFab, columns(d));
        let (told, rows) = (config.memory_needed(), noise(1500, d));
        let mut model = None;
        let measured = peak(&rows, d, |batch| {
            let model = model.get_or_insert_with(|| FeatureModel::new(config.clone()).unwrap());
            model.update(batch).unwrap();
            if model.n_seen() == 1500 {
                model.snapshot();
            }
        });
        assert_honest(&format!("lfm/online-fab with {d} columns"), told, measured);
    }
}
