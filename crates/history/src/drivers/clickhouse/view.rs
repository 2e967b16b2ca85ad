//! Reading: each question is a statement, answered as of when it is asked.

use std::sync::Arc;

use model::{ItemId, Sample, Trend};

use super::{Shared, legacy, list, rows, schema};
use crate::{Error, Kind, Kinds, Span};

/// What the store has within a span.
pub(crate) struct View {
    pub(crate) shared: Arc<Shared>,
    pub(crate) span: Span,
}

/// Which rows of an item are wanted, and in which order.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// All, oldest first.
    All,
    /// So many, oldest first.
    Oldest(usize),
    /// So many, newest first.
    Newest(usize),
}

impl View {
    /// The condition for these items in this span.
    fn key(&self, items: &[ItemId]) -> String {
        let Span { from, till } = self.span;
        format!(
            "itemid IN ({}) AND clock >= toDateTime({from}) AND clock <= toDateTime({till})",
            list(items)
        )
    }

    /// Samples of all kinds asked for, item after item; at most so many of each kind.
    fn read(&self, items: &[ItemId], kinds: Kinds, ends: Ends) -> Result<Vec<Sample>, Error> {
        if items.is_empty() || self.span.from > self.span.till {
            return Ok(Vec::new());
        }
        self.shared.prepare()?;
        let (way, limit) = match ends {
            Ends::All => ("ASC", None),
            Ends::Oldest(n) => ("ASC", Some(n)),
            Ends::Newest(n) => ("DESC", Some(n)),
        };
        let order = format!("itemid, clock {way}, ns {way}");
        let limit_text = limit.map(|n| format!(" LIMIT {n}")).unwrap_or_default();
        let key = self.key(items);
        let mut samples = Vec::new();
        let asked = Kind::VALUES.iter().zip(&schema::VALUES);
        for (&kind, table) in asked.filter(|&(&kind, _)| kinds.has(kind)) {
            let select = match &self.shared.client.address.legacy {
                Some(table) => legacy::select(table, kind, kinds, &key, &order),
                None => format!(
                    "SELECT {} FROM {} FINAL WHERE {key} ORDER BY {order}",
                    rows::value_columns(kind),
                    table.name
                ),
            };
            let sql = format!("{select}{limit_text} FORMAT RowBinary");
            samples.extend(rows::samples(&self.shared.client.ask(&sql)?, kind)?);
        }
        // Stable: kinds keep their order.
        if let Ends::Newest(_) = ends {
            samples.sort_by_key(|sample| (sample.item, std::cmp::Reverse(sample.at)));
        } else {
            samples.sort_by_key(|sample| (sample.item, sample.at));
        }
        samples.truncate(limit.unwrap_or(usize::MAX));
        Ok(samples)
    }
}

impl crate::View for View {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.read(&[item], kinds, Ends::All)
    }

    fn samples_of(&self, items: &[ItemId], kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.read(items, kinds, Ends::All)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(&[item], kinds, Ends::Oldest(n))
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(&[item], kinds, Ends::Newest(n))
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.trends_of(&[item])
    }

    fn trends_of(&self, items: &[ItemId]) -> Result<Vec<Trend>, Error> {
        if items.is_empty() || self.shared.client.address.legacy.is_some() {
            return Ok(Vec::new());
        }
        self.shared.prepare()?;
        let key = self.key(items);
        let mut trends = Vec::new();
        for (unsigned, table) in [false, true].into_iter().zip(&schema::TRENDS) {
            let (columns, name) = (rows::TREND_COLUMNS, table.name);
            let found = self.shared.client.ask(&format!(
                "SELECT {columns} FROM {name} FINAL WHERE {key} ORDER BY itemid, clock \
                 FORMAT RowBinary"
            ))?;
            trends.extend(rows::trends(&found, unsigned)?);
        }
        trends.sort_by_key(|trend| (trend.item, trend.hour));
        Ok(trends)
    }
}
