//! Blocks between the engines' connections and the thread that inserts them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use stdx::sync::lock;
use transactions::{Position, StoreError, Stream, Taken};

/// Bytes of blocks that may wait. An engine sends 16 MiB before it wants an acknowledgement.
const BYTES_MAX: usize = 64 << 20;
/// Longest that a connection waits for room.
const ROOM_WITHIN: Duration = Duration::from_secs(2);
/// Streams of one engine that are remembered.
const STREAMS_MAX: usize = 8;
/// Bytes between two blocks of a file that its damaged parts may take.
const GAP_MAX: u64 = 128 << 20;

/// How far a stream is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Behind the last block that was taken.
    pub(super) taken: Position,
    /// Behind the last block that ClickHouse has.
    pub(super) stored: Position,
    /// When its last block arrived: Unix time in microseconds.
    pub(super) arrived_us: u64,
}

/// A block that is not inserted yet.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) stream: Stream,
    pub(super) at: Position,
    pub(super) block: Arc<[u8]>,
    pub(super) arrived_us: u64,
}

impl Waiting {
    pub(super) fn end(&self) -> Position {
        let length = u32::try_from(self.block.len()).unwrap_or(u32::MAX);
        Position { offset: self.at.offset.saturating_add(length), ..self.at }
    }
}

#[derive(Debug, Default)]
struct State {
    /// `None`: ClickHouse has not told them yet.
    streams: Option<BTreeMap<Stream, Progress>>,
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// Why the last insert or question failed.
    failed: Option<String>,
    closed: bool,
}

/// A bounded queue with the positions of all streams.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

impl Queue {
    pub(super) fn end(&self, stream: Stream) -> Result<Position, StoreError> {
        Ok(self.progress(stream)?.taken)
    }

    pub(super) fn stored(&self, stream: Stream) -> Result<Position, StoreError> {
        Ok(self.progress(stream)?.stored)
    }

    fn progress(&self, stream: Stream) -> Result<Progress, StoreError> {
        let state = lock(&self.state);
        let streams = state.streams.as_ref().ok_or_else(|| unavailable(&state))?;
        Ok(streams.get(&stream).copied().unwrap_or_default())
    }

    pub(super) fn is_ready(&self) -> bool {
        let state = lock(&self.state);
        state.streams.is_some() && state.failed.is_none() && state.bytes <= BYTES_MAX / 2
    }

    /// Takes a block that was checked; waits a moment for room.
    pub(super) fn put(
        &self,
        stream: Stream,
        at: Position,
        block: &[u8],
        now_us: u64,
    ) -> Result<Taken, StoreError> {
        let is_full = |state: &mut State| state.bytes > 0 && state.bytes + block.len() > BYTES_MAX;
        let (mut state, _) = self
            .changed
            .wait_timeout_while(lock(&self.state), ROOM_WITHIN, |state| {
                state.failed.is_none() && is_full(state)
            })
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.streams.is_none() || is_full(&mut state) {
            return Err(unavailable(&state));
        }
        let State { streams: Some(streams), waiting, bytes, .. } = &mut *state else {
            return Err(StoreError::Unavailable(String::new()));
        };
        let taken = streams.get(&stream).map_or(Position::default(), |known| known.taken);
        if at < taken {
            return Ok(Taken::Known);
        }
        let before = if at.file == taken.file { u64::from(taken.offset) } else { 0 };
        if u64::from(at.offset) - before > GAP_MAX || at.file == 0 {
            let problem = "the position of a block leaves a gap";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem).into());
        }
        if !streams.contains_key(&stream) {
            make_room(streams, waiting, stream.engine);
        }
        let block = Waiting { stream, at, block: block.into(), arrived_us: now_us };
        let progress = streams.entry(stream).or_default();
        (progress.taken, progress.arrived_us) = (block.end(), now_us);
        *bytes += block.block.len();
        waiting.push_back(block);
        self.changed.notify_all();
        Ok(Taken::New)
    }

    /// Sets the positions that ClickHouse knows. Those of this process are newer.
    pub(super) fn found(&self, known: BTreeMap<Stream, Progress>) {
        let mut state = lock(&self.state);
        let own = state.streams.take().unwrap_or_default();
        let mut streams = known;
        streams.extend(own);
        state.streams = Some(streams);
        state.failed = None;
        self.changed.notify_all();
    }

    /// Whether positions are missing.
    pub(super) fn lacks_positions(&self) -> bool {
        lock(&self.state).streams.is_none()
    }

    /// Blocks to insert, the oldest first, up to this many bytes but at least one; `None`: the queue is closed.
    /// While there are fewer bytes, more are waited for.
    pub(super) fn next(&self, bytes_max: usize, patience: Duration) -> Option<Vec<Waiting>> {
        let state = self.wait(lock(&self.state), |state| state.waiting.is_empty());
        let (state, _) = self
            .changed
            .wait_timeout_while(state, patience, |state| !state.closed && state.bytes < bytes_max)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.closed {
            return None;
        }
        let mut bytes = 0;
        let fits = |waiting: &&Waiting| {
            let is_first = bytes == 0;
            bytes += waiting.block.len();
            is_first || bytes <= bytes_max
        };
        Some(state.waiting.iter().take_while(fits).cloned().collect())
    }

    fn wait<'s>(
        &self,
        state: MutexGuard<'s, State>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'s, State> {
        self.changed
            .wait_while(state, |state| !state.closed && condition(state))
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The oldest blocks are inserted.
    pub(super) fn inserted(&self, batch: &[Waiting]) {
        let mut state = lock(&self.state);
        for done in batch {
            state.waiting.pop_front();
            state.bytes -= done.block.len();
            if let Some(streams) = &mut state.streams
                && let Some(progress) = streams.get_mut(&done.stream)
            {
                progress.stored = done.end();
            }
        }
        state.failed = None;
        self.changed.notify_all();
    }

    /// Notes why nothing is inserted, and waits; false: the queue is closed.
    pub(super) fn failed(&self, why: String, pause: Duration) -> bool {
        let mut state = lock(&self.state);
        state.failed = Some(why);
        self.changed.notify_all();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, pause, |state| !state.closed)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        !state.closed
    }

    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }
}

