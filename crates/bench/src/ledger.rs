//! The ledger: every acknowledged value, and the proof that history holds each of them once.
//!
//! File format: one line of JSON (the hosts and items), then a record per acknowledged request:
//! number of rows (u32), tick of the first row (u64), and per row the item's position (u32), the
//! length of the value (u8) and the value; all little-endian. A record cut short, as a killed
//! generator leaves it, is ignored.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use stdx::sync::lock;

use crate::api::{Api, scalar_text};
use crate::payload::{Sent, moment};
use crate::report::Report;
use crate::shape::{ValueType, comparable};
use crate::{Context, Login};

const FORMAT: &str = "vedette bench ledger 1";
/// Values per `history.get`: a reference front end holds an answer in memory.
const VALUES_PER_CALL: usize = 20_000;
/// Items per `history.get`.
const ITEMS_PER_CALL: usize = 500;

/// The items of a ledger; values name them by position.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Items {
    format: String,
    hostids: Vec<String>,
    /// Item id and value type.
    items: Vec<(u64, u8)>,
}

impl Items {
    /// `items` in the order of the plan.
    pub(crate) fn new(hostids: Vec<String>, items: Vec<(u64, ValueType)>) -> Self {
        let items = items.into_iter().map(|(id, value_type)| (id, value_type.0)).collect();
        Self { format: FORMAT.to_owned(), hostids, items }
    }

    pub(crate) fn value_type(&self, item: usize) -> Option<ValueType> {
        self.items.get(item).map(|(_, value_type)| ValueType(*value_type))
    }
}

/// A ledger that is being written.
pub(crate) struct Writer(Mutex<BufWriter<File>>);

impl Writer {
    /// Starts a ledger; a file that exists is overwritten.
    pub(crate) fn create(path: &Path, items: &Items) -> anyhow::Result<Self> {
        let wrong = || format!("cannot write {}", path.display());
        let mut file = BufWriter::new(File::create(path).with_context(wrong)?);
        serde_json::to_writer(&mut file, items)?;
        file.write_all(b"\n").with_context(wrong)?;
        file.flush().with_context(wrong)?;
        Ok(Self(Mutex::new(file)))
    }

    /// Adds the values of one acknowledged request; on disk's way when this returns.
    pub(crate) fn add<'a>(
        &self,
        sent: impl Iterator<Item = Sent<'a>>,
        scratch: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        encode(sent, scratch);
        let mut file = lock(&self.0);
        file.write_all(scratch)?;
        file.flush()
    }
}

fn encode<'a>(sent: impl Iterator<Item = Sent<'a>>, record: &mut Vec<u8>) {
    record.clear();
    record.extend_from_slice(&[0; 12]);
    let mut rows = 0u32;
    for value in sent {
        if rows == 0 {
            record[4..12].copy_from_slice(&value.tick.to_le_bytes());
        }
        rows += 1;
        let item = u32::try_from(value.item).expect("BUG: more than 4 billion items");
        record.extend_from_slice(&item.to_le_bytes());
        record.push(u8::try_from(value.value.len()).expect("BUG: values are short"));
        record.extend_from_slice(value.value.as_bytes());
    }
    record[..4].copy_from_slice(&rows.to_le_bytes());
}

/// An acknowledged value: time in nanoseconds since 1970, value as [`comparable`] makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kept {
    time_ns: u64,
    value: u64,
}

/// Acknowledged values, item by item.
pub(crate) struct Ledger {
    items: Items,
    values: HashMap<usize, Vec<Kept>>,
    count: usize,
}

impl Ledger {
    pub(crate) fn new(items: Items) -> Self {
        Self { items, values: HashMap::new(), count: 0 }
    }

    /// Adds one acknowledged value.
    pub(crate) fn add(&mut self, item: usize, tick: u64, text: &str) -> anyhow::Result<()> {
        let kept = self
            .items
            .value_type(item)
            .and_then(|value_type| comparable(value_type, text))
            .map(|value| Kept { time_ns: time_ns(moment(tick)), value })
            .with_context(|| format!("the ledger is damaged: value {text} of item {item}"))?;
        self.values.entry(item).or_default().push(kept);
        self.count += 1;
        Ok(())
    }

