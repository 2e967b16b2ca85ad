//! `problem.get`

use config::db::Value;

use super::get::INT;
use super::shown;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Get, Output};
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Nested, Text};
use crate::object::{Field, Object, field};

/// Seconds for which `recent` still shows a resolved problem.
const RECENT_S: u64 = 300;

const FIELDS: &[Field] = &[
    field("eventid", Id, ReadOnly, "Id of the event that opened it."),
    field("source", INT, ReadOnly, "0 = trigger, 3 = internal."),
    field("object", INT, ReadOnly, "0 = trigger, 4 = item, 5 = discovery rule."),
    field("objectid", Id, ReadOnly, "Id of what it is about."),
    field("clock", INT, ReadOnly, "Since when, unix time."),
    field("ns", INT, ReadOnly, "Nanoseconds of that time."),
    field("r_eventid", Id, ReadOnly, "Event that recovered it; 0 = open."),
    field("r_clock", INT, ReadOnly, "Until when, unix time."),
    field("r_ns", INT, ReadOnly, "Nanoseconds of that time."),
    field("correlationid", Id, ReadOnly, "Correlation rule that closed it."),
    field("userid", Id, ReadOnly, "User who closed it."),
    field("name", Text(0), ReadOnly, "What it is called."),
    field("acknowledged", INT, ReadOnly, "1 = somebody acknowledged it."),
    field("severity", INT, ReadOnly, "0 not classified … 5 disaster."),
    field("cause_eventid", Id, ReadOnly, "Cause of which this is a symptom."),
    field("opdata", Text(0), ReadOnly, "Operational data."),
    field("suppressed", Nested, ReadOnly, "1 = suppressed now."),
    field("urls", Nested, ReadOnly, "Menu entries that media types make of tags."),
];

pub(crate) static PROBLEM: Object = Object {
    name: "problem",
    table: "problems",
    key: "eventid",
    keys: "eventids",
    fields: FIELDS,
    strict: true,
    sort: &["eventid"],
};

pub(super) const OPTIONS: &[&str] = &[
    "eventids",
    "groupids",
    "hostids",
    "objectids",
    "source",
    "object",
    "severities",
    "recent",
    "acknowledged",
    "suppressed",
    "symptom",
    "tags",
    "evaltype",
    "time_from",
    "time_till",
    "eventid_from",
    "eventid_till",
    "selectAcknowledges",
    "selectTags",
    "selectSuppressionData",
];

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &PROBLEM, OPTIONS)?;
    get.need(&["objectid", "clock", "ns"]);
    get.also_sort(&["severity"]);
    shown::conditions(call, input, &mut get)?;
    only_shown(call, &mut get);
    get.works_on(shown::WORKED_ON);
    get.answer(|found| {
        shown::complete(found)?;
        let Some(mut wanted) = found.wants("selectAcknowledges")? else { return Ok(()) };
        // Their ids come along, other than in event.get.
        if let Output::Fields(names) = &mut wanted {
            names.push("acknowledgeid".into());
        }
        shown::acknowledges(found, &wanted, false)
    })
}

/// Open problems, with `recent` also those resolved a short time ago.
pub(super) fn only_shown(call: &Call<'_>, get: &mut Get<'_, '_>) {
    if get.flag("recent") {
        let since = call.now().saturating_sub(RECENT_S);
        get.and("(t.r_eventid = 0 OR t.r_clock > ?)", [Value::from(since)]);
    } else if get.wants_ids_alone() {
        get.and("t.r_eventid = 0", []);
    } else {
        // The plus keeps databases from looking up each row from the index that has the ids of all.
        get.and("+t.r_eventid = 0", []);
    }
}
