//! The streams of a connection (RFC 9113, 5.1).

use std::collections::VecDeque;

/// Streams that ended recently and are remembered: late frames for them are no errors.
const RECENT: usize = 64;

/// A stream in progress.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) number: u32,
    /// Bytes that the peer may send.
    pub(super) receive: i64,
    /// Bytes that may be sent to the peer.
    pub(super) send: i64,
    /// Bytes consumed that the peer has not been told of.
    pub(super) untold: u32,
    /// Content that is announced and has not arrived.
    pub(super) expected: Option<u64>,
    /// The final head of the peer's message has arrived.
    pub(super) headed: bool,
    /// The peer has ended its side.
    pub(super) ended: bool,
    /// This side has ended.
    pub(super) sent: bool,
}

/// All of them. Numbers ascend, so that the newest is the last.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: Vec<Stream>,
    /// Ended streams, and whether this side has reset them.
    recent: VecDeque<(u32, bool)>,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn add(&mut self, stream: Stream) {
        self.open.push(stream);
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.open.binary_search_by_key(&number, |stream| stream.number).ok()
    }

    pub(super) fn get(&self, number: u32) -> Option<&Stream> {
        self.place(number).map(|at| &self.open[at])
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Stream> {
        self.place(number).map(|at| &mut self.open[at])
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.open.iter_mut()
    }

    /// Ends a stream; false: it was not open.
    pub(super) fn end(&mut self, number: u32, reset_by_us: bool) -> bool {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((number, reset_by_us));
        self.place(number).map(|at| self.open.remove(at)).is_some()
    }

    /// Whether this side has reset an ended stream; `None`: it is not remembered.
    pub(super) fn reset_by_us(&self, number: u32) -> Option<bool> {
        let mut recent = self.recent.iter().rev();
        recent.find(|(other, _)| *other == number).map(|(_, by_us)| *by_us)
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}
