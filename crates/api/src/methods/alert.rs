//! Alerts: messages and commands of actions.

use std::collections::BTreeMap;

use config::db::{Row, Value};
use objects::{EventObject, EventSource, UserType};
use serde_json::json;

use crate::call::{Call, Json, Method, User};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::{Get, Output};
use crate::methods::{host, mediatype, service, user};
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Int, OneOf, Text};
use crate::object::{Field, FieldKind, Object, field};
use crate::params;
use crate::permission::{Need, by_tag_filters, on_hosts, on_triggers};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[Method::user("alert.get", get)];

const INT: FieldKind = Int(0, i64::MAX);

const FIELDS: &[Field] = &[
    field("alertid", Id, ReadOnly, "Id of the alert."),
    field("actionid", Id, ReadOnly, "Action that made it."),
    field("eventid", Id, ReadOnly, "Event that it is about."),
    field("userid", Id, ReadOnly, "Recipient; 0 = a command."),
    field("clock", INT, ReadOnly, "When it was made, unix time."),
    field("mediatypeid", Id, ReadOnly, "Media type; 0 = none."),
    field("sendto", Text(0), ReadOnly, "Address; several are separated by line feeds."),
    field("subject", Text(0), ReadOnly, "Subject."),
    field("message", Text(0), ReadOnly, "Text, or host and command."),
    field("status", INT, ReadOnly, "0 in progress, 1 sent or run, 2 failed, 3 new, 4 withheld."),
    field("retries", INT, ReadOnly, "Attempts that failed."),
    field("error", Text(0), ReadOnly, "Why the last attempt failed."),
    field("esc_step", INT, ReadOnly, "Step of the escalation."),
    field("alerttype", INT, ReadOnly, "0 message, 1 command."),
    field("p_eventid", Id, ReadOnly, "Event of the problem; recoveries."),
    field("acknowledgeid", Id, ReadOnly, "Update of the problem; updates."),
    field(
        "withheld",
        INT,
        ReadOnly,
        "Why it was not sent at once: 1 grouped, 2 inhibited, 3 message storm, 4 transient, 5 flapping.",
    )
    .named(),
    field("carrierid", Id, ReadOnly, "Alert whose message tells of it; 0 = none.").named(),
    field("bundleid", Id, ReadOnly, "What gathers it with others now; 0 = nothing.").named(),
    field("summary", OneOf(&[0, 1]), ReadOnly, "1 = its text tells of several problems.").named(),
    field("message_id", Text(0), ReadOnly, "Id that the receiver gave to the message.").named(),
    field("replaced_alertid", Id, ReadOnly, "Alert that failed, and that it replaces; 0 = none.")
        .named(),
];

pub(crate) static ALERT: Object = Object {
    name: "alert",
    table: "alerts",
    key: "alertid",
    keys: "alertids",
    fields: FIELDS,
    strict: true,
    sort: &["alertid", "clock", "eventid", "status", "sendto", "mediatypeid"],
};

const OPTIONS: &[&str] = &[
    "alertids",
    "actionids",
    "eventids",
    "userids",
    "mediatypeids",
    "objectids",
    "groupids",
    "hostids",
    "eventsource",
    "eventobject",
    "groupCount",
    "time_from",
    "time_till",
    "selectHosts",
    "selectMediatypes",
    "selectUsers",
];

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &ALERT, OPTIONS)?;
    get.need(&["eventid", "userid", "mediatypeid"]);
    let source = one_of(input, "eventsource", EventSource::NUMBERS)?;
    let object = one_of(input, "eventobject", EventObject::NUMBERS)?;
    get.and(
        "EXISTS (SELECT 1 FROM events e WHERE e.eventid = t.eventid AND e.source = ? AND e.object = ?)",
        [source.into(), object.into()],
    );
    let about = About::of(source, object);
    about.limit(&mut get, call);
    let seen = [recipients_seen(call.user(), "t"), texts_seen(call.user(), "t")];
    seen.into_iter().flatten().for_each(|seen| get.and(seen, []));
    for (option, condition) in [
        ("alertids", "t.alertid IN ({ids})"),
        ("actionids", "t.actionid IN ({ids})"),
        ("eventids", "t.eventid IN ({ids})"),
        ("userids", "t.userid IN ({ids})"),
        ("mediatypeids", "t.mediatypeid IN ({ids})"),
    ] {
        get.by_ids(option, condition)?;
    }
    get.by_ids("objectids", &of_event("e.objectid IN ({ids})"))?;
    for (option, condition) in [
        ("hostids", "i.hostid IN ({ids})"),
        ("groupids", "i.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))"),
    ] {
        get.by_ids(option, &of_event(&about.by_items(condition)))?;
    }
    for (option, condition) in [("time_from", "t.clock >= ?"), ("time_till", "t.clock <= ?")] {
        if let Some(value) = input.get(option).filter(|value| !value.is_null()) {
            let path = format!("/{option}");
            let time = params::int(value, &path).ok().filter(|time| *time >= 0);
            let time =
                time.ok_or_else(|| ApiError::at(&path, "an unsigned integer is expected"))?;
            get.and(condition, [Value::Int(time)]);
        }
    }
    if get.flag("countOutput") && get.flag("groupCount") {
        return grouped(call, input, get);
    }
    let mut found = get.run()?;
    selects(&mut found, about)?;
    Ok(found.finish())
}

