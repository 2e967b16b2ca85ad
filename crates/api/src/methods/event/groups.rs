//! `problem.groups`, which is ours: open problems by host, host group, name or value of a tag, worst group
//! first. In a storm, people need the hundred groups, not the hundred thousand problems.

use std::collections::HashMap;

use config::db::Value;
use serde_json::json;

use super::counts::SEVERITIES;
use super::get::INT;
use super::problem::{OPTIONS, PROBLEM, only_shown};
use super::shown;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::methods::Described;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Nested, Text};
use crate::object::{field, missing};
use crate::params;

pub(crate) const GROUPS: Described = Described {
    method: "problem.groups",
    params: &[
        field("groupBy", Text(0), Required, "`host`, `group` (host group), `name` or `tag`."),
        field("groupTag", Text(0), Optional, "Name of the tag; required with `tag`."),
        field("limit", INT, Optional, "Groups at most. Conditions are those of `problem.get`."),
    ],
    result: &[
        field("rowscount", INT, ReadOnly, "Number of groups, those beyond the limit included."),
        field("groups", Nested, ReadOnly, GROUP),
    ],
};
const GROUP: &str = "Worst group first: `{key, name, severities, rowscount, unacknowledged, first_clock, \
    last_clock}`. `key` is the id of the host or host group, the name of the problems, or the value of the tag \
    (empty: they do not have it). `severities` has a number of problems for each severity, 0 to 5. A problem of \
    several hosts, host groups or values counts in each.";

/// What the problems of a group have in common.
enum By {
    Host,
    HostGroup,
    Name,
    Tag(String),
}

impl By {
    fn parse(input: &Json) -> ApiResult<Self> {
        let given = |name| input.get(name).filter(|value| !value.is_null());
        let by = given("groupBy").ok_or_else(|| missing("/", "groupBy"))?;
        Ok(match params::text(by, "/groupBy")?.as_str() {
            "host" => Self::Host,
            "group" => Self::HostGroup,
            "name" => Self::Name,
            "tag" => {
                let tag = given("groupTag").ok_or_else(|| missing("/", "groupTag"))?;
                Self::Tag(params::text(tag, "/groupTag")?)
            }
            _ => {
                let error = "value must be one of \"host\", \"group\", \"name\", \"tag\"";
                return Err(ApiError::at("/groupBy", error));
            }
        })
    }

    /// The column with the key, and the tables that it needs beside `problems t`.
    const fn source(&self) -> (&'static str, &'static str) {
        match self {
            Self::Host => ("i.hostid", ITEMS),
            Self::HostGroup => ("hg.groupid", HOST_GROUPS),
            Self::Name => ("t.name", ""),
            Self::Tag(_) => ("COALESCE(et.value, '')", TAGS),
        }
    }

    /// Names of hosts or host groups by their ids.
    fn names(&self, call: &Call<'_>, groups: &[Group]) -> ApiResult<HashMap<String, String>> {
        let sql = match self {
            Self::Host => "SELECT hostid AS id, name FROM hosts WHERE hostid IN ({ids})",
            Self::HostGroup => "SELECT groupid AS id, name FROM groups_ WHERE groupid IN ({ids})",
            Self::Name | Self::Tag(_) => return Ok(HashMap::new()),
        };
        let ids: Vec<u64> = groups.iter().filter_map(|group| group.key.parse().ok()).collect();
        let rows = call.read(|c| Ok(config::db::query_by_ids(c, sql, &[], &ids)?))?;
        Ok(rows.iter().map(|row| (row.id("id").to_string(), row.text("name").to_owned())).collect())
    }
}

/// Problems without the tag included.
const TAGS: &str = "LEFT JOIN event_tags et ON et.eventid = t.eventid AND et.tag = ? ";
const ITEMS: &str =
    "JOIN functions f ON f.triggerid = t.objectid JOIN items i ON i.itemid = f.itemid ";
const HOST_GROUPS: &str = "JOIN functions f ON f.triggerid = t.objectid JOIN items i ON i.itemid = f.itemid \
    JOIN host_groups hg ON hg.hostid = i.hostid ";

