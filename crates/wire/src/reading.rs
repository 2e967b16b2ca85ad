//! Readings: values as they came, before anybody knows their item.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::message::{Scalar, parse_u64};

/// Most values taken in one request: bounds the memory of the parsed form (about 150 MB).
pub const READINGS_MAX: usize = 1_000_000;

/// Values are counted in groups of this many good ones; see [`Readings::malformed`].
const COUNT_GROUP: usize = 256;

/// A moment as the wire carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment {
    /// Whole seconds since 1970-01-01 00:00:00 UTC, at most 2^31 - 1.
    pub clock: u32,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub ns: u32,
}

impl Moment {
    /// From the time since 1970.
    pub fn from_unix(since: std::time::Duration) -> Self {
        Self { clock: u32::try_from(since.as_secs()).unwrap_or(u32::MAX), ns: since.subsec_nanos() }
    }

    /// Some nanoseconds later.
    pub const fn plus_ns(self, ns: u32) -> Self {
        let sum = self.ns as u64 + ns as u64;
        let carry = (sum / 1_000_000_000) as u32;
        Self { clock: self.clock.saturating_add(carry), ns: (sum % 1_000_000_000) as u32 }
    }
}

/// Which item a reading is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target<'a> {
    /// Senders and agents before 6.4 name host and key.
    Key {
        /// Technical host name.
        host: Cow<'a, str>,
        /// Item key.
        key: Cow<'a, str>,
    },
    /// Agents since 6.4 name the item; the host stands in the request.
    Item(u64),
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    Value(Cow<'a, str>),
    /// The item is not supported, and why (`state` 1).
    NotSupported(Cow<'a, str>),
    /// No value: only the position in a log file moved, or the member is no scalar.
    Nothing,
}

/// Members of log items' values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFields<'a> {
    /// Position in the log file, bytes.
    pub lastlogsize: Option<u64>,
    /// Modification time of the log file, seconds since 1970.
    pub mtime: Option<u32>,
    /// Time written in the line, seconds since 1970.
    pub timestamp: Option<u32>,
    /// Source of a Windows event.
    pub source: Option<Cow<'a, str>>,
    /// Severity of a Windows event.
    pub severity: Option<u32>,
    /// Id of a Windows event.
    pub eventid: Option<u32>,
}

/// One value as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// For which item.
    pub target: Target<'a>,
    /// When: the sender's clock and ns; the arrival where it gave no clock; a rising ns where it
    /// gave clock alone, so that values of one second stay distinct.
    pub at: Moment,
    /// What.
    pub content: Content<'a>,
    /// Number of the value within the agent's session; drops resent values.
    pub id: Option<u64>,
    /// Present if any of its members is.
    pub log: Option<Box<LogFields<'a>>>,
}

/// The values of one request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readings<'a> {
    /// In the order they came.
    pub rows: Vec<Reading<'a>>,
    /// Rows without host, key or with a bad time: they count as failed. As Zabbix counts, bad
    /// rows at the end count only if good ones came since the last full 256.
    pub malformed: usize,
    /// A row that is not an object: Zabbix then takes none of the rows and answers with zeros.
    pub refused: bool,
}

/// How rows are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowRules {
    /// When the request arrived.
    pub(crate) now: Moment,
    /// A row may name its item by id.
    pub(crate) by_itemid: bool,
}

/// Reads the array `data` into [`Readings`].
pub(crate) struct ReadingsSeed(pub(crate) RowRules);

impl<'de> DeserializeSeed<'de> for ReadingsSeed {
    type Value = Option<Readings<'de>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars_are {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de> Visitor<'de> for ReadingsSeed {
    type Value = Option<Readings<'de>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut readings = Readings::default();
        let (mut ns, mut bad_since_group) = (0_u32, 0);
        loop {
            let seed = RowSeed { rules: self.0, ns: &mut ns, rows: &mut readings.rows };
            match seq.next_element_seed(seed)? {
                None => break,
                Some(Row::Taken) if readings.rows.len() > READINGS_MAX => {
                    return Err(serde::de::Error::custom(TOO_MANY));
                }
                Some(Row::Taken) => {
                    if readings.rows.len() % COUNT_GROUP == 0 {
                        bad_since_group = 0;
                    }
                }
                Some(Row::Malformed) => {
                    readings.malformed += 1;
                    bad_since_group += 1;
                }
                Some(Row::Scalar) => readings.refused = true,
            }
        }
        if readings.refused {
            return Ok(Some(Readings { refused: true, ..Readings::default() }));
        }
        if readings.rows.len() % COUNT_GROUP == 0 {
            readings.malformed -= bad_since_group;
        }
        Ok(Some(readings))
    }

    /// `"data":{…}` is taken as no values at all.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Some(Readings { refused: true, ..Readings::default() }))
    }

    scalars_are!(None);
}

/// Marks the error of a request with too many rows among those of the JSON parser.
pub(crate) const TOO_MANY: &str = "too many values in one request";

enum Row {
    Taken,
    Malformed,
    Scalar,
}

/// Reads one row and appends it to `rows`.
struct RowSeed<'c, 'a> {
    rules: RowRules,
    ns: &'c mut u32,
    rows: &'c mut Vec<Reading<'a>>,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_, 'de> {
    type Value = Row;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Row, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, 'de> {
    type Value = Row;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Row, A::Error> {
        let row = RowMembers::read(map)?;
        Ok(match row.into_reading(self.rules, self.ns) {
            Some(reading) => {
                self.rows.push(reading);
                Row::Taken
            }
            None => Row::Malformed,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Row, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Row::Malformed)
    }

    scalars_are!(Row::Scalar);
}

/// The members of a row; of equal names the first. The inner `None` of a number: it is none.
#[derive(Default)]
struct RowMembers<'a> {
    host: Option<Cow<'a, str>>,
    key: Option<Cow<'a, str>>,
    itemid: Option<u64>,
    value: Option<&'a RawValue>,
    clock: Option<Option<u64>>,
    ns: Option<Option<u64>>,
    id: Option<u64>,
    state: Option<u64>,
    log: Option<Box<LogFields<'a>>>,
}

