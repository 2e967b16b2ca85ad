//! Pool groups: pools that share requests by ratio, or take them over by priority.

use config::Edit;
use config::db::{Row, Value};
use config::engines::Objects;
use config::table;

use super::virtualservice::refuse_unsuitable_changes;
use super::{Use, refuse_used, refused, rules};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Child, Draft, Key, Plain, Select, Spec, Unique, number};
use crate::write::{names, no_object_at};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("poolgroup.get", plain::get::<PoolGroup>),
    Method::super_admin("poolgroup.create", plain::create::<PoolGroup>),
    Method::super_admin("poolgroup.update", plain::update::<PoolGroup>),
    Method::super_admin("poolgroup.delete", plain::delete::<PoolGroup>),
];

const FIELDS: &[Field] = &[
    field("poolgroupid", Id, ReadOnly, "Id of the pool group."),
    field("name", Name(128), Required, "Name, unique among pool groups and pools."),
    field("description", Text(65_535), Optional, "Description."),
    field(
        "min_servers",
        Int(1, 65_535),
        Optional,
        "Servers that a priority needs to get requests.",
    ),
    field("members", Nested, Required, "Pools, at least one."),
];

pub(crate) static POOL_GROUP: Object = Object {
    name: "poolgroup",
    table: "pool_groups",
    key: "poolgroupid",
    keys: "poolgroupids",
    fields: FIELDS,
    strict: true,
    sort: &["poolgroupid", "name"],
};

const MEMBER: &[Field] = &[
    field("poolid", Id, Required, "Pool."),
    field("priority", Int(0, 65_535), Optional, "The highest with servers gets all requests."),
    field("ratio", Int(0, 1_000), Optional, "Share within the priority; 0: no new clients."),
];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Pool group \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some(Select::RowsOrCount("selectMembers")),
        required: true,
        unique: &["poolid"],
        refer: |_, edit, rows, path| {
            for (n, row) in rows.iter().enumerate() {
                let id = u64::try_from(number(row, "poolid")).unwrap_or(0);
                if names(edit, "pools", "poolid", "name", &[id])?.is_empty() {
                    return Err(no_object_at(&format!("{path}/{}/poolid", n + 1)));
                }
            }
            Ok(())
        },
        ..Child::new(
            "members",
            &table::POOL_GROUP_MEMBERS,
            "poolgroupid",
            Key::Position("position"),
            MEMBER,
        )
    }],
    ..Spec::new(
        &POOL_GROUP,
        &table::POOL_GROUPS,
        &[
            ("poolgroupids", "t.poolgroupid IN ({ids})"),
            (
                "poolids",
                "t.poolgroupid IN (SELECT poolgroupid FROM pool_group_members \
                 WHERE poolid IN ({ids}))",
            ),
        ],
    )
};

/// Engines know pools and groups by name, wherever either may stand.
pub(super) fn refuse_name_of(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    table: &str,
    kind: &str,
) -> ApiResult<()> {
    if !draft.gives("name") || !call.checks_uniqueness() {
        return Ok(());
    }
    let name = draft.text("name", None);
    let sql = format!("SELECT name FROM {table} WHERE name = ?");
    match edit.query(&sql, &[name.as_str().into()])?.first() {
        None => Ok(()),
        Some(_) => Err(ApiError::at(
            &format!("{}/name", draft.path),
            format_args!("a {kind} has the name \"{name}\"; choose another name"),
        )),
    }
}

#[derive(Default)]
struct PoolGroup;

impl Plain for PoolGroup {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        refuse_name_of(call, edit, draft, "pools", "pool")
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            let objects = Objects::of_pool_groups(edit, &[draft.id])
                .map_err(|error| refused(&draft.path, error))?;
            for group in objects.pool_groups.values() {
                group.check().map_err(|problem| ApiError::at(&draft.path, problem))?;
            }
            let users = "SELECT virtualserviceid FROM virtualservices WHERE poolgroupid = ?";
            refuse_unsuitable_changes(edit, draft, users)?;
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[Use {
            kind: "virtual service",
            name: "SELECT name FROM virtualservices WHERE poolgroupid = ? ORDER BY name",
        }];
        refuse_used(edit, rows, "Pool group", "poolgroupid", USES)?;
        rules::refuse_chosen(edit, rows, "Pool group", "poolgroupid")?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// A virtual service sends requests to a pool or to a pool group: what is given takes the other's place.
pub(super) fn require_one_target(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let chosen = |draft: &Draft<'_>, column| draft.value(column, before).as_int() != 0;
    for (column, other) in [("poolid", "poolgroupid"), ("poolgroupid", "poolid")] {
        if draft.gives(column) && chosen(draft, column) && !draft.gives(other) {
            draft.set(other, Value::from(0_u64));
        }
    }
    match ["poolid", "poolgroupid"].map(|column| chosen(draft, column)) {
        [true, false] | [false, true] => Ok(()),
        [false, false] => Err(ApiError::at(
            &draft.path,
            "set \"poolid\" or \"poolgroupid\": requests need a pool",
        )),
        [true, true] => Err(ApiError::at(
            &format!("{}/poolgroupid", draft.path),
            "the service has a pool; set either \"poolid\" or \"poolgroupid\"",
        )),
    }
}
