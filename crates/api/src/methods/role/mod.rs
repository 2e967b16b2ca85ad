//! Roles: what kind of user one is, and what of the interface, the API and the actions one may use.

mod rules;

use config::Edit;
use config::db::{Value, query_by_ids};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::methods::user::check_super_admin_left;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf};
use crate::object::{Field, Mode, Object, field, taken};
use crate::params;
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("role.get", get),
    Method::super_admin("role.create", create),
    Method::super_admin("role.update", update),
    Method::super_admin("role.delete", delete),
];

const FIELDS: &[Field] = &[
    field("roleid", Id, ReadOnly, "Id of the role."),
    field("name", Name(255), Required, "Name."),
    field("type", OneOf(&[1, 2, 3]), Required, "1 user, 2 admin, 3 super admin."),
    field("readonly", OneOf(&[0, 1]), ReadOnly, "1 = cannot be changed."),
    field("rules", Nested, Optional, "What its users may use."),
];

/// Fields that `output` may name: rules have an option of their own.
pub(crate) static ROLE: Object = Object {
    name: "role",
    table: "roles",
    key: "roleid",
    keys: "roleids",
    fields: FIELDS,
    strict: true,
    sort: &["roleid", "name"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &ROLE, &["roleids", "selectRules", "selectUsers"])?;
    get.by_ids("roleids", "t.roleid IN ({ids})")?;
    if !call.is_super_admin() {
        get.and("t.roleid = ?", [call.user().roleid.into()]);
        if get.flag("editable") {
            get.and("1 = 0", []);
        }
    }
    get.need(&["type", "rules"]);
    let mut found = get.run()?;
    if let Some(wanted) = found.wants_list("selectRules")? {
        for row in &mut found.rows {
            let stored = serde_json::from_str(row.row.text("rules")).unwrap_or_default();
            let shown = rules::shown(&stored, row.row.int("type"), &wanted);
            row.out.insert("rules", shown);
        }
    }
    if let Some(wanted) = found.wants("selectUsers")? {
        let me = call.user().id;
        let mut pairs = call.pairs(
            "SELECT roleid, userid FROM users WHERE roleid IN ({ids}) ORDER BY userid",
            &found.ids(),
        )?;
        pairs.retain(|(_, user)| call.is_super_admin() || *user == me);
        let relation = Relation::new("users", "user.get", "userids", "userid").bare();
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    Ok(found.finish())
}

fn check_free(edit: &mut Edit<'_>, name: &str, own: u64) -> ApiResult<()> {
    let same = edit.query(
        "SELECT roleid FROM roles WHERE name = ? AND roleid <> ?",
        &[name.into(), own.into()],
    )?;
    if same.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(format!("User role \"{name}\" already exists.")))
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut roles: Vec<(String, _)> = Vec::new();
    for (path, object) in params::objects(input)? {
        let mut columns = ROLE.validate(object, &path, Mode::Create)?;
        let name = params::text(&object["name"], &path)?;
        if roles.iter().any(|(other, _)| *other == name) {
            return Err(taken(&path, "name", name));
        }
        let kind = params::int(&object["type"], &path)?;
        let given = object.get("rules").unwrap_or(&Json::Null);
        let stored = rules::merged(&Json::Null, given, kind, &name, &format!("{path}/rules"))?;
        columns.push(("rules", stored.to_string().into()));
        roles.push((name, columns));
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for (name, columns) in &roles {
            check_free(edit, name, 0)?;
            ids.push(edit.insert_new("roles", columns)?);
        }
        Ok(ROLE.result(&ids))
    })
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut changes = Vec::new();
    for (path, id, object) in ROLE.updates(input)? {
        let columns = ROLE.validate(object, &path, Mode::Update)?;
        changes.push((path, id, object, columns));
    }
    let ids: Vec<u64> = changes.iter().map(|(_, id, ..)| *id).collect();
    call.write_access(|edit| {
        for (path, id, object, columns) in &changes {
            let rows = edit.query("SELECT * FROM roles WHERE roleid = ?", &[(*id).into()])?;
            let now = rows.first().ok_or_else(ApiError::no_object)?;
            if now.int("readonly") == 1 {
                let name = now.text("name");
                let text = format!("Cannot update readonly user role \"{name}\".");
                return Err(ApiError::application(text));
            }
            let given = |name: &str| columns.iter().find(|(column, _)| *column == name);
            let name = match given("name") {
                Some((_, Value::Text(name))) => name.clone(),
                _ => now.text("name").to_owned(),
            };
            check_free(edit, &name, *id)?;
            let kind = given("type").map_or_else(|| now.int("type"), |(_, value)| value.as_int());
            if *id == call.user().roleid && kind != now.int("type") {
                return Err(ApiError::params("The type of one's own role cannot be changed."));
            }
            let stored = serde_json::from_str(now.text("rules")).unwrap_or_default();
            let rules = object.get("rules").unwrap_or(&Json::Null);
            let merged = rules::merged(&stored, rules, kind, &name, &format!("{path}/rules"))?;
            let mut columns = columns.clone();
            columns.push(("rules", merged.to_string().into()));
            edit.update("roles", *id, &columns)?;
        }
        check_super_admin_left(edit)?;
        Ok(ROLE.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let sql = "SELECT roleid, name, readonly FROM roles WHERE roleid IN ({ids})";
        let rows = query_by_ids(edit.connection(), sql, &[], &ids)?;
        if rows.len() != ids.len() {
            return Err(ApiError::no_object());
        }
        for row in rows {
            let name = row.text("name");
            if row.int("readonly") == 1 {
                let text = format!("Cannot delete readonly user role \"{name}\".");
                return Err(ApiError::application(text));
            }
            let users = edit
                .query("SELECT userid FROM users WHERE roleid = ?", &[row.id("roleid").into()])?;
            if !users.is_empty() {
                let text = format!("Cannot delete assigned user role \"{name}\".");
                return Err(ApiError::application(text));
            }
        }
        edit.delete("roles", "roleid", &ids)?;
        Ok(ROLE.result(&ids))
    })
}
