//! Partitions of a keyspace: which there are, writing to them, reading and deleting them.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, TryStreamExt, stream};
use model::{ItemId, Sample, Trend};
use scylla::statement::prepared::PreparedStatement;
use scylla::value::{CqlValue, Row as Cells};
use stdx::sync::lock;

use super::super::at_most;
use super::super::moments::Moments;
use super::super::place::{self, Place, Row};
use super::super::remote::Wanted;
use super::address::Address;
use super::link::Link;
use super::odd_answer;
use super::rows;
use super::schema::{self, Statements};
use history::{Class, Day, Error, Kind, Span};

/// Requests under way for one batch.
const WRITES: usize = 128;
/// Questions under way for one reader.
const READS: usize = 16;
/// Rows, and bytes of their texts, that go in one request: nodes warn of large ones.
const ROWS_MAX: usize = 100;
const TEXT_MAX: usize = 32 << 10;
/// Partitions that are remembered to be listed, about 20 bytes each.
const LISTED_MAX: usize = 4_000_000;

/// A place is a partition.
impl Place {
    fn cql_item(self) -> i64 {
        self.item.0.cast_signed()
    }

    fn cql_day(self) -> i32 {
        self.day.0.cast_signed()
    }

    /// The day after its last one.
    fn ends(self) -> Day {
        Day(self.day.0 + place::days(self.kind.is_trend()))
    }

    /// Could it have rows within the span?
    fn touches(self, span: Span) -> bool {
        self.day <= Day::of(span.till) && Day::of(span.from) < self.ends()
    }
}

impl Row<'_> {
    /// Bytes of its text.
    fn text_bytes(self) -> usize {
        match self {
            Self::Value(sample) => sample.value.as_text().map_or(0, str::len),
            Self::Trend(_) => 0,
        }
    }
}

/// A keyspace that is ready.
pub(crate) struct Tables {
    link: Link,
    keyspace: String,
    major: u32,
    moments: Arc<Moments>,
    statements: tokio::sync::Mutex<BTreeMap<(Kind, Class), Arc<Statements>>>,
    /// Before these days rows of a class are not shown.
    dropped: Mutex<BTreeMap<Class, Day>>,
    /// Partitions that are in the list of days.
    listed: Mutex<HashSet<Place>>,
    list: PreparedStatement,
    find: PreparedStatement,
    unlist: PreparedStatement,
    remember: PreparedStatement,
}

impl Tables {
    pub(crate) async fn open(address: &Address, moments: &Arc<Moments>) -> Result<Self, Error> {
        let link = Link::open(address, Arc::clone(moments)).await?;
        let state = schema::prepare(&link, address).await?;
        moments.not_before(state.cleared);
        let keyspace = &address.keyspace;
        let days = format!("{keyspace}.history_days");
        let list =
            format!("INSERT INTO {days} (itemid, keep, kind, day) VALUES (?, ?, ?, ?) USING TTL ?");
        let find = format!("SELECT keep, kind, day FROM {days} WHERE itemid = ?");
        let unlist = format!("DELETE FROM {days} WHERE itemid = ?");
        let remember = format!("INSERT INTO {keyspace}.vedette_state (name, value) VALUES (?, ?)");
        Ok(Self {
            list: link.prepare(list).await?,
            find: link.prepare(find).await?,
            unlist: link.prepare(unlist).await?,
            remember: link.prepare(remember).await?,
            link,
            keyspace: keyspace.clone(),
            major: state.major,
            moments: Arc::clone(moments),
            statements: tokio::sync::Mutex::default(),
            dropped: Mutex::new(state.dropped),
            listed: Mutex::default(),
        })
    }

    /// Statements of a table, which is made when it is missing: by one at a time, since nodes
    /// that are told twice at once make it twice.
    async fn statements(&self, kind: Kind, class: Class) -> Result<Arc<Statements>, Error> {
        let mut all = self.statements.lock().await;
        if let Some(known) = all.get(&(kind, class)) {
            return Ok(Arc::clone(known));
        }
        let made = Statements::of(&self.link, &self.keyspace, (kind, class), self.major).await?;
        let made = Arc::new(made);
        all.insert((kind, class), Arc::clone(&made));
        Ok(made)
    }

