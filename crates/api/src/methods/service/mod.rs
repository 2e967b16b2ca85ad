//! Services: a tree whose statuses follow from problems.

mod links;
mod rights;
mod select;
mod shown;

use config::Edit;
use config::db::Row;
use config::objects::new_uuid;
use config::table;
use objects::{PropagationRule, ServiceAlgorithm, ServiceTagOperator, Severity, StatusRuleKind};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::plain::{
    self, Child, Draft, Key, Plain, Related, Seen, Select, Spec, delete_rows, number,
};
use crate::relate::Relation;
use crate::write::check_uuid;

pub(crate) use rights::access;
pub(crate) use select::TAGGED;
pub(crate) use services::access::Need;

pub(crate) const METHODS: &[Method] = &[
    Method::user("service.get", plain::get::<Service>),
    Method::user("service.create", plain::create::<Service>),
    Method::user("service.update", plain::update::<Service>),
    Method::user("service.delete", plain::delete::<Service>),
];

/// What the API takes for a number of any size; the object itself checks it.
const ANY: crate::object::FieldKind = Int(i32::MIN as i64, i32::MAX as i64);
const SORT_ORDER_MAX: i64 = 999;
const WEIGHT_MAX: i64 = 1_000_000;

const FIELDS: &[Field] = &[
    field("serviceid", Id, ReadOnly, "Id of the service."),
    field("uuid", Text(0), Optional, "Identifies it in imports."),
    field("name", Name(128), Required, "Name."),
    field("status", Int(-1, 5), ReadOnly, "-1 = in order; otherwise a severity."),
    field(
        "algorithm",
        OneOf(ServiceAlgorithm::NUMBERS),
        Required,
        "Status by children: 0 = always in order, 1 = most critical if all have problems, 2 = most critical.",
    ),
    field("sortorder", Int(0, SORT_ORDER_MAX), Required, "Place among its siblings."),
    field("weight", Int(0, WEIGHT_MAX), Optional, "Weight for status rules of parents."),
    field(
        "propagation_rule",
        OneOf(PropagationRule::NUMBERS),
        Optional,
        "What parents see: 0 = the status, 1 = increased, 2 = decreased, 3 = nothing, 4 = a fixed status.",
    ),
    field("propagation_value", ANY, Optional, "Severities to add or take, or the fixed status."),
    field("description", Text(0), Optional, "Description."),
    field("created_at", Int(0, i64::MAX), ReadOnly, "When it was made, unix time."),
    field("readonly", Nested, ReadOnly, "The user may only read it."),
    field("parents", Nested, Optional, "Parents: `[{serviceid}]`."),
    field("children", Nested, Optional, "Children: `[{serviceid}]`."),
    field("tags", Nested, Optional, "Tags: `[{tag, value}]`."),
    field("problem_tags", Nested, Optional, "Tags of its problems: `[{tag, operator, value}]`."),
    field(
        "status_rules",
        Nested,
        Optional,
        "Rules: `[{type, limit_value, limit_status, new_status}]`.",
    ),
];

pub(crate) static SERVICE: Object = Object {
    name: "service",
    table: "(SELECT r.*, COALESCE(s.status, -1) AS status FROM services r \
            LEFT JOIN service_states s ON s.serviceid = r.serviceid)",
    key: "serviceid",
    keys: "serviceids",
    fields: FIELDS,
    strict: true,
    sort: &["serviceid", "name", "status", "sortorder", "created_at"],
};

const TAG: &[Field] =
    &[field("tag", Name(255), Required, "Tag."), field("value", Text(255), Optional, "Its value.")];

const PROBLEM_TAG: &[Field] = &[
    field("tag", Name(255), Required, "Tag."),
    field("operator", OneOf(ServiceTagOperator::NUMBERS), Optional, "0 equals, 2 contains."),
    field("value", Text(255), Optional, "Its value."),
];

const STATUS_RULE: &[Field] = &[
    field("type", OneOf(StatusRuleKind::NUMBERS), Required, "What is counted."),
    field("limit_value", Int(1, 1_000_000), Required, "Children, weight, or per cent."),
    field("limit_status", OneOf(&[-1, 0, 1, 2, 3, 4, 5]), Required, "Status that children have."),
    field("new_status", OneOf(Severity::NUMBERS), Required, "Status that the service then has."),
];

/// Statuses of services in order of the API's numbers stand behind `-1`.
const OK: i64 = -1;

const PARENTS: Relation = Relation::new("parents", &SERVICE);
const CHILDREN: Relation = Relation::new("children", &SERVICE);