/// `countOutput` with `groupCount`: the number of alerts, with `eventids` by event.
fn grouped(call: &Call<'_>, input: &Json, get: Get<'_, '_>) -> ApiResult<Json> {
    let (condition, values) = get.condition()?;
    let by_event = input.get("eventids").is_some_and(|ids| !ids.is_null());
    let (column, group) = match by_event {
        true => (", t.eventid", " GROUP BY t.eventid ORDER BY t.eventid"),
        false => ("", ""),
    };
    let sql = format!("SELECT COUNT(*) AS n{column} FROM alerts t WHERE {condition}{group}");
    let count = |row: &Row| {
        let mut count = json!({ "rowscount": row.int("n").to_string() });
        if by_event {
            count["eventid"] = row.id("eventid").to_string().into();
        }
        count
    };
    Ok(call.rows(&sql, &values)?.iter().map(count).collect())
}

/// A number of a catalog; not given = 0.
fn one_of(input: &Json, option: &str, numbers: &[i64]) -> ApiResult<i64> {
    let path = format!("/{option}");
    let value = input.get(option).filter(|value| !value.is_null());
    let number = value.map_or(Ok(0), |value| params::int(value, &path))?;
    if numbers.contains(&number) {
        return Ok(number);
    }
    let list: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Err(ApiError::at(&path, format!("value must be one of {}", list.join(", "))))
}

/// A condition on the alert's event `e`.
fn of_event(condition: &str) -> String {
    format!("EXISTS (SELECT 1 FROM events e WHERE e.eventid = t.eventid AND {condition})")
}

/// What the events are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Trigger,
    Item,
    /// No hosts: found devices, agents, services.
    Other(EventSource),
}

impl About {
    fn of(source: i64, object: i64) -> Self {
        let is = |kind: EventObject| kind.is(object);
        if is(EventObject::Trigger) {
            Self::Trigger
        } else if is(EventObject::Item) || is(EventObject::LldRule) {
            Self::Item
        } else {
            Self::Other(EventSource::from_number(source).unwrap_or(EventSource::Trigger))
        }
    }

    /// Only alerts on objects that this user may see.
    fn limit(self, get: &mut Get<'_, '_>, call: &Call<'_>) {
        let need = Need::of_get(get.flag("editable"));
        match self {
            Self::Trigger => {
                if let Some(right) = on_triggers(call.user(), need, "e.objectid") {
                    get.and(of_event(&right), []);
                }
                if let Some(right) = by_tag_filters(call.user(), "e.eventid", "e.objectid") {
                    get.and(of_event(&right), []);
                }
            }
            Self::Item => {
                if let Some(right) = on_hosts(call.user(), need, "i.hostid") {
                    get.and(of_event(&self.by_items(&right)), []);
                }
            }
            Self::Other(EventSource::Service) => {
                let need =
                    if need == Need::Read { service::Need::Read } else { service::Need::Write };
                if let Some((right, values)) = service::access(call).condition(need, "e.objectid") {
                    get.and(of_event(&right), values);
                }
            }
            Self::Other(_) if call.user().kind < UserType::Admin => get.and("1 = 0", []),
            Self::Other(_) => {}
        }
    }

