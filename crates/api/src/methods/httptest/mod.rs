//! Web scenarios. A scenario hangs on its item `web.test.fail[name]`, whose id is the scenario's:
//! interval, state and inheritance are the item's, all else is the JSON that it keeps.

mod doc;
mod related;
#[cfg(test)]
mod tests;

use config::Edit;
use config::db::Row;
use config::objects::{Tag, WebScenario, delete_web_scenarios, write_web_scenario};
use const_format::formatcp;
use objects::sql::{KIND_HOST, KIND_TEMPLATE, STATUS_DISABLED, STATUS_ENABLED, TYPE_WEB};
use serde_json::Map;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::{Get, Output};
use crate::methods::host;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::owned::secrets;
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;
use crate::write::{Target, rows_of};

pub(crate) use related::{attach_to_hosts, of_hosts, of_hosts_by_id};

pub(crate) const METHODS: &[Method] = &[
    Method::user("httptest.get", get),
    Method::admin("httptest.create", create),
    Method::admin("httptest.update", update),
    Method::admin("httptest.delete", delete),
];

const FIELDS: &[Field] = &[
    field("httptestid", Id, ReadOnly, "Id of the web scenario."),
    field("hostid", Id, Required, "Host or template that it belongs to."),
    field("templateid", Id, ReadOnly, "Scenario of a template that it comes from."),
    field("name", Name(64), Required, "Name."),
    field("delay", Text(255), Optional, "Interval; default: 1m."),
    field("status", OneOf(&[0, 1]), Optional, "0 on, 1 off."),
    field("agent", Text(255), Optional, "User agent; default: Zabbix."),
    field("authentication", Int(0, 4), Optional, "0 none, 1 basic, 2 NTLM, 4 digest."),
    field("http_user", Text(255), Optional, "User name."),
    field("http_password", Text(255), Optional, "Password."),
    field("http_proxy", Text(255), Optional, "Proxy."),
    field("retries", Int(1, 10), Optional, "Attempts of each step; default: 1."),
    field("ssl_cert_file", Text(255), Optional, "File of the client's certificate."),
    field("ssl_key_file", Text(255), Optional, "File of its key."),
    field("ssl_key_password", Text(64), Optional, "Password of the key."),
    field("verify_peer", OneOf(&[0, 1]), Optional, "Check the server's certificate."),
    field("verify_host", OneOf(&[0, 1]), Optional, "Check that it names the server."),
    field("uuid", Text(32), Optional, "Universal id; of templates only."),
    field("headers", Nested, Optional, "`[{name, value}]` of steps that have none."),
    field("variables", Nested, Optional, "`[{name, value}]`: `{name}` in braces."),
    field("steps", Nested, Required, "Requests: `[{name, no, url, …}]`."),
    field("tags", Nested, Optional, "`[{tag, value}]`."),
];

pub(crate) static HTTPTEST: Object = Object {
    name: "httptest",
    table: formatcp!(
        "(SELECT i.itemid AS httptestid, i.hostid, i.templateid, \
             SUBSTR(i.name, 26, LENGTH(i.name) - 27) AS name, i.delay, i.status, i.uuid, \
             i.params AS doc, '' AS agent, '0' AS authentication, '' AS http_user, \
             '' AS http_password, '' AS http_proxy, '1' AS retries, '' AS ssl_cert_file, \
             '' AS ssl_key_file, '' AS ssl_key_password, '0' AS verify_peer, '0' AS verify_host \
             FROM items i WHERE i.type = {TYPE_WEB} AND i.params <> '')"
    ),
    key: "httptestid",
    keys: "httptestids",
    fields: FIELDS,
    strict: false,
    sort: &["httptestid", "name"],
};

