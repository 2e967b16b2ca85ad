//! Reading: each question is a statement, answered as of when it is asked.

use std::slice;

use model::{ItemId, Sample, Trend};

use super::super::remote::{Coarse, Wanted};
use super::http::Client;
use super::{list, rows, schema};
use history::Reduced;
use history::{Error, Kind, Kinds, Span};

/// Of each key the row that was written last, where a condition holds. `FINAL` makes the server read
/// all columns of a condition's neighbours as well (release 26: 5.5 ms for an item's values in seven
/// parts), unless it is told to look at those of the key first (3.1 ms): rows of one key meet it or not together.
const KEPT: &str = "FINAL PREWHERE";

/// Rows that are asked for.
pub(crate) struct Question<'a> {
    pub(crate) items: &'a [ItemId],
    pub(crate) kinds: Kinds,
    pub(crate) span: Span,
    newest_first: bool,
    /// Of each kind; `usize::MAX` = all.
    limit: usize,
}

impl<'a> From<&'a Wanted> for Question<'a> {
    fn from(wanted: &'a Wanted) -> Self {
        let Wanted { ref item, kinds, span, newest_first, limit } = *wanted;
        Self { items: slice::from_ref(item), kinds, span, newest_first, limit }
    }
}

impl<'a> From<&'a Coarse> for Question<'a> {
    fn from(wanted: &'a Coarse) -> Self {
        Self::all(slice::from_ref(&wanted.item), wanted.kind.into(), wanted.span)
    }
}

impl<'a> Question<'a> {
    /// For all rows of some items.
    pub(crate) fn all(items: &'a [ItemId], kinds: Kinds, span: Span) -> Self {
        Self { items, kinds, span, newest_first: false, limit: usize::MAX }
    }

    /// The condition of its rows.
    pub(crate) fn key(&self) -> String {
        let (items, Span { from, till }) = (list(self.items), self.span);
        format!(
            "itemid IN ({items}) AND clock >= toDateTime({from}) AND clock <= toDateTime({till})"
        )
    }

    /// The order of its rows.
    pub(crate) fn order(&self) -> String {
        let way = if self.newest_first { "DESC" } else { "ASC" };
        format!("itemid, clock {way}, ns {way}")
    }

    /// Asks for samples, kind after kind, by statements without limit and format.
    pub(crate) fn ask(
        &self,
        client: &Client,
        statement: impl Fn(Kind) -> String,
    ) -> Result<Vec<Sample>, Error> {
        let limit = match self.limit {
            usize::MAX => String::new(),
            limit => format!(" LIMIT {limit}"),
        };
        let mut samples = Vec::new();
        for kind in Kind::VALUES.into_iter().filter(|&kind| self.kinds.has(kind)) {
            let sql = format!("{}{limit} FORMAT RowBinary", statement(kind));
            samples.append(&mut rows::samples(&client.ask(&sql)?, kind)?);
        }
        Ok(samples)
    }

    /// Asks for samples in our tables.
    pub(crate) fn samples(&self, client: &Client) -> Result<Vec<Sample>, Error> {
        let (key, order) = (self.key(), self.order());
        self.ask(client, |kind| {
            // Numbers of kinds of values are their places among the tables.
            let table = schema::VALUES[usize::from(kind.number())].name;
            let columns = rows::value_columns(kind);
            format!("SELECT {columns} FROM {table} {KEPT} {key} ORDER BY {order}")
        })
    }

    /// Asks for buckets in our tables.
    pub(crate) fn buckets(&self, client: &Client, wanted: &Coarse) -> Result<Vec<Reduced>, Error> {
        let table = schema::VALUES[usize::from(wanted.kind.number())].name;
        let rows = format!("{table} {KEPT} {}", self.key());
        ask_buckets(client, wanted, ["toUInt32(clock)", "value"], &rows)
    }

    /// Asks for trends in our tables.
    pub(crate) fn trends(&self, client: &Client) -> Result<Vec<Trend>, Error> {
        let key = self.key();
        let mut trends = Vec::new();
        for (unsigned, table) in [false, true].into_iter().zip(&schema::TRENDS) {
            let (columns, name) = (rows::TREND_COLUMNS, table.name);
            let sql = format!("SELECT {columns} FROM {name} {KEPT} {key} FORMAT RowBinary");
            trends.append(&mut rows::trends(&client.ask(&sql)?, unsigned)?);
        }
        Ok(trends)
    }
}

/// Asks for the buckets of rows that a `FROM` tells, by second and number.
pub(crate) fn ask_buckets(
    client: &Client,
    wanted: &Coarse,
    [second, number]: [&str; 2],
    rows: &str,
) -> Result<Vec<Reduced>, Error> {
    let figures = rows::bucket_figures(wanted.kind, number);
    let width = wanted.width;
    let sql = format!(
        "SELECT toUInt32({second} - modulo({second}, {width})) AS bucket,{figures} FROM {rows} \
         GROUP BY bucket FORMAT RowBinary"
    );
    rows::buckets(&client.ask(&sql)?, wanted.kind)
}
