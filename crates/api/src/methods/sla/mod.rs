//! Agreements on services (SLA).

mod getsli;

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};
use config::table;
use jiff::tz::TimeZone;
use objects::{ServiceTagOperator, SlaPeriod};
use services::access::Need;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::methods::service::{TAGGED, access};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::params;
use crate::permission::action_allowed;
use crate::plain::{self, Action, Child, Draft, Key, Plain, Select, Spec, Unique, number, text};

pub(crate) const METHODS: &[Method] = &[
    Method::user("sla.get", plain::get::<Sla>),
    Method::user("sla.getsli", getsli::get),
    Method::admin("sla.create", plain::create::<Sla>),
    Method::admin("sla.update", plain::update::<Sla>),
    Method::admin("sla.delete", plain::delete::<Sla>),
];

/// Times fit 32 bits with a sign.
const TIME_MAX: i64 = services::sli::TIME_MAX;
const WEEK_S: i64 = 604_800;
/// Digits of an objective behind the point.
const DIGITS_MAX: usize = 4;

const FIELDS: &[Field] = &[
    field("slaid", Id, ReadOnly, "Id of the agreement."),
    field("name", Name(255), Required, "Name."),
    field(
        "period",
        OneOf(SlaPeriod::NUMBERS),
        Required,
        "0 = days, 1 = weeks, 2 = months, 3 = quarters, 4 = years.",
    ),
    field("slo", Text(0), Required, "Objective: percentage of the time in order."),
    field("effective_date", Int(0, TIME_MAX), Required, "Unix time from which it counts."),
    field("timezone", Text(50), Required, "Time zone, or `system`."),
    field("status", OneOf(&[0, 1]), Optional, "0 = switched off, 1 = on (default)."),
    field("description", Text(0), Optional, "Description."),
    field("service_tags", Nested, Required, "Tags of its services: `[{tag, operator, value}]`."),
    field(
        "schedule",
        Nested,
        Optional,
        "Seconds of the week: `[{period_from, period_to}]`; none = always.",
    ),
    field(
        "excluded_downtimes",
        Nested,
        Optional,
        "What does not count: `[{name, period_from, period_to}]`.",
    ),
];

pub(crate) static SLA: Object = Object {
    name: "sla",
    table: "slas",
    key: "slaid",
    keys: "slaids",
    fields: FIELDS,
    strict: true,
    sort: &[
        "slaid",
        "name",
        "period",
        "slo",
        "effective_date",
        "timezone",
        "status",
        "description",
    ],
};

const TAG: &[Field] = &[
    field("tag", Name(255), Required, "Tag."),
    field("operator", OneOf(ServiceTagOperator::NUMBERS), Optional, "0 equals, 2 contains."),
    field("value", Text(255), Optional, "Its value."),
];

const PERIOD: &[Field] = &[
    field("period_from", Int(0, WEEK_S), Required, "Seconds since the begin of Sunday."),
    field("period_to", Int(0, WEEK_S), Required, "The same."),
];

const DOWNTIME: &[Field] = &[
    field("name", Name(255), Required, "Name."),
    field("period_from", Int(0, TIME_MAX), Required, "Unix time."),
    field("period_to", Int(0, TIME_MAX), Required, "Unix time."),
];

/// The lists of an agreement, in this order.
const SCHEDULE: usize = 1;
const DOWNTIMES: usize = 2;

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "SLA \"{name}\" already exists.",
    }),
    children: &[
        Child {
            select: Some(Select::RowsOrCount("selectServiceTags")),
            unique: &["tag", "value"],
            required: true,
            ..Child::new(
                "service_tags",
                &table::SLA_SERVICE_TAGS,
                "slaid",
                Key::Position("position"),
                TAG,
            )
        },
        Child {
            select: Some(Select::RowsOrCount("selectSchedule")),
            unique: &["period_from", "period_to"],
            ..Child::new(
                "schedule",
                &table::SLA_SCHEDULES,
                "slaid",
                Key::Position("position"),
                PERIOD,
            )
        },
        Child {
            select: Some(Select::RowsOrCount("selectExcludedDowntimes")),
            unique: &["period_from", "period_to"],
            ..Child::new(
                "excluded_downtimes",
                &table::SLA_EXCLUDED_DOWNTIMES,
                "slaid",
                Key::Position("position"),
                DOWNTIME,
            )
        },
    ],
    options: &["serviceids"],
    ..Spec::new(&SLA, &table::SLAS, &[("slaids", "t.slaid IN ({ids})")])
};

