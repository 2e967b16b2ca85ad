//! Reading: each question is a statement, answered as of when it is asked.

use std::sync::Arc;

use model::{ItemId, Sample, Trend};

use super::{Shared, rows, schema};
use crate::{Error, Kind, Kinds, Span};

/// What the store has within a span.
pub(crate) struct View {
    pub(crate) shared: Arc<Shared>,
    pub(crate) span: Span,
}

impl View {
    fn rows_of(
        &self,
        table: &str,
        columns: &str,
        item: ItemId,
        tail: &str,
    ) -> Result<Vec<u8>, Error> {
        self.shared.prepare()?;
        let (item, Span { from, till }) = (item.0, self.span);
        self.shared.client.ask(&format!(
            "SELECT {columns} FROM {table} FINAL WHERE itemid = {item} \
             AND clock >= toDateTime({from}) AND clock <= toDateTime({till}) \
             ORDER BY {tail} FORMAT RowBinary"
        ))
    }

    /// Samples of all kinds asked for, in this order of time; at most `n` of each.
    fn read(
        &self,
        item: ItemId,
        kinds: Kinds,
        newest_first: bool,
        n: Option<usize>,
    ) -> Result<Vec<Sample>, Error> {
        let way = if newest_first { "DESC" } else { "ASC" };
        let limit = n.map(|n| format!(" LIMIT {n}")).unwrap_or_default();
        let tail = format!("clock {way}, ns {way}{limit}");
        let mut samples = Vec::new();
        let asked = Kind::VALUES.iter().zip(&schema::VALUES);
        for (&kind, table) in asked.filter(|&(&kind, _)| kinds.has(kind)) {
            let found = self.rows_of(table.name, rows::value_columns(kind), item, &tail)?;
            samples.extend(rows::samples(&found, item, kind)?);
        }
        if newest_first {
            samples.sort_by_key(|sample| std::cmp::Reverse(sample.at));
        } else {
            samples.sort_by_key(|sample| sample.at);
        }
        samples.truncate(n.unwrap_or(usize::MAX));
        Ok(samples)
    }
}

impl crate::View for View {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, None)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, Some(n))
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, true, Some(n))
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        let mut trends = Vec::new();
        for (unsigned, table) in [false, true].into_iter().zip(&schema::TRENDS) {
            let found = self.rows_of(table.name, rows::TREND_COLUMNS, item, "clock")?;
            trends.extend(rows::trends(&found, item, unsigned)?);
        }
        trends.sort_by_key(|trend| trend.hour);
        Ok(trends)
    }
}
