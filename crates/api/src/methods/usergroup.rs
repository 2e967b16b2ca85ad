//! User groups: rights on host and template groups, tag filters, members.

use config::Edit;
use config::db::{Value, id_params, query_by_ids};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get, Output};
use crate::methods::user::{check_super_admin_left, end_sessions};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf};
use crate::object::{Columns, Field, Mode, Object, field, missing, taken};
use crate::params;
use crate::relate::Relation;
use crate::write::{names, nested, nested_ids, only};

pub(crate) const METHODS: &[Method] = &[
    Method::user("usergroup.get", get),
    Method::super_admin("usergroup.create", create),
    Method::super_admin("usergroup.update", update),
    Method::super_admin("usergroup.delete", delete),
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

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &USER_GROUP, &[])?;
    get.by_ids("usrgrpids", "t.usrgrpid IN ({ids})")?;
    get.by_ids("mfaids", "t.mfaid IN ({ids})")?;
    get.by_ids(
        "userids",
        "t.usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid IN ({ids}))",
    )?;
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
    if !call.is_super_admin() {
        if get.flag("editable") {
            get.and("1 = 0", []);
        } else {
            get.and(
                "t.usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid = ?)",
                [call.user().id.into()],
            );
        }
    }
    let mut found = get.run()?;
    attach(&mut found)?;
    Ok(found.finish())
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if let Some(wanted) = found.wants_uncounted("selectUsers")? {
        let pairs = found.call.pairs(
            "SELECT usrgrpid, userid FROM user_groups WHERE usrgrpid IN ({ids}) ORDER BY userid",
            &found.ids(),
        )?;
        let mut relation = Relation::new("users", "user.get", "userids", "userid");
        // How they may sign in is no field of a user: it comes with all fields.
        if wanted == Output::Extend {
            relation = relation.with("getAccess");
        }
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    for (option, member, types) in [
        ("selectHostGroupRights", "hostgroup_rights", "0"),
        ("selectTemplateGroupRights", "templategroup_rights", "1"),
        ("selectRights", "rights", "0, 1"),
    ] {
        if let Some(wanted) = found.wants_uncounted(option)? {
            let sql = format!(
                "SELECT r.usrgrpid AS owner, r.groupid AS id, r.permission FROM group_rights r \
                 JOIN groups_ g ON g.groupid = r.groupid WHERE g.type IN ({types}) \
                 AND r.usrgrpid IN ({{ids}}) ORDER BY r.groupid"
            );
            found.attach(member, &wanted, &sql, &["id", "permission"])?;
        }
    }
    if let Some(wanted) = found.wants_uncounted("selectTagFilters")? {
        found.attach(
            "tag_filters",
            &wanted,
            "SELECT usrgrpid AS owner, groupid, tag, value FROM tag_filters \
             WHERE usrgrpid IN ({ids}) ORDER BY tagfilterid",
            &["groupid", "tag", "value"],
        )?;
    }
    Ok(())
}

/// Group and permission.
type Right = (u64, i64);

/// A user group as a client gives it.
struct GroupInput {
    path: String,
    columns: Columns,
    name: Option<String>,
    host_rights: Option<Vec<Right>>,
    template_rights: Option<Vec<Right>>,
    both_rights: Option<Vec<Right>>,
    filters: Option<Vec<(u64, String, String)>>,
    users: Option<Vec<u64>>,
}

impl GroupInput {
    fn parse(object: &Json, path: &str, mode: Mode) -> ApiResult<Self> {
        let columns = USER_GROUP.validate(object, path, mode)?;
        let at = |name: &str| format!("{path}/{name}");
        let rights = |name: &str| object.get(name).map(|v| parse_rights(v, &at(name))).transpose();
        for name in ["userdirectoryid", "mfaid"] {
            // Directories and second factors are not kept yet, so there are none to refer to.
            if columns.iter().any(|(column, value)| *column == name && value.as_int() != 0) {
                return Err(ApiError::at(&at(name), "referred object does not exist"));
            }
        }
        let users = match (object.get("users"), object.get("userids")) {
            (Some(users), _) => Some(nested_ids(users, &at("users"), "userid")?),
            (None, Some(_)) => params::ids(object, "userids")?,
            (None, None) => None,
        };
        Ok(Self {
            path: path.to_owned(),
            columns,
            name: object.get("name").map(|v| params::text(v, &at("name"))).transpose()?,
            host_rights: rights("hostgroup_rights")?,
            template_rights: rights("templategroup_rights")?,
            both_rights: rights("rights")?,
            filters: object
                .get("tag_filters")
                .map(|v| parse_filters(v, &at("tag_filters")))
                .transpose()?,
            users,
        })
    }

