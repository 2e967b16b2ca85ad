//! On-call schedules: who gets messages of operations that name a schedule.

mod ical;
mod layers;
mod overrides;
mod rights;
mod shifts;
mod shown;

use config::Edit;
use config::db::{Row, Value};
use config::table;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::methods::Described;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::params;
use crate::plain::{self, Child, Draft, Key, Plain, Seen, Select, Spec, Unique, text};

pub(crate) use ical::{ICAL, calendar_of};
pub(crate) use overrides::OVERRIDE;
pub(crate) use rights::visible;
pub(crate) use shifts::SHIFTS;

pub(crate) const METHODS: &[Method] = &[
    Method::user("oncall.get", plain::get::<OnCall>),
    Method::user("oncall.shifts", shifts::shifts),
    Method::user("oncall.override", overrides::create),
    Method::user("oncall.revoke", overrides::revoke),
    Method::user("oncall.ical", ical::token),
    Method::admin("oncall.create", plain::create::<OnCall>),
    Method::admin("oncall.update", plain::update::<OnCall>),
    Method::admin("oncall.delete", plain::delete::<OnCall>),
];

const HOLIDAYS_MAX: usize = 1_000;

const FIELDS: &[Field] = &[
    field("scheduleid", Id, ReadOnly, "Id of the schedule."),
    field("name", Name(255), Required, "Name."),
    field("timezone", Text(50), Optional, "Time zone, or `system` (default)."),
    field("description", Text(65_535), Optional, "Free text."),
    field("holiday_calendar", Text(0), Optional, "Further holidays: an iCalendar text."),
    field(
        "layers",
        Nested,
        Optional,
        "`[{name, users, start, end, period, handoff, on_holidays, restrictions, calendar}]`; a later one wins.",
    ),
    field("holidays", Nested, Optional, "`[{date, name}]`, such as 2026-12-25."),
    field(
        "usergroups",
        Nested,
        Optional,
        "`[{usrgrpid, permission}]`: 2 members see it, 3 administrators among them change it.",
    ),
];

pub(crate) static ONCALL: Object = Object {
    name: "oncall",
    table: "oncall_schedules",
    key: "scheduleid",
    keys: "scheduleids",
    fields: FIELDS,
    strict: true,
    sort: &["scheduleid", "name"],
};

const HOLIDAY: &[Field] = &[
    field("date", Text(10), Required, "The day, such as 2026-12-25."),
    field("name", Text(255), Optional, "Its name."),
];

const GROUP: &[Field] = &[
    field("usrgrpid", Id, Required, "User group."),
    field("permission", OneOf(&[2, 3]), Optional, "2 = read (default), 3 = read and write."),
];

/// The place of the user groups among the lists.
const GROUPS: usize = 1;

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "On-call schedule \"{name}\" already exists.",
    }),
    children: &[
        Child {
            select: Some(Select::RowsOrCount("selectHolidays")),
            unique: &["date"],
            check: check_holiday,
            ..Child::new(
                "holidays",
                &table::ONCALL_HOLIDAYS,
                "scheduleid",
                Key::Position("position"),
                HOLIDAY,
            )
        },
        Child {
            select: Some(Select::RowsOrCount("selectUserGroups")),
            refer: rights::check_groups,
            ..Child::new(
                "usergroups",
                &table::ONCALL_GROUPS,
                "scheduleid",
                Key::Link("usrgrpid"),
                GROUP,
            )
        },
    ],
    options: &["userids", "selectLayers", "selectOverrides", "selectUsers"],
    ..Spec::new(&ONCALL, &table::ONCALL_SCHEDULES, &[("scheduleids", "t.scheduleid IN ({ids})")])
};

#[derive(Default)]
struct OnCall;

impl Plain for OnCall {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        let need = plain::need(get);
        if let Some(condition) = visible(call.user(), need) {
            get.and(condition, [] as [Value; 0]);
        }
        if let Some(ids) = params::ids(input, "userids")? {
            let members = "t.scheduleid IN (SELECT scheduleid FROM oncall_layer_users WHERE userid IN ({ids}))";
            get.in_ids(members, &ids);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        shown::show(found)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let path = draft.path.clone();
        if draft.gives("timezone") {
            let zone = draft.text("timezone", None);
            if zone != "system" && (zone.is_empty() || TimeZone::get(&zone).is_err()) {
                let error = "value must be \"system\" or the name of a time zone";
                return Err(ApiError::at(&format!("{path}/timezone"), error));
            }
        }
        let calendar = draft.text("holiday_calendar", None);
        if !calendar.is_empty() {
            layers::check_calendar(&calendar, &format!("{path}/holiday_calendar"))?;
        }
        if draft.children.iter().flatten().any(|rows| rows.len() > HOLIDAYS_MAX) {
            let error = format!("a list is limited to {HOLIDAYS_MAX} entries");
            return Err(ApiError::at(&path, error));
        }
        layers::parse(draft.input, &path)?;
        Ok(())
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("scheduleid")).collect();
        rights::require_writable(call, edit, &ids)?;
        if call.is_super_admin() {
            return Ok(());
        }
        // Nobody locks oneself out, and a new schedule has somebody who may change it.
        for draft in drafts {
            let groups = draft.children.get(GROUPS).and_then(Option::as_ref);
            let keeps = groups.map_or(draft.id != 0, |rows| {
                rows.iter().any(|row| rights::is_own_writable(call, row))
            });
            if !keeps {
                let error = "must have one of your user groups with permission 3";
                return Err(ApiError::at(&format!("{}/usergroups", draft.path), error));
            }
        }
        Ok(())
    }

    fn written(&self, call: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        for draft in drafts {
            if let Some(layers) = layers::parse(draft.input, &draft.path)? {
                layers::write(call, edit, draft.id, &layers)?;
            }
        }
        Ok(())
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("scheduleid")).collect();
        rights::require_writable(call, edit, &ids)?;
        let sql = "SELECT s.name AS schedule, a.name AS action FROM operation_message_schedules x \
                   JOIN oncall_schedules s ON s.scheduleid = x.scheduleid \
                   JOIN operations o ON o.operationid = x.operationid \
                   JOIN actions a ON a.actionid = o.actionid \
                   WHERE x.scheduleid IN ({ids}) ORDER BY x.scheduleid, a.actionid";
        if let Some(used) = config::db::query_by_ids(edit, sql, &[], &ids)?.first() {
            let (schedule, action) = (used.text("schedule"), used.text("action"));
            let text = format!("On-call schedule \"{schedule}\" is used in \"{action}\" action.");
            return Err(ApiError::params(text));
        }
        edit.delete(&table::ONCALL_TOKENS, "scheduleid", &ids)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

fn check_holiday(_seen: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()> {
    let date = text(row, "date").unwrap_or_default();
    let is_date = |date: &Date| date.to_string() == text(row, "date").unwrap_or_default();
    match date.parse::<Date>().ok().filter(is_date) {
        Some(_) => Ok(()),
        None => {
            let error = "a date such as 2026-12-25 is expected";
            Err(ApiError::at(&format!("{path}/date"), error))
        }
    }
}

/// Refuses parameters that the method does not have.
fn only_members(input: &Json, method: &Described) -> ApiResult<()> {
    let Some(members) = input.as_object() else {
        return Err(ApiError::at("/", "an object is expected"));
    };
    let known: Vec<&str> = method.params.iter().map(|field| field.name).collect();
    crate::write::only(members, "/", &known)
}

#[cfg(test)]
mod tests;