static SPEC: Spec = Spec {
    children: &[
        Child {
            select: Some(Select::RowsOrCount("selectTags")),
            unique: &["tag", "value"],
            ..Child::new("tags", &table::SERVICE_TAGS, "serviceid", Key::Id("servicetagid"), TAG)
        },
        Child {
            select: Some(Select::RowsOrCount("selectProblemTags")),
            unique: &["tag", "value"],
            ..Child::new(
                "problem_tags",
                &table::SERVICE_PROBLEM_TAGS,
                "serviceid",
                Key::Id("serviceproblemtagid"),
                PROBLEM_TAG,
            )
        },
        Child {
            select: Some(Select::RowsOrCount("selectStatusRules")),
            unique: &["type", "limit_value", "limit_status"],
            check: check_rule,
            ..Child::new(
                "status_rules",
                &table::SERVICE_STATUS_RULES,
                "serviceid",
                Key::Id("servicestatusruleid"),
                STATUS_RULE,
            )
        },
    ],
    options: &[
        "deep_parentids",
        "without_problem_tags",
        "tags",
        "problem_tags",
        "evaltype",
        "parentids",
        "childids",
        "slaids",
        "selectProblemEvents",
        "selectStatusTimeline",
    ],
    relations: &[
        Related {
            select: "selectParents",
            counts: true,
            relation: PARENTS,
            pairs: "SELECT serviceid, parentid FROM service_links WHERE serviceid IN ({ids}) \
                    ORDER BY parentid",
        },
        Related {
            select: "selectChildren",
            counts: true,
            relation: CHILDREN,
            pairs: "SELECT parentid, serviceid FROM service_links WHERE parentid IN ({ids}) \
                    ORDER BY serviceid",
        },
    ],
    ..Spec::new(&SERVICE, &table::SERVICES, &[("serviceids", "t.serviceid IN ({ids})")])
};

/// Percentages end at 100.
fn check_rule(_: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()> {
    let is_percent =
        StatusRuleKind::from_number(number(row, "type")).is_some_and(StatusRuleKind::is_percent);
    if is_percent && number(row, "limit_value") > 100 {
        return Err(ApiError::at(&format!("{path}/limit_value"), "value must be one of 1-100"));
    }
    Ok(())
}

#[derive(Default)]
struct Service;

impl Plain for Service {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        if let Some((condition, values)) = access(call).condition(rights::need(get), "t.serviceid")
        {
            get.and(condition, values);
        }
        select::conditions(get, call, input)
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        shown::readonly(found)?;
        shown::problem_events(found)?;
        shown::timeline(found)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        for member in ["parents", "children"] {
            links::given(draft, member)?;
        }
        if draft.gives("uuid") {
            check_uuid(&draft.text("uuid", None), &format!("{}/uuid", draft.path))?;
        }
        Ok(())
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        rights::may_change(call, edit, drafts, rows)
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        check_propagation(draft, before)?;
        if draft.gives("uuid") {
            let sql = "SELECT serviceid FROM services WHERE uuid = ? AND serviceid <> ?";
            if !edit.query(sql, &[draft.value("uuid", None), draft.id.into()])?.is_empty() {
                let error = "service with the same UUID already exists";
                return Err(ApiError::at(&draft.path, error));
            }
        } else if before.is_none() {
            draft.set("uuid", new_uuid()?);
        }
        if before.is_none() {
            draft.set("created_at", call.now());
        }
        Ok(())
    }

    fn written(&self, call: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        links::write(call, edit, drafts)
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        rights::may_delete(call, edit, rows)?;
        let ids: Vec<u64> = rows.iter().map(|row| row.id("serviceid")).collect();
        edit.delete(&table::SERVICE_LINKS, "parentid", &ids)?;
        delete_rows(&SPEC, edit, rows)
    }
}

/// A rule comes with its value, which must be one that it can have.
fn check_propagation(draft: &Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let name = draft.text("name", before);
    let given = |column: &str| draft.gives(column);
    if given("propagation_rule") && !given("propagation_value") {
        return Err(ApiError::params(format!(
            "Cannot specify \"propagation_rule\" parameter without specifying \"propagation_value\" \
             parameter for service \"{name}\"."
        )));
    }
    let value = draft.value("propagation_value", before).as_int();
    let rule = PropagationRule::from_number(draft.value("propagation_rule", before).as_int());
    let fits = match rule.unwrap_or(PropagationRule::AsIs) {
        PropagationRule::AsIs | PropagationRule::Ignore => value == 0,
        PropagationRule::Increase | PropagationRule::Decrease => (1..=5).contains(&value),
        PropagationRule::Fixed => (OK..=5).contains(&value),
    };
    if given("propagation_value") && !fits {
        return Err(ApiError::params(format!(
            "Incompatible \"propagation_rule\" and \"propagation_value\" parameters for service \"{name}\"."
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
