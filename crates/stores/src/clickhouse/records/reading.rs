//! Queries: a few statements each, over the rows that meet the filter.

use std::time::Duration;

use history::Error;
use transactions::columns::{COLUMNS, TIMINGS};
use transactions::{
    Answer, Bar, Cell, Column, GROUPS_MAX, Group, Histogram, Query, ROWS_WANTED_MAX, Row, Stop,
    Summary,
};

use super::super::http::Client;
use super::super::odd_answer;
use super::super::rows::Rows;
use super::sql;
use super::table::{KEY, RECORDS};

/// Figures of a group, as [`Found::group`] reads them.
const FIGURES: &str = "toUInt64(count()) AS rows, toUInt64(countIf(fault != '')), \
                       toUInt64(sum(response_bytes)), toUInt64(sum(total)), toUInt64(max(total))";

/// Why a search has no complete answer.
enum Ended {
    /// The client has left.
    Left,
    Failed(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Answers a query.
pub(super) fn search(client: &Client, query: &Query, stop: Stop<'_>) -> Result<Answer, Error> {
    let mut answer = Answer {
        matched: 0,
        scanned: 0,
        damaged: 0,
        rows: Vec::new(),
        summary: None,
        stopped: false,
    };
    let search = Search { client, query, stop, deadline: client.deadline() };
    match search.fill(&mut answer) {
        Err(Ended::Failed(error)) => return Err(error),
        Err(Ended::Left) => answer.stopped = true,
        Ok(()) => {}
    }
    Ok(answer)
}

struct Search<'q> {
    client: &'q Client,
    query: &'q Query,
    stop: Stop<'q>,
    /// Of all its statements together.
    deadline: Duration,
}

/// Times of the rows in question.
struct Times {
    rows: u64,
    first_us: u64,
    last_us: u64,
}

impl Search<'_> {
    fn fill(&self, answer: &mut Answer) -> Result<(), Ended> {
        let times = self.times()?;
        answer.scanned = times.rows;
        let bounds = times.first_us.max(self.query.from_us)..=times.last_us.min(self.query.to_us);
        let mut histogram = Histogram::new(&bounds, self.query.bars);
        let from = self.from(self.query.from_us);
        if self.query.bars == 0 {
            if times.rows > 0 {
                answer.matched = self.count(&from)?;
            }
        } else if times.rows == 0 {
            answer.summary = Some(Summary::new(histogram));
        } else {
            answer.matched = self.bars(&from, &mut histogram)?;
            let mut summary = Summary::new(histogram);
            if answer.matched > 0 {
                self.timings(&from, &mut summary)?;
                if let Some(column) = self.query.group {
                    self.groups(&from, column, &mut summary)?;
                }
            }
            answer.summary = Some(summary);
        }
        if answer.matched > 0 {
            answer.rows = self.newest(&from)?;
        }
        Ok(())
    }

    /// The rows that meet the filter and begin at this time or later. Rows of one key are equal, so that they meet
    /// it or not together: it is looked at before they become one.
    fn from(&self, from_us: u64) -> String {
        let condition = sql::condition(from_us, self.query.to_us, &self.query.filter);
        format!("{RECORDS} FINAL PREWHERE {condition}")
    }

    fn ask(&self, statement: &str) -> Result<Vec<u8>, Ended> {
        if (self.stop)() {
            return Err(Ended::Left);
        }
        Ok(self.client.ask_until(self.deadline, &format!("{statement} FORMAT RowBinary"))?)
    }

