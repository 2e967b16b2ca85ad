//! A window: some rows of a value with all items, triggers and graphs that they give.
//!
//! Items only refer to items of the same row, triggers and graphs only to objects of the same row or
//! to such as discovery does not make, so each window is complete in itself.

use std::collections::HashSet;
use std::ops::Range;

use super::index::Index;
use super::rule::Rule;
use super::{Stage, Stop, Work, graphs, items, triggers};

/// Rows that are worked off together.
pub(super) struct Window<'a> {
    pub(super) index: &'a Index,
    /// Indexes of its rows.
    pub(super) rows: Range<usize>,
    /// What earlier windows have found.
    pub(super) found: &'a Found,
}

/// Existing objects that rows give.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) items: HashSet<u64>,
    pub(super) triggers: HashSet<u64>,
    pub(super) graphs: HashSet<u64>,
}

impl Found {
    pub(super) fn extend(&mut self, more: Self) {
        self.items.extend(more.items);
        self.triggers.extend(more.triggers);
        self.graphs.extend(more.graphs);
    }
}

impl Window<'_> {
    /// Makes and changes what its rows give.
    pub(super) fn discover(
        &self,
        stage: &mut Stage<'_, '_>,
        work: &mut Work<'_>,
    ) -> Result<(), Stop> {
        let items = items::discover(stage, work, self)?;
        triggers::discover(stage, work, self, &items)?;
        graphs::discover(stage, work, self, &items)
    }
}

/// Splits rows so that those of a window have up to `portion` objects together, or one row.
pub(super) fn split(
    rule: &Rule,
    rows: usize,
    portion: usize,
) -> impl Iterator<Item = Range<usize>> {
    let objects = rule.items.len() + rule.triggers.len() + rule.graphs.len();
    let size = (portion / objects.max(1)).max(1);
    (0..rows).step_by(size).map(move |first| first..rows.min(first.saturating_add(size)))
}
