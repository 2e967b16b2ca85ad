//! What an engine counts of its services and servers, in portions of bounded size.
//!
//! ```text
//! portion   = version (u8), engine, objects to the end
//! engine    = epoch, at, CPU time, memory, records, dropped, unsent (u64 each)
//! object    = kind (u8), name (text16), server (text16), born, open connections (u64), state (u8),
//!             counters (u64 each), histogram of total times, histogram of response times,
//!             monitors (u8), then per monitor: name (text16), result (u8), reason (text16), last change (u64),
//!             last check (u64)
//! histogram = buckets (u8), then per bucket: number (u8), count (u64); ascending, none empty
//! text16    = length (u16), UTF-8
//! ```
//!
//! Older versions lack the last counters: version 5 stale, collapsed and purged responses of the cache, version 4 also that of scripts,
//! version 3 also the others of the cache, version 2 also `mirrored` and `unmirrored`.
//!
//! Each object is complete, so a portion says nothing about others. Counters begin at zero with the object:
//! [`Usage::epoch`] and [`Measured::born`] together name what they count, and a difference of two values
//! is only one between values of the same.

use super::histogram::Histogram;
use super::monitors::{self, Monitored};
use super::texts::{KIND, NAME_MAX, read_name, write_text};
use super::{Fields, LinkError, SMALL_MAX, put_u64};

/// The version of the form that is written.
const VERSION: u8 = 6;
/// The versions before with their numbers of counters.
const OLDER: [(u8, usize); 4] =
    [(2, COUNTERS - 9), (3, COUNTERS - 7), (4, COUNTERS - 4), (5, COUNTERS - 3)];
/// Longest portion. An object takes at most 7 KiB, and 1 KiB for each monitor.
pub const PORTION_MAX: usize = SMALL_MAX;
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What is counted, always upwards.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Counter { $($(#[$doc])* $name,)* }

        impl Counter {
            /// All, in the order of the message.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

counters! {
    /// Requests or passed on connections that have ended.
    Requests,
    /// Responses with a status from 200 to 299.
    Status2xx,
    /// From 300 to 399.
    Status3xx,
    /// From 400 to 499.
    Status4xx,
    /// From 500 on.
    Status5xx,
    /// Errors that the client made.
    ClientErrors,
    /// Errors that the engine made.
    EngineErrors,
    /// Errors that a server made.
    ServerErrors,
    /// Bytes from clients.
    BytesIn,
    /// Bytes to clients.
    BytesOut,
    /// Repetitions of requests on other servers.
    Retries,
    /// Requests that limits of rates and rules refused, and connections that limits and networks refused.
    Rejected,
    /// Accepted connections of clients.
    Connections,
    /// TLS handshakes that succeeded.
    Handshakes,
    /// Responses of servers whose time was measured.
    Answered,
    /// The sum of those times in microseconds.
    AnsweredUs,
    /// Attempts that failed at a server: no connection, no response in time, a broken response.
    Failures,
    /// Responses that were sent uncompressed, because too many were being compressed.
    Uncompressed,
    /// Requests whose copy a mirror has responded to.
    Mirrored,
    /// Requests that were chosen for a mirror, without a copy or without a complete response to it.
    Unmirrored,
    /// Requests that a stored response answered.
    CacheHits,
    /// Requests for which the cache was searched and a server responded.
    CacheMisses,
    /// Bytes to clients of stored responses.
    CacheBytes,
    /// Runs of scripts that failed.
    ScriptFailures,
    /// Requests that a stored response answered although it had expired; also hits.
    CacheStale,
    /// Requests that waited for the response to an equal one, and got that; also hits.
    CacheCollapsed,
    /// Stored responses that users removed.
    CachePurged,
}

const COUNTERS: usize = Counter::ALL.len();

/// Values of all [`Counter`]s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters([u64; COUNTERS]);

impl std::ops::Index<Counter> for Counters {
    type Output = u64;

    fn index(&self, counter: Counter) -> &u64 {
        &self.0[counter as usize]
    }
}

impl std::ops::IndexMut<Counter> for Counters {
    fn index_mut(&mut self, counter: Counter) -> &mut u64 {
        &mut self.0[counter as usize]
    }
}

/// Counters and the times of requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub counters: Counters,
    /// From the first byte of a request to the last of the response.
    pub total: Histogram,
    /// From the request passed on to the first byte of the server's response.
    pub response: Histogram,
}

impl Counts {
    /// Adds what another one counted.
    pub fn add(&mut self, other: &Self) {
        for (own, other) in self.counters.0.iter_mut().zip(other.counters.0) {
            *own = own.saturating_add(other);
        }
        self.total.add(&other.total);
        self.response.add(&other.response);
    }

    /// What was counted since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut counters = self.counters;
        for (own, before) in counters.0.iter_mut().zip(before.counters.0) {
            *own = own.saturating_sub(before);
        }
        Self {
            counters,
            total: self.total.since(&before.total),
            response: self.response.since(&before.response),
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Service = 0,
    /// A server of a pool. What a pool counts is the sum of its servers.
    Server = 1,
}

/// How an engine sees a server of a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// Its health monitor fails, or it is ejected after failures.
    Down = 0,
    /// Its health monitor passes.
    Up = 1,
    /// No health monitor has decided yet, or the pool has none.
    #[default]
    Unchecked = 2,
    /// The configuration lets it finish its requests.
    Drain = 3,
    /// The configuration excludes it.
    Disabled = 4,
}

impl State {
    /// Whether it gets requests of new clients.
    #[must_use]
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Up | Self::Unchecked)
    }
}

/// What the engine's process uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Start of the process: Unix time in microseconds.
    pub epoch: u64,
    /// When the portion was made: microseconds since the start.
    pub at_us: u64,
    /// CPU time in microseconds.
    pub cpu_us: u64,
    /// Resident memory.
    pub memory_bytes: u64,
    /// Records of transactions that were written.
    pub records: u64,
    /// Records that were dropped.
    pub dropped: u64,
    /// Bytes of records that wait for the server.
    pub unsent_bytes: u64,
}