    fn write_owned(&self, call: &Call<'_>, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        for (rights, types) in [
            (&self.both_rights, &[0, 1][..]),
            (&self.host_rights, &[0][..]),
            (&self.template_rights, &[1][..]),
        ] {
            if let Some(rights) = rights {
                write_rights(edit, id, rights, types)?;
            }
        }
        if let Some(filters) = &self.filters {
            edit.delete("tag_filters", "usrgrpid", &[id])?;
            let groups: Vec<u64> = filters.iter().map(|(group, ..)| *group).collect();
            check_groups(edit, &groups, &[0])?;
            for (group, tag, value) in filters {
                let row = [
                    ("usrgrpid", id.into()),
                    ("groupid", (*group).into()),
                    ("tag", tag.as_str().into()),
                    ("value", value.as_str().into()),
                ];
                edit.insert_new("tag_filters", &row)?;
            }
        }
        if let Some(users) = &self.users {
            let known = names(edit, "users", "userid", "username", users)?;
            if let Some(n) = users.iter().position(|id| !known.contains_key(id)) {
                let path = format!("{}/users/{}/userid", self.path, n + 1);
                return Err(ApiError::at(&path, "object does not exist"));
            }
            edit.delete("user_groups", "usrgrpid", &[id])?;
            for user in users {
                let row = [("userid", Value::from(*user)), ("usrgrpid", Value::from(id))];
                edit.insert("user_groups", &row)?;
            }
        }
        let own = edit.query(
            "SELECT g.usrgrpid FROM usergroups g JOIN user_groups ug ON ug.usrgrpid = g.usrgrpid \
             WHERE g.usrgrpid = ? AND ug.userid = ? AND (g.users_status = 1 OR g.gui_access = 3)",
            &[id.into(), call.user().id.into()],
        )?;
        if own.is_empty() {
            return Ok(());
        }
        Err(ApiError::params(
            "User cannot add oneself to a disabled group or a group with disabled GUI access.",
        ))
    }
}

fn parse_rights(value: &Json, path: &str) -> ApiResult<Vec<Right>> {
    let mut rights: Vec<Right> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["id", "permission"])?;
        let member = |name: &str| members.get(name).ok_or_else(|| missing(&path, name));
        let id = params::id(member("id")?, &format!("{path}/id"))?;
        let at = format!("{path}/permission");
        let permission = params::int(member("permission")?, &at)?;
        if ![0, 2, 3].contains(&permission) {
            return Err(ApiError::at(&at, "value must be one of 0, 2, 3"));
        }
        if rights.iter().any(|(other, _)| *other == id) {
            return Err(taken(&path, "id", id));
        }
        rights.push((id, permission));
    }
    Ok(rights)
}

fn parse_filters(value: &Json, path: &str) -> ApiResult<Vec<(u64, String, String)>> {
    let mut filters = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["groupid", "tag", "value"])?;
        let group = members.get("groupid").ok_or_else(|| missing(&path, "groupid"))?;
        let group = params::id(group, &format!("{path}/groupid"))?;
        let text = |name: &str| {
            members
                .get(name)
                .map_or(Ok(String::new()), |v| params::text(v, &format!("{path}/{name}")))
        };
        let filter = (group, text("tag")?, text("value")?);
        if filter.1.is_empty() && !filter.2.is_empty() {
            return Err(ApiError::params("Incorrect value for field \"tag\": cannot be empty."));
        }
        if filters.contains(&filter) {
            let shown = format!("{group}, {}, {}", filter.1, filter.2);
            return Err(taken(&path, "groupid, tag, value", shown));
        }
        filters.push(filter);
    }
    Ok(filters)
}

