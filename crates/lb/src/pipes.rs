//! Pipes through which the kernel moves bytes from socket to socket (splice(2)), so that they are not
//! copied to this process and back.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

/// Bytes moved by one call: other connections of the thread run in between.
pub(crate) const MOVE_MAX: usize = 128 * 1024;
/// Pipes of one thread.
const PIPES_MAX: u64 = 512;
/// Share of the open files that pipes of all threads may use.
const SHARE: u64 = 8;
/// Descriptors of a pipe.
const ENDS: u64 = 2;
/// Empty pipes that a thread keeps for the next use.
const KEPT: usize = 16;

/// A pipe with the number of bytes in it.
#[derive(Debug)]
pub(crate) struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
    held: usize,
    /// Counts the pipes of the thread.
    _counted: Arc<()>,
}

impl Pipe {
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Moves up to `limit` bytes of a socket into the empty pipe: [`io::ErrorKind::WouldBlock`] then means that the
    /// socket has none. Returns their number; 0: the peer has sent its end.
    pub(crate) fn fill(&mut self, socket: &impl AsFd, limit: usize) -> io::Result<usize> {
        debug_assert_eq!(self.held, 0, "a full pipe looks like an empty socket");
        let flags = SpliceFlags::NONBLOCK;
        self.held =
            retry_on_intr(|| splice(socket, None, &self.write, None, limit.min(MOVE_MAX), flags))?;
        Ok(self.held)
    }

    /// Moves bytes of the pipe into a socket; returns their number.
    pub(crate) fn drain(&mut self, socket: &impl AsFd) -> io::Result<usize> {
        let flags = SpliceFlags::NONBLOCK;
        let moved = splice(&self.read, None, socket, None, self.held, flags)?;
        self.held -= moved;
        Ok(moved)
    }
}

/// The pipes of a thread.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    #[expect(clippy::vec_box, reason = "they move between here and buffers by pointer")]
    free: Vec<Box<Pipe>>,
    max: usize,
    count: Arc<()>,
    /// The system has moved bytes: what it refuses now is the error of one connection.
    pub(crate) proven: bool,
}

impl Pipes {
    /// Allows one of `threads` its share of a process that may open this many files.
    pub(crate) fn share(&mut self, open_files: u64, threads: usize) {
        let threads = u64::try_from(threads).unwrap_or(u64::MAX).max(1);
        let share = (open_files / SHARE / ENDS / threads).min(PIPES_MAX);
        self.max = usize::try_from(share).unwrap_or(0);
    }

    /// An empty pipe; `None`: all are in use, or the system has none left.
    pub(crate) fn take(&mut self) -> Option<Box<Pipe>> {
        if self.max == 0 {
            return None;
        }
        self.free.pop().or_else(|| {
            let open = Arc::strong_count(&self.count) - 1;
            if open >= self.max {
                return None;
            }
            let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
            Some(Box::new(Pipe { read, write, held: 0, _counted: Arc::clone(&self.count) }))
        })
    }

    /// Takes an empty pipe back. One with bytes is closed.
    pub(crate) fn give(&mut self, pipe: Box<Pipe>) {
        if pipe.held == 0 && self.free.len() < KEPT {
            self.free.push(pipe);
        }
    }

    /// The system refuses to move bytes this way.
    pub(crate) fn refuse(&mut self) {
        self.max = 0;
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_are_a_share_of_the_open_files() {
        for (files, threads, max) in
            [(1024, 1, 64), (1024, 4, 16), (1 << 20, 2, 512), (15, 1, 0), (1024, 0, 64)]
        {
            let mut pipes = Pipes::default();
            pipes.share(files, threads);
            assert_eq!(pipes.max, max, "{files} {threads}");
        }
    }

    #[test]
    fn a_closed_pipe_makes_place_for_another() {
        let mut pipes = Pipes { max: 1, ..Pipes::default() };
        let mut first = pipes.take().unwrap();
        assert!(pipes.take().is_none());
        first.held = 1;
        pipes.give(first);
        let second = pipes.take().unwrap();
        pipes.give(second);
        assert_eq!(pipes.free.len(), 1);
        pipes.refuse();
        assert!(pipes.take().is_none());
    }
}
