//! Maintenance: when which hosts are worked on, and whether their values are collected then.

mod members;
mod periods;
mod states;

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::schema::Table;
use config::table;

pub(crate) use members::Members;
use objects::{MaintenanceTagOperator, MaintenanceType};

use crate::call::{Call, Json, Method};
use crate::effect::Effect;
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::methods::{group, host};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::params;
use crate::permission::{Need, action_allowed, on_groups, on_hosts};
use crate::plain::{self, Action, Child, Draft, Key, Plain, Related, Select, Spec, Unique, number};
use crate::relate::Relation;
use crate::write::Target;

pub(crate) const METHODS: &[Method] = &[
    Method::user("maintenance.get", plain::get::<Maintenance>),
    Method::admin("maintenance.create", plain::create::<Maintenance>),
    Method::admin("maintenance.update", plain::update::<Maintenance>),
    Method::admin("maintenance.delete", plain::delete::<Maintenance>),
];

/// The last second of 2037: times fit 32 bits with a sign.
const TIME_MAX: i64 = 2_145_916_799;

const FIELDS: &[Field] = &[
    field("maintenanceid", Id, ReadOnly, "Id of the maintenance."),
    field("name", Name(128), Required, "Name."),
    field(
        "maintenance_type",
        OneOf(MaintenanceType::NUMBERS),
        Optional,
        "1 = without data collection.",
    ),
    field("description", Text(0), Optional, "Description."),
    field("active_since", Int(0, TIME_MAX), Required, "Unix time from which it counts."),
    field("active_till", Int(0, TIME_MAX), Required, "Unix time at which it is over."),
    field("tags_evaltype", OneOf(&[0, 2]), Optional, "Tags: 0 and/or, 2 or."),
    field("groups", Nested, Optional, "Host groups: `[{groupid}]`; their subgroups come along."),
    field("hosts", Nested, Optional, "Hosts: `[{hostid}]`."),
    field("groupids", Nested, Optional, "Host groups; old form."),
    field("hostids", Nested, Optional, "Hosts; old form."),
    field("timeperiods", Nested, Required, "When it runs."),
    field("tags", Nested, Optional, "Only problems with these: `[{tag, operator, value}]`."),
];

pub(crate) static MAINTENANCE: Object = Object {
    name: "maintenance",
    table: "maintenances",
    key: "maintenanceid",
    keys: "maintenanceids",
    fields: FIELDS,
    strict: false,
    sort: &["maintenanceid", "name", "maintenance_type", "active_till", "active_since"],
};

const TAG: &[Field] = &[
    field("tag", Name(255), Required, "Tag."),
    field("operator", OneOf(MaintenanceTagOperator::NUMBERS), Optional, "0 equals, 2 contains."),
    field("value", Text(255), Optional, "Its value."),
];

const fn links(
    member: &'static str,
    table: &'static Table,
    key: &'static str,
    fields: &'static [Field],
) -> Child {
    Child::new(member, table, "maintenanceid", Key::Link(key), fields)
}

const GROUPS: Relation = Relation::new("hostgroups", &group::HOST_GROUP).bare();
const GROUPS_OF: &str = "SELECT maintenanceid, groupid FROM maintenance_groups \
    WHERE maintenanceid IN ({ids}) ORDER BY groupid";

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Maintenance \"{name}\" already exists.",
    }),
    children: &[
        Child {
            refer: |call, edit, rows, _| may_link(call, edit, rows, Target::HostGroup, "groupid"),
            ..links(
                "groups",
                &table::MAINTENANCE_GROUPS,
                "groupid",
                &[field("groupid", Id, Required, "")],
            )
        },
        Child {
            refer: |call, edit, rows, _| may_link(call, edit, rows, Target::Host, "hostid"),
            ..links(
                "hosts",
                &table::MAINTENANCE_HOSTS,
                "hostid",
                &[field("hostid", Id, Required, "")],
            )
        },
        Child {
            select: Some(Select::Rows("selectTimeperiods")),
            required: true,
            parse: Some(periods::parse),
            ..Child::new(
                "timeperiods",
                &table::MAINTENANCE_PERIODS,
                "maintenanceid",
                Key::Position("sortorder"),
                periods::FIELDS,
            )
        },
        Child {
            select: Some(Select::Rows("selectTags")),
            unique: &["tag", "operator", "value"],
            check: |_, row, _| {
                if !row.iter().any(|(name, _)| *name == "operator") {
                    row.push(("operator", MaintenanceTagOperator::Contains.number().into()));
                }
                Ok(())
            },
            ..Child::new(
                "tags",
                &table::MAINTENANCE_TAGS,
                "maintenanceid",
                Key::Id("maintenancetagid"),
                TAG,
            )
        },
    ],
    options: &["states"],
    relations: &[
        Related {
            select: "selectHosts",
            counts: false,
            relation: Relation::new("hosts", &host::HOST),
            pairs: "SELECT maintenanceid, hostid FROM maintenance_hosts \
                    WHERE maintenanceid IN ({ids}) ORDER BY hostid",
        },
        Related { select: "selectHostGroups", counts: false, relation: GROUPS, pairs: GROUPS_OF },
        Related {
            select: "selectGroups",
            counts: false,
            relation: Relation { member: "groups", ..GROUPS },
            pairs: GROUPS_OF,
        },
    ],
    ..Spec::new(
        &MAINTENANCE,
        &table::MAINTENANCES,
        &[
            ("maintenanceids", "t.maintenanceid IN ({ids})"),
            (
                "groupids",
                "t.maintenanceid IN (SELECT maintenanceid FROM maintenance_groups \
                 WHERE groupid IN ({ids}))",
            ),
            // Of hosts: those that name the host or one of its groups.
            (
                "hostids",
                "EXISTS (SELECT 1 FROM hosts h WHERE h.hostid IN ({ids}) AND t.maintenanceid IN \
                 (SELECT maintenanceid FROM maintenance_hosts WHERE hostid IN (h.hostid) UNION \
                 SELECT maintenanceid FROM maintenance_groups WHERE groupid IN \
                 (SELECT hg.groupid FROM host_groups hg WHERE hg.hostid = h.hostid)))",
            ),
        ],
    )
};

