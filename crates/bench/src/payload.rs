//! Requests `sender data`, built once; before each sending times and values are written over.

use std::time::Duration;

use crate::shape::{Kind, Random, Series, write_digits};

/// Nanoseconds that are used of each second: JSON numbers have no leading zeros, so all texts of
/// nanoseconds have nine digits only from 100,000,000 on.
const TICKS_PER_S: u64 = 900_000_000;
const NS_MIN: u64 = 100_000_000;
/// Bytes between the start of the clock and the start of the nanoseconds: ten digits, `,"ns":`.
const CLOCK_TO_NS: usize = 16;
const HEADER_BYTES: usize = 13;

/// A moment that orders as time does; two of them never give the same clock and nanoseconds.
pub(crate) const fn tick(unix: Duration) -> u64 {
    unix.as_secs() * TICKS_PER_S + unix.subsec_nanos() as u64 / 10 * 9
}

/// Clock (seconds) and nanoseconds of a tick.
pub(crate) const fn moment(tick: u64) -> (u64, u64) {
    (tick / TICKS_PER_S, NS_MIN + tick % TICKS_PER_S)
}

/// The order in which a round over all items sends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Host by host, item by item: each request has neighbours.
    #[default]
    InTurn,
    /// One random order over all hosts, the same in each run: as requests of many senders arrive.
    Random,
}

impl Order {
    /// The positions of `items` items in this order.
    fn positions(self, items: usize) -> Vec<u32> {
        let mut all: Vec<u32> =
            (0..u32::try_from(items).expect("BUG: more than 4 billion items")).collect();
        if self == Self::Random {
            let mut random = Random::new(items as u64);
            for last in (1..all.len()).rev() {
                all.swap(last, (random.next() % (last as u64 + 1)) as usize);
            }
        }
        all
    }
}

/// What is sent: hosts that all have the same items.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Technical names.
    pub(crate) hosts: Vec<String>,
    /// Items per host.
    pub(crate) items: usize,
    /// Order of the items in the requests.
    pub(crate) order: Order,
}

impl Plan {
    /// Items of all hosts.
    pub(crate) const fn len(&self) -> usize {
        self.hosts.len() * self.items
    }

    /// Key of the item with this number on its host.
    pub(crate) fn key(number: usize) -> String {
        format!("bench.{}[{number}]", Kind::of_item(number).name())
    }

    /// Kind of an item, counted over all hosts.
    pub(crate) const fn kind(&self, item: usize) -> Kind {
        Kind::of_item(item % self.items)
    }

    /// Cuts the items into `connections` streams that send `batch` values at a time.
    pub(crate) fn streams(&self, connections: usize, batch: usize) -> Vec<Stream> {
        let connections = connections.clamp(1, self.len().max(1));
        let positions = self.order.positions(self.len());
        (0..connections)
            .map(|index| {
                let from = self.len() * index / connections;
                let till = self.len() * (index + 1) / connections;
                Stream::new(self, positions[from..till].to_vec(), batch.max(1), index as u64)
            })
            .collect()
    }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    /// Position among the items of the stream.
    item: u32,
    clock_at: u32,
    value_at: u32,
    value_len: u32,
}

/// One request with its frame.
#[derive(Debug)]
struct Payload {
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

impl Payload {
    /// A request with the items of a stream at these positions.
    fn build(plan: &Plan, items: &[u32], positions: impl Iterator<Item = usize>) -> Self {
        let mut text = String::from(r#"{"request":"sender data","data":["#);
        let position = |text: &String| {
            u32::try_from(HEADER_BYTES + text.len()).expect("BUG: a request beyond 4 GiB")
        };
        let mut rows = Vec::new();
        for position_in_stream in positions {
            let item = items[position_in_stream] as usize;
            let number = item % plan.items;
            let value = Kind::of_item(number).template(number);
            if !rows.is_empty() {
                text.push(',');
            }
            let (host, key) = (&plan.hosts[item / plan.items], Plan::key(number));
            text += &format!(r#"{{"host":"{host}","key":"{key}","value":""#);
            let value_at = position(&text);
            text += &value;
            text += r#"","clock":"#;
            let clock_at = position(&text);
            text += r#"1000000000,"ns":100000000}"#;
            rows.push(Row {
                item: u32::try_from(position_in_stream).expect("BUG: more than 4 billion items"),
                clock_at,
                value_at,
                value_len: u32::try_from(value.len()).expect("BUG: values are short"),
            });
        }
        text += "]}";
        Self { bytes: wire::zbxd::encode(text.as_bytes(), 0), rows }
    }

    fn patch(&mut self, first_tick: u64, series: &mut [Series], random: &mut Random) {
        for (tick, row) in (first_tick..).zip(&self.rows) {
            let (clock, ns) = moment(tick);
            let at = row.clock_at as usize;
            write_digits(&mut self.bytes[at..at + 10], clock);
            write_digits(&mut self.bytes[at + CLOCK_TO_NS..at + CLOCK_TO_NS + 9], ns);
            let at = row.value_at as usize;
            let value = &mut self.bytes[at..at + row.value_len as usize];
            series[row.item as usize].write_next(random, value);
        }
    }
}

/// A value that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent<'a> {
    /// Position among all items of the plan.
    pub(crate) item: usize,
    /// When, see [`moment`].
    pub(crate) tick: u64,
    /// The text.
    pub(crate) value: &'a str,
}

/// Endless requests over one part of the items, in turn.
#[derive(Debug)]
pub(crate) struct Stream {
    payloads: Vec<Payload>,
    series: Vec<Series>,
    random: Random,
    /// Positions of its items among all items of the plan.
    items: Vec<u32>,
    turn: usize,
    last_tick: u64,
}

impl Stream {
    fn new(plan: &Plan, items: Vec<u32>, batch: usize, seed: u64) -> Self {
        let mut random = Random::new(seed + 1);
        let series = items
            .iter()
            .map(|item| Series::new(*item as usize % plan.items, &mut random))
            .collect();
        // The last request starts over with the first items: all have the same length.
        let payloads = (0..items.len().div_ceil(batch))
            .map(|index| {
                let rows = (0..batch).map(|row| (index * batch + row) % items.len());
                Payload::build(plan, &items, rows)
            })
            .collect();
        Self { payloads, series, random, items, turn: 0, last_tick: 0 }
    }

