//! User macros of hosts and templates, and global ones.

use config::Edit;
use config::db::Row;

use crate::call::{Call, Json, Method, UserType};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, OneOf, Text};
use crate::object::{Field, Object, field, missing, taken};
use crate::owned::macros::{self, MacroInput, SECRET, canonical};
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;
use crate::write::{Target, names, only, rows_of};

pub(crate) const METHODS: &[Method] = &[
    Method::user("usermacro.get", get),
    Method::admin("usermacro.create", create),
    Method::admin("usermacro.update", update),
    Method::admin("usermacro.delete", delete),
    Method::super_admin("usermacro.createglobal", create_global),
    Method::super_admin("usermacro.updateglobal", update_global),
    Method::super_admin("usermacro.deleteglobal", delete_global),
];

const FIELDS: &[Field] = &[
    field("hostmacroid", Id, ReadOnly, "Id of the macro."),
    field("hostid", Id, Required, "Host or template that it belongs to."),
    field("macro", Name(255), Required, "`{$NAME}` or `{$NAME:context}`."),
    field("value", Text(2048), Required, "Value; secrets are never shown."),
    field("description", Text(65_535), Optional, "Free text."),
    field("type", OneOf(&[0, 1, 2]), Optional, "0 text, 1 secret, 2 vault path."),
    field("automatic", OneOf(&[0, 1]), Optional, "1 made by discovery; 0 makes it the user's own."),
];

const GLOBAL_FIELDS: &[Field] = &[
    field("globalmacroid", Id, ReadOnly, "Id of the macro."),
    field("macro", Name(255), Required, "`{$NAME}` or `{$NAME:context}`."),
    field("value", Text(2048), Required, "Value; secrets are never shown."),
    field("description", Text(65_535), Optional, "Free text."),
    field("type", OneOf(&[0, 1, 2]), Optional, "0 text, 1 secret, 2 vault path."),
];

pub(crate) static HOST_MACRO: Object = Object {
    name: "usermacro",
    table: "hostmacros",
    key: "hostmacroid",
    keys: "hostmacroids",
    fields: FIELDS,
    strict: false,
    sort: &["macro"],
};