fn unavailable(state: &State) -> StoreError {
    let why = state.failed.clone();
    StoreError::Unavailable(why.unwrap_or_else(|| match state.streams {
        None => "ClickHouse has not responded yet".to_owned(),
        Some(_) => format!("{} bytes of records wait for ClickHouse", state.bytes),
    }))
}

/// Forgets streams of an engine beyond the limit, the oldest first. They may be stored again.
fn make_room(streams: &mut BTreeMap<Stream, Progress>, waiting: &VecDeque<Waiting>, engine: u64) {
    loop {
        let own = streams.iter().filter(|(stream, _)| stream.engine == engine);
        if own.clone().count() < STREAMS_MAX {
            return;
        }
        let idle = own.filter(|(stream, _)| waiting.iter().all(|one| one.stream != **stream));
        let Some(oldest) = idle.min_by_key(|(_, progress)| progress.arrived_us) else { return };
        let oldest = *oldest.0;
        streams.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: Stream = Stream { engine: 1, ring: 2 };

    fn at(offset: u32) -> Position {
        Position { file: 1, offset }
    }

    fn ready() -> Queue {
        let queue = Queue::default();
        queue.found(BTreeMap::new());
        queue
    }

    #[test]
    fn nothing_is_taken_before_positions_are_known() {
        let queue = Queue::default();
        assert!(matches!(queue.end(STREAM), Err(StoreError::Unavailable(_))));
        assert!(matches!(queue.put(STREAM, at(0), b"abc", 1), Err(StoreError::Unavailable(_))));
        assert!(!queue.is_ready() && queue.lacks_positions());
        let stored = Progress { taken: at(7), stored: at(7), arrived_us: 0 };
        queue.found(BTreeMap::from([(STREAM, stored)]));
        assert!(queue.is_ready());
        assert_eq!(queue.end(STREAM).unwrap(), at(7));
        assert_eq!(queue.put(STREAM, at(3), b"abc", 1).unwrap(), Taken::Known);
        assert_eq!(queue.put(STREAM, at(7), b"abc", 1).unwrap(), Taken::New);
    }

    #[test]
    fn only_inserted_blocks_are_stored() {
        let queue = ready();
        queue.put(STREAM, at(0), b"abc", 1).unwrap();
        queue.put(STREAM, at(3), b"defg", 1).unwrap();
        assert_eq!(queue.end(STREAM).unwrap(), at(7));
        assert_eq!(queue.stored(STREAM).unwrap(), Position::default());
        let batch = queue.next(3, Duration::ZERO).unwrap();
        assert_eq!(batch.len(), 1);
        assert!(queue.failed("down".to_owned(), Duration::ZERO) && !queue.is_ready());
        assert_eq!(queue.stored(STREAM).unwrap(), Position::default());
        let again = queue.next(100, Duration::ZERO).unwrap();
        assert_eq!(again.len(), 2, "a failed batch is inserted again");
        queue.inserted(&again);
        assert!(queue.is_ready());
        assert_eq!(queue.stored(STREAM).unwrap(), at(7));
        assert_eq!(queue.put(STREAM, at(3), b"defg", 1).unwrap(), Taken::Known);
        queue.close();
        assert!(queue.next(100, Duration::ZERO).is_none());
    }

    #[test]
    fn a_full_queue_takes_no_more_and_blames_the_store() {
        let queue = ready();
        let block = vec![0; BYTES_MAX / 2 + 1];
        queue.put(STREAM, at(0), &block, 1).unwrap();
        assert!(!queue.is_ready());
        queue.failed("ClickHouse is down".to_owned(), Duration::ZERO);
        let next = Position { file: 2, offset: 0 };
        let Err(StoreError::Unavailable(why)) = queue.put(STREAM, next, &block, 1) else {
            panic!("there is no room");
        };
        assert_eq!(why, "ClickHouse is down");
        let gap = Position { file: 2, offset: u32::MAX };
        assert!(matches!(queue.put(STREAM, gap, b"a", 1), Err(StoreError::Io(_))));
    }

    #[test]
    fn streams_of_an_engine_are_limited() {
        let queue = ready();
        for ring in 0..20 {
            queue.put(Stream { engine: 1, ring }, at(0), b"abc", ring).unwrap();
            queue.inserted(&queue.next(100, Duration::ZERO).unwrap());
        }
        let known = lock(&queue.state).streams.as_ref().map(BTreeMap::len);
        assert_eq!(known, Some(STREAMS_MAX));
        assert_eq!(queue.end(Stream { engine: 1, ring: 19 }).unwrap(), at(3));
    }
}