    /// Writes rows that are in the order of their places, each moment of a place once.
    pub(crate) async fn write<'a>(&self, rows: &[(Place, Row<'a>)]) -> Result<(), Error> {
        self.list(rows).await?;
        let mut requests = Vec::new();
        for of_table in rows.chunk_by(|(a, _), (b, _)| (a.kind, a.class) == (b.kind, b.class)) {
            let Some((place, _)) = of_table.first() else { continue };
            let statements = self.statements(place.kind, place.class).await?;
            for partition in of_table.chunk_by(|(a, _), (b, _)| a == b) {
                for few in pieces(partition) {
                    requests.push((Arc::clone(&statements), few));
                }
            }
        }
        let send = |(statements, few): (Arc<Statements>, Vec<Row<'a>>)| async move {
            self.link.insert(&statements.insert, few).await
        };
        stream::iter(requests).map(Ok).try_for_each_concurrent(WRITES, send).await
    }

    /// Puts partitions that are new on the list: first, so that no row is ever without.
    async fn list(&self, rows: &[(Place, Row<'_>)]) -> Result<(), Error> {
        let mut new: Vec<Place> = rows.iter().map(|(place, _)| *place).collect();
        new.dedup();
        {
            let listed = lock(&self.listed);
            new.retain(|place| !listed.contains(place));
        }
        let list = |place: &Place| {
            let values = (
                place.cql_item(),
                i32::from(place.class.0),
                i32::from(place.kind.number()),
                place.cql_day(),
                schema::listed_s(place.class, place.kind.is_trend()),
            );
            async move { self.link.run(&self.list, values).await }
        };
        stream::iter(&new).map(Ok).try_for_each_concurrent(WRITES, list).await?;
        let mut listed = lock(&self.listed);
        if listed.len() + new.len() > LISTED_MAX {
            listed.clear();
        }
        listed.extend(new);
        Ok(())
    }

    /// The partitions of an item.
    async fn places(&self, item: ItemId) -> Result<Vec<Place>, Error> {
        let rows = self.link.rows(&self.find, (item.0.cast_signed(),)).await?;
        Ok(rows.into_iter().filter_map(|row| listed(item, &row)).collect())
    }

    /// The partitions of an item that may have rows within the span and are not dropped, by day.
    async fn find(&self, item: ItemId, span: Span) -> Result<Vec<Place>, Error> {
        let mut places = self.places(item).await?;
        places.retain(|place| place.touches(span) && place.ends() > self.first_day(place.class));
        places.sort_unstable_by_key(|place| (place.day, *place));
        Ok(places)
    }

    /// Before this day nothing of a class is shown.
    fn first_day(&self, class: Class) -> Day {
        let dropped = lock(&self.dropped);
        dropped.get(&class).copied().unwrap_or(Day(0))
    }

    /// Rows of a partition, in this order; at most `limit`.
    async fn part(
        &self,
        place: Place,
        span: Span,
        (newest_first, limit): (bool, usize),
    ) -> Result<(Place, Vec<Cells>), Error> {
        let statements = self.statements(place.kind, place.class).await?;
        let select = if newest_first { &statements.newest } else { &statements.oldest };
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let (from, till) = (i64::from(span.from), i64::from(span.till));
        let values = (place.cql_item(), place.cql_day(), from, till, limit);
        Ok((place, self.link.rows(select, values).await?))
    }

    /// Samples of an item, of partitions in the order of time, until there are enough.
    pub(crate) async fn samples(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        let Wanted { item, kinds, span, newest_first, limit } = *wanted;
        let mut places = self.find(item, span).await?;
        places.retain(|place| !place.kind.is_trend() && kinds.has(place.kind));
        if newest_first {
            places.reverse();
        }
        // Who wants a few goes from day to day: each that is listed has some.
        let together: Vec<&[Place]> = match limit {
            usize::MAX => vec![&places],
            _ => places.chunk_by(|a, b| a.day == b.day).collect(),
        };
        let mut samples = Vec::new();
        for places in together {
            let part = |place: &Place| self.part(*place, span, (newest_first, limit));
            let mut parts = stream::iter(places).map(part).buffered(READS);
            while let Some((place, cells)) = parts.try_next().await? {
                for row in cells {
                    let sample = rows::sample(item, place.kind, row);
                    samples.push(sample.ok_or_else(|| odd_answer("a row of values"))?);
                }
                at_most(samples.len())?;
            }
            if samples.len() >= limit {
                break;
            }
        }
        Ok(samples)
    }

    /// Trends of an item whose hour starts within the span.
    pub(crate) async fn trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        let mut places = self.find(item, span).await?;
        places.retain(|place| matches!(place.kind, Kind::FloatAvg | Kind::UnsignedAvg));
        let part = |place: &Place| self.part(*place, span, (false, usize::MAX));
        let mut parts = stream::iter(&places).map(part).buffered(READS);
        let mut trends = Vec::new();
        while let Some((place, cells)) = parts.try_next().await? {
            let first = self.first_day(place.class);
            for row in cells {
                let trend = rows::trend(item, place.kind, row);
                let trend = trend.ok_or_else(|| odd_answer("a row of trends"))?;
                if Day::of(trend.hour) >= first {
                    trends.push(trend);
                }
            }
        }
        Ok(trends)
    }

    /// Deletes everything of these items. What is written afterwards is younger than this, also
    /// when the program was restarted and its clock set back meanwhile.
    pub(crate) async fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        let clear = |item: &ItemId| {
            let item = *item;
            async move {
                for place in self.places(item).await? {
                    let statements = self.statements(place.kind, place.class).await?;
                    let values = (place.cql_item(), place.cql_day());
                    // Our clock may have been set back since.
                    for row in self.link.rows(&statements.written, values).await? {
                        self.moments.not_before(moment(&row).unwrap_or(0));
                    }
                    self.link.run(&statements.delete, values).await?;
                }
                self.link.run(&self.unlist, (item.0.cast_signed(),)).await
            }
        };
        stream::iter(items).map(Ok).try_for_each_concurrent(READS, clear).await?;
        self.link.run(&self.remember, ("cleared", self.moments.last())).await?;
        let gone: HashSet<ItemId> = items.iter().copied().collect();
        let mut listed = lock(&self.listed);
        listed.retain(|place| !gone.contains(&place.item));
        Ok(())
    }

    /// From now on nothing of the class before the day is shown.
    pub(crate) async fn drop_before(&self, class: Class, day: Day) -> Result<(), Error> {
        if self.first_day(class) >= day {
            return Ok(());
        }
        let name = format!("dropped_{}d", class.0);
        self.link.run(&self.remember, (name, i64::from(day.0))).await?;
        lock(&self.dropped).insert(class, day);
        Ok(())
    }

    /// The classes that have tables.
    pub(crate) async fn classes(&self) -> Result<Vec<Class>, Error> {
        schema::classes(&self.link, &self.keyspace).await
    }
}

