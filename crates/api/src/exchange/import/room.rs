//! Room for imports: how much memory one may use, and how many run at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use objects::UserType;
use stdx::sync::lock;

use crate::call::User;
use crate::error::{ApiError, ApiResult};
use crate::exchange::format::Format;

/// Memory of one import's tree, bytes, by [`tree_bytes`].
const TREE_BYTES_MAX: usize = 256 << 20;

/// Longest source of users who may not import anything that hosts or templates have.
const USER_SOURCE_BYTES_MAX: usize = 1 << 20;

/// Imports and comparisons that run concurrently.
const RUNNING_MAX: usize = 2;

/// Bytes of all trees that are in memory at once.
pub(crate) const BYTES_MAX: usize = RUNNING_MAX * TREE_BYTES_MAX;

/// Further ones that wait for these.
const WAITING_MAX: usize = 8;

/// Memory of a member or an element beside its text: name, value, place in the table.
const NODE_BYTES: usize = 150;

/// Most memory that the tree of a source may need: each node has a sign of its own in the text.
fn tree_bytes(format: Format, source: &str) -> usize {
    let signs: &[u8] = match format {
        Format::Yaml => b":-,[{",
        Format::Xml => b"<",
        Format::Json | Format::Raw => b":,[{",
    };
    let nodes = source.bytes().filter(|byte| signs.contains(byte)).count();
    source.len() + nodes * NODE_BYTES
}

/// Refuses a source whose tree would need too much memory.
pub(in crate::exchange) fn check_source(
    user: &User,
    format: Format,
    source: &str,
) -> ApiResult<()> {
    if user.kind < UserType::Admin && source.len() > USER_SOURCE_BYTES_MAX {
        let text = format!("cannot be longer than {USER_SOURCE_BYTES_MAX} bytes for this user");
        return Err(ApiError::at("/source", text));
    }
    let bytes = tree_bytes(format, source);
    if bytes > TREE_BYTES_MAX {
        let [needed, most] = [bytes, TREE_BYTES_MAX].map(|bytes| bytes >> 20);
        let text = format!(
            "needs up to {needed} MiB of memory, more than the {most} MiB of one import: split it \
             into several imports"
        );
        return Err(ApiError::at("/source", text));
    }
    Ok(())
}

/// Places of imports.
#[derive(Debug, Default)]
pub(crate) struct Places {
    counts: Mutex<Counts>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Counts {
    running: usize,
    waiting: usize,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'p>(&'p Places);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(&self.0.counts).running -= 1;
        self.0.freed.notify_one();
    }
}

impl Places {
    /// Waits for a place; refuses where many wait already.
    pub(crate) fn enter(&self) -> ApiResult<Place<'_>> {
        let mut counts = lock(&self.counts);
        if counts.running >= RUNNING_MAX {
            if counts.waiting >= WAITING_MAX {
                let text = "Too many imports are running. Try again later.";
                return Err(ApiError::application(text));
            }
            counts.waiting += 1;
            counts = self.wait(counts);
            counts.waiting -= 1;
        }
        counts.running += 1;
        Ok(Place(self))
    }

    fn wait<'p>(&'p self, counts: MutexGuard<'p, Counts>) -> MutexGuard<'p, Counts> {
        let full = |counts: &mut Counts| counts.running >= RUNNING_MAX;
        self.freed.wait_while(counts, full).unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn waiting(&self) -> usize {
        lock(&self.counts).waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_beyond_two_wait_and_beyond_ten_are_refused() {
        let places = Places::default();
        let held = [places.enter().unwrap(), places.enter().unwrap()];
        std::thread::scope(|scope| {
            let waiting: Vec<_> =
                (0..WAITING_MAX).map(|_| scope.spawn(|| drop(places.enter().unwrap()))).collect();
            while places.waiting() < WAITING_MAX {
                std::thread::yield_now();
            }
            let refused = places.enter().unwrap_err();
            assert!(refused.data.starts_with("Too many imports"), "{refused:?}");
            drop(held);
            waiting.into_iter().for_each(|thread| thread.join().unwrap());
        });
        drop(places.enter().unwrap());
    }

    #[test]
    fn sources_beyond_the_memory_budget_are_refused_unread() {
        let admin = User::system();
        let user = User { kind: UserType::User, ..User::system() };
        let dense = "a:\n".repeat(2 << 20);
        for format in [Format::Yaml, Format::Json] {
            let refused = check_source(&admin, format, &dense).unwrap_err();
            assert!(refused.data.contains("MiB of memory"), "{refused:?}");
        }
        let text = "x".repeat(2 << 20);
        assert!(check_source(&admin, Format::Xml, &text).is_ok());
        assert!(check_source(&user, Format::Xml, &text).is_err());
        assert!(check_source(&user, Format::Xml, &text[..1000]).is_ok());
    }
}