    fn numbers<const N: usize>(&self, statement: &str) -> Result<[u64; N], Ended> {
        let answer = self.ask(statement)?;
        let mut rows = Rows(&answer);
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = rows.u64().ok_or_else(|| odd_answer("a number"))?;
        }
        Ok(numbers)
    }

    /// Rows of the query's time, and the times of all rows: 0 and the largest number stand for times outside.
    fn times(&self) -> Result<Times, Ended> {
        let Query { from_us, to_us, .. } = *self.query;
        let [rows, mut first_us, mut last_us] = self.numbers(&format!(
            "SELECT toUInt64(count()), min(began), max(began) FROM {RECORDS} \
             WHERE began >= {from_us} AND began <= {to_us}"
        ))?;
        let any = |condition: String| -> Result<bool, Ended> {
            let one = format!("SELECT began FROM {RECORDS} WHERE {condition} LIMIT 1");
            Ok(self.numbers(&format!("SELECT toUInt64(count()) FROM ({one})"))? != [0])
        };
        let (older, newer) = (any(format!("began < {from_us}"))?, any(format!("began > {to_us}"))?);
        if rows == 0 && !(older && newer) {
            return Ok(Times { rows, first_us: 0, last_us: 0 });
        }
        if older {
            first_us = 0;
        }
        if newer {
            last_us = u64::MAX;
        }
        Ok(Times { rows, first_us, last_us })
    }

    fn count(&self, from: &str) -> Result<u64, Ended> {
        let [count] = self.numbers(&format!("SELECT toUInt64(count()) FROM {from}"))?;
        Ok(count)
    }

    /// Fills the bars; returns how many rows there are.
    fn bars(&self, from: &str, histogram: &mut Histogram) -> Result<u64, Ended> {
        let Histogram { from_us, width_us, .. } = *histogram;
        let answer = self.ask(&format!(
            "SELECT toUInt64(intDiv(toUInt64(began - {from_us}), {width_us})) AS bar, \
             toUInt64(count()), toUInt64(countIf(fault != '')), toUInt64(sum(total)) \
             FROM {from} GROUP BY bar"
        ))?;
        let mut found = Found(Rows(&answer));
        let mut matched = 0;
        while let Some((place, bar)) = found.next(Found::bar)? {
            matched += bar.count;
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            if let Some(own) = histogram.bars.get_mut(place) {
                *own = bar;
            }
        }
        Ok(matched)
    }

    /// Counts the times that percentiles tell apart.
    fn timings(&self, from: &str, summary: &mut Summary) -> Result<(), Ended> {
        let names = TIMINGS.map(|name| format!("`{name}`")).join(", ");
        let places = (0..TIMINGS.len()).map(|place| format!("toUInt64({place})"));
        let places = places.collect::<Vec<_>>().join(", ");
        // Without the bits below the highest eight.
        let rough = "if(time < 256, time, toUInt64(time - modulo(time, \
                     toUInt64(pow(2, toUInt8(log2(greatest(time, 256))) - 7)))))";
        let answer = self.ask(&format!(
            "SELECT timing, toUInt64({rough}) AS rough, toUInt64(count()) FROM \
             (SELECT {names} FROM {from}) ARRAY JOIN [{names}] AS time, [{places}] AS timing \
             GROUP BY timing, rough"
        ))?;
        let mut found = Found(Rows(&answer));
        while let Some((timing, time, rows)) = found.next(Found::timing)? {
            let timing = usize::try_from(timing).ok().filter(|place| *place < TIMINGS.len());
            let timing = timing.ok_or_else(|| odd_answer("a timing"))?;
            summary.time_many(timing, time, rows);
        }
        Ok(())
    }

    /// Counts the most frequent values of a column, and all others together.
    fn groups(&self, from: &str, column: &Column, summary: &mut Summary) -> Result<(), Ended> {
        let name = format!("`{}`", column.name);
        let by = format!(
            "SELECT {name} AS value, {FIGURES} FROM {from} GROUP BY value ORDER BY rows DESC, value"
        );
        let answer = self.ask(&format!("{by} LIMIT {GROUPS_MAX}"))?;
        let mut found = Found(Rows(&answer));
        let mut groups = 0;
        while let Some((value, group)) =
            found.next(|rows| Some((rows.cell(column)?, rows.group()?)))?
        {
            groups += 1;
            summary.group(value, &group);
        }
        if groups == GROUPS_MAX {
            let own = format!(
                "SELECT {name} AS value FROM {from} GROUP BY value \
                               ORDER BY count() DESC, value LIMIT {GROUPS_MAX}"
            );
            let answer =
                self.ask(&format!("SELECT {FIGURES} FROM {from} AND {name} NOT IN ({own})"))?;
            let others = Found(Rows(&answer)).next(Found::group)?;
            summary.others(&others.unwrap_or_default());
        }
        Ok(())
    }

    /// The newest rows with all their columns. The time of the oldest of them is looked for first, so that only a
    /// few rows are read as a whole.
    fn newest(&self, from: &str) -> Result<Vec<Row>, Ended> {
        let wanted = self.query.rows.min(ROWS_WANTED_MAX);
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let [oldest_us] = self.numbers(&format!(
            "SELECT min(began) FROM (SELECT began FROM {from} ORDER BY began DESC LIMIT {wanted})"
        ))?;
        let names: Vec<_> = COLUMNS.iter().map(|column| format!("`{}`", column.name)).collect();
        let answer = self.ask(&format!(
            "SELECT {} FROM {} ORDER BY began DESC, {KEY} LIMIT {wanted}",
            names.join(", "),
            // It is 0 if the rows have been deleted meanwhile.
            self.from(oldest_us.max(self.query.from_us)),
        ))?;
        let mut found = Found(Rows(&answer));
        let mut rows = Vec::new();
        while let Some(row) = found.next(Found::row)? {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// A response that is read.
struct Found<'a>(Rows<'a>);

impl Found<'_> {
    /// The next part of the response; `None` at its end.
    fn next<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Result<Option<T>, Error> {
        if self.0.0.is_empty() {
            return Ok(None);
        }
        read(self).map(Some).ok_or_else(|| odd_answer("a row of records"))
    }

    fn bar(&mut self) -> Option<(u64, Bar)> {
        let (place, count) = (self.0.u64()?, self.0.u64()?);
        Some((place, Bar { count, faults: self.0.u64()?, total_us: self.0.u64()? }))
    }

    fn timing(&mut self) -> Option<(u64, u64, u64)> {
        Some((self.0.u64()?, self.0.u64()?, self.0.u64()?))
    }

    fn group(&mut self) -> Option<Group> {
        Some(Group {
            count: self.0.u64()?,
            faults: self.0.u64()?,
            response_bytes: self.0.u64()?,
            total_us: self.0.u64()?,
            total_max_us: self.0.u64()?,
        })
    }

    fn row(&mut self) -> Option<Row> {
        let cells: Option<Vec<Cell>> = COLUMNS.iter().map(|column| self.cell(column)).collect();
        cells.map(Row)
    }

    fn cell(&mut self, column: &Column) -> Option<Cell> {
        if column.is_number() {
            return self.0.u64().map(Cell::Number);
        }
        if column.is_address() {
            let octets: [u8; 16] = self.0.0.split_off(..16)?.try_into().ok()?;
            return Some(column.cell(&octets));
        }
        self.0.bytes().map(|text| column.cell(text))
    }
}
