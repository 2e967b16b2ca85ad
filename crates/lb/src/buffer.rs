//! Buffers that a connection borrows only while it has bytes in them.

use crate::pipes::{Pipe, Pipes};

/// Size of a buffer: the largest head, and what one read or write moves.
pub(crate) const SIZE: usize = 32 * 1024;
/// Buffers that a thread keeps for the next use.
const KEPT: usize = 256;

/// The free buffers of a thread.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    free: Vec<Box<[u8]>>,
    pub(crate) pipes: Pipes,
}

impl Buffers {
    fn take(&mut self) -> Box<[u8]> {
        self.free.pop().unwrap_or_else(|| vec![0; SIZE].into_boxed_slice())
    }

    fn give(&mut self, store: Box<[u8]>) {
        if self.free.len() < KEPT {
            self.free.push(store);
        }
    }
}

/// Bytes on their way. Without any, it has neither memory nor a pipe.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    store: Option<Box<[u8]>>,
    start: usize,
    end: usize,
    /// The bytes are in a pipe instead, not in memory.
    pipe: Option<Box<Pipe>>,
}

impl Buffer {
    /// The bytes in memory.
    pub(crate) fn data(&self) -> &[u8] {
        self.store.as_deref().map_or(&[], |store| &store[self.start..self.end])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end && self.pipe.as_deref().is_none_or(|pipe| pipe.held() == 0)
    }

    /// The pipe, if the bytes are in one.
    pub(crate) fn pipe(&mut self) -> Option<&mut Pipe> {
        self.pipe.as_deref_mut()
    }

    /// The pipe of an empty buffer, borrowed if it has none; `None`: all are in use.
    pub(crate) fn empty_pipe(&mut self, buffers: &mut Buffers) -> Option<&mut Pipe> {
        if !self.is_empty() {
            return None;
        }
        if self.pipe.is_none() {
            self.pipe = buffers.pipes.take();
        }
        self.pipe()
    }

    /// Bytes that still fit; none behind those in a pipe.
    pub(crate) fn room(&self) -> usize {
        if self.pipe.as_deref().is_some_and(|pipe| pipe.held() > 0) {
            return 0;
        }
        SIZE - (self.end - self.start)
    }

    /// Removes bytes from the front.
    pub(crate) fn consume(&mut self, length: usize) {
        self.start = (self.start + length).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// The free space behind the bytes, made contiguous.
    pub(crate) fn space(&mut self, buffers: &mut Buffers) -> &mut [u8] {
        let store = self.store.get_or_insert_with(|| buffers.take());
        if self.start > 0 && self.end == SIZE {
            store.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut store[self.end..]
    }

    /// Bytes were written into [`Self::space`].
    pub(crate) fn filled(&mut self, length: usize) {
        self.end = (self.end + length).min(SIZE);
    }

    /// Appends bytes; false: they do not fit, and nothing is appended.
    #[must_use]
    pub(crate) fn push(&mut self, bytes: &[u8], buffers: &mut Buffers) -> bool {
        if bytes.len() > self.room() {
            return false;
        }
        let store = self.store.get_or_insert_with(|| buffers.take());
        if self.end + bytes.len() > SIZE {
            store.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        store[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
        true
    }

    /// Gives the memory back if there are no bytes.
    pub(crate) fn rest(&mut self, buffers: &mut Buffers) {
        if !self.is_empty() {
            return;
        }
        if let Some(store) = self.store.take() {
            buffers.give(store);
        }
        self.rest_pipe(buffers);
    }

    /// Gives the pipe back. Bytes in it are lost.
    pub(crate) fn rest_pipe(&mut self, buffers: &mut Buffers) {
        if let Some(pipe) = self.pipe.take() {
            buffers.pipes.give(pipe);
        }
    }

    /// Removes all bytes and gives the memory back.
    pub(crate) fn clear(&mut self, buffers: &mut Buffers) {
        (self.start, self.end) = (0, 0);
        self.rest_pipe(buffers);
        self.rest(buffers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_buffer_has_no_memory() {
        let mut buffers = Buffers::default();
        let mut buffer = Buffer::default();
        assert!(buffer.push(b"abc", &mut buffers));
        buffer.consume(3);
        buffer.rest(&mut buffers);
        assert!(buffer.store.is_none());
        assert_eq!(buffers.free.len(), 1);
    }

    #[test]
    fn bytes_move_to_the_front_when_space_ends() {
        let mut buffers = Buffers::default();
        let mut buffer = Buffer::default();
        assert!(buffer.push(&vec![b'a'; SIZE - 1], &mut buffers));
        assert!(!buffer.push(b"bc", &mut buffers));
        buffer.consume(SIZE - 2);
        assert!(buffer.push(b"bc", &mut buffers));
        assert_eq!(buffer.data(), b"abc");
        buffer.consume(1);
        assert_eq!(buffer.space(&mut buffers).len() + 2, SIZE - 1);
    }
}