#[derive(Default)]
struct Maintenance;

impl Plain for Maintenance {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn allow(&self, call: &Call<'_>, action: Action) -> ApiResult<()> {
        if action == Action::Get || action_allowed(call.user(), "edit_maintenance") {
            return Ok(());
        }
        let method = format!("maintenance.{}", action.name());
        Err(ApiError::application(format!("No permissions to call \"{method}\".")))
    }

    /// A user sees those all of whose hosts and groups the user sees.
    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        let need = plain::need(get);
        for (table, right) in [
            (&table::MAINTENANCE_HOSTS, on_hosts(call.user(), need, "o.hostid")),
            (&table::MAINTENANCE_GROUPS, on_groups(call.user(), need, "o.groupid")),
        ] {
            if let Some(right) = right {
                let condition = format!(
                    "NOT EXISTS (SELECT 1 FROM {table} o WHERE o.maintenanceid = t.maintenanceid \
                     AND NOT ({right}))"
                );
                get.and(condition, [] as [Value; 0]);
            }
        }
        states::select(get, call, input)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        for name in ["active_since", "active_till"] {
            if draft.gives(name) {
                let time = draft.value(name, None).as_int();
                draft.set(name, time - time % 60);
            }
        }
        for (list, (old, key)) in
            draft.children.iter_mut().zip([("groupids", "groupid"), ("hostids", "hostid")])
        {
            if list.is_none() {
                let ids = params::ids(draft.input, old)?;
                *list = ids.map(|ids| ids.into_iter().map(|id| vec![(key, id.into())]).collect());
            }
        }
        Ok(())
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        _drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        may_change(call, edit, rows)
    }

    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        let (path, number) = (&draft.path, |name: &str| draft.value(name, before).as_int());
        if number("active_till") <= number("active_since") {
            let error = format!(
                "cannot be less than or equal to the value of parameter \"{path}/active_since\""
            );
            return Err(ApiError::at(&format!("{path}/active_till"), error));
        }
        let tags = draft.children.last().and_then(Option::as_ref);
        if MaintenanceType::WithoutData.is(number("maintenance_type"))
            && tags.is_some_and(|tags| !tags.is_empty())
        {
            return Err(ApiError::at(&format!("{path}/tags"), "should be empty"));
        }
        Ok(())
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            let covered = edit.query(
                "SELECT maintenanceid FROM maintenance_groups WHERE maintenanceid = ? UNION \
                 SELECT maintenanceid FROM maintenance_hosts WHERE maintenanceid = ?",
                &[draft.id.into(), draft.id.into()],
            )?;
            if covered.is_empty() {
                let text = "At least one host group or host must be selected.";
                return Err(ApiError::params(text));
            }
        }
        Ok(())
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        may_change(call, edit, rows)?;
        plain::delete_rows(&SPEC, edit, rows)
    }

    fn deleted(&self, call: &Call<'_>, ids: &[u64]) -> ApiResult<()> {
        let effect = Effect::MaintenancesGone(ids.to_vec());
        call.after_commit(effect).map_err(ApiError::application)
    }
}

fn may_link(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    target: Target,
    key: &str,
) -> ApiResult<()> {
    let ids = rows.iter().filter_map(|row| u64::try_from(number(row, key)).ok());
    call.require(edit, target, Need::Write, &ids.collect::<Vec<_>>())
}

/// The user may change all hosts and groups of the maintenances.
fn may_change(call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("maintenanceid")).collect();
    for (table, key, target) in [
        (&table::MAINTENANCE_GROUPS, "groupid", Target::HostGroup),
        (&table::MAINTENANCE_HOSTS, "hostid", Target::Host),
    ] {
        let sql =
            format!("SELECT DISTINCT {key} AS id FROM {table} WHERE maintenanceid IN ({{ids}})");
        let covered = query_by_ids(edit, &sql, &[], &ids)?;
        let covered: Vec<u64> = covered.iter().map(|row| row.id("id")).collect();
        call.require(edit, target, Need::Write, &covered)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
