//! What is not discovered any more: kept for a while, disabled for a while, deleted.

use crate::schema::Table;
use crate::table;
use objects::Status;
use std::collections::BTreeMap;

use super::rule::Lifetime;
use super::{Counts, Stage, Stop, Work};
use crate::Edit;
use crate::db::{DbResult, Row, Value, query_by_ids};
use crate::objects::{delete_graphs, delete_items, delete_triggers};

/// `disable_source`: discovery has disabled it.
const BY_DISCOVERY: i64 = 1;

/// What the database has of a discovered object's fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Mark {
    /// Lost already.
    lost: bool,
    /// When it was seen last, or found to be lost; seconds since 1970.
    lastcheck: u64,
    ts_delete: u64,
    ts_disable: u64,
    disable_source: i64,
}

impl Mark {
    /// From columns whose names start with `d_`.
    pub(super) fn from_row(row: &Row) -> Self {
        Self {
            lost: row.int("d_status") == 1,
            lastcheck: row.id("d_lastcheck"),
            ts_delete: row.id("d_ts_delete"),
            ts_disable: row.id("d_ts_disable"),
            disable_source: row.int("d_disable_source"),
        }
    }

    /// The columns for [`Mark::from_row`] of a discovery table called `d`.
    pub(super) const COLUMNS: &str = "d.status AS d_status, d.lastcheck AS d_lastcheck, \
         d.ts_delete AS d_ts_delete, d.ts_disable AS d_ts_disable, \
         d.disable_source AS d_disable_source";

    /// The same of objects that cannot be disabled.
    pub(super) const COLUMNS_WITHOUT_STATUS: &str = "d.status AS d_status, \
         d.lastcheck AS d_lastcheck, d.ts_delete AS d_ts_delete, 0 AS d_ts_disable, \
         0 AS d_disable_source";
}

/// An existing object and whether this value has it.
pub(super) struct Known {
    pub(super) id: u64,
    pub(super) found: bool,
    pub(super) mark: Mark,
    /// The object's own status: 0 enabled. `None`: it cannot be disabled.
    pub(super) status: Option<i64>,
}

impl Known {
    /// From a row with the object's id in this column, its status and [`Mark::COLUMNS`].
    pub(super) fn new(row: &Row, key: &str, found: bool) -> Self {
        let status = Some(row.int("status"));
        Self { status, ..Self::without_status(row, key, found) }
    }

    /// The same of a row with [`Mark::COLUMNS_WITHOUT_STATUS`].
    pub(super) fn without_status(row: &Row, key: &str, found: bool) -> Self {
        Self { id: row.id(key), found, mark: Mark::from_row(row), status: None }
    }
}

/// What happens to lost objects of one kind.
#[derive(Default)]
pub(super) struct Fates {
    marks: BTreeMap<Mark, Vec<u64>>,
    enable: Vec<u64>,
    disable: Vec<u64>,
    pub(super) delete: Vec<u64>,
    newly_lost: usize,
    found_again: usize,
}

impl Work<'_> {
    /// Decides about objects; notes when the next decision is due.
    pub(super) fn fates(&mut self, known: &[Known]) -> Fates {
        let mut fates = Fates::default();
        for one in known {
            if one.found {
                found(one, self.clock_s, &mut fates)
            } else {
                self.lost(one, &mut fates)
            }
        }
        fates
    }

    fn lost(&mut self, one: &Known, fates: &mut Fates) {
        let now = self.clock_s;
        let since = if one.mark.lost { one.mark.lastcheck } else { now };
        let end = |lifetime: Lifetime| match lifetime {
            Lifetime::After(seconds) => since.saturating_add(seconds),
            Lifetime::Forever => 0,
            Lifetime::NotAtAll => since.max(1),
        };
        let ts_delete = end(self.rule.lifetime);
        let ts_disable = one.status.map_or(0, |_| end(self.rule.enabled_lifetime));
        let due = |at: u64| at > 0 && at <= now;
        if due(ts_delete) {
            fates.delete.push(one.id);
            return;
        }
        let mut mark = Mark { lost: true, lastcheck: since, ts_delete, ts_disable, ..one.mark };
        let is_enabled = one.status.is_some_and(|status| Status::Enabled.is(status));
        if due(ts_disable) && is_enabled && one.mark.disable_source == 0 {
            mark.disable_source = BY_DISCOVERY;
            fates.disable.push(one.id);
        }
        fates.newly_lost += usize::from(!one.mark.lost);
        if mark != one.mark {
            fates.marks.entry(mark).or_default().push(one.id);
        }
        for at in [ts_delete, ts_disable].into_iter().filter(|at| *at > now) {
            self.due_s = Some(self.due_s.map_or(at, |due| due.min(at)));
        }
    }
}

