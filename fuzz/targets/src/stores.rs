//! What servers of history stores answer, and the small files of the spool and of a copy.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use ::stores::fuzzing::{Said, scripted};
use ::stores::{ClickHouse, HBase, OpenSearch, Riak};
use history::copy::Progress;
use history::spool::{self, Spools};
use history::{Class, Day, Driver, Error, Kind, Kinds, Span, Store};
use model::{ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};
use stdx::clock::{SharedClock, SimClock};

/// Its bytes, and those of its day, are ASCII: so can rows in seeds be.
const NOW_S: u32 = 0x6450_7100;
const HOUR_S: u32 = 3600;
const ITEM: ItemId = ItemId(7);
/// Of values and trends alike.
const CLASS: Class = Class(31);
const MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("no zero");
/// Between answers.
const NEXT: u8 = 0x1e;
/// A driver may make a request of each, and wait a while between some.
const ANSWERS_MAX: usize = 100;

/// What a store is asked.
#[derive(Clone, Copy, PartialEq)]
enum Question {
    Samples,
    Newest,
    Trends,
    FloatBuckets,
    WholeBuckets,
    Write,
    WriteTrends,
    Classes,
    Drop,
    Clear,
}

impl Question {
    fn of(letter: u8) -> Self {
        match letter {
            b'n' => Self::Newest,
            b't' => Self::Trends,
            b'f' => Self::FloatBuckets,
            b'u' => Self::WholeBuckets,
            b'w' => Self::Write,
            b'h' => Self::WriteTrends,
            b'k' => Self::Classes,
            b'd' => Self::Drop,
            b'c' => Self::Clear,
            _ => Self::Samples,
        }
    }
}

pub(crate) fn clickhouse(data: &[u8]) {
    let legacy = data.first() == Some(&b'l');
    let url = if legacy { "http://h/x?legacy=history" } else { "http://h/x" };
    feed(data, |clock| Ok(ClickHouse::new(url, Arc::new(CLASS), clock)?.driver()));
}

pub(crate) fn hbase(data: &[u8]) {
    feed(data, |clock| Ok(HBase::new("http://h", Arc::new(CLASS), clock)?.driver()));
}

pub(crate) fn opensearch(data: &[u8]) {
    feed(data, |_| Ok(OpenSearch::new("http://h", Arc::new(CLASS))?.driver()));
}

pub(crate) fn riak(data: &[u8]) {
    feed(data, |clock| Ok(Riak::new("http://h", Arc::new(CLASS), clock)?.driver()));
}

/// The first byte is the question, the rest are answers to the requests that it takes.
fn feed(data: &[u8], make: impl FnOnce(SharedClock) -> Result<Box<dyn Driver>, Error>) {
    let Some((letter, said)) = data.split_first() else { return };
    let answers: Vec<Said> = said.split(|b| *b == NEXT).take(ANSWERS_MAX).map(answer).collect();
    let clock = SimClock::at(Duration::from_secs(NOW_S.into()));
    let mut driver = scripted(answers, || make(clock)).expect("the address is fine");
    match asked(driver.as_mut(), Question::of(*letter)) {
        // None takes less than a byte.
        Ok(rows) => assert!(rows <= data.len(), "{rows} rows"),
        Err(error) => assert!(!error.message.is_empty()),
    }
}

/// A status, lines of headers, an empty line, and the body: as in HTTP.
fn answer(said: &[u8]) -> Said {
    let at = said.windows(2).position(|two| two == b"\n\n").unwrap_or(said.len());
    let (head, body) = said.split_at(at);
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.parse().ok()).unwrap_or(200);
    let header = |line: &str| line.split_once(": ").map(|(name, v)| (name.into(), v.into()));
    let headers = lines.filter_map(header).collect();
    Said { status, headers, body: body.get(2..).unwrap_or_default().to_vec() }
}

/// How many rows came.
fn asked(driver: &mut dyn Driver, question: Question) -> Result<usize, Error> {
    let from = NOW_S - NOW_S % HOUR_S;
    let view = driver.view(&[ITEM], Span::new(from, from + HOUR_S - 1));
    let samples = match question {
        Question::Samples => view.samples(ITEM, Kinds::VALUES)?,
        Question::Newest => view.newest(ITEM, Kinds::VALUES, 3)?,
        Question::Trends => return Ok(view.trends(ITEM)?.len()),
        Question::FloatBuckets => return Ok(view.buckets(ITEM, Kind::Float, MINUTE)?.len()),
        Question::WholeBuckets => return Ok(view.buckets(ITEM, Kind::Unsigned, MINUTE)?.len()),
        Question::Write => return driver.write(&samples()).map(|()| 0),
        Question::WriteTrends => return driver.write_trends(&trends()).map(|()| 0),
        Question::Classes => return Ok(driver.classes()?.len()),
        Question::Drop => return driver.drop_before(CLASS, Day(u32::MAX)).map(|_| 0),
        // ClickHouse is waited for, a while between two looks.
        Question::Clear if driver.describe().name.starts_with("clickhouse") => return Ok(0),
        Question::Clear => return driver.clear(&[ITEM]).map(|()| 0),
    };
    match question {
        Question::Newest => assert!(samples.is_sorted_by(|a, b| a.at >= b.at), "{samples:?}"),
        // ClickHouse tells of which item a row is.
        _ => assert!(samples.is_sorted_by_key(|row| (row.item, row.at)), "{samples:?}"),
    }
    Ok(samples.len())
}

/// One of each kind.
fn samples() -> Vec<Sample> {
    let meta = LogMeta { timestamp: 1, source: "s".into(), severity: 2, eventid: 3 };
    let values = [
        SampleValue::Float(2.0),
        SampleValue::Unsigned(5),
        SampleValue::Text("abc".into()),
        SampleValue::Log(Box::new(("l".into(), meta))),
    ];
    let at = Timestamp { clock: NOW_S, ns: 0 };
    values.into_iter().map(|value| Sample { item: ITEM, at, value }).collect()
}

/// One of each type.
fn trends() -> Vec<Trend> {
    let hour = NOW_S - NOW_S % HOUR_S;
    let float = TrendValues::Float { min: 1.0, avg: 2.0, max: 3.0 };
    let whole = TrendValues::Unsigned { min: 1, avg: 2, max: 3 };
    [float, whole].map(|values| Trend { item: ITEM, hour, num: 2, values }).into()
}

/// Whatever is in a file, it is read, or called damaged.
pub(crate) fn spool(data: &[u8]) {
    if let Some(progress) = Progress::from_text(&String::from_utf8_lossy(data)) {
        assert_eq!(Progress::from_text(&progress.to_text()), Some(progress));
    }
    let Ok(dir) = tempfile::tempdir() else { return };
    let dir = dir.path();
    for name in ["s.cursors", "s.deletions"] {
        if std::fs::write(dir.join(name), data).is_err() {
            return;
        }
    }
    let read = [Spools::held(dir).map(drop), spool::owed(dir, "s").map(drop)];
    for error in read.into_iter().filter_map(Result::err) {
        assert!(!error.retry && error.message.contains("is damaged"), "{error}");
    }
}