/// One service or server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    pub kind: Kind,
    /// Name of the service, or of the server's pool.
    pub name: Box<str>,
    /// Name of the server in its pool; empty for a service.
    pub server: Box<str>,
    /// Number of the object within its process: another one counts from zero.
    pub born: u64,
    /// Open connections of clients, or requests in flight at servers.
    pub open: u64,
    pub state: State,
    pub counts: Counts,
    /// Of a server, its monitors in the order of the configuration.
    pub monitors: Vec<Monitored>,
}

/// A message's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portion {
    pub usage: Usage,
    pub objects: Vec<Measured>,
}

/// Portions with all of these objects, at least one. Objects with impossible names are left out.
#[must_use]
pub fn portions(usage: &Usage, objects: &[Measured]) -> Vec<Vec<u8>> {
    let begin = || {
        let mut portion = vec![VERSION];
        write_usage(&mut portion, usage);
        portion
    };
    let mut all = Vec::new();
    let mut portion = begin();
    for object in
        objects.iter().filter(|object| object.name.len().max(object.server.len()) <= NAME_MAX)
    {
        let length = portion.len();
        write_object(&mut portion, object);
        if portion.len() > PORTION_MAX {
            let next = portion.split_off(length);
            all.push(std::mem::replace(&mut portion, begin()));
            portion.extend_from_slice(&next);
        }
    }
    all.push(portion);
    all
}

fn write_usage(out: &mut Vec<u8>, usage: &Usage) {
    let Usage { epoch, at_us, cpu_us, memory_bytes, records, dropped, unsent_bytes } = *usage;
    for number in [epoch, at_us, cpu_us, memory_bytes, records, dropped, unsent_bytes] {
        put_u64(out, number);
    }
}

fn write_object(out: &mut Vec<u8>, object: &Measured) {
    out.push(object.kind as u8);
    for name in [&object.name, &object.server] {
        write_text(out, name);
    }
    put_u64(out, object.born);
    put_u64(out, object.open);
    out.push(object.state as u8);
    for counter in object.counts.counters.0 {
        put_u64(out, counter);
    }
    for histogram in [&object.counts.total, &object.counts.response] {
        let buckets = histogram.buckets();
        out.push(u8::try_from(buckets.len()).unwrap_or(u8::MAX));
        for (bucket, count) in buckets {
            out.push(*bucket);
            put_u64(out, *count);
        }
    }
    monitors::write(out, &object.monitors);
}

impl Portion {
    /// Reads a portion.
    ///
    /// # Errors
    /// It is none, or [of an unknown form](LinkError::Form).
    pub fn read(bytes: &[u8]) -> Result<Self, LinkError> {
        let mut from = Fields { kind: KIND, rest: bytes };
        if bytes.len() > PORTION_MAX {
            return Err(LinkError::Length(KIND));
        }
        let counters = match from.u8()? {
            VERSION => COUNTERS,
            version => match OLDER.iter().find(|(older, _)| *older == version) {
                Some((_, counters)) => *counters,
                None => return Err(LinkError::Form(version)),
            },
        };
        let usage = Usage {
            epoch: from.u64()?,
            at_us: from.u64()?,
            cpu_us: from.u64()?,
            memory_bytes: from.u64()?,
            records: from.u64()?,
            dropped: from.u64()?,
            unsent_bytes: from.u64()?,
        };
        let mut objects = Vec::new();
        while !from.rest.is_empty() {
            objects.push(read_object(&mut from, counters)?);
        }
        Ok(Self { usage, objects })
    }
}

