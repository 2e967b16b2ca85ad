//! Scheduled reports. They are stored; nothing is sent yet.

pub(crate) mod recipients;

use config::Edit;
use config::db::{Row, Value};
use config::table;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::get::Get;
use crate::methods::user::USER;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field, missing};
use crate::params;
use crate::permission::action_allowed;
use crate::plain::{self, Action, Child, Draft, Key, Plain, Select, Spec, Unique};
use crate::rpc;

pub(crate) const METHODS: &[Method] = &[
    Method::admin("report.get", plain::get::<Report>),
    Method::admin("report.create", plain::create::<Report>),
    Method::admin("report.update", update),
    Method::admin("report.delete", plain::delete::<Report>),
];

/// A year, month, week and day, as periods and cycles are numbered.
const SPANS: &[i64] = &[0, 1, 2, 3];
/// Cycle of reports that are made on days of the week.
const WEEKLY: i64 = 1;
/// Sum of all days of the week.
const WEEKDAYS_MAX: i64 = 127;

const FIELDS: &[Field] = &[
    field(
        "reportid",
        Id,
        ReadOnly,
        "Id of the report. Reports are stored only: nothing is sent yet.",
    ),
    field("userid", Id, Optional, "Owner; default: the user of the call."),
    field("name", Name(255), Required, "Name."),
    field("description", Text(2_048), Optional, "Description."),
    field("status", OneOf(&[0, 1]), Optional, "0 = switched off (default), 1 = on."),
    field("dashboardid", Id, Required, "Dashboard."),
    field(
        "period",
        OneOf(SPANS),
        Optional,
        "Time that it shows: 0 = day, 1 = week, 2 = month, 3 = year.",
    ),
    field("cycle", OneOf(SPANS), Optional, "Made each: 0 = day, 1 = week, 2 = month, 3 = year."),
    field(
        "weekdays",
        Int(0, i64::MAX),
        Optional,
        "Weekly: sum of 1 Monday, 2 Tuesday … 64 Sunday.",
    ),
    field("start_time", Int(0, 86_340), Optional, "Second of the day at which it is made."),
    field("active_since", Text(10), Optional, "First day, as `YYYY-MM-DD`; empty = no limit."),
    field("active_till", Text(10), Optional, "Last day, as `YYYY-MM-DD`; empty = no limit."),
    field("state", Int(0, 3), ReadOnly, "0 = never made, 1 = sent, 2 = error, 3 = partly sent."),
    field("lastsent", Int(0, i64::MAX), ReadOnly, "Unix time of the last one; 0 = never."),
    field("info", Text(2_048), ReadOnly, "Error of the last one."),
    field("subject", Text(255), Optional, "Subject of the message."),
    field("message", Text(65_535), Optional, "Text of the message."),
    field("users", Nested, Optional, "Recipients: `[{userid, access_userid, exclude}]`."),
    field("user_groups", Nested, Optional, "Recipients: `[{usrgrpid, access_userid}]`."),
];

pub(crate) static REPORT: Object = Object {
    name: "report",
    table: "(SELECT r.*, 0 AS state, 0 AS lastsent, '' AS info FROM reports r)",
    key: "reportid",
    keys: "reportids",
    fields: FIELDS,
    strict: true,
    sort: &["reportid", "name", "status"],
};

const USER_FIELDS: &[Field] = &[
    field("userid", Id, Required, "User."),
    field(
        "access_userid",
        Id,
        Optional,
        "User whose permissions the report has; 0 = the recipient's.",
    ),
    field("exclude", OneOf(&[0, 1]), Optional, "1 = gets no report."),
];

const GROUP_FIELDS: &[Field] = &[
    field("usrgrpid", Id, Required, "User group."),
    field(
        "access_userid",
        Id,
        Optional,
        "User whose permissions the report has; 0 = the recipient's.",
    ),
];

/// Places among the lists of a report.
const USERS: usize = 0;
const GROUPS: usize = 1;

static SPEC: Spec = Spec {
    options: &["expired"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Report \"{name}\" already exists.",
    }),
    children: &[
        Child {
            select: Some(Select::Rows("selectUsers")),
            ..Child::new(
                "users",
                &table::REPORT_USERS,
                "reportid",
                Key::Link("userid"),
                USER_FIELDS,
            )
        },
        Child {
            select: Some(Select::Rows("selectUserGroups")),
            ..Child::new(
                "user_groups",
                &table::REPORT_USER_GROUPS,
                "reportid",
                Key::Link("usrgrpid"),
                GROUP_FIELDS,
            )
        },
    ],
    ..Spec::new(&REPORT, &table::REPORTS, &[("reportids", "t.reportid IN ({ids})")])
};

#[derive(Default)]
struct Report;

/// A report that does not exist is an error of the parameters here.
fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain::update::<Report>(call, input).map_err(|error| match error.is_no_object() {
        true => ApiError::params(NO_OBJECT),
        false => error,
    })
}

impl Plain for Report {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn allow(&self, call: &Call<'_>, action: Action) -> ApiResult<()> {
        if action == Action::Get || action_allowed(call.user(), "manage_scheduled_reports") {
            return Ok(());
        }
        let method = format!("report.{}", action.name());
        Err(ApiError::application(format!("No permissions to call \"{method}\".")))
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        let Some(expired) = input.get("expired").filter(|value| !value.is_null()) else {
            return Ok(());
        };
        let today = today(call).to_string();
        match params::flag(Some(expired)) {
            true => get.and("t.active_till <> '' AND t.active_till < ?", [today.into()]),
            false => get.and("(t.active_till = '' OR t.active_till >= ?)", [today.into()]),
        }
        Ok(())
    }