pub(crate) static GLOBAL_MACRO: Object = Object {
    name: "usermacro",
    table: "globalmacros",
    key: "globalmacroid",
    keys: "globalmacroids",
    fields: GLOBAL_FIELDS,
    strict: false,
    sort: &["macro"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if params::flag(input.get("globalmacro")) {
        let mut get = Get::new(call, input, &GLOBAL_MACRO, &[])?;
        get.by_ids("globalmacroids", "t.globalmacroid IN ({ids})")?;
        // Global macros are shown to those who may change them and to administrators.
        if call.user().kind == UserType::User || (get.flag("editable") && !call.is_super_admin()) {
            get.and("1 = 0", []);
        }
        get.need(&["type"]);
        forbid_guessing(&mut get, input);
        let mut found = get.run()?;
        hide_secrets(&mut found);
        return Ok(found.finish());
    }
    let mut get = Get::new(call, input, &HOST_MACRO, &[])?;
    get.by_ids("hostmacroids", "t.hostmacroid IN ({ids})")?;
    get.by_ids("hostids", "t.hostid IN ({ids})")?;
    get.by_ids(
        "groupids",
        "t.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))",
    )?;
    get.by_ids(
        "templateids",
        "t.hostid IN (SELECT hostid FROM host_templates WHERE templateid IN ({ids}))",
    )?;
    get.and("EXISTS (SELECT 1 FROM hosts k WHERE k.hostid = t.hostid AND k.kind IN (0, 1))", []);
    if params::flag(input.get("inherited")) {
        // Host macros are never inherited from a prototype here.
        get.and("t.hostid IN (SELECT hostid FROM hosts WHERE flags = 4)", []);
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.hostid") {
        get.and(condition, []);
    }
    get.need(&["type", "hostid"]);
    forbid_guessing(&mut get, input);
    get.works_on(&["value"]);
    get.answer(|found| {
        hide_secrets(found);
        attach(found)
    })
}

/// Conditions on the value do not see secret ones: nobody may guess them, nor their beginnings.
fn forbid_guessing(get: &mut Get<'_, '_>, input: &Json) {
    let names = |option: &str| input.get(option).and_then(|members| members.get("value")).is_some();
    if names("search") || names("filter") {
        get.and("t.type <> 1", []);
    }
}

fn hide_secrets(found: &mut Found<'_, '_>) {
    for row in found.rows.iter_mut().filter(|row| row.row.int("type") == SECRET) {
        row.out.remove("value");
    }
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let owners: Vec<(u64, u64)> =
        found.rows.iter().map(|row| (row.id, row.row.id("hostid"))).collect();
    for (option, relation) in [
        ("selectHosts", Relation::new("hosts", "host.get", "hostids", "hostid").sorted("host")),
        (
            "selectTemplates",
            Relation::new("templates", "template.get", "templateids", "templateid").sorted("host"),
        ),
    ] {
        if let Some(wanted) = found.wants_uncounted(option)? {
            found.relate_as(&relation, &wanted, &owners)?;
        }
    }
    for (option, member, method) in [
        ("selectHostGroups", "hostgroups", "hostgroup.get"),
        ("selectTemplateGroups", "templategroups", "templategroup.get"),
        ("selectGroups", "groups", "hostgroup.get"),
    ] {
        let Some(wanted) = found.wants_uncounted(option)? else { continue };
        let hosts: Vec<u64> = owners.iter().map(|(_, host)| *host).collect();
        let groups = found.call.pairs(
            "SELECT hostid, groupid FROM host_groups WHERE hostid IN ({ids}) ORDER BY groupid",
            &hosts,
        )?;
        let mut pairs = Vec::new();
        for (id, host) in &owners {
            let own = groups.iter().filter(|(of, _)| of == host);
            pairs.extend(own.map(|(_, group)| (*id, *group)));
        }
        found.relate(member, &wanted, &pairs, method, "groupids", "groupid")?;
    }
    Ok(())
}

const WRITABLE: &[&str] = &["macro", "value", "description", "type"];

/// Reads a macro of a host or template, which has a `key` too.
fn read_own(object: &Json, path: &str, key: &str, id_name: &str) -> ApiResult<MacroInput> {
    read(object, path, &[key, "automatic"], id_name)
}

fn read(object: &Json, path: &str, extra: &[&str], id_name: &str) -> ApiResult<MacroInput> {
    let Json::Object(members) = object else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    let known: Vec<&str> = [WRITABLE, extra].concat();
    only(members, path, &known)?;
    MacroInput::read(members, path, id_name)
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut inputs: Vec<(u64, MacroInput)> = Vec::new();
    for (path, object) in params::objects(input)? {
        let one = read_own(object, &path, "hostid", "")?;
        let host = object.get("hostid").ok_or_else(|| missing(&path, "hostid"))?;
        let host = params::id(host, &format!("{path}/hostid"))?;
        one.new_row()?;
        let name = one.name.as_deref().map(canonical);
        if inputs.iter().any(|(h, m)| *h == host && m.name.as_deref().map(canonical) == name) {
            let shown = format!("{host}, {}", one.name.unwrap_or_default());
            return Err(taken(&path, "hostid, macro", shown));
        }
        inputs.push((host, one));
    }
    let hosts: Vec<u64> = inputs.iter().map(|(host, _)| *host).collect();
    call.write(|edit| {
        call.require(edit, Target::HostOrTemplate, Need::Write, &hosts)?;
        let mut ids = Vec::new();
        for (host, one) in &inputs {
            check_free(edit, *host, one, 0)?;
            ids.push(macros::insert(edit, *host, one)?);
        }
        Ok(HOST_MACRO.result(&ids))
    })
}

fn check_free(edit: &mut Edit<'_>, host: u64, one: &MacroInput, own: u64) -> ApiResult<()> {
    let Some(name) = &one.name else { return Ok(()) };
    let rows = macros::of(edit, host)?;
    let same = |row: &&Row| {
        row.id("hostmacroid") != own && canonical(row.text("macro")) == canonical(name)
    };
    let Some(row) = rows.iter().find(same) else { return Ok(()) };
    let hosts = names(edit, "hosts", "hostid", "name", &[host])?;
    Err(ApiError::params(format!(
        "Macro \"{}\" already exists on \"{}\".",
        row.text("macro"),
        hosts.get(&host).map_or("", String::as_str),
    )))
}

fn macros_of(edit: &mut Edit<'_>, object: &Object, ids: &[u64]) -> ApiResult<Vec<Row>> {
    let sql = format!("SELECT * FROM {} WHERE {} IN ({{ids}})", object.table, object.key);
    rows_of(edit, &sql, object.key, ids)
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut inputs = Vec::new();
    for (path, id, object) in HOST_MACRO.updates(input)? {
        inputs.push((id, read_own(object, &path, "hostmacroid", "hostmacroid")?));
    }
    let ids: Vec<u64> = inputs.iter().map(|(id, _)| *id).collect();
    call.write(|edit| {
        let rows = macros_of(edit, &HOST_MACRO, &ids)?;
        let hosts: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
        call.require(edit, Target::HostOrTemplate, Need::Write, &hosts)?;
        for ((id, one), row) in inputs.iter().zip(&rows) {
            check_free(edit, row.id("hostid"), one, *id)?;
            one.refuse_automatic(row)?;
            let changes = one.changes(row)?;
            edit.update("hostmacros", *id, &changes)?;
        }
        Ok(HOST_MACRO.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let rows = macros_of(edit, &HOST_MACRO, &ids)?;
        let hosts: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
        call.require(edit, Target::HostOrTemplate, Need::Write, &hosts)?;
        edit.delete("hostmacros", "hostmacroid", &ids)?;
        Ok(HOST_MACRO.result(&ids))
    })
}

fn create_global(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut inputs: Vec<MacroInput> = Vec::new();
    for (path, object) in params::objects(input)? {
        let one = read(object, &path, &[], "")?;
        one.new_row()?;
        check_distinct(&inputs, &one)?;
        inputs.push(one);
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for one in &inputs {
            check_free_global(edit, one, 0)?;
            ids.push(edit.insert_new("globalmacros", &one.new_row()?)?);
        }
        Ok(GLOBAL_MACRO.result(&ids))
    })
}

fn check_distinct(before: &[MacroInput], one: &MacroInput) -> ApiResult<()> {
    let Some(name) = &one.name else { return Ok(()) };
    let same = |other: &MacroInput| {
        other.name.as_deref().is_some_and(|other| canonical(other) == canonical(name))
    };
    if before.iter().any(same) {
        return Err(taken(&one.path, "macro", name));
    }
    Ok(())
}

fn check_free_global(edit: &mut Edit<'_>, one: &MacroInput, own: u64) -> ApiResult<()> {
    let Some(name) = &one.name else { return Ok(()) };
    let rows = edit.query("SELECT globalmacroid, macro FROM globalmacros", &[])?;
    let same = |row: &&Row| {
        row.id("globalmacroid") != own && canonical(row.text("macro")) == canonical(name)
    };
    match rows.iter().find(same) {
        None => Ok(()),
        Some(row) => {
            Err(ApiError::params(format!("Macro \"{}\" already exists.", row.text("macro"))))
        }
    }
}

fn update_global(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut ids = Vec::new();
    let mut inputs: Vec<MacroInput> = Vec::new();
    for (path, id, object) in GLOBAL_MACRO.updates(input)? {
        let one = read(object, &path, &["globalmacroid"], "globalmacroid")?;
        check_distinct(&inputs, &one)?;
        ids.push(id);
        inputs.push(one);
    }
    call.write(|edit| {
        let rows = macros_of(edit, &GLOBAL_MACRO, &ids)?;
        for ((id, one), row) in ids.iter().zip(&inputs).zip(&rows) {
            check_free_global(edit, one, *id)?;
            let changes = one.changes(row)?;
            edit.update("globalmacros", *id, &changes)?;
        }
        Ok(GLOBAL_MACRO.result(&ids))
    })
}

fn delete_global(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        macros_of(edit, &GLOBAL_MACRO, &ids)?;
        edit.delete("globalmacros", "globalmacroid", &ids)?;
        Ok(GLOBAL_MACRO.result(&ids))
    })
}

#[cfg(test)]
mod tests;
