//! The threads of a search: started once, they run the jobs of each phase.

use std::sync::Mutex;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// The calling thread and others.
pub(super) struct Crew {
    /// None when the calling thread is alone.
    others: Option<ThreadPool>,
}

impl Crew {
    /// A crew of `threads` threads, the calling one included. Where the system starts no more threads, the calling
    /// one is alone: slower, but with the same results.
    pub(super) fn of(threads: usize) -> Self {
        let others = threads.saturating_sub(1);
        let pool = || ThreadPoolBuilder::new().num_threads(others).build().ok();
        Self {
            others: if others == 0 { None } else { pool() },
        }
    }

    /// Runs the jobs, each on whichever thread is free; the results are in the order of the jobs. A panic in any job goes
    /// on in the caller.
    pub(super) fn run<T: Send, F: FnOnce() -> T + Send>(&self, jobs: Vec<F>) -> Vec<T> {
        let Some(others) = self.others.as_ref().filter(|_| jobs.len() > 1) else {
            return jobs.into_iter().map(|job| job()).collect();
        };
        let results: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
        let helpers = others.current_num_threads().min(jobs.len() - 1);
        let waiting = Mutex::new(jobs.into_iter().zip(&results));
        let work = || {
            while let Some((job, result)) = next(&waiting) {
                put(result, job());
            }
        };
        others.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| work());
            }
            work();
        });
        results.into_iter().filter_map(take).collect()
    }
}

/// The next thing to do; it is taken, and then done while others take theirs.
fn next<T>(waiting: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    waiting
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .next()
}

fn put<T>(result: &Mutex<Option<T>>, value: T) {
    *result
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(value);
}

/// What a job gave; every job has run when the scope ends.
fn take<T>(result: Mutex<Option<T>>) -> Option<T> {
    result
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        for threads in [1, 2, 3] {
            let crew = Crew::of(threads);
            for jobs in [0, 1, 2, 7] {
                let results = crew.run((0..jobs).map(|job| move || job * 10).collect());
                assert_eq!(results, (0..jobs).map(|job| job * 10).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    #[should_panic(expected = "a job fails")]
    fn a_panic_reaches_the_caller() {
        let jobs: Vec<Box<dyn FnOnce() + Send>> =
            vec![Box::new(|| ()), Box::new(|| panic!("a job fails"))];
        Crew::of(2).run(jobs);
    }
}