    /// A condition on the event `e` by one on the items `i` of its object.
    fn by_items(self, condition: &str) -> String {
        match self {
            Self::Trigger => format!(
                "e.objectid IN (SELECT f.triggerid FROM functions f \
                 JOIN items i ON i.itemid = f.itemid WHERE {condition})"
            ),
            Self::Item => {
                format!("e.objectid IN (SELECT i.itemid FROM items i WHERE {condition})")
            }
            Self::Other(_) => {
                format!("e.objectid IN (SELECT i.itemid FROM items i WHERE 1 = 0 AND {condition})")
            }
        }
    }

    /// Pairs of events and hosts, by events.
    const fn hosts(self) -> Option<&'static str> {
        match self {
            Self::Trigger => Some(
                "SELECT DISTINCT e.eventid, i.hostid FROM events e \
                 JOIN functions f ON f.triggerid = e.objectid JOIN items i ON i.itemid = f.itemid \
                 WHERE e.eventid IN ({ids})",
            ),
            Self::Item => Some(
                "SELECT e.eventid, i.hostid FROM events e JOIN items i ON i.itemid = e.objectid \
                 WHERE e.eventid IN ({ids})",
            ),
            Self::Other(_) => None,
        }
    }
}

/// Condition on alerts, in the table of this alias, whose recipients the user sees: those of own groups,
/// and commands. `None` = all.
pub(crate) fn recipients_seen(user: &User, alias: &str) -> Option<String> {
    (user.kind != UserType::SuperAdmin).then(|| {
        let me = user.id;
        format!(
            "({alias}.userid IN (0, {me}) OR {alias}.userid IN (SELECT other.userid \
             FROM user_groups other JOIN user_groups own ON own.usrgrpid = other.usrgrpid \
             WHERE own.userid = {me}))"
        )
    })
}

/// Condition on alerts, in the table of this alias, whose texts the user sees. A summary may tell of problems that only
/// its recipient sees. `None` = all.
fn texts_seen(user: &User, alias: &str) -> Option<String> {
    (user.kind != UserType::SuperAdmin)
        .then(|| format!("({alias}.summary = 0 OR {alias}.userid = {})", user.id))
}

fn selects(found: &mut Found<'_, '_>, about: About) -> ApiResult<()> {
    let pairs = |found: &Found<'_, '_>, column: &str| -> Vec<(u64, u64)> {
        found.rows.iter().map(|row| (row.id, row.row.id(column))).collect()
    };
    if let Some(wanted) = found.wants_list("selectHosts")? {
        let events = pairs(found, "eventid");
        let mut ids: Vec<u64> = events.iter().map(|(_, event)| *event).collect();
        ids.sort_unstable();
        ids.dedup();
        let hosts = match about.hosts() {
            Some(sql) => found.call.pairs(sql, &ids)?,
            None => Vec::new(),
        };
        let mut of_event: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (event, host) in hosts {
            of_event.entry(event).or_default().push(host);
        }
        let mut all = Vec::new();
        for (alert, event) in events {
            let own = of_event.get(&event).into_iter().flatten();
            all.extend(own.map(|host| (alert, *host)));
        }
        found.relate_as(&Relation::new("hosts", &host::HOST), &wanted, &all)?;
    }
    if let Some(wanted) = found.wants_list("selectMediatypes")? {
        let pairs = pairs(found, "mediatypeid");
        let relation = Relation::new("mediatypes", &mediatype::MEDIA_TYPE);
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_list("selectUsers")? {
        let pairs = pairs(found, "userid");
        found.relate_as(&Relation::new("users", &user::USER), &wanted, &pairs)?;
    }
    Ok(())
}

/// Adds the alerts of each event, newest first.
pub(crate) fn of_events(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let fields = FIELDS.iter().filter(|field| *wanted != Output::Extend || !field.named);
    let names: Vec<&str> =
        fields.map(|field| field.name).filter(|name| *name != "eventid").collect();
    let user = found.call.user();
    let seen = [recipients_seen(user, "alerts"), texts_seen(user, "alerts")];
    let seen: String = seen.into_iter().flatten().map(|seen| format!(" AND {seen}")).collect();
    let sql = format!(
        "SELECT eventid AS owner, {} FROM alerts WHERE eventid IN ({{ids}}){seen} \
         ORDER BY eventid, alertid DESC",
        names.join(", ")
    );
    found.attach("alerts", wanted, &sql, &names)
}

#[cfg(test)]
mod tests;