#[derive(Default)]
struct Sla;

/// Users who manage agreements, or see all services, see all; others see those that are about a service
/// that they see.
fn only_seen(get: &mut Get<'_, '_>, call: &Call<'_>) {
    if call.user().kind >= objects::UserType::Admin && action_allowed(call.user(), "manage_sla") {
        return;
    }
    if let Some((condition, values)) = access(call).condition(Need::Read, "g.serviceid") {
        let of_services = format!(
            "t.slaid IN (SELECT a.slaid FROM sla_service_tags a JOIN service_tags g ON {TAGGED} WHERE {condition})"
        );
        get.and(of_services, values);
    }
}

impl Plain for Sla {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn allow(&self, call: &Call<'_>, action: Action) -> ApiResult<()> {
        if action == Action::Get || action_allowed(call.user(), "manage_sla") {
            return Ok(());
        }
        let method = format!("sla.{}", action.name());
        Err(ApiError::application(format!("No permissions to call \"{method}\".")))
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        only_seen(get, call);
        if let Some(ids) = params::ids(input, "serviceids")? {
            let seen = call.read(|c| Ok(access(call).among(c, Need::Read, &ids)?))?;
            let about = format!(
                "t.slaid IN (SELECT a.slaid FROM sla_service_tags a JOIN service_tags g ON {TAGGED} \
                 WHERE g.serviceid IN ({{ids}}))"
            );
            get.in_ids(&about, &Vec::from_iter(seen));
        }
        Ok(())
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        if draft.gives("slo") {
            check_slo(draft)?;
        }
        if draft.gives("timezone") {
            let zone = draft.text("timezone", None);
            if zone != "system" && (zone.is_empty() || TimeZone::get(&zone).is_err()) {
                let path = format!("{}/timezone", draft.path);
                return Err(ApiError::at(
                    &path,
                    "value must be \"system\" or the name of a time zone",
                ));
            }
        }
        Ok(())
    }

    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        let name = draft.text("name", before);
        let reversed = |row: &&Columns| number(row, "period_from") >= number(row, "period_to");
        if draft.children[SCHEDULE].iter().flatten().any(|row| reversed(&row)) {
            let error = format!("Start time must be less than end time for SLA \"{name}\".");
            return Err(ApiError::params(error));
        }
        if let Some(row) = draft.children[DOWNTIMES].iter().flatten().find(reversed) {
            return Err(ApiError::params(format!(
                "Start time must be less than end time for excluded downtime \"{}\" of SLA \"{name}\".",
                text(row, "name").unwrap_or_default()
            )));
        }
        if let Some(schedule) = &mut draft.children[SCHEDULE] {
            *schedule = joined(schedule);
        }
        Ok(())
    }
}

/// Parts of the schedule that touch are one; the whole week is no schedule.
fn joined(schedule: &[Columns]) -> Vec<Columns> {
    let parts: BTreeSet<(i64, i64)> =
        schedule.iter().map(|row| (number(row, "period_from"), number(row, "period_to"))).collect();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, to) in parts {
        match joined.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => joined.push((from, to)),
        }
    }
    joined.retain(|part| *part != (0, WEEK_S));
    let row = |(from, to): (i64, i64)| {
        vec![("period_from", Value::from(from)), ("period_to", Value::from(to))]
    };
    joined.into_iter().map(row).collect()
}

fn check_slo(draft: &mut Draft<'_>) -> ApiResult<()> {
    let path = format!("{}/slo", draft.path);
    let given = draft.text("slo", None);
    let slo: f64 = given
        .parse()
        .ok()
        .filter(|slo: &f64| slo.is_finite())
        .ok_or_else(|| ApiError::at(&path, "a floating point value is expected"))?;
    if !(0.0..=100.0).contains(&slo) {
        return Err(ApiError::at(&path, "value must be within the range of 0-100"));
    }
    let shown = slo.to_string();
    if shown.split_once('.').is_some_and(|(_, digits)| digits.len() > DIGITS_MAX) {
        let name = draft.text("name", None);
        return Err(ApiError::params(format!(
            "SLA \"{name}\" SLO must have no more than {DIGITS_MAX} fractional digits."
        )));
    }
    draft.set("slo", shown);
    Ok(())
}

#[cfg(test)]
mod tests;
