//! `host.massadd`, `host.massupdate`, `host.massremove`.

use objects::MonitoredBy;
use serde_json::Map;

use super::HOST;
use super::write::{HostInput, change};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::texts_of;
use crate::methods::hostinterface::{add_to_hosts, remove_from_hosts};
use crate::object::{Mode, missing};
use crate::owned::links::{NewLinks, Unlink};
use crate::owned::{discovered, groups, links, macros};
use crate::params;
use crate::permission::Need;
use crate::write::{Target, mass_object, nested_ids, required_ids, required_list};

/// The first of these members that users may not change on discovered hosts: groups, interfaces.
fn foreign(members: &Map<String, Json>, groups: &str) -> Option<&'static str> {
    let some = |name: &str| match members.get(name) {
        None | Some(Json::Null) => false,
        Some(Json::Array(list)) => !list.is_empty(),
        Some(Json::Object(list)) => !list.is_empty(),
        Some(_) => true,
    };
    match (some(groups), some("interfaces")) {
        (true, _) => Some("groups"),
        (false, true) => Some("interfaces"),
        (false, false) => None,
    }
}

pub(super) fn add(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = mass_object(input, &["hosts", "groups", "interfaces", "macros", "templates"])?;
    let hosts = required_ids(input, "", "hosts", "hostid")?;
    let ids = |name: &str, key: &str| {
        members.get(name).map(|v| nested_ids(v, &format!("/{name}"), key)).transpose()
    };
    let new_groups = ids("groups", "groupid")?.unwrap_or_default();
    let templates = ids("templates", "templateid")?.unwrap_or_default();
    let new_macros = match members.get("macros") {
        Some(value) => macros::parse(value, "/macros", false)?,
        None => Vec::new(),
    };
    call.write_checked(|edit| {
        call.require_at(edit, Target::Host, Need::Write, &hosts, "/hosts")?;
        discovered::refuse_mass(edit, &hosts, "/hosts", foreign(members, "groups"))?;
        call.require_at(edit, Target::HostGroup, Need::Write, &new_groups, "/groups")?;
        call.require_at(edit, Target::Template, Need::Read, &templates, "/templates")?;
        for host in &hosts {
            groups::add(edit, *host, &new_groups)?;
            macros::add(edit, *host, &new_macros)?;
        }
        if let Some(list) = members.get("interfaces") {
            add_to_hosts(edit, &hosts, list)?;
        }
        links::add(edit, &hosts, &templates)
    })?;
    Ok(HOST.result(&hosts))
}

/// `hosts` and the members of `host.update`, which go to each of them.
pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let hosts = required_ids(input, "", "hosts", "hostid")?;
    let host = HostInput::parse(input, "", Mode::Update)?;
    check_monitored_by(input)?;
    if hosts.len() > 1 && (input.get("host").is_some() || input.get("name").is_some()) {
        return Err(ApiError::params("Several hosts cannot get one and the same name."));
    }
    call.write_checked(|edit| {
        call.require_at(edit, Target::Host, Need::Write, &hosts, "/hosts")?;
        discovered::refuse_mass(edit, &hosts, "/hosts", discovered::foreign(input))?;
        let mut new_links = NewLinks::default();
        for id in &hosts {
            change(call, edit, *id, &host, &mut new_links)?;
        }
        new_links.make(edit)
    })?;
    Ok(HOST.result(&hosts))
}

/// Unlike `host.update`, this method does not complete what is given with what a host has.
fn check_monitored_by(input: &Json) -> ApiResult<()> {
    let gives = |name: &str| input.get(name).is_some();
    let Some(by) = input.get("monitored_by") else {
        return match gives("proxyid") || gives("proxy_groupid") {
            true => Err(ApiError::params(
                "The field \"monitored_by\" must be specified when changing proxy or proxy group for host monitoring.",
            )),
            false => Ok(()),
        };
    };
    match MonitoredBy::from_number(params::int(by, "/monitored_by")?) {
        Some(MonitoredBy::Proxy) if !gives("proxyid") => Err(missing("/", "proxyid")),
        Some(MonitoredBy::ProxyGroup) if !gives("proxy_groupid") => {
            Err(missing("/", "proxy_groupid"))
        }
        _ => Ok(()),
    }
}

pub(super) fn remove(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    const KNOWN: &[&str] =
        &["hostids", "groupids", "interfaces", "macros", "templateids", "templateids_clear"];
    let members = mass_object(input, KNOWN)?;
    let hosts = required_list(input, "hostids")?;
    let gone_groups = params::ids(input, "groupids")?.unwrap_or_default();
    let templates = params::ids(input, "templateids")?.unwrap_or_default();
    let clear = params::ids(input, "templateids_clear")?.unwrap_or_default();
    let names = members.get("macros").map(texts_of).unwrap_or_default();
    for (n, name) in names.iter().enumerate() {
        macros::check_name(name, &format!("/macros/{}", n + 1))?;
    }
    let unlink = Unlink { keep: &templates, clear: &clear };
    call.write(|edit| {
        call.require_at(edit, Target::Host, Need::Write, &hosts, "/hostids")?;
        discovered::refuse_mass(edit, &hosts, "/hostids", foreign(members, "groupids"))?;
        call.require_at(edit, Target::HostGroup, Need::Write, &gone_groups, "/groupids")?;
        links::require_seen(call, edit, &hosts, &unlink.templates())?;
        for host in &hosts {
            macros::remove(edit, *host, &names)?;
        }
        links::remove(edit, &hosts, unlink)?;
        if let Some(list) = members.get("interfaces") {
            remove_from_hosts(edit, &hosts, list)?;
        }
        if !gone_groups.is_empty() {
            groups::remove(edit, &hosts, &gone_groups)?;
        }
        Ok(())
    })?;
    Ok(HOST.result(&hosts))
}
