//! `problem.counts`, which is ours, and numbers of open problems by severity for pages, each in one statement.

use const_format::formatcp;
use objects::sql::STATUS_ENABLED;
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

/// Numbers of problems by id of what they concern, and by severity.
type Counts = Vec<(u64, [i64; SEVERITIES])>;

/// Open, unsuppressed problems that the user may see: number by host and severity. Without
/// `hosts`, those of all hosts.
pub(crate) fn by_host(call: &Call<'_>, hosts: Option<&[u64]>) -> ApiResult<Counts> {
    by(call, "hostids", "i.hostid", "", hosts)
}

/// The same of the monitored hosts of these groups. A problem of several hosts of a group counts once.
pub(crate) fn by_group(call: &Call<'_>, groups: &[u64]) -> ApiResult<Counts> {
    let joins = formatcp!(
        "JOIN hosts h ON h.hostid = i.hostid AND h.status = {STATUS_ENABLED} \
         JOIN host_groups g ON g.hostid = h.hostid "
    );
    by(call, "groupids", "g.groupid", joins, Some(groups))
}

/// `column` has the id, `option` of `problem.get` selects problems by it.
fn by(
    call: &Call<'_>,
    option: &str,
    column: &str,
    joins: &str,
    ids: Option<&[u64]>,
) -> ApiResult<Counts> {
    let mut input = json!({ "suppressed": false });
    if let Some(ids) = ids {
        input[option] = ids.iter().map(ToString::to_string).collect();
    }
    let mut get = Get::new(call, &input, &PROBLEM, OPTIONS)?;
    shown::conditions(call, &input, &mut get)?;
    get.and("t.r_eventid = 0", []);
    if let Some(ids) = ids {
        get.in_ids(&format!("{column} IN ({{ids}})"), ids);
    }
    let (condition, values) = get.condition()?;
    let sql = format!(
        "SELECT {column} AS id, t.severity, COUNT(DISTINCT t.eventid) AS n FROM problems t \
         JOIN functions f ON f.triggerid = t.objectid JOIN items i ON i.itemid = f.itemid {joins}\
         WHERE {condition} GROUP BY {column}, t.severity ORDER BY {column}"
    );
    let mut found = Counts::new();
    for row in call.rows(&sql, &values)? {
        let id = row.id("id");
        if found.last().is_none_or(|(last, _)| *last != id) {
            found.push((id, [0; SEVERITIES]));
        }
        let severity = usize::try_from(row.int("severity")).unwrap_or(SEVERITIES);
        if let Some(count) = found.last_mut().and_then(|(_, counts)| counts.get_mut(severity)) {
            *count = row.int("n");
        }
    }
    Ok(found)
}