    /// Reads a file.
    fn read(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut file = BufReader::new(file);
        let mut line = String::new();
        file.read_line(&mut line)?;
        let items: Items = serde_json::from_str(&line)
            .ok()
            .filter(|items: &Items| items.format == FORMAT)
            .with_context(|| format!("{} is not a ledger of vedette bench", path.display()))?;
        let mut ledger = Self::new(items);
        while let Some(record) = read_record(&mut file)? {
            for (tick, (item, text)) in (record.tick..).zip(record.rows) {
                ledger.add(item, tick, &text)?;
            }
        }
        Ok(ledger)
    }

    /// Compares with what the server's history holds.
    pub(crate) fn compare(&mut self, api: &Api) -> anyhow::Result<Findings> {
        let mut findings = Findings { acknowledged: self.count, ..Findings::default() };
        for values in self.values.values_mut() {
            values.sort_unstable();
        }
        let Some((from, till)) = self.period() else { return Ok(findings) };
        for chunk in self.chunks() {
            let value_type = self.items.items[chunk[0]].1;
            let itemids: Vec<String> =
                chunk.iter().map(|item| self.items.items[*item].0.to_string()).collect();
            let rows: Vec<HistoryRow> = api.read(
                "history.get",
                &json!({
                    "output": ["itemid", "clock", "ns", "value"], "history": value_type,
                    "itemids": itemids, "time_from": from, "time_till": till,
                }),
            )?;
            let mut stored: HashMap<u64, Vec<Kept>> = HashMap::new();
            for row in rows {
                let (itemid, kept) = row.kept(ValueType(value_type))?;
                stored.entry(itemid).or_default().push(kept);
            }
            for item in &chunk {
                let mut stored = stored.remove(&self.items.items[*item].0).unwrap_or_default();
                findings.compare(&self.values[item], &mut stored);
            }
        }
        Ok(findings)
    }

    /// First and last second.
    fn period(&self) -> Option<(u64, u64)> {
        let first = self.values.values().filter_map(|v| v.first()).map(|v| v.time_ns).min()?;
        let last = self.values.values().filter_map(|v| v.last()).map(|v| v.time_ns).max()?;
        Some((first / NS_PER_S, last / NS_PER_S))
    }

    /// Items of one value type that are asked for together.
    fn chunks(&self) -> Vec<Vec<usize>> {
        let mut items: Vec<(u8, usize)> =
            self.values.keys().map(|item| (self.items.items[*item].1, *item)).collect();
        items.sort_unstable();
        let mut chunks: Vec<Vec<usize>> = Vec::new();
        let (mut last_type, mut values) = (None, 0);
        for (value_type, item) in items {
            let n = self.values[&item].len();
            let full = chunks.last().is_some_and(|chunk| chunk.len() >= ITEMS_PER_CALL);
            if last_type != Some(value_type) || full || values + n > VALUES_PER_CALL {
                chunks.push(Vec::new());
                (last_type, values) = (Some(value_type), 0);
            }
            values += n;
            if let Some(chunk) = chunks.last_mut() {
                chunk.push(item);
            }
        }
        chunks
    }
}

struct Record {
    tick: u64,
    rows: Vec<(usize, String)>,
}

/// `None` at the end, or where the file breaks off.
fn read_record(file: &mut impl Read) -> anyhow::Result<Option<Record>> {
    let mut head = [0; 12];
    if !fill(file, &mut head)? {
        return Ok(None);
    }
    let (rows, tick) = head.split_at(4);
    let rows_count = u32::from_le_bytes(rows.try_into()?);
    let mut rows = Vec::new();
    for _ in 0..rows_count {
        let mut head = [0; 5];
        let mut text = [0; 255];
        if !fill(file, &mut head)? {
            return Ok(None);
        }
        let text = &mut text[..usize::from(head[4])];
        if !fill(file, text)? {
            return Ok(None);
        }
        let item = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        rows.push((item, String::from_utf8_lossy(text).into_owned()));
    }
    Ok(Some(Record { tick: u64::from_le_bytes(tick.try_into()?), rows }))
}

