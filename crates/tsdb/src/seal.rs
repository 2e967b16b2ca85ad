//! Sealing: a full head becomes segments, one per retention class and day.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use model::ItemId;
use stdx::sys::prefetch;

use crate::disk::Disk;
use crate::error::Error;
use crate::head::Head;
use crate::kind::{Class, Day, Kind, Retention};
use crate::layout::SegmentId;
use crate::manifest::Manifest;
use crate::newest_cache::Cache;
use crate::rows::Run;
use crate::segment::Segment;
use crate::writer::{SegmentWriter, temporary};

/// Days of one class that get segments of their own when a head is sealed; rows of further days
/// (stamps from far away, imports) share one, which is kept as long as its youngest row.
const DAYS_MAX: usize = 8;

/// Series, and rows of each, that are looked at before they are gathered: with many items a series has few
/// rows in a head, and all are far from each other.
const SERIES_AHEAD: usize = 16;
const ROWS_AHEAD: usize = 8;

/// Series whose retention classes are queried together.
const SERIES_OF_RETENTION: usize = 1024;

/// Where segments are written and who knows their classes.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) dir: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) retention: Arc<dyn Retention>,
    pub(crate) newest: Arc<Cache>,
    pub(crate) manifest: Arc<Manifest>,
}

/// The rows of a head by series.
pub(crate) struct BySeries<'a> {
    head: &'a Head,
    /// For each series (in the head's numbering) where its rows start, and the end of the last.
    start: Vec<u32>,
    rows: Vec<u32>,
}

impl<'a> BySeries<'a> {
    /// Counting sort; rows of a series stay in the order in which they came.
    pub(crate) fn new(head: &'a Head) -> Self {
        let mut start = vec![0u32; head.series.len() + 1];
        for &series in &head.row_series {
            start[series as usize + 1] += 1;
        }
        for series in 1..start.len() {
            start[series] += start[series - 1];
        }
        let mut next = start.clone();
        let mut rows = vec![0; head.row_series.len()];
        for (row, &series) in (0..).zip(&head.row_series) {
            rows[next[series as usize] as usize] = row;
            next[series as usize] += 1;
        }
        Self { head, start, rows }
    }

    /// Series sorted by item and kind.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        // With their keys: to look these up in each comparison would be to wait for memory.
        let series = self.head.series.iter().zip(0..);
        let mut order: Vec<(u64, Kind, u32)> =
            series.map(|(series, index)| (series.item, series.kind, index)).collect();
        order.sort_unstable();
        order.into_iter().map(|(.., index)| index).collect()
    }

    /// Brings the first rows of some series near the processor: these reads do not wait for each other.
    fn look_at(&self, series: &[u32]) {
        for &one in series {
            prefetch(&self.start[one as usize]);
            prefetch(&self.head.series[one as usize]);
        }
        for &one in series {
            self.rows(one).first().into_iter().for_each(prefetch);
        }
        for &row in series.iter().flat_map(|&one| self.rows(one).iter().take(ROWS_AHEAD)) {
            self.head.touch(row);
        }
    }

    pub(crate) fn key(&self, series: u32) -> (u64, Kind) {
        let series = &self.head.series[series as usize];
        (series.item, series.kind)
    }

    /// Rows of a series that were not cleared.
    fn rows(&self, series: u32) -> &[u32] {
        let series = series as usize;
        let rows = &self.rows[self.start[series] as usize..self.start[series + 1] as usize];
        let first = self.head.series[series].first;
        if first == 0 { rows } else { &rows[rows.partition_point(|&row| row < first)..] }
    }

    /// Settled rows of a series whose day is wanted.
    pub(crate) fn gather(&self, series: u32, wanted: impl Fn(Day) -> bool, run: &mut Run) {
        let (_, kind) = self.key(series);
        run.clear();
        for &row in self.rows(series) {
            let at = self.head.at(row);
            if wanted(Day::of(at.clock)) {
                run.push(at, self.head.raw(kind, row));
            }
        }
        run.settle(kind.is_bytes());
    }

    /// Days of these series with their rows.
    fn days(&self, series: &[u32]) -> BTreeMap<Day, u64> {
        let mut days = BTreeMap::new();
        if let Some((first, last)) = self.head.span()
            && Day::of(first) == Day::of(last)
        {
            days.insert(Day::of(first), 1);
            return days;
        }
        for &row in series.iter().flat_map(|&series| self.rows(series)) {
            *days.entry(Day::of(self.head.at(row).clock)).or_default() += 1;
        }
        days
    }
}

