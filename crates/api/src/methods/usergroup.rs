//! User groups: rights on host and template groups, tag filters, members.

mod uses;

use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;
use const_format::formatcp;
use objects::sql::{GROUP_OF_HOSTS, GROUP_OF_TEMPLATES};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get, Output};
use crate::methods::authentication::Current;
use crate::methods::user;
use crate::methods::user::{check_super_admin_left, end_sessions};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::params;
use crate::plain::{self, Child, Draft, Key, Plain, Seen, Select, Spec, Unique, number, text};
use crate::relate::Relation;
use crate::write::names;

pub(crate) const METHODS: &[Method] = &[
    Method::user("usergroup.get", plain::get::<UserGroup>),
    Method::super_admin("usergroup.create", plain::create::<UserGroup>),
    Method::super_admin("usergroup.update", plain::update::<UserGroup>),
    Method::super_admin("usergroup.delete", plain::delete::<UserGroup>),
];

const FIELDS: &[Field] = &[
    field("usrgrpid", Id, ReadOnly, "Id of the user group."),
    field("name", Name(64), Required, "Name."),
    field("gui_access", OneOf(&[0, 1, 2, 3]), Optional, "Sign-in: 0 default … 3 none."),
    field("users_status", OneOf(&[0, 1]), Optional, "1 = its users are switched off."),
    field("debug_mode", OneOf(&[0, 1]), Optional, "1 = debug mode."),
    field("userdirectoryid", Id, Optional, "Directory for sign-in."),
    field("mfa_status", OneOf(&[0, 1]), Optional, "1 = second factor required."),
    field("mfaid", Id, Optional, "Second factor."),
    field("hostgroup_rights", Nested, Optional, "`[{id, permission}]`: 0 deny, 2 read, 3 write."),
    field("templategroup_rights", Nested, Optional, "The same on template groups."),
    field("rights", Nested, Optional, "Both at once; old form."),
    field("tag_filters", Nested, Optional, "`[{groupid, tag, value}]`: problems shown."),
    field("users", Nested, Optional, "Members: `[{userid}]`."),
    field("userids", Nested, Optional, "Members; old form."),
];

pub(crate) static USER_GROUP: Object = Object {
    name: "usergroup",
    table: "usergroups",
    key: "usrgrpid",
    keys: "usrgrpids",
    fields: FIELDS,
    strict: false,
    sort: &["usrgrpid", "name"],
};

const RIGHT: &[Field] = &[
    field("id", Id, Required, "Group.").in_column("groupid"),
    field("permission", OneOf(&[0, 2, 3]), Required, "0 deny, 2 read, 3 read and write."),
];

const RIGHTS: Child =
    Child::new("rights", &table::GROUP_RIGHTS, "usrgrpid", Key::Link("groupid"), RIGHT);

const TAG_FILTER: &[Field] = &[
    field("groupid", Id, Required, "Host group."),
    field("tag", Text(255), Optional, "Tag; empty = all."),
    field("value", Text(255), Optional, "Its value; empty = any."),
];

