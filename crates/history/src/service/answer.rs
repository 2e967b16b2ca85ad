//! An answer on its way to a reader, who may be slow, or stop taking it.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use wire::history_service::{Failure, Page, Reason};

use super::Pages;
use super::gate::{Inside, Open, broken};

/// What follows of an answer.
enum Part {
    Page(Page),
    /// There is nothing behind it.
    Failed(Failure),
    End,
}

/// Pages for one reader. One page is read ahead; the next one when that has been taken.
pub struct Answer {
    parts: Receiver<Part>,
    gate: Arc<Inside>,
    over: bool,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("over", &self.over).finish_non_exhaustive()
    }
}

impl Answer {
    /// Begins to read; the `place` is held until the reader has all of it, or is gone, or has
    /// taken nothing for too long.
    pub(super) fn begin(
        gate: Arc<Inside>,
        pages: Box<dyn Pages>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        // One page waits while the next is read: more would only be memory.
        let (to, parts) = channel(1);
        tokio::spawn(send(Arc::clone(&gate), pages, place, to));
        Self { parts, gate, over: false }
    }

    /// The next page; `None` = that was all, and the answer is whole. A failure is the last.
    pub async fn next(&mut self) -> Option<Result<Page, Failure>> {
        if self.over {
            return None;
        }
        let failure = match self.parts.recv().await {
            Some(Part::Page(page)) => {
                self.gate.counters.sent(&page);
                return Some(Ok(page));
            }
            Some(Part::Failed(failure)) => failure,
            Some(Part::End) => {
                self.over = true;
                return None;
            }
            None => Reason::Busy.with(format!(
                "Nothing of the answer was taken for {} s, so it lost its place: ask for the rest.",
                self.gate.limits.patience.as_secs()
            )),
        };
        self.over = true;
        self.gate.counters.failed();
        Some(Err(failure))
    }
}

async fn send(
    gate: Arc<Inside>,
    mut pages: Box<dyn Pages>,
    _place: OwnedSemaphorePermit,
    to: Sender<Part>,
) {
    let _open = Open::answer(&gate.counters);
    loop {
        let read = spawn_blocking(move || (pages.next(), pages)).await;
        let (part, rest) = match read {
            Ok((Ok(Some(page)), rest)) => (Part::Page(page), Some(rest)),
            Ok((Ok(None), _)) => (Part::End, None),
            Ok((Err(failure), _)) => (Part::Failed(failure), None),
            Err(error) => (Part::Failed(broken(&error)), None),
        };
        // Elapsed: the reader stopped. Refused: it is gone.
        let taken = timeout(gate.limits.patience, to.send(part)).await;
        match (taken, rest) {
            (Ok(Ok(())), Some(rest)) => pages = rest,
            _ => return,
        }
    }
}
