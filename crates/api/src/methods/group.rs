//! Host groups and template groups: one table, two objects.

use config::db::Value;
use serde_json::json;

use crate::call::{Call, Json, Method, UserType};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, OneOf, Text};
use crate::object::{Field, Mode, Object, field};
use crate::params;
use crate::permission::{Need, on_groups};

pub(crate) const METHODS: &[Method] = &[
    Method { name: "hostgroup.get", lowest: Some(UserType::User), run: get_host_groups },
    Method {
        name: "hostgroup.create",
        lowest: Some(UserType::SuperAdmin),
        run: create_host_groups,
    },
];

const FIELDS: &[Field] = &[
    field("groupid", Id, ReadOnly, "Id of the group."),
    field("name", Name(255), Required, "Name; `/` makes a tree."),
    field("flags", OneOf(&[0, 4]), ReadOnly, "0 made by people, 4 made by discovery."),
    field("uuid", Text(32), Optional, "Universal id, for template exports."),
];

pub(crate) static HOST_GROUP: Object = Object {
    name: "hostgroup",
    table: "groups_",
    key: "groupid",
    keys: "groupids",
    fields: FIELDS,
    strict: true,
    sort: &["groupid", "name"],
};

fn get_host_groups(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &HOST_GROUP, &["groupids", "hostids", "selectHosts"])?;
    get.and("t.type = 0", []);
    get.by_ids("groupids", "t.groupid IN ({ids})")?;
    get.by_ids(
        "hostids",
        "t.groupid IN (SELECT groupid FROM host_groups WHERE hostid IN ({ids}))",
    )?;
    if let Some(condition) = on_groups(call.user(), Need::of_get(get.flag("editable")), "t.groupid")
    {
        get.and(condition, []);
    }
    let mut found = get.run()?;
    if let Some(wanted) = found.wants("selectHosts")? {
        let pairs = call.pairs(
            "SELECT groupid, hostid FROM host_groups WHERE groupid IN ({ids})",
            &found.ids(),
        )?;
        found.relate("hosts", &wanted, &pairs, "host.get", "hostids", "hostid")?;
    }
    Ok(found.finish())
}

fn create_host_groups(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    call.write(|edit| {
        let mut ids = Vec::new();
        for (path, object) in params::objects(input)? {
            let mut columns = HOST_GROUP.validate(object, &path, Mode::Create)?;
            columns.push(("type", Value::Int(0)));
            let name = params::text(&object["name"], &path)?;
            let same = edit.query(
                "SELECT groupid FROM groups_ WHERE type = 0 AND name = ?",
                &[name.as_str().into()],
            )?;
            if !same.is_empty() {
                return Err(ApiError::params(format!("Host group \"{name}\" already exists.")));
            }
            ids.push(edit.insert_new("groups_", &columns)?.to_string());
        }
        Ok(json!({ "groupids": ids }))
    })
}