fn fill(file: &mut impl Read, out: &mut [u8]) -> std::io::Result<bool> {
    match file.read_exact(out) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

const NS_PER_S: u64 = 1_000_000_000;

const fn time_ns((clock, ns): (u64, u64)) -> u64 {
    clock * NS_PER_S + ns
}

/// A value of `history.get`.
#[derive(Deserialize)]
struct HistoryRow {
    itemid: String,
    clock: String,
    ns: String,
    value: String,
}

impl HistoryRow {
    fn kept(&self, value_type: ValueType) -> anyhow::Result<(u64, Kept)> {
        let time_ns = time_ns((self.clock.parse()?, self.ns.parse()?));
        let Some(value) = comparable(value_type, &self.value) else {
            bail!("history.get: \"{}\" is not a value of type {}", self.value, value_type.0);
        };
        Ok((self.itemid.parse()?, Kept { time_ns, value }))
    }
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Findings {
    /// Values that the server acknowledged.
    pub acknowledged: usize,
    /// Of these, not in history.
    pub missing: usize,
    /// In history more than once.
    pub duplicated: usize,
    /// In history with another value.
    pub different: usize,
    /// In history without acknowledgement: sent when a connection broke.
    pub unacknowledged: usize,
}

impl Findings {
    /// Nothing is wrong.
    pub const fn is_clean(&self) -> bool {
        self.missing == 0 && self.duplicated == 0 && self.different == 0
    }

    /// `expected` is in order.
    fn compare(&mut self, expected: &[Kept], stored: &mut Vec<Kept>) {
        stored.sort_unstable();
        let before = stored.len();
        stored.dedup_by_key(|kept| kept.time_ns);
        self.duplicated += before - stored.len();
        let mut stored = stored.iter().peekable();
        for kept in expected {
            while stored.next_if(|found| found.time_ns < kept.time_ns).is_some() {
                self.unacknowledged += 1;
            }
            match stored.next_if(|found| found.time_ns == kept.time_ns) {
                None => self.missing += 1,
                Some(found) => self.different += usize::from(found.value != kept.value),
            }
        }
        self.unacknowledged += stored.count();
    }
}

impl std::fmt::Display for Findings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "acknowledged {}, missing {}, duplicated {}, different {}, \
             kept though unacknowledged {}",
            self.acknowledged, self.missing, self.duplicated, self.different, self.unacknowledged
        )
    }
}

/// Options of `vedette bench crash --check`.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The API of the server that acknowledged.
    pub login: Login,
    /// The ledger.
    pub file: std::path::PathBuf,
    /// Leave the hosts on the server.
    pub keep: bool,
}

/// Compares a ledger with the server's history.
pub fn check(
    options: &CheckOptions,
    context: &mut Context<'_>,
) -> anyhow::Result<(Findings, Report)> {
    let mut ledger = Ledger::read(&options.file)?;
    let api = Api::login(&options.login)?;
    let start = context.clock.monotonic();
    let findings = ledger.compare(&api)?;
    let seconds = (context.clock.monotonic() - start).as_secs_f64();
    let settings = json!({ "file": options.file.display().to_string() });
    let mut report = Report::new("crash", settings);
    findings.report(&mut report);
    report.number("read_seconds", "reading history, s", seconds);
    if !options.keep {
        remove_hosts(&api, &ledger.items.hostids)?;
    }
    Ok((findings, report))
}

fn remove_hosts(api: &Api, hostids: &[String]) -> anyhow::Result<()> {
    let params = json!({ "output": ["hostid"], "hostids": hostids });
    let found = api.call("host.get", &params)?;
    let rows = found.as_array().context("host.get gave no array")?;
    let ids: Vec<String> = rows.iter().filter_map(|row| scalar_text(&row["hostid"])).collect();
    crate::register::remove_hosts(api, &ids)
}