fn found(one: &Known, now: u64, fates: &mut Fates) {
    let clean = Mark { lastcheck: one.mark.lastcheck, ..Mark::default() };
    if one.mark == clean {
        return;
    }
    let is_disabled = one.status.is_some_and(|status| Status::Disabled.is(status));
    if one.mark.disable_source == BY_DISCOVERY && is_disabled {
        fates.enable.push(one.id);
    }
    fates.found_again += 1;
    fates.marks.entry(Mark { lastcheck: now, ..clean }).or_default().push(one.id);
}

/// Where objects of a kind and their marks are kept.
pub(super) struct Tables {
    pub(super) objects: &'static Table,
    pub(super) discovery: &'static Table,
}

impl Fates {
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.delete.is_empty()
    }

    /// Writes marks and statuses; deletion is the caller's. Gives how many are newly lost and
    /// found again.
    pub(super) fn write(
        &self,
        stage: &mut Stage<'_, '_>,
        tables: &Tables,
    ) -> Result<(usize, usize), Stop> {
        if self.is_empty() {
            return Ok((0, 0));
        }
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        let Tables { objects, discovery } = tables;
        for (mark, ids) in &self.marks {
            let mut row = vec![
                ("status", Value::from(mark.lost)),
                ("lastcheck", mark.lastcheck.into()),
                ("ts_delete", mark.ts_delete.into()),
                ("ts_disable", mark.ts_disable.into()),
                ("disable_source", mark.disable_source.into()),
            ];
            row.retain(|(name, _)| discovery.column(name).is_some());
            edit.update_many(discovery, ids, &row)?;
        }
        for (status, ids) in [(0, &self.enable), (1, &self.disable)] {
            edit.update_many(objects, ids, &[("status", Value::from(status))])?;
        }
        Ok((self.newly_lost, self.found_again))
    }
}

/// Objects of the rule's host.
pub(super) struct Kind {
    tables: Tables,
    delete: fn(&mut Edit<'_>, &[u64]) -> DbResult<()>,
    /// They can be disabled.
    has_status: bool,
    count: fn(&mut Counts) -> &mut usize,
}

pub(super) const ITEMS: Kind = Kind {
    tables: Tables { objects: &table::ITEMS, discovery: &table::ITEM_DISCOVERY },
    delete: delete_items,
    has_status: true,
    count: |counts| &mut counts.items,
};

pub(super) const TRIGGERS: Kind = Kind {
    tables: Tables { objects: &table::TRIGGERS, discovery: &table::TRIGGER_DISCOVERY },
    delete: delete_triggers,
    has_status: true,
    count: |counts| &mut counts.triggers,
};

pub(super) const GRAPHS: Kind = Kind {
    tables: Tables { objects: &table::GRAPHS, discovery: &table::GRAPH_DISCOVERY },
    delete: delete_graphs,
    has_status: false,
    count: |counts| &mut counts.graphs,
};

impl Kind {
    /// Writes what happens to these objects.
    pub(super) fn settle(
        &self,
        stage: &mut Stage<'_, '_>,
        work: &mut Work<'_>,
        known: &[Known],
    ) -> Result<(), Stop> {
        let fates = work.fates(known);
        let (lost, again) = fates.write(stage, &self.tables)?;
        *(self.count)(&mut work.summary.lost) += lost;
        *(self.count)(&mut work.summary.updated) += again;
        if !fates.delete.is_empty()
            && let Some(edit) = stage.edit()
        {
            (self.delete)(edit, &fates.delete)?;
        }
        Ok(())
    }

    /// The same for those of these objects that still exist; no row gives them.
    pub(super) fn give_up(
        &self,
        stage: &mut Stage<'_, '_>,
        work: &mut Work<'_>,
        ids: &[u64],
    ) -> Result<(), Stop> {
        let Tables { objects, discovery } = &self.tables;
        let key = objects.key[0];
        let (status, known): (_, fn(&Row, &str, bool) -> Known) = match self.has_status {
            true => (format!("o.status, {}", Mark::COLUMNS), Known::new),
            false => (Mark::COLUMNS_WITHOUT_STATUS.to_owned(), Known::without_status),
        };
        let sql = format!(
            "SELECT o.{key} AS id, {status} FROM {discovery} d \
             JOIN {objects} o ON o.{key} = d.{key} WHERE d.{key} IN ({{ids}})"
        );
        let rows = query_by_ids(stage.connection(), &sql, &[], ids)?;
        let known: Vec<Known> = rows.iter().map(|row| known(row, "id", false)).collect();
        self.settle(stage, work, &known)
    }
}