/// Problems with the same key.
#[derive(Default)]
struct Group {
    key: String,
    severities: [i64; SEVERITIES],
    unacknowledged: i64,
    /// When the oldest and the newest problem began, unix time.
    first_clock: i64,
    last_clock: i64,
}

impl Group {
    /// Sorts groups with more of the gravest problems to the front.
    fn badness(&self) -> impl Ord + use<> {
        let mut gravest_first = self.severities;
        gravest_first.reverse();
        std::cmp::Reverse(gravest_first)
    }

    fn shown(&self, names: &HashMap<String, String>) -> Json {
        json!({
            "key": self.key,
            "name": names.get(&self.key).unwrap_or(&self.key),
            "severities": self.severities.map(|n| n.to_string()),
            "rowscount": self.severities.iter().sum::<i64>().to_string(),
            "unacknowledged": self.unacknowledged.to_string(),
            "first_clock": self.first_clock.to_string(),
            "last_clock": self.last_clock.to_string(),
        })
    }
}

/// Takes the conditions of `problem.get`, and what to group by.
pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let by = By::parse(input)?;
    let options = [OPTIONS, &["groupBy", "groupTag"]].concat();
    let mut get = Get::new(call, input, &PROBLEM, &options)?;
    shown::conditions(call, input, &mut get)?;
    only_shown(call, &mut get);
    let limit = match input.get("limit").filter(|value| !value.is_null()) {
        Some(value) => usize::try_from(params::int(value, "/limit")?)
            .map_err(|_| ApiError::at("/limit", "a positive number is expected"))?,
        None => usize::MAX,
    };
    let mut groups = read(call, &by, get)?;
    let count = groups.len();
    groups.sort_by_cached_key(Group::badness);
    groups.truncate(limit);
    let names = by.names(call, &groups)?;
    let groups: Vec<Json> = groups.iter().map(|group| group.shown(&names)).collect();
    Ok(json!({ "rowscount": count.to_string(), "groups": groups }))
}

/// All groups, in the order of their keys.
fn read(call: &Call<'_>, by: &By, get: Get<'_, '_>) -> ApiResult<Vec<Group>> {
    let (condition, values) = get.condition()?;
    let (key, joins) = by.source();
    // A trigger may have several items of a host, and an event a tag several times.
    let sql = format!(
        "SELECT {key} AS k, t.severity, COUNT(DISTINCT t.eventid) AS n, \
         COUNT(DISTINCT CASE WHEN t.acknowledged = 0 THEN t.eventid END) AS unacknowledged, \
         MIN(t.clock) AS first_clock, MAX(t.clock) AS last_clock \
         FROM problems t {joins}WHERE {condition} GROUP BY {key}, t.severity ORDER BY {key}"
    );
    let tag = match by {
        By::Tag(name) => Some(Value::from(name.as_str())),
        By::Host | By::HostGroup | By::Name => None,
    };
    let values: Vec<Value> = tag.into_iter().chain(values).collect();
    let mut groups: Vec<Group> = Vec::new();
    for row in call.rows(&sql, &values)? {
        let key = match by {
            By::Host | By::HostGroup => row.id("k").to_string(),
            By::Name | By::Tag(_) => row.text("k").to_owned(),
        };
        let (first, last) = (row.int("first_clock"), row.int("last_clock"));
        if groups.last().is_none_or(|group| group.key != key) {
            groups.push(Group { key, first_clock: first, last_clock: last, ..Group::default() });
        }
        let Some(group) = groups.last_mut() else { continue };
        let severity = usize::try_from(row.int("severity")).unwrap_or(SEVERITIES);
        if let Some(number) = group.severities.get_mut(severity) {
            *number = row.int("n");
        }
        group.unacknowledged += row.int("unacknowledged");
        group.first_clock = group.first_clock.min(first);
        group.last_clock = group.last_clock.max(last);
    }
    Ok(groups)
}

#[cfg(test)]
mod tests;