const OPTIONS: &[&str] = &[
    "httptestids",
    "hostids",
    "templateids",
    "groupids",
    "inherited",
    "templated",
    "monitored",
    "selectHosts",
    "selectSteps",
    "selectTags",
    "expandName",
    "expandStepName",
];

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &HTTPTEST, OPTIONS)?;
    get.by_ids("httptestids", "t.httptestid IN ({ids})")?;
    get.by_ids("hostids", "t.hostid IN ({ids})")?;
    get.by_ids("templateids", "t.hostid IN ({ids})")?;
    let of_groups =
        "t.hostid IN (SELECT hg.hostid FROM host_groups hg WHERE hg.groupid IN ({ids}))";
    get.by_ids("groupids", of_groups)?;
    for (option, yes, no) in [
        ("inherited", "t.templateid > 0", "t.templateid = 0"),
        (
            "templated",
            formatcp!("t.hostid IN (SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE})"),
            formatcp!("t.hostid IN (SELECT hostid FROM hosts WHERE kind = {KIND_HOST})"),
        ),
        (
            "monitored",
            formatcp!(
                "t.status = {STATUS_ENABLED} AND t.hostid IN \
             (SELECT hostid FROM hosts WHERE kind = {KIND_HOST} AND status = {STATUS_ENABLED})"
            ),
            formatcp!(
                "(t.status = {STATUS_DISABLED} OR t.hostid IN \
             (SELECT hostid FROM hosts WHERE status = {STATUS_DISABLED}))"
            ),
        ),
    ] {
        match input.get(option) {
            None | Some(Json::Null) => {}
            Some(_) => get.and(if get.flag(option) { yes } else { no }, []),
        }
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.hostid") {
        get.and(condition, []);
    }
    get.need(&["doc", "hostid"]);
    let mut found = get.run()?;
    show(&mut found);
    attach(&mut found)?;
    // Secrets are also in the steps, so this comes last.
    secrets::hide(&mut found, "hostid")?;
    Ok(found.finish())
}

/// What the JSON has takes the place of the table's.
fn show(found: &mut Found<'_, '_>) {
    let Found { rows, output, .. } = found;
    for row in rows {
        let doc = doc::read(row.row.text("doc"));
        for name in doc::PLAIN {
            if let Some(shown) = row.out.get_mut(name) {
                *shown = doc[*name].clone();
            }
        }
        for name in ["headers", "variables"] {
            if output.has(name) {
                row.out.insert(name.to_owned(), doc[name].clone());
            }
        }
    }
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if let Some(wanted) = found.wants_uncounted("selectHosts")? {
        let pairs: Vec<(u64, u64)> =
            found.rows.iter().map(|row| (row.id, row.row.id("hostid"))).collect();
        found.relate_as(&Relation::new("hosts", &host::HOST), &wanted, &pairs)?;
    }
    for (option, member) in [("selectSteps", "steps"), ("selectTags", "tags")] {
        let Some(wanted) = found.wants(option)? else { continue };
        for row in &mut found.rows {
            let doc = doc::read(row.row.text("doc"));
            let list = doc[member].as_array().cloned().unwrap_or_default();
            let shown = match wanted {
                Output::Count => Json::String(list.len().to_string()),
                _ => list
                    .into_iter()
                    .enumerate()
                    .map(|(n, one)| only_wanted(one, &wanted, row.id, n))
                    .collect(),
            };
            row.out.insert(member.to_owned(), shown);
        }
    }
    Ok(())
}

fn only_wanted(one: Json, wanted: &Output, scenario: u64, n: usize) -> Json {
    let Json::Object(mut members) = one else { return one };
    if members.contains_key("url") {
        let id = scenario.saturating_mul(1000) + n as u64 + 1;
        members.insert("httpstepid".to_owned(), id.to_string().into());
        members.insert("httptestid".to_owned(), scenario.to_string().into());
    }
    members.into_iter().filter(|(name, _)| wanted.has(name)).collect::<Map<_, _>>().into()
}

/// The name of a scenario in the name of its item, which says `Failed step of scenario "…".`
pub(crate) fn name_of(item: &str) -> &str {
    item.split_once('"').map_or("", |(_, rest)| rest.strip_suffix("\".").unwrap_or(rest))
}

/// A scenario as it is to be written.
fn scenario(doc: &Json, delay: &str, status: i64, uuid: &str) -> WebScenario {
    let texts = |list: &str, name: &str| -> Vec<String> {
        let list = doc[list].as_array().map_or(&[][..], Vec::as_slice);
        list.iter().map(|one| one[name].as_str().unwrap_or_default().to_owned()).collect()
    };
    let tags = texts("tags", "tag").into_iter().zip(texts("tags", "value"));
    WebScenario {
        name: doc["name"].as_str().unwrap_or_default().to_owned(),
        steps: texts("steps", "name"),
        delay: delay.to_owned(),
        status,
        uuid: uuid.to_owned(),
        doc: doc.to_string(),
        tags: tags.map(|(tag, value)| Tag { tag, value }).collect(),
    }
}

/// Members that no export has.
pub(crate) const SECRETS: &[&str] = &["http_password", "ssl_key_password"];

/// Writes the scenario of an import: `doc` as the API has it. An existing scenario keeps the
/// secrets that the document does not have, because exports have none.
pub(crate) fn import(
    call: &Call<'_>,
    hostid: u64,
    before: Option<(u64, &str)>,
    doc: (&Json, &str),
) -> ApiResult<()> {
    call.write(|edit| {
        call.require(edit, Target::HostOrTemplate, Need::Write, &[hostid])?;
        write(edit, hostid, before, doc).map(drop)
    })
}