/// Which days go into one segment.
enum Days {
    One(Day),
    /// All but these; the name is the youngest of them.
    AllBut(Vec<Day>, Day),
}

fn group(days: &BTreeMap<Day, u64>) -> Vec<Days> {
    if days.len() <= DAYS_MAX {
        return days.keys().map(|&day| Days::One(day)).collect();
    }
    let mut by_rows: Vec<(u64, Day)> = days.iter().map(|(&day, &rows)| (rows, day)).collect();
    by_rows.sort_unstable_by(|a, b| b.cmp(a));
    let mut own: Vec<Day> = by_rows[..DAYS_MAX - 1].iter().map(|&(_, day)| day).collect();
    own.sort_unstable();
    let youngest = by_rows[DAYS_MAX - 1..].iter().map(|&(_, day)| day).max();
    let mut groups: Vec<Days> = own.iter().map(|&day| Days::One(day)).collect();
    groups.extend(youngest.map(|day| Days::AllBut(own, day)));
    groups
}

/// Writes the segments of a head. Until the head's WAL file is removed they do not count: a
/// crash before that makes recovery remove them and read the WAL again.
pub(crate) fn seal(place: &Place, head: &Head, seq: u64) -> Result<Vec<Arc<Segment>>, Error> {
    let by_series = BySeries::new(head);
    let mut classes: BTreeMap<Class, Vec<u32>> = BTreeMap::new();
    for some in by_series.sorted().chunks(SERIES_OF_RETENTION) {
        let keys = some.iter().map(|&series| by_series.key(series));
        let keys: Vec<_> = keys.map(|(item, kind)| (ItemId(item), kind)).collect();
        for (&series, class) in some.iter().zip(place.retention.classes(&keys)) {
            if !by_series.rows(series).is_empty() {
                classes.entry(class).or_default().push(series);
            }
        }
    }
    let mut ids = Vec::new();
    for (class, series) in &classes {
        for days in group(&by_series.days(series)) {
            let (Days::One(day) | Days::AllBut(_, day)) = days;
            let id = SegmentId { class: *class, day, first_seq: seq, last_seq: seq };
            let wanted = |day: Day| match &days {
                Days::One(only) => day == *only,
                Days::AllBut(others, _) => others.binary_search(&day).is_err(),
            };
            write_segment(place, &by_series, series, &id, wanted)?;
            ids.push(id);
        }
    }
    publish(place, &ids)
}

fn write_segment(
    place: &Place,
    by_series: &BySeries<'_>,
    series: &[u32],
    id: &SegmentId,
    wanted: impl Fn(Day) -> bool,
) -> Result<(), Error> {
    let mut writer = SegmentWriter::create(place.disk.as_ref(), &place.dir, id)?;
    let mut run = Run::default();
    for series in series.chunks(SERIES_AHEAD) {
        by_series.look_at(series);
        for &series in series {
            by_series.gather(series, &wanted, &mut run);
            let (item, kind) = by_series.key(series);
            writer.push(item, kind, &run)?;
        }
    }
    writer.finish().map(drop)
}

/// Gives segments that are whole and on the disk their names, and opens them.
pub(crate) fn publish(place: &Place, ids: &[SegmentId]) -> Result<Vec<Arc<Segment>>, Error> {
    let mut segments = Vec::new();
    let (asked_for, damage) = (place.newest.age(), &place.manifest.damage);
    for id in ids {
        let path = place.dir.join(id.file_name());
        place.disk.rename(&temporary(&place.dir, id), &path).map_err(Error::io("rename", &path))?;
        let segment = Segment::open(place.disk.as_ref(), &path, *id, (&place.newest, damage))?;
        if asked_for {
            // The next query does not wait. Unreadable data fails then, at the query.
            drop(segment.load_newest());
        }
        segments.push(Arc::new(segment));
    }
    place.disk.sync_dir(&place.dir).map_err(Error::io("sync", &place.dir))?;
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_days_share_one_segment_but_the_fullest_ones() {
        let few: BTreeMap<Day, u64> = (0..8).map(|day| (Day(day), 1)).collect();
        assert_eq!(group(&few).len(), 8);
        let many: BTreeMap<Day, u64> = (0..1000).map(|d| (Day(d), u64::from(d % 10))).collect();
        let groups = group(&many);
        assert_eq!(groups.len(), 8);
        let Some(Days::AllBut(own, youngest)) = groups.last() else { panic!("no mixed group") };
        assert_eq!((own.len(), *youngest), (7, Day(998)));
        assert!(own.iter().all(|day| day.0 % 10 == 9) && own.is_sorted());
    }
}
