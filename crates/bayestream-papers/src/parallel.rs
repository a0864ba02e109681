//! Independent runs over threads.

use crate::error::ReproduceError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Runs `run` on every job and returns the results in the order of the jobs, whatever the number of threads.
/// `describe` names a finished job for `progress`. After an error no further job is begun.
pub fn run_all<J: Sync, R: Send>(
    jobs: &[J],
    n_threads: usize,
    progress: &mut dyn FnMut(&str),
    describe: impl Fn(&J, &R) -> String,
    run: impl Fn(&J) -> Result<R, ReproduceError> + Sync,
) -> Result<Vec<R>, ReproduceError> {
    let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    let mut first_error = None;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..n_threads.clamp(1, jobs.len().max(1)) {
            let (sender, next, run) = (sender.clone(), &next, &run);
            scope.spawn(move || {
                loop {
                    let ix = next.fetch_add(1, Ordering::Relaxed);
                    // A send fails only when the receiver has gone, which needs no more results.
                    if ix >= jobs.len() || sender.send((ix, run(&jobs[ix]))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut n_done = 0;
        for (ix, result) in receiver {
            match result {
                Ok(result) => {
                    n_done += 1;
                    progress(&format!("{n_done}/{} {}", jobs.len(), describe(&jobs[ix], &result)));
                    results[ix] = Some(result);
                }
                Err(error) => {
                    next.store(jobs.len(), Ordering::Relaxed);
                    first_error.get_or_insert(error);
                }
            }
        }
    });
    match first_error {
        Some(error) => Err(error),
        None => Ok(results.into_iter().flatten().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..50).collect();
        for n_threads in [0, 1, 3, 80] {
            let mut n_messages = 0;
            let squares = run_all(&jobs, n_threads, &mut |_| n_messages += 1, |_, _| String::new(), |j| Ok(j * j));
            assert_eq!(squares.unwrap(), jobs.iter().map(|j| j * j).collect::<Vec<_>>());
            assert_eq!(n_messages, 50);
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let run = |j: &u32| match j {
            3 => Err(ReproduceError::UnknownExperiment { name: "x".into(), known: vec![] }),
            _ => Ok(*j),
        };
        let jobs: Vec<u32> = (0..9).collect();
        assert!(run_all(&jobs, 2, &mut |_| {}, |_, _| String::new(), run).is_err());
        assert!(run_all(&jobs[..0], 2, &mut |_| {}, |_, _| String::new(), run).unwrap().is_empty());
    }
}