/// Writes a scenario; returns its id.
fn write(
    edit: &mut Edit<'_>,
    hostid: u64,
    before: Option<(u64, &str)>,
    (doc, path): (&Json, &str),
) -> ApiResult<u64> {
    let mut checked = doc::checked(doc, None, path)?;
    if let Some((id, _)) = before {
        let rows = edit.query("SELECT params FROM items WHERE itemid = ?", &[id.into()])?;
        let stored = rows.first().map(|row| doc::read(row.text("params"))).unwrap_or_default();
        for name in SECRETS.iter().filter(|name| doc.get(**name).is_none()) {
            checked[*name] = stored[*name].as_str().unwrap_or_default().into();
        }
    }
    let text = |name: &str, default: &str| doc[name].as_str().unwrap_or(default).to_owned();
    let status = params::int(doc.get("status").unwrap_or(&Json::from(0)), path)?;
    let written = scenario(&checked, &text("delay", "1m"), status, &text("uuid", ""));
    Ok(write_web_scenario(edit, hostid, before, &written)?)
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?;
    call.write(|edit| {
        let mut ids = Vec::new();
        for (path, object) in &objects {
            let host =
                object.get("hostid").ok_or_else(|| crate::object::missing(path, "hostid"))?;
            let host = params::id(host, &format!("{path}/hostid"))?;
            call.require(edit, Target::HostOrTemplate, Need::Write, &[host])?;
            let name = object["name"].as_str().unwrap_or_default();
            let same = edit.query(
                "SELECT itemid FROM items WHERE hostid = ? AND key_ = ?",
                &[host.into(), config::snapshot::web::keys::fail(name).into()],
            )?;
            if !same.is_empty() {
                return Err(ApiError::params(format!("Web scenario \"{name}\" already exists.")));
            }
            ids.push(write(edit, host, None, (object, path))?);
        }
        Ok(HTTPTEST.result(&ids))
    })
}

/// A scenario before a change.
struct Before {
    id: u64,
    hostid: u64,
    templateid: u64,
    delay: String,
    status: i64,
    doc: Json,
}

fn before(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Vec<Before>> {
    let sql = formatcp!(
        "SELECT itemid, hostid, templateid, delay, status, params FROM items \
         WHERE type = {TYPE_WEB} AND params <> '' AND itemid IN ({{ids}})"
    );
    let rows = rows_of(edit, sql, "itemid", ids)?;
    let hosts: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    call.require(edit, Target::HostOrTemplate, Need::Write, &hosts)?;
    let before = |row: &Row| Before {
        id: row.id("itemid"),
        hostid: row.id("hostid"),
        templateid: row.id("templateid"),
        delay: row.text("delay").to_owned(),
        status: row.int("status"),
        doc: doc::read(row.text("params")),
    };
    Ok(rows.iter().map(before).collect())
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let changes = HTTPTEST.updates(input)?;
    let ids: Vec<u64> = changes.iter().map(|(_, id, _)| *id).collect();
    call.write(|edit| {
        let known = before(call, edit, &ids)?;
        for ((path, id, object), before) in changes.iter().zip(&known) {
            let fixed = ["name", "steps"].into_iter().find(|name| object.get(name).is_some());
            if let (true, Some(name)) = (before.templateid > 0, fixed) {
                return Err(ApiError::at(
                    &format!("{path}/{name}"),
                    "cannot update readonly parameter of inherited object",
                ));
            }
            let name = before.doc["name"].as_str().unwrap_or_default();
            let doc = doc::checked(object, Some(&before.doc), path)?;
            let delay = object["delay"].as_str().unwrap_or(&before.delay);
            let status = match object.get("status") {
                Some(status) => params::int(status, &format!("{path}/status"))?,
                None => before.status,
            };
            let uuid = object["uuid"].as_str().unwrap_or_default();
            let written = scenario(&doc, delay, status, uuid);
            write_web_scenario(edit, before.hostid, Some((*id, name)), &written)?;
        }
        Ok::<_, ApiError>(())
    })?;
    Ok(HTTPTEST.result(&ids))
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let known = before(call, edit, &ids)?;
        if known.iter().any(|before| before.templateid > 0) {
            return Err(ApiError::params("Cannot delete a web scenario of a template.".to_owned()));
        }
        let gone: Vec<(u64, u64, String)> = known
            .iter()
            .map(|before| {
                let name = before.doc["name"].as_str().unwrap_or_default();
                (before.hostid, before.id, name.to_owned())
            })
            .collect();
        Ok::<_, ApiError>(delete_web_scenarios(edit, &gone)?)
    })?;
    Ok(HTTPTEST.result(&ids))
}
