//! The clock of the benchmarks.

use std::fs;
use std::time::Instant;

/// Processor time of this thread on Linux, wall time elsewhere.
pub struct Clock {
    wall: Instant,
    cpu_nanos: Option<u64>,
}

impl Clock {
    pub const KIND: &'static str = if cfg!(target_os = "linux") { "processor time" } else { "wall time" };

    pub fn start() -> Clock {
        Clock { wall: Instant::now(), cpu_nanos: cpu_nanos() }
    }

    pub fn seconds(&self) -> f64 {
        match (self.cpu_nanos, cpu_nanos()) {
            (Some(start), Some(end)) => (end - start) as f64 * 1e-9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

fn cpu_nanos() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}
