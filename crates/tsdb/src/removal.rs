//! Giving the space of large files back in steps.
//!
//! A file system that tells the disk which blocks are free does so with its next commit, and a concurrent
//! sync waits for all of it. So a file is unlinked at once, and what it took is given
//! back some megabytes at a time, each with a commit of its own, on a thread of its own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use stdx::thread::critical;

use crate::disk::{Disk, DiskFile};
use crate::segment::Segment;

/// Bytes given back at once.
const STEP: u64 = 8 << 20;
/// Between two steps others have the disk for themselves.
const PAUSE: Duration = Duration::from_millis(20);
/// Files that may wait; what does not fit is given back at once.
const WAITING_MAX: usize = 4096;
/// Somebody may still read what was deleted. After so many looks the system gives the space back
/// when he is done.
const LOOKS: usize = 100;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A file without a name, still with its space.
struct Unlinked {
    segment: Arc<Segment>,
    file: Arc<dyn DiskFile>,
}

/// The helper.
pub(crate) struct Remover {
    files: Option<SyncSender<Unlinked>>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Remover {
    /// `None` = the system refuses a thread.
    pub(crate) fn start() -> Option<Self> {
        let (files, todo) = sync_channel(WAITING_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = critical("tsdb-remove", move || give_back_all(&todo, &stopped)).ok()?;
        Some(Self { files: Some(files), stop, thread })
    }

    /// Ends; the system gives back what is left.
    pub(crate) fn end(mut self) {
        self.stop.store(true, Ordering::Release);
        self.files = None;
        self.thread.thread().unpark();
        drop(self.thread.join());
    }
}

/// Unlinks the file of a segment.
pub(crate) fn remove(
    disk: &dyn Disk,
    segment: Arc<Segment>,
    remover: &mut Option<Remover>,
) -> io::Result<()> {
    let is_large = segment.bytes() > STEP;
    let file = match remover {
        Some(_) if is_large => disk.reopen(&segment.path, segment.bytes()).ok(),
        _ => None,
    };
    disk.remove(&segment.path)?;
    let files = remover.as_ref().and_then(|remover| remover.files.as_ref());
    if let (Some(file), Some(files)) = (file, files) {
        drop(files.try_send(Unlinked { segment, file }));
    }
    Ok(())
}

fn give_back_all(todo: &Receiver<Unlinked>, stop: &AtomicBool) {
    while let Ok(Unlinked { segment, file }) = todo.recv() {
        let mut looks = 0;
        while Arc::strong_count(&segment) > 1 && looks < LOOKS && !stop.load(Ordering::Acquire) {
            std::thread::park_timeout(LOOK_EVERY);
            looks += 1;
        }
        // Nobody else can get hold of it any more.
        if Arc::strong_count(&segment) == 1 {
            give_back(file.as_ref(), segment.bytes(), stop);
        }
    }
}

fn give_back(file: &dyn DiskFile, bytes: u64, stop: &AtomicBool) {
    let mut left = bytes;
    while left > STEP && !stop.load(Ordering::Acquire) {
        left -= STEP;
        // Without the commit several steps would become one.
        if file.truncate(left).and_then(|()| file.sync()).is_err() {
            return;
        }
        std::thread::park_timeout(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Steps(Mutex<Vec<u64>>);

    impl DiskFile for Steps {
        fn append(&self, _: &[u8]) -> io::Result<()> {
            unreachable!()
        }
        fn truncate(&self, len: u64) -> io::Result<()> {
            self.0.lock().unwrap().push(len);
            if len == 3 { Err(io::Error::other("a bad sector")) } else { Ok(()) }
        }
        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn space_is_given_back_in_steps_until_a_fault_or_the_end() {
        for (bytes, stop, steps) in [
            (3 * STEP + 1, false, vec![2 * STEP + 1, STEP + 1, 1]),
            (2 * STEP, false, vec![STEP]),
            (2 * STEP + 3, false, vec![STEP + 3, 3]),
            (STEP, false, vec![]),
            (0, false, vec![]),
            (9 * STEP, true, vec![]),
        ] {
            let file = Steps::default();
            give_back(&file, bytes, &AtomicBool::new(stop));
            assert_eq!(*file.0.lock().unwrap(), steps, "{bytes}");
        }
    }
}
