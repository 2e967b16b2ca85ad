//! Limit of one transaction of a large change: a change of many hosts is split into portions of
//! some hosts each, so that other changes run in between.

use std::collections::HashMap;

use config::db::{Row, query_by_ids};

use crate::call::Call;
use crate::error::ApiResult;

/// Items that one change gives to hosts, or takes from them: about a tenth of a second's work. Other
/// changes of the configuration wait for at most two such portions.
pub(crate) const PORTION_ITEMS: usize = 5_000;

/// Splits hosts that are to be deleted: each portion has at most `items_max` items, or one host.
pub(crate) fn deletions<'a>(
    call: &Call<'_>,
    hosts: &'a [u64],
    items_max: usize,
) -> ApiResult<Vec<&'a [u64]>> {
    let sql = "SELECT hostid, COUNT(*) AS n FROM items WHERE hostid IN ({ids}) GROUP BY hostid";
    let rows = call.read(|connection| Ok(query_by_ids(connection, sql, &[], hosts)?))?;
    let count = |row: &Row| (row.id("hostid"), usize::try_from(row.int("n")).unwrap_or(usize::MAX));
    let items: HashMap<u64, usize> = rows.iter().map(count).collect();
    let (mut portions, mut first, mut sum) = (Vec::new(), 0, 0_usize);
    for (at, host) in hosts.iter().enumerate() {
        let more = items.get(host).copied().unwrap_or_default();
        if at > first && sum.saturating_add(more) > items_max {
            portions.push(&hosts[first..at]);
            (first, sum) = (at, 0);
        }
        sum = sum.saturating_add(more);
    }
    portions.push(&hosts[first..]);
    Ok(portions)
}

/// Does `work` for one portion of the hosts after the other. An error of a later one says for how many
/// hosts the work is done.
pub(crate) fn by_portions<'a>(
    portions: impl Iterator<Item = &'a [u64]>,
    done: &str,
    work: impl Fn(&[u64]) -> ApiResult<()>,
) -> ApiResult<()> {
    let mut hosts = 0;
    let portions: Vec<&[u64]> = portions.collect();
    let all: usize = portions.iter().map(|portion| portion.len()).sum();
    for portion in portions {
        work(portion).map_err(|error| match hosts {
            0 => error,
            _ => error.after(format_args!("{hosts} of {all} hosts are {done}, the others are not")),
        })?;
        hosts += portion.len();
    }
    Ok(())
}
