//! What a role consists of. Each part starts from what it needs of the parts before it and says how it
//! ends; a role is a list of parts, which end in reverse order.

pub(crate) mod alerting;
pub(crate) mod api;
pub(crate) mod balancing;
pub(crate) mod base;
pub(crate) mod collection;
pub(crate) mod discovered;
pub(crate) mod engines;
pub(crate) mod evaluation;
pub(crate) mod export;
mod gone;
pub(crate) mod history;
mod limits;
pub(crate) mod listeners;
pub(crate) mod live;
pub(crate) mod remember;
pub(crate) mod requests;
pub(crate) mod scripts;
pub(crate) mod services;
pub(crate) mod transactions;
pub(crate) mod upkeep;
pub(crate) mod web;

use std::pin::Pin;

/// Whether a part has kept all that was given to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// What follows from it is written.
    All,
    /// Something was lost or could not be written: the next start has to look as after a crash.
    NotAll,
}

impl Kept {
    /// `all`: nothing was lost.
    pub(crate) fn all_if(all: bool) -> Self {
        if all { Self::All } else { Self::NotAll }
    }

    fn and(self, other: Self) -> Self {
        Self::all_if(self == Self::All && other == Self::All)
    }
}

/// Ends a part; does nothing before it is polled.
type End = Pin<Box<dyn Future<Output = Kept>>>;

/// A part that runs.
#[must_use = "a part that no role has never ends"]
pub(crate) struct Part<H> {
    handle: H,
    end: End,
}

impl<H> Part<H> {
    /// `handle` is what other parts use of it.
    pub(crate) fn new(handle: H, end: impl Future<Output = Kept> + 'static) -> Self {
        Self { handle, end: Box::pin(end) }
    }
}

impl Part<()> {
    /// A task that runs until the role ends. Its panic is a failure of the process.
    pub(crate) fn task(
        name: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let task = tokio::spawn(work);
        let abort = task.abort_handle();
        let watched = tokio::spawn(async move {
            if let Err(error) = task.await
                && error.is_panic()
            {
                stdx::thread::failed(name, &error.to_string());
            }
        });
        Self::new((), async move {
            abort.abort();
            Kept::all_if(watched.await.is_ok())
        })
    }
}

/// The parts of a role that run, in the order of their start.
#[derive(Default)]
pub(crate) struct Running {
    ends: Vec<(&'static str, End)>,
}

impl Running {
    /// Adds a part; returns what others use of it.
    pub(crate) fn add<H>(&mut self, name: &'static str, part: Part<H>) -> H {
        self.ends.push((name, part.end));
        part.handle
    }

    /// Ends all parts, the last one first.
    pub(crate) async fn end(self) -> Kept {
        let mut kept = Kept::All;
        for (name, end) in self.ends.into_iter().rev() {
            tracing::debug!(part = name, "ending");
            kept = kept.and(end.await);
        }
        kept
    }
}

/// Runs what blocks at the end of a part. What panics has not kept everything.
async fn blocking(work: impl FnOnce() -> Kept + Send + 'static) -> Kept {
    tokio::task::spawn_blocking(work).await.unwrap_or(Kept::NotAll)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn parts_end_in_reverse_order_and_losses_show() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let part = |name: &'static str, kept| {
            let order = Arc::clone(&order);
            Part::new(name.len(), async move {
                order.lock().unwrap().push(name);
                kept
            })
        };
        let mut running = Running::default();
        assert_eq!(running.add("first", part("first", Kept::All)), 5);
        running.add("second", part("second", Kept::NotAll));
        running.add("task", Part::task("task", std::future::pending()));
        running.add("third", part("third", Kept::All));
        assert_eq!(running.end().await, Kept::NotAll);
        assert_eq!(*order.lock().unwrap(), ["third", "second", "first"]);
    }
}