/// Reads an object with this number of counters.
fn read_object(from: &mut Fields<'_>, counters: usize) -> Result<Measured, LinkError> {
    let wrong = LinkError::Length(KIND);
    let kind = match from.u8()? {
        0 => Kind::Service,
        1 => Kind::Server,
        _ => return Err(wrong),
    };
    let (name, server) = (read_name(from)?, read_name(from)?);
    let (born, open) = (from.u64()?, from.u64()?);
    let state = match from.u8()? {
        0 => State::Down,
        1 => State::Up,
        2 => State::Unchecked,
        3 => State::Drain,
        4 => State::Disabled,
        _ => return Err(wrong),
    };
    let mut counts = Counts::default();
    for counter in &mut counts.counters.0[..counters] {
        *counter = from.u64()?;
    }
    counts.total = read_histogram(from)?;
    counts.response = read_histogram(from)?;
    let monitors = monitors::read(from)?;
    Ok(Measured { kind, name, server, born, open, state, counts, monitors })
}

fn read_histogram(from: &mut Fields<'_>) -> Result<Histogram, LinkError> {
    let count = usize::from(from.u8()?);
    let mut buckets = Vec::with_capacity(count);
    for _ in 0..count {
        buckets.push((from.u8()?, from.u64()?));
    }
    Histogram::of(buckets).ok_or(LinkError::Length(KIND))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: Kind, name: &str, buckets: Vec<(u8, u64)>) -> Measured {
        let mut counts = Counts { total: Histogram::of(buckets).unwrap(), ..Counts::default() };
        counts.counters[Counter::Requests] = 7;
        counts.counters[Counter::Failures] = u64::MAX;
        let server = if kind == Kind::Server { "a" } else { "" };
        Measured {
            kind,
            name: name.into(),
            server: server.into(),
            born: 3,
            open: 4,
            state: State::Drain,
            counts,
            monitors: Vec::new(),
        }
    }

    fn usage() -> Usage {
        Usage {
            epoch: 1,
            at_us: 2,
            cpu_us: 3,
            memory_bytes: 4,
            records: 5,
            dropped: 6,
            unsent_bytes: 7,
        }
    }

    #[test]
    fn objects_come_back_from_as_many_portions_as_they_need() {
        let kinds = [Kind::Service, Kind::Server];
        let objects: Vec<Measured> = (0..300)
            .map(|n| object(kinds[n % 2], &format!("ä{n}"), (0..200).map(|b| (b, 1)).collect()))
            .collect();
        let portions = portions(&usage(), &objects);
        assert!(portions.len() > 5);
        let mut read = Vec::new();
        for portion in &portions {
            assert!(portion.len() <= PORTION_MAX);
            let portion = Portion::read(portion).unwrap();
            assert_eq!(portion.usage, usage());
            read.extend(portion.objects);
        }
        assert_eq!(read, objects);
        assert_eq!(super::portions(&usage(), &[]).len(), 1, "an engine without services, too");
    }

    #[test]
    fn a_portion_that_is_cut_off_or_of_another_version_is_refused() {
        let empty = portions(&usage(), &[])[0].len();
        let bytes =
            portions(&usage(), &[object(Kind::Server, "p", vec![(3, 1), (9, 2)])]).remove(0);
        for end in (0..bytes.len()).filter(|end| *end != empty) {
            assert!(Portion::read(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
        }
        let mut other = bytes.clone();
        other[0] = VERSION + 1;
        assert_eq!(Portion::read(&other), Err(LinkError::Form(VERSION + 1)));
        let mut unsorted = bytes;
        // Before the empty histogram and the number of monitors.
        let at = unsorted.len() - 2 - 9;
        unsorted[at] = 3;
        assert!(Portion::read(&unsorted).is_err(), "buckets ascend");
    }

    #[test]
    fn portions_of_the_versions_before_are_read() {
        for (version, counters) in OLDER {
            let mut counted = object(Kind::Service, "s", vec![(3, 1)]);
            counted.counts.counters[Counter::Uncompressed] = 9;
            let mut bytes = portions(&usage(), &[counted.clone()]).remove(0);
            bytes[0] = version;
            // Behind the counters: a histogram of one bucket, an empty one, and no monitors.
            let end = bytes.len() - (1 + 9) - 1 - 1;
            bytes.drain(end - (COUNTERS - counters) * 8..end);
            assert_eq!(Portion::read(&bytes).unwrap().objects, [counted], "version {version}");
        }
    }

    #[test]
    fn an_object_with_an_impossible_name_is_left_out() {
        let objects = [
            object(Kind::Service, &"x".repeat(NAME_MAX + 1), vec![]),
            object(Kind::Service, "y", vec![]),
        ];
        let portions = portions(&usage(), &objects);
        assert_eq!(Portion::read(&portions[0]).unwrap().objects, objects[1..]);
    }

    #[test]
    fn differences_and_sums_are_those_of_each_counter_and_bucket() {
        let counts = |requests, buckets| {
            let mut counts = Counts { total: Histogram::of(buckets).unwrap(), ..Counts::default() };
            counts.counters[Counter::Requests] = requests;
            counts
        };
        let (before, now) =
            (counts(5, vec![(1, 2), (9, 1)]), counts(9, vec![(1, 2), (4, 3), (9, 5)]));
        let mut since = now.since(&before);
        assert_eq!(since, counts(4, vec![(4, 3), (9, 4)]));
        since.add(&before);
        assert_eq!(since, now);
    }
}