    fn given(&self, call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        for name in ["active_since", "active_till"] {
            if draft.gives(name) {
                check_date(&draft.text(name, None), &format!("{}/{name}", draft.path))?;
            }
        }
        if draft.id == 0 && !draft.gives("userid") {
            draft.set("userid", call.user().id);
        }
        Ok(())
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        check_schedule(draft, before)?;
        if draft.gives("dashboardid") {
            require_dashboard(call, draft.value("dashboardid", None).as_int())?;
        }
        if before.is_some_and(|row| {
            draft.value("dashboardid", Some(row)).as_int() != row.int("dashboardid")
        }) {
            // Recipients of another dashboard are chosen again.
            for (list, name) in [(USERS, "users"), (GROUPS, "user_groups")] {
                if draft.children[list].is_none() {
                    return Err(missing(&draft.path, name));
                }
            }
        }
        recipients::check(call, edit, draft, before)
    }
}

fn check_schedule(draft: &Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let path = format!("{}/weekdays", draft.path);
    let number = |name: &str| match draft.value(name, before) {
        Value::Int(number) => number,
        Value::Text(_) => 0,
    };
    let weekdays = number("weekdays");
    match number("cycle") == WEEKLY {
        true if before.is_none() && !draft.gives("weekdays") => {
            return Err(missing(&draft.path, "weekdays"));
        }
        true if !(1..=WEEKDAYS_MAX).contains(&weekdays) => {
            return Err(ApiError::at(&path, format_args!("value must be one of 1-{WEEKDAYS_MAX}")));
        }
        false if weekdays != 0 => return Err(ApiError::at(&path, "value must be 0")),
        _ => {}
    }
    let (since, till) = (draft.text("active_since", before), draft.text("active_till", before));
    if !till.is_empty() && since > till {
        return Err(ApiError::params(
            "\"active_till\" must be an empty string or greater than \"active_since\".",
        ));
    }
    Ok(())
}

fn check_date(text: &str, path: &str) -> ApiResult<()> {
    const FIRST: Date = date(1970, 1, 1);
    const LAST: Date = date(2038, 1, 18);
    if text.is_empty() {
        return Ok(());
    }
    let day: Option<Date> = text.parse().ok().filter(|day: &Date| day.to_string() == text);
    match day {
        None => Err(ApiError::at(path, "a date in YYYY-MM-DD format is expected")),
        Some(day) if (FIRST..=LAST).contains(&day) => Ok(()),
        Some(_) => {
            let error = format_args!("value must be between \"{FIRST}\" and \"{LAST}\"");
            Err(ApiError::at(path, error))
        }
    }
}

/// The day in UTC.
fn today(call: &Call<'_>) -> Date {
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let now = jiff::Timestamp::from_second(now).unwrap_or(jiff::Timestamp::MAX);
    now.to_zoned(TimeZone::UTC).date()
}

fn require_dashboard(call: &Call<'_>, id: i64) -> ApiResult<()> {
    const GET: &str = "dashboard.get";
    let params = json!({ "dashboardids": [id.to_string()], "countOutput": true });
    let found = match rpc::lowest_type(GET) {
        Some(_) => rpc::run_inner(call, GET, &params)? != json!("0"),
        None => false,
    };
    if found {
        return Ok(());
    }
    Err(ApiError::params(format!("Dashboard with ID \"{id}\" is not available.")))
}

/// Who uses the users, and how: the reports that keep a user from being deleted.
pub(crate) fn refuse_users_of(edit: &mut Edit<'_>, users: &[(u64, &str)]) -> ApiResult<()> {
    let ids: Vec<u64> = users.iter().map(|(id, _)| *id).collect();
    for (sql, what) in [
        (
            "SELECT userid, name FROM reports WHERE userid IN ({ids}) ORDER BY reportid",
            "is report \"{}\" owner.",
        ),
        (
            "SELECT u.userid, r.name FROM report_users u JOIN reports r ON r.reportid = u.reportid \
             WHERE u.userid IN ({ids}) ORDER BY u.reportid",
            "is report \"{}\" recipient.",
        ),
        (
            "SELECT u.access_userid AS userid, r.name FROM report_users u \
             JOIN reports r ON r.reportid = u.reportid WHERE u.access_userid IN ({ids}) \
             ORDER BY u.reportid",
            "is user on whose behalf report \"{}\" is created.",
        ),
        (
            "SELECT g.access_userid AS userid, r.name FROM report_user_groups g \
             JOIN reports r ON r.reportid = g.reportid WHERE g.access_userid IN ({ids}) \
             ORDER BY g.reportid",
            "is user on whose behalf report \"{}\" is created.",
        ),
    ] {
        let rows = config::db::query_by_ids(edit, sql, &[], &ids)?;
        let Some(row) = rows.first() else { continue };
        let user =
            users.iter().find(|(id, _)| *id == row.id("userid")).map_or("", |(_, name)| name);
        let what = what.replace("{}", row.text("name"));
        return Err(ApiError::params(format!("User \"{user}\" {what}")));
    }
    Ok(())
}

/// Users that reports name by id, as they are visible to the caller.
fn visible_users(call: &Call<'_>, ids: &[u64]) -> ApiResult<Vec<u64>> {
    let output = crate::get::Output::Fields(vec![USER.key.to_owned()]);
    let found = call.inside(|| call.get_keyed(&USER, ids, &output))?;
    Ok(found.keys().filter_map(|id| id.parse().ok()).collect())
}

#[cfg(test)]
mod tests;
