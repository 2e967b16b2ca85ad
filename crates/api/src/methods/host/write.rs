//! `host.create`, `host.update`, `host.delete`.

use config::Edit;
use config::db::{Row, Value};
use config::objects::delete_hosts;
use config::table;
use objects::{HostKind, MonitoredBy};

use super::{FIELDS, HOST};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::maintenance::Members;
use crate::object::{Columns, Mode, columns_of, missing};
use crate::owned::extent::{self, PORTION_ITEMS};
use crate::owned::inventory::{self, DISABLED};
use crate::owned::links::NewLinks;
use crate::owned::macros::MacroInput;
use crate::owned::names::{NAME_MAX, check_free, is_technical_name};
use crate::owned::tags::Tag;
use crate::owned::{discovered, groups, interfaces, links, macros, tags, tls};
use crate::params;
use crate::permission::Need;
use crate::write::{Target, nested_ids, no_object_at, required_ids};

/// Columns that [`HostInput`] checks by rules of its own.
const OWN_RULES: &[&str] = &[
    "host",
    "name",
    "status",
    "tls_connect",
    "tls_accept",
    "tls_issuer",
    "tls_subject",
    "tls_psk_identity",
    "tls_psk",
    "monitored_by",
    "proxyid",
    "proxy_groupid",
    "inventory_mode",
];

/// A host as a client gives it. Unknown members are ignored, as clients expect of these methods.
pub(super) struct HostInput<'j> {
    path: String,
    object: &'j Json,
    host: Option<String>,
    name: Option<String>,
    columns: Columns,
    groups: Option<Vec<u64>>,
    pub(super) templates: Option<Vec<u64>>,
    templates_clear: Vec<u64>,
    tags: Option<Vec<Tag>>,
    macros: Option<Vec<MacroInput>>,
    inventory_mode: Option<i64>,
    inventory: inventory::Values,
}

impl<'j> HostInput<'j> {
    pub(super) fn parse(object: &'j Json, path: &str, mode: Mode) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let text = |name: &str| object.get(name).map(|v| params::text(v, &at(name))).transpose();
        let host = text("host")?;
        if mode == Mode::Create && object.get("groups").is_none() {
            return Err(missing(path, "groups"));
        }
        if mode == Mode::Create && host.is_none() {
            return Err(missing(path, "host"));
        }
        if let Some(host) = host.as_deref().filter(|host| !is_technical_name(host)) {
            let text = format!("Incorrect characters used for host name \"{host}\".");
            return Err(ApiError::params(text));
        }
        let mut name = text("name")?;
        // An empty visible name means: the same as the technical one.
        if name.as_deref() == Some("") || (name.is_none() && mode == Mode::Create) {
            if host.is_none() {
                return Err(ApiError::params(
                    "Visible name cannot be empty if host name is missing.",
                ));
            }
            name.clone_from(&host);
        }
        for (field, value) in [("host", &host), ("name", &name)] {
            check_length(field, value.as_deref())?;
        }
        let ids = |name: &str, key: &str| {
            object.get(name).map(|v| nested_ids(v, &at(name), key)).transpose()
        };
        let groups = match object.get("groups") {
            Some(_) => Some(required_ids(object, path, "groups", "groupid")?),
            None => None,
        };
        let (templates, clear) =
            (ids("templates", "templateid")?, ids("templates_clear", "templateid")?);
        let clear = if mode == Mode::Create { Vec::new() } else { clear.unwrap_or_default() };
        check_clear(path, templates.as_deref(), &clear)?;
        let mut columns =
            columns_of(FIELDS, HOST.key, &without_own_rules(object), path, Mode::Update)?;
        if let Some(status) = object.get("status") {
            columns.push(("status", status_of(status, host.as_deref())?.into()));
        }
        Ok(Self {
            path: path.to_owned(),
            object,
            name,
            columns,
            groups,
            templates,
            templates_clear: clear,
            tags: object.get("tags").map(|v| tags::parse(v, &at("tags"))).transpose()?,
            macros: object
                .get("macros")
                .map(|v| macros::parse(v, &at("macros"), mode == Mode::Update))
                .transpose()?,
            inventory_mode: object
                .get("inventory_mode")
                .map(|v| inventory::parse_mode(v, &at("inventory_mode")))
                .transpose()?,
            inventory: match object.get("inventory") {
                Some(value) => inventory::parse(value, &at("inventory"))?,
                None => Vec::new(),
            },
            host,
        })
    }

