//! What has to be known of a store before anything else is asked of it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use stdx::sync::lock;

use history::Error;

/// What is found out or made at a store: once, and again after each failure.
pub(crate) struct Prepared<T = ()> {
    state: Mutex<State<T>>,
    failures: AtomicU64,
}

struct State<T> {
    known: Option<T>,
    /// Why the store did not do it the last time that it failed.
    failed: Option<Error>,
}

impl<T> Prepared<T> {
    pub(crate) fn not_yet() -> Self {
        let state = State { known: None, failed: None };
        Self { state: Mutex::new(state), failures: AtomicU64::new(0) }
    }

    /// Calls with what is known; nobody else prepares or changes it meanwhile.
    pub(crate) fn with<R>(
        &self,
        prepare: impl FnOnce() -> Result<T, Error>,
        act: impl FnOnce(&mut T) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.with_any(|known| match known {
            Some(known) => act(known),
            none => act(none.insert(prepare()?)),
        })
    }

    /// Calls with what is known, or with `None` that may be filled. When that fails, nothing is known.
    pub(crate) fn with_any<R>(
        &self,
        act: impl FnOnce(&mut Option<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.since(self.failures.load(Ordering::Acquire), act)
    }

    /// Callers queued behind a failed attempt get that failure instead of retrying; otherwise N
    /// callers of an unavailable store would time out one after another.
    fn since<R>(
        &self,
        failures: u64,
        act: impl FnOnce(&mut Option<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let State { known, failed } = &mut *lock(&self.state);
        let waited = known.is_none() && failures != self.failures.load(Ordering::Acquire);
        if let Some(error) = failed.as_ref().filter(|_| waited) {
            return Err(error.clone());
        }
        let done = act(known);
        if let Err(error) = &done {
            *known = None;
            *failed = Some(error.clone()).filter(|error| error.retry);
            self.failures.fetch_add(1, Ordering::Release);
        }
        done
    }

    /// Somebody else may have changed what is known.
    pub(crate) fn forget(&self) {
        lock(&self.state).known = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepares_once_and_shares_a_failure_with_waiters() {
        let prepared = Prepared::not_yet();
        let fails = || Err::<u8, _>(Error::storage_away("gone"));
        let never = || -> Result<u8, Error> { unreachable!("it is known what came of it") };
        let act = |known: &mut u8| Ok(*known);
        assert_eq!(prepared.with(fails, act).unwrap_err().message, "gone");
        let waited = prepared.since(0, |_| never()).unwrap_err();
        assert_eq!(waited.message, "gone");
        assert_eq!(prepared.with(|| Ok(7), act).unwrap(), 7);
        assert_eq!(prepared.with(never, act).unwrap(), 7);
        assert_eq!(prepared.since(0, |known| Ok(*known)).unwrap(), Some(7));
    }

    #[test]
    fn failed_preparation_is_repeated_alone() {
        let prepared = Prepared::not_yet();
        let refused = |_: &mut u8| Err::<u8, _>(Error::config("this row"));
        assert_eq!(prepared.with(|| Ok(7), refused).unwrap_err().message, "this row");
        assert_eq!(prepared.since(0, |known| Ok(known.take())).unwrap(), None);
        assert_eq!(prepared.with(|| Ok(8), |known| Ok(*known)).unwrap(), 8);
        prepared.forget();
        assert_eq!(prepared.with(|| Ok(9), |known| Ok(*known)).unwrap(), 9);
    }
}
