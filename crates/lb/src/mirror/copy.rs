//! A copy of a request.

use std::io;
use std::sync::Arc;

use proxying::http1::{self, Field, Framing};

use super::copies::{Loss, Stake};
use super::memory::Memory;
use crate::buffer::{Buffer, Buffers};
use crate::pool::{Pool, Wish};

/// A request that is being copied while it arrives.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(super) pool: Arc<Pool>,
    pub(super) wish: Wish,
    /// For the protocol of the pool.
    pub(super) head: Vec<u8>,
    pub(super) shape: Shape,
    pub(super) limits: Limits,
    pub(super) source: Source,
}

/// What is remembered of the head.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) to_head: bool,
    pub(crate) idempotent: bool,
    pub(crate) framing: Framing,
}

/// How far a copy may go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of content.
    pub(super) body: usize,
    /// Copies of the service that are being sent at once.
    pub(super) concurrent: u32,
    /// When all of the request must have arrived, in monotonic milliseconds.
    pub(super) until_ms: u64,
}

/// What takes the client's place in the session of a copy: it has the content and drops the response.
#[derive(Debug)]
pub(crate) struct Source {
    content: Vec<u8>,
    read: usize,
    /// Lines of HTTP/1 with the empty one at their end; empty: there are none.
    trailers: Vec<u8>,
    /// Bytes of the response so far.
    dropped: usize,
    /// Bytes of a response after which no more of it is read.
    most: usize,
    memory: Memory,
    /// `None`: it is no request for a mirror.
    stake: Option<Stake>,
}

impl Copy {
    /// Whether the request takes too long to arrive.
    pub(crate) fn is_late(&mut self, now_ms: u64) -> bool {
        let late = now_ms > self.limits.until_ms;
        if late {
            self.source.lose(Loss::Slow);
        }
        late
    }

    /// Adds content; false: it is too much.
    pub(crate) fn add(&mut self, data: &[u8]) -> bool {
        let source = &mut self.source;
        let (length, capacity) = (source.content.len() + data.len(), source.content.capacity());
        if length > self.limits.body {
            source.lose(Loss::Large);
            return false;
        }
        if length > capacity {
            let wanted = (2 * capacity).max(length).min(self.limits.body);
            if !source.memory.take(wanted - capacity) {
                source.lose(Loss::Memory);
                return false;
            }
            source.content.reserve_exact(wanted - source.content.len());
        }
        source.content.extend_from_slice(data);
        true
    }

    /// Adds the trailers that the server gets.
    pub(crate) fn end(&mut self, trailers: &[Field<'_>]) {
        self.source.trailers.clear();
        if !trailers.is_empty() {
            for field in trailers {
                http1::field(&mut self.source.trailers, field.name, field.value);
            }
            self.source.trailers.extend_from_slice(b"\r\n");
        }
    }

    /// Takes a place for sending; false: none is free.
    pub(crate) fn begin(&mut self) -> bool {
        let most = self.limits.concurrent;
        self.source.stake.as_mut().is_none_or(|stake| stake.begin(most))
    }
}

impl Source {
    /// A source without content. `head`: length of the head in bytes. `None`: the memory for copies is full.
    pub(super) fn new(mut stake: Stake, head: usize) -> Option<Self> {
        const MOST: usize = 1 << 20;
        match Self::without_stake(head, MOST) {
            None => {
                stake.loss = Some(Loss::Memory);
                None
            }
            Some(source) => Some(Self { stake: Some(stake), ..source }),
        }
    }

    /// The same of a request that is for no mirror. `most`: bytes of its response.
    pub(super) fn without_stake(head: usize, most: usize) -> Option<Self> {
        /// Of what else belongs to a copy, and its trailers.
        const OVERHEAD: usize = 1024;
        let mut memory = Memory::new();
        memory.take(head + OVERHEAD).then_some(Self {
            content: Vec::new(),
            read: 0,
            trailers: Vec::new(),
            dropped: 0,
            most,
            memory,
            stake: None,
        })
    }

    fn lose(&mut self, loss: Loss) {
        if let Some(stake) = &mut self.stake {
            stake.loss = Some(loss);
        }
    }

    pub(crate) fn eof(&self) -> bool {
        self.read == self.content.len()
    }

    /// Reads once into the free space; returns the number of bytes.
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, buffers: &mut Buffers) -> usize {
        let unread = &self.content[self.read..];
        if unread.is_empty() || buffer.room() == 0 {
            return 0;
        }
        let space = buffer.space(buffers);
        let length = space.len().min(unread.len());
        space[..length].copy_from_slice(&unread[..length]);
        buffer.filled(length);
        self.read += length;
        length
    }

    /// The trailers behind the content, for [`http1::trailers`].
    pub(crate) fn trailers(&self) -> &[u8] {
        &self.trailers
    }

    /// Drops a part of the response. After this many bytes the mirror has responded, and no more is read.
    pub(crate) fn drop_response(&mut self, length: usize) -> io::Result<usize> {
        self.dropped = self.dropped.saturating_add(length);
        if self.dropped > self.most {
            self.responded();
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(length)
    }

    /// The mirror has responded completely.
    pub(crate) fn responded(&mut self) {
        if let Some(stake) = &mut self.stake {
            stake.loss = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Tally;

    fn copy(copies: &Arc<super::super::Copies>, body: usize) -> Copy {
        let pool = "{name: p, servers: [{name: s, address: '127.0.0.1:1'}]}";
        let pool: crate::config::Pool = serde_saphyr::from_str(pool).expect("a pool");
        let stake = Stake::new(copies, &Arc::new(Tally::new(1)), None);
        Copy {
            pool: Arc::new(Pool::new(&pool, Vec::new(), Arc::default())),
            wish: Wish::default(),
            head: Vec::new(),
            shape: Shape { to_head: false, idempotent: true, framing: Framing::Chunked },
            limits: Limits { body, concurrent: 1, until_ms: 10 },
            source: Source::new(stake, 0).expect("memory"),
        }
    }

    #[test]
    fn the_first_obstacle_is_what_the_request_counts_for() {
        let copies = Arc::default();
        let (mut late, mut large, mut full, cut) =
            (copy(&copies, 9), copy(&copies, 9), copy(&copies, 9), copy(&copies, 9));
        assert!(!late.is_late(10) && late.is_late(11));
        assert!(large.add(b"12345678") && large.add(b"9") && !large.add(b"0"));
        let mut sent = copy(&copies, 9);
        assert!(sent.begin() && !full.begin(), "one at once");
        sent.source.responded();
        drop((late, large, full, cut));
        let count = |loss| copies.lost(loss);
        let losses = [Loss::Slow, Loss::Large, Loss::Full, Loss::Incomplete];
        assert_eq!(losses.map(count), [1; 4]);
        drop(sent);
        assert_eq!((count(Loss::Unanswered), copies.are_full(1)), (0, false));
    }

    #[test]
    fn a_response_beyond_the_limit_is_complete() {
        let copies = Arc::default();
        let mut source = copy(&copies, 9).source;
        for _ in 0..16 {
            assert_eq!(source.drop_response(1 << 16).ok(), Some(1 << 16));
        }
        let loss = |source: &Source| source.stake.as_ref().and_then(|stake| stake.loss);
        assert_eq!(loss(&source), Some(Loss::Incomplete));
        assert!(source.drop_response(1).is_err());
        assert_eq!(loss(&source), None);
    }
}