    /// What a host owns beside its row. Links to templates are checked, and left to the caller.
    fn write_owned(&self, call: &Call<'_>, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        let at = |name: &str| format!("{}/{name}", self.path);
        if let Some(ids) = &self.groups {
            groups::replace(call, edit, Target::HostGroup, id, ids, &at("groups"))?;
        }
        if let Some(tags) = &self.tags {
            tags::replace(edit, id, tags)?;
        }
        if let Some(macros) = &self.macros {
            macros::replace(edit, id, macros)?;
        }
        if let Some(list) = self.object.get("interfaces") {
            let rows = edit.query("SELECT name FROM hosts WHERE hostid = ?", &[id.into()])?;
            let name = rows.first().map(|row| row.text("name").to_owned()).unwrap_or_default();
            interfaces::replace(edit, id, &name, list, &at("interfaces"))?;
        }
        if let Some(ids) = &self.templates {
            let now = links::of(edit, id)?;
            let new: Vec<u64> = ids.iter().copied().filter(|id| !now.contains(id)).collect();
            let allowed = call.allowed(edit, Target::Template, Need::Read, &new)?;
            if let Some(n) = ids.iter().position(|id| new.contains(id) && !allowed.contains(id)) {
                return Err(no_object_at(&format!("{}/{}", at("templates"), n + 1)));
            }
        }
        Ok(())
    }
}

fn check_clear(path: &str, templates: Option<&[u64]>, clear: &[u64]) -> ApiResult<()> {
    for (n, id) in clear.iter().enumerate() {
        if let Some(at) = templates.and_then(|list| list.iter().position(|other| other == id)) {
            return Err(ApiError::at(
                &format!("{path}/templates_clear/{}/templateid", n + 1),
                format_args!(
                    "cannot be specified the value of parameter \"{path}/templates/{}/templateid\"",
                    at + 1
                ),
            ));
        }
    }
    Ok(())
}

fn check_length(field: &str, value: Option<&str>) -> ApiResult<()> {
    let length = value.map_or(0, |value| value.chars().count());
    if length > NAME_MAX {
        return Err(ApiError::application(format!(
            "The value of \"{field}\" has {length} characters. At most {NAME_MAX} are possible."
        )));
    }
    Ok(())
}

fn status_of(value: &Json, host: Option<&str>) -> ApiResult<i64> {
    match params::int(value, "/status") {
        Ok(status @ (0 | 1)) => Ok(status),
        _ => Err(ApiError::application(format!(
            "Incorrect status for host \"{}\".",
            host.unwrap_or_default()
        ))),
    }
}

fn without_own_rules(object: &Json) -> Json {
    let mut rest = object.clone();
    if let Some(members) = rest.as_object_mut() {
        members.retain(|name, _| !OWN_RULES.contains(&name.as_str()));
    }
    rest
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut hosts: Vec<HostInput<'_>> = Vec::new();
    for (path, object) in params::objects(input)? {
        let host = HostInput::parse(object, &path, Mode::Create)?;
        for (what, same) in [
            ("host name", hosts.iter().find(|h| h.host == host.host).and(host.host.as_ref())),
            ("visible name", hosts.iter().find(|h| h.name == host.name).and(host.name.as_ref())),
        ] {
            if let Some(name) = same {
                return Err(ApiError::params(format!(
                    "Duplicate host. Host with the same {what} \"{name}\" already exists in data."
                )));
            }
        }
        hosts.push(host);
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        let mut new_links = NewLinks::default();
        for host in &hosts {
            let id = insert(call, edit, host)?;
            if let Some(templates) = &host.templates {
                new_links.add(id, templates);
            }
            ids.push(id);
        }
        new_links.make(edit)?;
        Ok(HOST.result(&ids))
    })
}

fn insert(call: &Call<'_>, edit: &mut Edit<'_>, host: &HostInput<'_>) -> ApiResult<u64> {
    check_free(edit, 0, host.host.as_deref(), host.name.as_deref(), false)?;
    let mut row = host.columns.clone();
    row.push(("kind", Value::from(HostKind::Host.number())));
    row.extend(names(host));
    let kinds = tls::Kinds::parse(host.object, None, &host.path)?;
    row.extend(tls::columns(edit, host.object, None, &host.path, kinds, tls::Holder::Host(0))?);
    row.extend(monitored_by(edit, host.object, None, &host.path)?);
    if host.inventory_mode == Some(DISABLED) && !host.inventory.is_empty() {
        return Err(ApiError::params("Cannot set inventory fields for disabled inventory."));
    }
    let id = edit.insert_new(&table::HOSTS, &row)?;
    let mode = inventory::write(edit, id, DISABLED, host.inventory_mode, &host.inventory)?;
    edit.update(&table::HOSTS, id, &[("inventory_mode", mode.into())])?;
    host.write_owned(call, edit, id)?;
    Ok(id)
}

