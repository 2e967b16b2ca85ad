//! Threads that the process cannot work without. When one of them ends unexpectedly the process
//! must not go on without it: it would accept work that nothing does. What happens then is the
//! program's decision ([`on_failure`]); libraries and tests that set nothing see the thread end as
//! any other.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, OnceLock};
use std::thread::{Builder, JoinHandle};

use crate::sync::lock;

/// A thread that ended although it should not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its name.
    pub thread: String,
    /// The message of its panic, or that it returned.
    pub reason: String,
}

/// What the program does about a failure.
type Act = Box<dyn Fn(&Failure) + Send + Sync>;

static ACT: OnceLock<Act> = OnceLock::new();
/// From the end of the start to the beginning of the stop.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Says what to do when a critical thread ends unexpectedly. It runs on that thread. The first call
/// in a process counts; the return value says whether this one did.
pub fn on_failure(act: impl Fn(&Failure) + Send + Sync + 'static) -> bool {
    ACT.set(Box::new(act)).is_ok()
}

/// While it is running, no [`permanent`] thread may return. A start that fails and an orderly stop
/// end these threads by closing their queues.
pub fn set_running(running: bool) {
    RUNNING.store(running, Ordering::Release);
}

/// Reports a failure: for what is critical and no thread of this module, such as a task.
pub fn failed(name: &str, reason: &str) {
    if let Some(act) = ACT.get() {
        act(&Failure { thread: name.to_owned(), reason: reason.to_owned() });
    }
}

/// Starts a thread whose panic is a failure. It may return when its work is done.
pub fn critical<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let watched = name.to_owned();
    Builder::new().name(name.to_owned()).spawn(move || watch(&watched, body))
}

/// Starts a thread that works until the process stops: its return is a failure as well while the
/// process is running.
pub fn permanent<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let watched = name.to_owned();
    critical(name, move || {
        let result = body();
        if RUNNING.load(Ordering::Acquire) {
            failed(&watched, "it returned while the process was running");
        }
        result
    })
}

/// Runs the body of a thread that was started otherwise; its panic is a failure.
pub fn watch<T>(name: &str, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => {
            failed(name, &format!("it panicked: {}", message(panic.as_ref())));
            resume_unwind(panic)
        }
    }
}

/// A panic that ended one piece of work and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its message and where in the program it happened.
    pub text: String,
    /// Nothing panicked there before in this process: worth a line in the log.
    pub is_new: bool,
}

/// Characters of a panic's message that are kept.
const MESSAGE_CHARS_MAX: usize = 200;

thread_local! {
    static CONTAINS: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

static QUIET: Once = Once::new();
/// Where panics were contained; bounded by the size of the program.
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Runs work whose panic concerns nothing but its own result. The caller resets what the work may
/// have left half changed. Standard error shows nothing of it: the panic may repeat with each value.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    QUIET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if CONTAINS.get() {
                PLACE.replace(info.location().map(ToString::to_string).unwrap_or_default());
            } else {
                before(info);
            }
        }));
    });
    let outer = CONTAINS.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CONTAINS.set(outer);
    result.map_err(|panic| {
        let place = PLACE.take();
        let said: String = message(panic.as_ref()).chars().take(MESSAGE_CHARS_MAX).collect();
        let text = format!("{said} at {place}");
        Fault { text, is_new: lock(&SEEN).insert(place) }
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn contained_panic_says_what_and_where_and_is_new_once() {
        let fail = |n: usize| contain(|| [1_u8, 2][n]);
        assert_eq!(fail(1), Ok(2));
        let first = fail(7).unwrap_err();
        assert!(first.is_new && first.text.contains("index is 7"), "{first:?}");
        assert!(first.text.contains("thread.rs:"), "{first:?}");
        let second = fail(8).unwrap_err();
        assert!(!second.is_new && second.text.contains("index is 8"), "{second:?}");
        assert!(contain(|| contain(|| panic!("inner")).is_err()).is_ok_and(|failed| failed));
    }

    #[test]
    fn unexpected_ends_are_reported_and_expected_ones_are_not() {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&seen);
        assert!(on_failure(move |f| lock(&sink).push(format!("{}: {}", f.thread, f.reason))));
        assert!(!on_failure(|_| {}));
        let ends = |thread: io::Result<JoinHandle<u8>>| thread.unwrap().join().ok();

        assert_eq!(ends(critical("done", || 1)), Some(1));
        assert_eq!(ends(permanent("start failed", || 2)), Some(2));
        set_running(true);
        assert_eq!(ends(critical("done while running", || 3)), Some(3));
        assert_eq!(lock(&seen).len(), 0);

        assert_eq!(ends(permanent("shard-0", || 4)), Some(4));
        assert_eq!(ends(critical("feeder", || panic!("BUG: {}", 7))), None);
        set_running(false);
        assert_eq!(ends(permanent("stopped", || 5)), Some(5));
        assert_eq!(ends(permanent("problems", || panic!("late"))), None);
        let expected = [
            "shard-0: it returned while the process was running",
            "feeder: it panicked: BUG: 7",
            "problems: it panicked: late",
        ];
        assert_eq!(*lock(&seen), expected);
    }
}