/// Groups must exist and be of one of these types (0 host groups, 1 template groups).
fn check_groups(edit: &mut Edit<'_>, groups: &[u64], types: &[i64]) -> ApiResult<()> {
    let rows = query_by_ids(
        edit.connection(),
        "SELECT groupid, type FROM groups_ WHERE groupid IN ({ids})",
        &[],
        groups,
    )?;
    let fits = |id: u64| {
        rows.iter().any(|row| row.id("groupid") == id && types.contains(&row.int("type")))
    };
    match groups.iter().find(|id| !fits(**id)) {
        None => Ok(()),
        Some(id) => {
            let what = if types.contains(&0) { "Host" } else { "Template" };
            Err(ApiError::params(format!("{what} group with ID \"{id}\" is not available.")))
        }
    }
}

fn write_rights(edit: &mut Edit<'_>, id: u64, rights: &[Right], types: &[i64]) -> ApiResult<()> {
    let groups: Vec<u64> = rights.iter().map(|(group, _)| *group).collect();
    check_groups(edit, &groups, types)?;
    for kind in types {
        let sql = "SELECT r.groupid FROM group_rights r JOIN groups_ g ON g.groupid = r.groupid \
                   WHERE r.usrgrpid = ? AND g.type = ?";
        let rows = edit.query(sql, &[id.into(), (*kind).into()])?;
        let groups = id_params(rows.iter().map(|row| row.id("groupid")));
        edit.delete_rows("group_rights", &[("usrgrpid", &[id.into()]), ("groupid", &groups)])?;
    }
    for (group, permission) in rights {
        let row = [
            ("usrgrpid", id.into()),
            ("groupid", (*group).into()),
            ("permission", (*permission).into()),
        ];
        edit.insert("group_rights", &row)?;
    }
    Ok(())
}

fn check_free(edit: &mut Edit<'_>, name: Option<&str>, own: u64) -> ApiResult<()> {
    let Some(name) = name else { return Ok(()) };
    let same = edit.query(
        "SELECT usrgrpid FROM usergroups WHERE name = ? AND usrgrpid <> ?",
        &[name.into(), own.into()],
    )?;
    if same.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(format!("User group \"{name}\" already exists.")))
}

fn check_distinct(groups: &[GroupInput]) -> ApiResult<()> {
    for (n, group) in groups.iter().enumerate() {
        if let Some(name) = &group.name
            && groups[..n].iter().any(|other| other.name.as_ref() == Some(name))
        {
            return Err(taken(&group.path, "name", name));
        }
    }
    Ok(())
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?.into_iter();
    let groups = objects
        .map(|(path, object)| GroupInput::parse(object, &path, Mode::Create))
        .collect::<ApiResult<Vec<_>>>()?;
    check_distinct(&groups)?;
    call.write_access(|edit| {
        let mut ids = Vec::new();
        for group in &groups {
            check_free(edit, group.name.as_deref(), 0)?;
            let id = edit.insert_new("usergroups", &group.columns)?;
            group.write_owned(call, edit, id)?;
            ids.push(id);
        }
        finish(edit)?;
        Ok(USER_GROUP.result(&ids))
    })
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut ids = Vec::new();
    let mut groups = Vec::new();
    for (path, id, object) in USER_GROUP.updates(input)? {
        ids.push(id);
        groups.push(GroupInput::parse(object, &path, Mode::Update)?);
    }
    check_distinct(&groups)?;
    call.write_access(|edit| {
        check_known(edit, &ids)?;
        for (id, group) in ids.iter().zip(&groups) {
            check_free(edit, group.name.as_deref(), *id)?;
            edit.update("usergroups", *id, &group.columns)?;
            group.write_owned(call, edit, *id)?;
        }
        finish(edit)?;
        Ok(USER_GROUP.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write_access(|edit| {
        check_known(edit, &ids)?;
        edit.delete("usergroups", "usrgrpid", &ids)?;
        Ok(USER_GROUP.result(&ids))
    })
}

fn check_known(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let known = names(edit, "usergroups", "usrgrpid", "name", ids)?;
    if ids.iter().all(|id| known.contains_key(id)) { Ok(()) } else { Err(ApiError::no_object()) }
}

fn finish(edit: &mut Edit<'_>) -> ApiResult<()> {
    check_super_admin_left(edit)?;
    end_sessions(edit)
}

#[cfg(test)]
mod tests;