impl Findings {
    pub(crate) fn report(&self, report: &mut Report) {
        report.count("checked", "values compared with history", self.acknowledged as u64);
        report.count("missing", "  missing", self.missing as u64);
        report.count("duplicated", "  duplicated", self.duplicated as u64);
        report.count("different", "  different", self.different as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Order, Plan};

    fn items(plan: &Plan) -> Items {
        let items = (0..plan.len()).map(|i| (1000 + i as u64, plan.kind(i).value_type())).collect();
        Items::new(vec!["7".to_owned()], items)
    }

    #[test]
    fn a_ledger_reads_back_what_was_sent_up_to_where_it_breaks_off() {
        let plan =
            Plan { hosts: vec!["a".to_owned(), "b".to_owned()], items: 20, order: Order::InTurn };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger");
        let writer = Writer::create(&path, &items(&plan)).unwrap();
        let mut stream = plan.streams(1, 25).remove(0);
        let (mut scratch, mut expected) = (Vec::new(), Vec::new());
        for second in 0..4 {
            stream.next(std::time::Duration::from_secs(1_700_000_000 + second));
            writer.add(stream.sent(), &mut scratch).unwrap();
            expected.extend(stream.sent().map(|s| (s.item, s.tick, s.value.to_owned())));
        }
        let mut same = Ledger::new(items(&plan));
        for (item, tick, value) in &expected {
            same.add(*item, *tick, value).unwrap();
        }
        let read = Ledger::read(&path).unwrap();
        assert_eq!((read.count, &read.values), (100, &same.values));
        assert_eq!(read.period(), same.period());

        let bytes = std::fs::read(&path).unwrap();
        for cut in [1, 5, 40, scratch.len() - 1] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            assert_eq!(Ledger::read(&path).unwrap().count, 75, "{cut}");
        }
        std::fs::write(&path, "{\"format\":\"else\"}\n").unwrap();
        assert!(Ledger::read(&path).is_err());
    }

    #[test]
    fn items_are_asked_for_by_type_and_in_bounds() {
        let plan = Plan {
            hosts: (0..100).map(|n| n.to_string()).collect(),
            items: 20,
            order: Order::InTurn,
        };
        let mut ledger = Ledger::new(items(&plan));
        for item in 0..plan.len() {
            for second in 0..30 {
                let text = plan.kind(item).template(item % 20);
                ledger
                    .add(item, crate::payload::tick(std::time::Duration::from_secs(second)), &text)
                    .unwrap();
            }
        }
        let chunks = ledger.chunks();
        let mut seen: Vec<usize> = chunks.iter().flatten().copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..plan.len()).collect::<Vec<_>>());
        for chunk in chunks {
            let types: std::collections::HashSet<_> =
                chunk.iter().map(|i| ledger.items.items[*i].1).collect();
            assert_eq!(types.len(), 1);
            assert!(chunk.len() * 30 <= VALUES_PER_CALL && chunk.len() <= ITEMS_PER_CALL);
        }
    }

    fn found(expected: &[(u64, u64)], stored: &[(u64, u64)]) -> (usize, usize, usize, usize) {
        let kept = |rows: &[(u64, u64)]| -> Vec<Kept> {
            rows.iter().map(|(time_ns, value)| Kept { time_ns: *time_ns, value: *value }).collect()
        };
        let mut findings = Findings::default();
        findings.compare(&kept(expected), &mut kept(stored));
        (findings.missing, findings.duplicated, findings.different, findings.unacknowledged)
    }

    #[test]
    fn comparisons() {
        let sent = [(10, 1), (20, 2), (30, 3)];
        assert_eq!(found(&sent, &[(30, 3), (10, 1), (20, 2)]), (0, 0, 0, 0));
        assert_eq!(found(&sent, &[(10, 1), (30, 3)]), (1, 0, 0, 0));
        assert_eq!(found(&sent, &[(10, 1), (20, 2), (20, 2), (30, 3)]), (0, 1, 0, 0));
        assert_eq!(found(&sent, &[(10, 1), (20, 9), (30, 3)]), (0, 0, 1, 0));
        assert_eq!(
            found(&sent, &[(5, 0), (10, 1), (15, 0), (20, 2), (30, 3), (40, 0)]),
            (0, 0, 0, 3)
        );
        assert_eq!(found(&sent, &[]), (3, 0, 0, 0));
        assert_eq!(found(&[], &[(1, 1), (1, 1), (2, 2)]), (0, 1, 0, 2));
    }

    #[test]
    fn rows_of_history() {
        let row = |value: &str| HistoryRow {
            itemid: "7".to_owned(),
            clock: "5".to_owned(),
            ns: "100000001".to_owned(),
            value: value.to_owned(),
        };
        let (id, kept) = row("12.5").kept(ValueType::FLOAT).unwrap();
        assert_eq!((id, kept.time_ns), (7, 5_100_000_001));
        assert!(row("x").kept(ValueType::FLOAT).is_err());
    }
}
