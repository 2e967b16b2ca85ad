//! Up to which second findings are complete: written with the events, in one transaction, so that
//! after a crash the shards know which values may not have been evaluated.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader};
use config::{Config, Statements};
use const_format::formatcp;
use model::{FindingsMark, Timestamp, TriggerFinding, TriggerId, UnixSeconds, Unwritten};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

/// The row of the table `state_settings`.
const NAME: &str = "findings_written";

/// Values come a little after their time, and go from shard to shard before they are evaluated:
/// those this much older than the mark are looked at as well, seconds.
const MARGIN_S: u32 = 60;

/// A mark in the future shows that the clock was set back and that no later mark was written, perhaps
/// because the database was down: values up to this old are looked at, seconds.
const SET_BACK_S: u32 = 86_400;

/// The mark of all shards: that of the one which is furthest behind. It is one number so that it
/// holds whatever the number of shards of the next run.
#[derive(Debug, Default, Clone)]
pub(crate) struct Marks {
    of: BTreeMap<usize, UnixSeconds>,
    /// Some shard had values since the common mark was written.
    news: bool,
}

impl Marks {
    /// Takes in the marks among findings; returns the common one if it is to be written: there is
    /// none as long as a shard has not set its own since the start.
    pub(crate) fn take(&mut self, findings: &[TriggerFinding]) -> Option<UnixSeconds> {
        let before = self.of.clone();
        let mut all = usize::MAX;
        for finding in findings {
            if let TriggerFinding::Mark(FindingsMark { shard, shards, at, news }) = finding {
                self.of.insert(*shard, *at);
                self.news |= *news;
                all = *shards;
            }
        }
        let oldest = |of: &BTreeMap<usize, UnixSeconds>| of.values().min().copied();
        let is_new = before.len() < all || oldest(&before) != oldest(&self.of);
        let written = oldest(&self.of).filter(|_| self.of.len() == all && is_new && self.news);
        self.news &= written.is_none();
        written
    }
}

pub(crate) fn write(edit: &mut Statements<'_>, at: UnixSeconds) -> DbResult<()> {
    edit.execute(
        "INSERT INTO state_settings (name, value) VALUES (?, ?) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &[NAME.into(), at.to_string().into()],
    )
    .map(drop)
}

/// The second up to which the values of all shards are stored and evaluated, and what was found is written. It follows the
/// values: without new ones it stays. `None` = there were none yet.
pub fn written_until(connection: &mut dyn Reader) -> DbResult<Option<u64>> {
    let sql = "SELECT value FROM state_settings WHERE name = ?";
    let rows = connection.query(sql, &[NAME.into()])?;
    Ok(rows.first().and_then(|row| row.text("value").parse().ok()))
}

/// What findings a crash before `now` may have cost; `None` = no run before this one has told.
pub fn unwritten(config: &Config, now: UnixSeconds) -> DbResult<Option<Unwritten>> {
    config.read(|connection| {
        let mark = written_until(connection)?.and_then(|mark| u32::try_from(mark).ok());
        let Some(mark) = mark else { return Ok(None) };
        let mut since = UnixSeconds(mark).before_s(MARGIN_S);
        if mark > now.0 {
            since = since.min(now.before_s(SET_BACK_S));
        }
        let rows = connection.query(
            formatcp!(
                "SELECT objectid, clock, ns FROM events \
                 WHERE clock >= ? AND source = {SOURCE_TRIGGER} AND object = {OBJECT_TRIGGER}"
            ),
            &[since.0.into()],
        )?;
        let mut events = BTreeMap::new();
        for row in &rows {
            let number = |name| u32::try_from(row.int(name)).unwrap_or(0);
            let at = Timestamp { clock: number("clock"), ns: number("ns") };
            let newest = events.entry(TriggerId(row.id("objectid"))).or_insert(at);
            *newest = at.max(*newest);
        }
        Ok(Some(Unwritten { since, events: events.into_iter().collect() }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_mark_is_that_of_the_shard_furthest_behind() {
        let told = |shard, at, news| {
            let at = UnixSeconds(at);
            TriggerFinding::Mark(FindingsMark { shard, shards: 2, at, news })
        };
        let mark = |shard, at_s| told(shard, at_s, true);
        let mut marks = Marks::default();
        let steps = [
            (vec![mark(0, 10)], None),
            (vec![mark(0, 20), mark(1, 15)], Some(15)),
            (vec![], None),
            (vec![mark(0, 30)], None),
            (vec![mark(1, 25)], Some(25)),
            // The clock was set back.
            (vec![mark(1, 5)], Some(5)),
            // Nothing came, then something at one shard: the other has nothing to tell up to then.
            (vec![told(0, 40, false), told(1, 40, false)], None),
            (vec![told(0, 50, false), mark(1, 50)], Some(50)),
        ];
        for (findings, expected) in steps {
            assert_eq!(marks.take(&findings), expected.map(UnixSeconds), "{findings:?}");
        }
    }

    #[test]
    fn mark_in_the_future_widens_the_search() {
        let folder = tempfile::tempdir().unwrap();
        let location = config::db::Location::Sqlite(folder.path().join("config.db"));
        let config = Config::open(location).unwrap();
        let since = |now| unwritten(&config, UnixSeconds(now)).unwrap().map(|found| found.since.0);
        let now = 1_800_000_000;
        assert_eq!(since(now), None);
        let written: DbResult<()> = config.write_state(|edit| write(edit, UnixSeconds(now)));
        written.unwrap();
        assert_eq!(since(now), Some(now - 60));
        assert_eq!(since(now + 90_000), Some(now - 60));
        assert_eq!(since(now - 4_000), Some(now - 4_000 - 86_400));
    }
}
