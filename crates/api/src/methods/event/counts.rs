//! `problem.counts`, which is ours: open problems by severity, in one statement.

use serde_json::json;

use super::problem::{OPTIONS, PROBLEM, only_shown};
use super::shown;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::Get;

/// Severities, 0 not classified to 5 disaster.
pub(crate) const SEVERITIES: usize = 6;

/// Takes the conditions of `problem.get`; the answer has a number for each severity, 0 to 5.
pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &PROBLEM, OPTIONS)?;
    shown::conditions(call, input, &mut get)?;
    only_shown(call, &mut get);
    let (condition, values) = get.condition()?;
    let sql = format!(
        "SELECT t.severity, COUNT(*) AS n FROM problems t WHERE {condition} GROUP BY t.severity"
    );
    let mut counts = [0; SEVERITIES];
    for row in call.rows(&sql, &values)? {
        if let Some(count) =
            usize::try_from(row.int("severity")).ok().and_then(|n| counts.get_mut(n))
        {
            *count = row.int("n");
        }
    }
    Ok(json!(counts.map(|count| count.to_string())))
}

/// Open, unsuppressed problems that the user may see: number by host and severity. Without
/// `hosts`, those of all hosts.
pub(crate) fn by_host(
    call: &Call<'_>,
    hosts: Option<&[u64]>,
) -> ApiResult<Vec<(u64, [i64; SEVERITIES])>> {
    let mut input = json!({ "suppressed": false });
    if let Some(hosts) = hosts {
        input["hostids"] = hosts.iter().map(ToString::to_string).collect();
    }
    let mut get = Get::new(call, &input, &PROBLEM, OPTIONS)?;
    shown::conditions(call, &input, &mut get)?;
    get.and("t.r_eventid = 0", []);
    if let Some(hosts) = hosts {
        get.in_ids("i.hostid IN ({ids})", hosts);
    }
    let (condition, values) = get.condition()?;
    let sql = format!(
        "SELECT i.hostid, t.severity, COUNT(DISTINCT t.eventid) AS n FROM problems t \
         JOIN functions f ON f.triggerid = t.objectid JOIN items i ON i.itemid = f.itemid \
         WHERE {condition} GROUP BY i.hostid, t.severity ORDER BY i.hostid"
    );
    let mut found: Vec<(u64, [i64; SEVERITIES])> = Vec::new();
    for row in call.rows(&sql, &values)? {
        let host = row.id("hostid");
        if found.last().is_none_or(|(last, _)| *last != host) {
            found.push((host, [0; SEVERITIES]));
        }
        let severity = usize::try_from(row.int("severity")).unwrap_or(SEVERITIES);
        if let Some(count) = found.last_mut().and_then(|(_, counts)| counts.get_mut(severity)) {
            *count = row.int("n");
        }
    }
    Ok(found)
}