const MEMBER: &[Field] = &[field("userid", Id, Required, "User.")];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "User group \"{name}\" already exists.",
    }),
    children: &[
        Child {
            select: Some(Select::Rows("selectRights")),
            refer: |_, edit, rows, _| check_groups(edit, rows, &[0, 1]),
            ..RIGHTS
        },
        Child {
            member: "hostgroup_rights",
            select: Some(Select::Rows("selectHostGroupRights")),
            among: Some(formatcp!(
                "groupid IN (SELECT groupid FROM groups_ WHERE type = {GROUP_OF_HOSTS})"
            )),
            refer: |_, edit, rows, _| check_groups(edit, rows, &[0]),
            ..RIGHTS
        },
        Child {
            member: "templategroup_rights",
            select: Some(Select::Rows("selectTemplateGroupRights")),
            among: Some(formatcp!(
                "groupid IN (SELECT groupid FROM groups_ WHERE type = {GROUP_OF_TEMPLATES})"
            )),
            refer: |_, edit, rows, _| check_groups(edit, rows, &[1]),
            ..RIGHTS
        },
        Child {
            select: Some(Select::Rows("selectTagFilters")),
            unique: &["groupid", "tag", "value"],
            check: check_filter,
            refer: |_, edit, rows, _| check_groups(edit, rows, &[0]),
            ..Child::new(
                "tag_filters",
                &table::TAG_FILTERS,
                "usrgrpid",
                Key::Id("tagfilterid"),
                TAG_FILTER,
            )
        },
        Child {
            refer: |_, edit, rows, path| check_users(edit, rows, path),
            ..Child::new("users", &table::USER_GROUPS, "usrgrpid", Key::Link("userid"), MEMBER)
        },
    ],
    ..Spec::new(
        &USER_GROUP,
        &table::USERGROUPS,
        &[
            ("usrgrpids", "t.usrgrpid IN ({ids})"),
            ("mfaids", "t.mfaid IN ({ids})"),
            ("userids", "t.usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid IN ({ids}))"),
        ],
    )
};

#[derive(Default)]
struct UserGroup;

impl Plain for UserGroup {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        for (option, column) in [
            ("status", "users_status"),
            ("with_gui_access", "gui_access"),
            ("mfa_status", "mfa_status"),
        ] {
            if let Some(values) = params::ints(input, option)? {
                let list: Vec<String> = values.iter().map(ToString::to_string).collect();
                get.and(format!("t.{column} IN ({})", list.join(", ")), []);
            }
        }
        if call.is_super_admin() {
            return Ok(());
        }
        if get.flag("editable") {
            get.and("1 = 0", []);
        } else {
            let condition = "t.usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid = ?)";
            get.and(condition, [call.user().id.into()]);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if !found.call.is_super_admin() {
            // How others sign in is no concern of users.
            for row in &mut found.rows {
                row.out.retain(|name| name != "userdirectoryid" && name != "mfaid");
            }
        }
        let Some(wanted) = found.wants_uncounted("selectUsers")? else { return Ok(()) };
        let pairs = found.call.pairs(
            "SELECT usrgrpid, userid FROM user_groups WHERE usrgrpid IN ({ids}) ORDER BY userid",
            &found.ids(),
        )?;
        let mut relation = Relation::new("users", &user::USER);
        // How they may sign in is no field of a user: it comes with all fields.
        if wanted == Output::Extend {
            relation = relation.with("getAccess");
        }
        found.relate_as(&relation, &wanted, &pairs)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let users = SPEC.children.iter().position(|child| child.member == "users");
        if let Some(users @ None) = users.and_then(|n| draft.children.get_mut(n)) {
            let ids = params::ids(draft.input, "userids")?;
            *users = ids.map(|ids| ids.into_iter().map(|id| vec![("userid", id.into())]).collect());
        }
        Ok(())
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        check_deprovisioned(edit, draft, before)?;
        check_directory(edit, draft, before)?;
        check_mfa(edit, draft, before)
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        uses::refuse(edit, rows)?;
        plain::delete_rows(&SPEC, edit, rows)
    }

    fn written(&self, call: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        for draft in drafts {
            let own = edit.query(
                "SELECT g.usrgrpid FROM usergroups g JOIN user_groups ug ON ug.usrgrpid = g.usrgrpid \
                 WHERE g.usrgrpid = ? AND ug.userid = ? AND (g.users_status = 1 OR g.gui_access = 3)",
                &[draft.id.into(), call.user().id.into()],
            )?;
            if !own.is_empty() {
                return Err(ApiError::params(
                    "User cannot add oneself to a disabled group or a group with disabled GUI access.",
                ));
            }
        }
        check_super_admin_left(edit)?;
        end_sessions(edit)
    }
}

