//! `event.get`

use std::collections::{BTreeSet, HashMap};

use config::db::Value;
use serde_json::{Map, json};

use super::{shown, steps};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get};
use crate::methods::{alert, drule, host, item, trigger};
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Int, Nested, Text};
use crate::object::{Field, Object, field};
use crate::params;
use crate::relate::Relation;

pub(super) const INT: crate::object::FieldKind = Int(0, i64::MAX);

const FIELDS: &[Field] = &[
    field("eventid", Id, ReadOnly, "Id of the event."),
    field(
        "source",
        INT,
        ReadOnly,
        "0 trigger, 1 network discovery, 2 autoregistration, 3 internal.",
    ),
    field(
        "object",
        INT,
        ReadOnly,
        "0 trigger, 1 found host, 2 found service, 3 agent, 4 item, 5 discovery rule.",
    ),
    field("objectid", Id, ReadOnly, "Id of what it is about."),
    field("clock", INT, ReadOnly, "When, unix time."),
    field(
        "value",
        INT,
        ReadOnly,
        "1 problem, 0 recovery; found: 0 up, 1 down, 2 discovered, 3 lost.",
    ),
    field("acknowledged", INT, ReadOnly, "1 = somebody acknowledged it."),
    field("ns", INT, ReadOnly, "Nanoseconds of the time."),
    field("name", Text(0), ReadOnly, "What the problem is called."),
    field("severity", INT, ReadOnly, "0 not classified … 5 disaster."),
    field("r_eventid", Id, ReadOnly, "Event that recovered it; 0 = open."),
    field("c_eventid", Id, ReadOnly, "Event that closed it by correlation."),
    field("correlationid", Id, ReadOnly, "Correlation rule that closed it."),
    field("userid", Id, ReadOnly, "User who closed it."),
    field("cause_eventid", Id, ReadOnly, "Cause of which this is a symptom."),
    field("opdata", Text(0), ReadOnly, "Operational data."),
    field("suppressed", Nested, ReadOnly, "1 = suppressed now."),
    field("urls", Nested, ReadOnly, "Menu entries that media types make of tags."),
];

pub(crate) static EVENT: Object = Object {
    name: "event",
    table: "events",
    key: "eventid",
    keys: "eventids",
    fields: FIELDS,
    strict: true,
    sort: &["eventid", "objectid", "clock", "rowscount"],
};

const OPTIONS: &[&str] = &[
    "eventids",
    "groupids",
    "hostids",
    "objectids",
    "source",
    "object",
    "value",
    "severities",
    "trigger_severities",
    "acknowledged",
    "suppressed",
    "symptom",
    "tags",
    "evaltype",
    "time_from",
    "time_till",
    "eventid_from",
    "eventid_till",
    "problem_time_from",
    "problem_time_till",
    "groupBy",
    "step",
    "selectHosts",
    "selectRelatedObject",
    "selectAlerts",
    "select_alerts",
    "selectAcknowledges",
    "select_acknowledges",
    "selectTags",
    "selectSuppressionData",
    "sortorder",
];

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &EVENT, OPTIONS)?;
    get.need(&["objectid", "value", "clock", "ns"]);
    get.also_sort(&["severity"]);
    shown::conditions(call, input, &mut get)?;
    if let Some(values) = params::ints(input, "value")? {
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        get.and(format!("t.value IN ({})", list.join(",")), []);
    }
    if let (Some(from), Some(till)) =
        (input.get("problem_time_from"), input.get("problem_time_till"))
    {
        let from = params::int(from, "/problem_time_from")?;
        let till = params::int(till, "/problem_time_till")?;
        get.and(
            "t.value = 1 AND t.clock <= ? AND (t.r_eventid = 0 OR EXISTS \
             (SELECT 1 FROM events r WHERE r.eventid = t.r_eventid AND r.clock >= ?))",
            [Value::Int(till), Value::Int(from)],
        );
    }
    if let Some(steps) = steps::parse(input)? {
        return steps.count(call, get);
    }
    if let Some(group_by) = input.get("groupBy").filter(|v| !v.is_null()) {
        return grouped(call, get, group_by);
    }
    get.works_on(shown::WORKED_ON);
    let about = shown::check_source(input)?;
    get.answer(|found| {
        shown::complete(found)?;
        selects(found, about)
    })
}