/// A whole number without sign, also as text; `None` for all else.
struct NumberSeed;

impl<'de> DeserializeSeed<'de> for NumberSeed {
    type Value = Option<u64>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NumberSeed {
    type Value = Option<u64>;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number")
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(parse_u64(text))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// A name: a text in nearly all cases, which then costs one pass and no allocation.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Option<Cow<'de, str>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Option<Cow<'de, str>>;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }
    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(if truth { "true" } else { "false" })))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed("")))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

enum Field {
    Host,
    Key,
    Itemid,
    Value,
    Clock,
    Ns,
    Id,
    State,
    Lastlogsize,
    Mtime,
    Timestamp,
    Source,
    Severity,
    Eventid,
    Other,
}

struct FieldSeed;

impl<'de> DeserializeSeed<'de> for FieldSeed {
    type Value = Field;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for FieldSeed {
    type Value = Field;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a member name")
    }
    fn visit_str<E>(self, name: &str) -> Result<Field, E> {
        Ok(match name {
            "host" => Field::Host,
            "key" => Field::Key,
            "itemid" => Field::Itemid,
            "value" => Field::Value,
            "clock" => Field::Clock,
            "ns" => Field::Ns,
            "id" => Field::Id,
            "state" => Field::State,
            "lastlogsize" => Field::Lastlogsize,
            "mtime" => Field::Mtime,
            "timestamp" => Field::Timestamp,
            "source" => Field::Source,
            "severity" => Field::Severity,
            "eventid" => Field::Eventid,
            _ => Field::Other,
        })
    }
}

impl<'a> RowMembers<'a> {
    fn read<A: MapAccess<'a>>(mut map: A) -> Result<Self, A::Error> {
        let mut row = Self::default();
        while let Some(field) = map.next_key_seed(FieldSeed)? {
            match field {
                Field::Host => keep(&mut row.host, map.next_value_seed(NameSeed)?),
                Field::Key => keep(&mut row.key, map.next_value_seed(NameSeed)?),
                Field::Value => keep(&mut row.value, Some(map.next_value()?)),
                Field::Clock => keep(&mut row.clock, Some(map.next_value_seed(NumberSeed)?)),
                Field::Ns => keep(&mut row.ns, Some(map.next_value_seed(NumberSeed)?)),
                Field::Id => keep(&mut row.id, map.next_value_seed(NumberSeed)?),
                Field::Itemid => keep(&mut row.itemid, map.next_value_seed(NumberSeed)?),
                Field::State => keep(&mut row.state, map.next_value_seed(NumberSeed)?),
                Field::Source => {
                    let source = map.next_value_seed(NameSeed)?;
                    keep(&mut row.log.get_or_insert_default().source, source);
                }
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
                number => {
                    let value = map.next_value_seed(NumberSeed)?;
                    row.log.get_or_insert_default().set(&number, value);
                }
            }
        }
        Ok(row)
    }

    /// `None`: the row counts as failed.
    fn into_reading(self, rules: RowRules, ns: &mut u32) -> Option<Reading<'a>> {
        let target = match self.itemid {
            Some(itemid) if rules.by_itemid => Target::Item(itemid),
            _ => Target::Key { host: self.host?, key: self.key? },
        };
        let mut rising = || {
            *ns += 1;
            *ns - 1
        };
        let at = match self.clock {
            None => rules.now.plus_ns(rising()),
            Some(clock) => {
                let clock = small(clock).filter(|clock| *clock <= CLOCK_MAX)?;
                // The field takes an ns of 0 for none (seen at a 7.0 server).
                let ns = match self.ns.filter(|ns| *ns != Some(0)) {
                    Some(ns) => small(ns).filter(|ns| *ns <= NS_MAX)?,
                    None => rising(),
                };
                Moment { clock, ns }
            }
        };
        let value = self.value.and_then(Scalar::from_raw).map(|scalar| scalar.0);
        let content = match value {
            Some(reason) if self.state == Some(1) => Content::NotSupported(reason),
            Some(value) => Content::Value(value),
            None => Content::Nothing,
        };
        Some(Reading { target, at, content, id: self.id, log: self.log })
    }
}

impl LogFields<'_> {
    fn set(&mut self, field: &Field, value: Option<u64>) {
        match field {
            Field::Lastlogsize => keep(&mut self.lastlogsize, value),
            Field::Mtime => keep(&mut self.mtime, small(value)),
            Field::Timestamp => keep(&mut self.timestamp, small(value)),
            Field::Severity => keep(&mut self.severity, small(value)),
            _ => keep(&mut self.eventid, small(value)),
        }
    }
}

/// The first of equal names counts.
fn keep<T>(slot: &mut Option<T>, value: Option<T>) {
    if slot.is_none() {
        *slot = value;
    }
}

fn small(number: Option<u64>) -> Option<u32> {
    number.and_then(|number| u32::try_from(number).ok())
}

/// Latest clock that the protocol takes: 2038-01-19.
pub(crate) const CLOCK_MAX: u32 = 0x7fff_ffff;
/// Largest ns.
pub(crate) const NS_MAX: u32 = 999_999_999;