fn names(host: &HostInput<'_>) -> Columns {
    let mut columns = Columns::new();
    if let Some(name) = &host.host {
        columns.push(("host", name.as_str().into()));
    }
    if let Some(name) = &host.name {
        columns.push(("name", name.as_str().into()));
    }
    columns
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut updates = Vec::new();
    for (path, id, object) in HOST.updates(input)? {
        updates.push((id, HostInput::parse(object, &path, Mode::Update)?));
    }
    let ids: Vec<u64> = updates.iter().map(|(id, _)| *id).collect();
    call.write_checked(|edit| {
        call.require(edit, Target::Host, Need::Write, &ids)?;
        let mut new_links = NewLinks::default();
        for (id, host) in &updates {
            discovered::refuse_update(edit, *id, host.object)?;
            change(call, edit, *id, host, &mut new_links)?;
        }
        new_links.make(edit)
    })?;
    Ok(HOST.result(&ids))
}

/// Changes one host. The caller makes the new links.
pub(super) fn change<'h>(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    id: u64,
    host: &'h HostInput<'_>,
    new_links: &mut NewLinks<'h>,
) -> ApiResult<()> {
    let rows = edit.query("SELECT * FROM hosts WHERE hostid = ?", &[id.into()])?;
    let now = rows.first().ok_or_else(ApiError::no_object)?;
    let other = |given: &Option<String>, column: &str| {
        given.clone().filter(|given| given != now.text(column))
    };
    let (new_host, new_name) = (other(&host.host, "host"), other(&host.name, "name"));
    check_free(edit, id, new_host.as_deref(), new_name.as_deref(), false)?;
    let mut row = host.columns.clone();
    row.extend(names(host));
    if host.object.as_object().is_some_and(|m| m.keys().any(|k| k.starts_with("tls_"))) {
        let kinds = tls::Kinds::parse(host.object, Some(now), &host.path)?;
        let holder = tls::Holder::Host(id);
        row.extend(tls::columns(edit, host.object, Some(now), &host.path, kinds, holder)?);
    }
    row.extend(monitored_by(edit, host.object, Some(now), &host.path)?);
    let before = now.int("inventory_mode");
    let mode = inventory::write(edit, id, before, host.inventory_mode, &host.inventory)?;
    row.push(("inventory_mode", mode.into()));
    edit.update(&table::HOSTS, id, &row)?;
    host.write_owned(call, edit, id)?;
    new_links.replace(call, edit, id, host.templates.as_deref(), &host.templates_clear)
}

/// What collects the host's values: the server, a proxy or a proxy group.
fn monitored_by(
    edit: &mut Edit<'_>,
    object: &Json,
    now: Option<&Row>,
    path: &str,
) -> ApiResult<Columns> {
    const MEMBERS: [&str; 3] = ["monitored_by", "proxyid", "proxy_groupid"];
    if MEMBERS.iter().all(|name| object.get(name).is_none()) {
        return Ok(Columns::new());
    }
    let at = |name: &str| format!("{path}/{name}");
    let by = match object.get("monitored_by") {
        Some(value) => params::int(value, &at("monitored_by"))?,
        None => now.map_or(0, |row| row.int("monitored_by")),
    };
    let by = MonitoredBy::from_number(by)
        .ok_or_else(|| params::one_of(&at("monitored_by"), MonitoredBy::NUMBERS.iter().copied()))?;
    let mut columns: Columns = vec![("monitored_by", by.number().into())];
    for (name, table, wanted) in [
        ("proxyid", "proxies", by == MonitoredBy::Proxy),
        ("proxy_groupid", "proxy_groups", by == MonitoredBy::ProxyGroup),
    ] {
        let given = object.get(name).map(|v| params::id(v, &at(name))).transpose()?;
        let id = match (given, now) {
            (Some(id), _) if !wanted && id != 0 => {
                return Err(ApiError::at(&at(name), "value must be 0"));
            }
            _ if !wanted => 0,
            (Some(id), _) => id,
            (None, Some(row)) => row.id(name),
            (None, None) => return Err(missing(path, name)),
        };
        let sql = format!("SELECT {name} FROM {table} WHERE {name} = ?");
        if wanted && edit.query(&sql, &[id.into()])?.is_empty() {
            return Err(no_object_at(&at(name)));
        }
        columns.push((name, id.into()));
    }
    Ok(columns)
}

/// Deletes hosts, very many of them in several changes.
pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let portions = extent::deletions(call, &ids, PORTION_ITEMS)?;
    if portions.len() > 1 {
        call.write(|edit| {
            call.require(edit, Target::Host, Need::Write, &ids)?;
            Members::hosts(edit, &ids)?.refuse_emptying(edit)
        })?;
    }
    extent::by_portions(portions.into_iter(), "deleted", |hosts| {
        call.write(|edit| {
            call.require(edit, Target::Host, Need::Write, hosts)?;
            let maintained = Members::hosts(edit, hosts)?;
            delete_hosts(edit, hosts)?;
            maintained.refuse_emptied(edit)
        })
    })?;
    Ok(HOST.result(&ids))
}