/// Values of `gui_access` of groups whose users a directory may authenticate: the default, and LDAP.
const BY_DIRECTORY: [i64; 2] = [0, 2];

/// Refuses to enable the group of deprovisioned users.
fn check_deprovisioned(
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let is_enabled = before.is_some() && draft.value("users_status", before).as_int() == 0;
    if is_enabled && deprovisioned(edit)? == draft.id {
        return Err(ApiError::params("Deprovisioned users group cannot be enabled."));
    }
    Ok(())
}

/// The group of deprovisioned users; 0 = none.
fn deprovisioned(edit: &mut Edit<'_>) -> ApiResult<u64> {
    Ok(Current::read(edit)?.number("disabled_usrgrpid"))
}

fn check_directory(
    edit: &mut Edit<'_>,
    draft: &mut Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let name = "userdirectoryid";
    if !BY_DIRECTORY.contains(&draft.value("gui_access", before).as_int()) {
        if draft.gives(name) {
            let error = format_args!("unexpected parameter \"{name}\"");
            return Err(ApiError::at(&draft.path, error));
        }
        draft.set(name, 0);
    }
    let given = draft.value(name, None).as_int();
    let sql =
        "SELECT userdirectoryid FROM userdirectories WHERE userdirectoryid = ? AND idp_type = 1";
    if given != 0 && edit.query(sql, &[given.into()])?.is_empty() {
        let path = format!("{}/{name}", draft.path);
        return Err(ApiError::at(&path, "referred object does not exist"));
    }
    Ok(())
}

fn check_mfa(edit: &mut Edit<'_>, draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    if draft.value("mfa_status", before).as_int() == 0 {
        return plain::only(draft, "mfaid", &0.into());
    }
    let given = draft.value("mfaid", None).as_int();
    let sql = "SELECT mfaid FROM mfa WHERE mfaid = ?";
    if given != 0 && edit.query(sql, &[given.into()])?.is_empty() {
        return Err(ApiError::at(&format!("{}/mfaid", draft.path), "object does not exist"));
    }
    Ok(())
}

fn check_filter(_: &mut Seen, row: &mut Columns, _: &str) -> ApiResult<()> {
    let is_empty = |name: &str| text(row, name).unwrap_or_default().is_empty();
    if is_empty("tag") && !is_empty("value") {
        return Err(ApiError::params("Incorrect value for field \"tag\": cannot be empty."));
    }
    Ok(())
}

fn ids(rows: &[Columns], column: &str) -> Vec<u64> {
    rows.iter().filter_map(|row| u64::try_from(number(row, column)).ok()).collect()
}

fn check_users(edit: &mut Edit<'_>, rows: &[Columns], path: &str) -> ApiResult<()> {
    let users = ids(rows, "userid");
    let known = names(edit, "users", "userid", "username", &users)?;
    match users.iter().position(|id| !known.contains_key(id)) {
        None => Ok(()),
        Some(n) => Err(ApiError::at(&format!("{path}/{}/userid", n + 1), "object does not exist")),
    }
}

/// Groups must exist and be of one of these types (0 host groups, 1 template groups).
fn check_groups(edit: &mut Edit<'_>, rows: &[Columns], types: &[i64]) -> ApiResult<()> {
    let groups = ids(rows, "groupid");
    let sql = "SELECT groupid, type FROM groups_ WHERE groupid IN ({ids})";
    let known = query_by_ids(edit, sql, &[], &groups)?;
    let fits = |id: u64| {
        known.iter().any(|row| row.id("groupid") == id && types.contains(&row.int("type")))
    };
    match groups.iter().find(|id| !fits(**id)) {
        None => Ok(()),
        Some(id) => {
            let what = if types.contains(&0) { "Host" } else { "Template" };
            Err(ApiError::params(format!("{what} group with ID \"{id}\" is not available.")))
        }
    }
}

#[cfg(test)]
mod tests;