/// The only number of a row; there is none of nothing.
fn moment(row: &Cells) -> Option<i64> {
    match row.columns.first()?.as_ref()? {
        CqlValue::BigInt(moment) => Some(*moment),
        _ => None,
    }
}

/// A row of the list of days; `None` when it is none that we know.
fn listed(item: ItemId, row: &Cells) -> Option<Place> {
    let int = |at: usize| match row.columns.get(at)?.as_ref()? {
        CqlValue::Int(value) => u32::try_from(*value).ok(),
        _ => None,
    };
    let kind = Kind::from_number(u8::try_from(int(1)?).ok()?)?;
    Some(Place { kind, class: Class(u16::try_from(int(0)?).ok()?), item, day: Day(int(2)?) })
}

/// Rows of one partition in requests of moderate size.
fn pieces<'a>(partition: &[(Place, Row<'a>)]) -> Vec<Vec<Row<'a>>> {
    let mut pieces: Vec<Vec<Row<'a>>> = Vec::new();
    let mut text = 0;
    for (_, row) in partition {
        text += row.text_bytes();
        match pieces.last_mut() {
            Some(piece) if piece.len() < ROWS_MAX && text <= TEXT_MAX => piece.push(*row),
            _ => {
                text = row.text_bytes();
                pieces.push(vec![*row]);
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use model::{Sample, SampleValue, Timestamp};

    use super::*;

    #[test]
    fn requests_are_bounded_in_rows_and_bytes() {
        let place = Place { kind: Kind::Text, class: Class(1), item: ItemId(1), day: Day(1) };
        for (lens, expected) in [
            (vec![0; 250], vec![100, 100, 50]),
            (vec![TEXT_MAX, 1, 1], vec![1, 2]),
            (vec![1, TEXT_MAX + 5, 1], vec![1, 1, 1]),
            (vec![TEXT_MAX / 2; 5], vec![2, 2, 1]),
            (vec![], vec![]),
        ] {
            let at = Timestamp { clock: 1, ns: 0 };
            let text = |len: &usize| SampleValue::Text("x".repeat(*len).into());
            let samples: Vec<Sample> =
                lens.iter().map(|len| Sample { item: ItemId(1), at, value: text(len) }).collect();
            let rows: Vec<_> = samples.iter().map(|sample| (place, Row::Value(sample))).collect();
            let got: Vec<usize> = pieces(&rows).iter().map(Vec::len).collect();
            assert_eq!(got, expected, "{lens:?}");
        }
    }

    #[test]
    fn partitions_know_their_days() {
        let place = |kind, day| Place { kind, class: Class(1), item: ItemId(1), day: Day(day) };
        for (place, from, till, touches) in [
            (place(Kind::Float, 10), 10 * 86_400, 10 * 86_400, true),
            (place(Kind::Float, 10), 11 * 86_400 - 1, 20 * 86_400, true),
            (place(Kind::Float, 10), 11 * 86_400, 20 * 86_400, false),
            (place(Kind::Float, 10), 0, 10 * 86_400 - 1, false),
            (place(Kind::FloatAvg, 31), 61 * 86_400, 90 * 86_400, true),
            (place(Kind::FloatAvg, 31), 62 * 86_400, 90 * 86_400, false),
        ] {
            assert_eq!(place.touches(Span::new(from, till)), touches, "{place:?} {from}");
        }
        let cells = |columns: [i32; 3]| Cells {
            columns: columns.into_iter().map(|n| Some(CqlValue::Int(n))).collect(),
        };
        assert_eq!(listed(ItemId(1), &cells([1, 9, 31])), Some(place(Kind::FloatAvg, 31)));
        for odd in [[1, 99, 31], [1, 1, -1], [70_000, 1, 1]] {
            assert_eq!(listed(ItemId(1), &cells(odd)), None, "{odd:?}");
        }
    }
}
