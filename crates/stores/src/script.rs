//! Answers that are known before anybody asks, for tests and fuzzers: no server, no connection.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

use super::http::Answer;
use history::Error;

/// Answers that are left. Each request gets the next one, whatever it asks.
#[derive(Clone)]
pub(crate) struct Script(Arc<Mutex<VecDeque<Answer>>>);

thread_local! {
    static CURRENT: RefCell<Option<Script>> = const { RefCell::new(None) };
}

impl Script {
    /// The same for answers that are all successes.
    #[cfg(test)]
    pub(crate) fn bodies<T>(bodies: &[&str], make: impl FnOnce() -> T) -> T {
        let answer = |body: &&str| {
            let (headers, body) = (Default::default(), body.as_bytes().to_vec());
            Answer { status: 200, headers, body }
        };
        Self::play(bodies.iter().map(answer), make)
    }

    /// The connections that `make` makes answer so.
    pub(crate) fn play<T>(answers: impl Iterator<Item = Answer>, make: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(Self(Arc::new(Mutex::new(answers.collect())))));
        let made = make();
        CURRENT.set(None);
        made
    }

    /// That of the call of [`Self::play`] which runs on this thread.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// After the last response the server is unavailable, so that no client retries forever.
    pub(crate) fn next(&self) -> Result<Answer, Error> {
        lock(&self.0).pop_front().ok_or_else(|| Error::storage_away("there are no more answers"))
    }
}