    /// The next request, framed; valid until the next call.
    pub(crate) fn next(&mut self, now: Duration) -> &[u8] {
        self.turn = (self.turn + 1) % self.payloads.len();
        let payload = &mut self.payloads[self.turn];
        // Clocks may step back; times of values must not meet again.
        let first = tick(now).max(self.last_tick);
        self.last_tick = first + payload.rows.len() as u64;
        payload.patch(first, &mut self.series, &mut self.random);
        &payload.bytes
    }

    /// The values of the last request.
    pub(crate) fn sent(&self) -> impl Iterator<Item = Sent<'_>> {
        let payload = &self.payloads[self.turn];
        let first = self.last_tick - payload.rows.len() as u64;
        (first..).zip(&payload.rows).map(|(tick, row)| {
            let at = row.value_at as usize;
            let value = str::from_utf8(&payload.bytes[at..at + row.value_len as usize])
                .expect("BUG: values are ASCII");
            Sent { item: self.items[row.item as usize] as usize, tick, value }
        })
    }

    /// Values in each request.
    pub(crate) fn batch(&self) -> usize {
        self.payloads.first().map_or(0, |payload| payload.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use wire::sender::parse_sender_data;
    use wire::{Content, Moment, Target};

    use super::*;

    fn plan(hosts: usize, items: usize, order: Order) -> Plan {
        Plan { hosts: (0..hosts).map(|n| format!("host-{n}")).collect(), items, order }
    }

    #[test]
    fn ticks_order_and_never_meet() {
        let at = |s, ns| tick(Duration::new(s, ns));
        for (a, b) in [(at(5, 0), at(5, 10)), (at(5, 999_999_999), at(6, 0)), (at(5, 1), at(6, 0))]
        {
            assert!(a < b && moment(a) < moment(b));
        }
        assert_eq!(moment(at(7, 0)), (7, 100_000_000));
        assert_eq!(moment(at(7, 999_999_999)).0, 7);
        assert_eq!(moment(at(7, 0) + TICKS_PER_S - 1), (7, 999_999_999));
    }

    /// Decodes as a server does and compares with what [`Stream::sent`] tells.
    fn check(hosts: usize, items: usize, connections: usize, batch: usize, order: Order) {
        let plan = plan(hosts, items, order);
        let mut streams = plan.streams(connections, batch);
        let mut seen = HashSet::new();
        let mut covered = HashSet::new();
        for round in 0..8 {
            for stream in &mut streams {
                // A clock that stands still, then steps back.
                let now = Duration::new(1_700_000_000 - round / 4, 999_999_000);
                let frame = stream.next(now).to_vec();
                assert_eq!(&frame[..5], b"ZBXD\x01");
                let text = str::from_utf8(&frame[HEADER_BYTES..]).unwrap();
                assert_eq!(frame[5..9], u32::to_le_bytes(text.len() as u32));
                let data = parse_sender_data(text, Moment { clock: 1, ns: 0 }).unwrap();
                let rows = &data.readings.rows;
                assert_eq!(rows.len(), batch);
                assert_eq!(stream.batch(), batch);
                for (row, sent) in rows.iter().zip(stream.sent()) {
                    let (clock, ns) = moment(sent.tick);
                    assert_eq!(
                        (u64::from(row.at.clock), u64::from(row.at.ns)),
                        (clock, ns),
                        "{text}"
                    );
                    let (host, key) =
                        (&plan.hosts[sent.item / items], Plan::key(sent.item % items));
                    assert_eq!(row.target, Target::Key { host: host.into(), key: key.into() });
                    assert_eq!(row.content, Content::Value(sent.value.into()));
                    assert!(seen.insert((sent.item, clock, ns)), "sent twice");
                    covered.insert(sent.item);
                }
            }
        }
        let rounds = streams.iter().map(|s| s.payloads.len()).max().unwrap();
        assert!(rounds > 8 || covered.len() == plan.len());
    }

    #[test]
    fn requests_are_what_a_server_reads() {
        for (hosts, items, connections, batch) in [
            (1, 1, 1, 1),
            (1, 1, 8, 5),
            (3, 45, 2, 50),
            (10, 45, 8, 1000),
            (100, 45, 4, 100),
            (2, 20, 3, 7),
        ] {
            check(hosts, items, connections, batch, Order::InTurn);
            check(hosts, items, connections, batch, Order::Random);
        }
    }

    #[test]
    fn random_order_mixes_the_hosts_of_a_request() {
        let mut streams = plan(100, 45, Order::Random).streams(2, 250);
        let hosts = |stream: &mut Stream| {
            stream.next(Duration::from_secs(1_700_000_000));
            stream.sent().map(|sent| sent.item / 45).collect::<HashSet<_>>().len()
        };
        assert!(streams.iter_mut().map(hosts).all(|hosts| hosts > 80));
        let positions = Order::Random.positions(4500);
        assert_eq!(positions.iter().collect::<HashSet<_>>().len(), 4500);
    }
}