/// `countOutput` with `groupBy: ["objectid"]`: events per trigger.
fn grouped(call: &Call<'_>, get: Get<'_, '_>, group_by: &Json) -> ApiResult<Json> {
    let fields = params::list(group_by);
    if fields.iter().any(|field| field.as_str() != Some("objectid")) {
        return Err(ApiError::at("/groupBy/1", "value must be \"objectid\""));
    }
    let (condition, values) = get.condition()?;
    let sql = format!(
        "SELECT t.objectid, COUNT(*) AS n FROM events t WHERE {condition} GROUP BY t.objectid \
         ORDER BY n DESC, t.objectid"
    );
    let rows = call.rows(&sql, &values)?;
    let counts = rows.iter().map(|row| {
        json!({ "objectid": row.id("objectid").to_string(), "rowscount": row.int("n").to_string() })
    });
    Ok(counts.collect())
}

fn selects(found: &mut Found<'_, '_>, about: (i64, i64)) -> ApiResult<()> {
    if let Some(wanted) = found.wants_list("selectHosts")? {
        let triggers: BTreeSet<u64> = found.rows.iter().map(|row| row.row.id("objectid")).collect();
        let triggers: Vec<u64> = triggers.into_iter().collect();
        let hosts = match about {
            (0 | 3, 0) => Some(
                "SELECT DISTINCT f.triggerid, i.hostid FROM functions f \
                 JOIN items i ON i.itemid = f.itemid WHERE f.triggerid IN ({ids})",
            ),
            (3, _) => Some("SELECT itemid, hostid FROM items WHERE itemid IN ({ids})"),
            _ => None,
        };
        let hosts = hosts.map(|sql| found.call.pairs(sql, &triggers)).transpose()?;
        let hosts = hosts.unwrap_or_default();
        let mut of_trigger: HashMap<u64, Vec<u64>> = HashMap::new();
        for (trigger, host) in hosts {
            of_trigger.entry(trigger).or_default().push(host);
        }
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for row in &found.rows {
            let hosts = of_trigger.get(&row.row.id("objectid"));
            pairs.extend(hosts.into_iter().flatten().map(|host| (row.id, *host)));
        }
        let relation = Relation::new("hosts", &host::HOST);
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_list("selectRelatedObject")? {
        let pairs: Vec<(u64, u64)> =
            found.rows.iter().map(|row| (row.id, row.row.id("objectid"))).collect();
        let relation = match about {
            (1, 1) => Relation::new("relatedObject", &drule::DHOST),
            (1, 2) => Relation::new("relatedObject", &drule::DSERVICE),
            (0, _) | (3, 0) => Relation::new("relatedObject", &trigger::TRIGGER),
            (3, 4) => Relation::new("relatedObject", &item::ITEM),
            (3, 5) => Relation::new("relatedObject", &item::RULE),
            // Agents that announced themselves have no method of their own.
            _ => Relation::unserved("relatedObject"),
        };
        found.relate_as(&relation, &wanted, &pairs)?;
        for row in &mut found.rows {
            if let Some(Json::Array(list)) = row.out.get_mut("relatedObject") {
                let one = list.pop().unwrap_or_else(|| Json::Object(Map::new()));
                row.out.insert("relatedObject", one);
            }
        }
    }
    for option in ["selectAlerts", "select_alerts"] {
        if let Some(wanted) = found.wants(option)? {
            alert::of_events(found, &wanted)?;
        }
    }
    for option in ["selectAcknowledges", "select_acknowledges"] {
        if let Some(wanted) = found.wants(option)? {
            shown::acknowledges(found, &wanted, true)?;
        }
    }
    Ok(())
}
