//! `template.massadd`, `template.massupdate`, `template.massremove`.

use config::Edit;

use super::TEMPLATE;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::texts_of;
use crate::owned::links::{NewLinks, Unlink};
use crate::owned::macros::MacroInput;
use crate::owned::{groups, links, macros};
use crate::params;
use crate::permission::Need;
use crate::write::{Target, mass_object, nested_ids, required_ids, required_list};

/// What `massadd` and `massupdate` take.
struct MassInput {
    templates: Vec<u64>,
    groups: Option<Vec<u64>>,
    macros: Option<Vec<MacroInput>>,
    links: Option<Vec<u64>>,
    clear: Vec<u64>,
}

impl MassInput {
    fn parse(input: &Json, known: &[&str]) -> ApiResult<Self> {
        let members = mass_object(input, known)?;
        let templates = required_ids(input, "", "templates", "templateid")?;
        let ids = |name: &str, key: &str| {
            members.get(name).map(|v| nested_ids(v, &format!("/{name}"), key)).transpose()
        };
        Ok(Self {
            templates,
            groups: match members.get("groups") {
                Some(_) => Some(required_ids(input, "", "groups", "groupid")?),
                None => None,
            },
            macros: match members.get("macros") {
                Some(value) => Some(macros::parse(value, "/macros", false)?),
                None => None,
            },
            links: ids("templates_link", "templateid")?,
            clear: ids("templates_clear", "templateid")?.unwrap_or_default(),
        })
    }

    fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<()> {
        call.require_at(edit, Target::Template, Need::Write, &self.templates, "/templates")?;
        if let Some(links) = &self.links {
            call.require_at(edit, Target::Template, Need::Read, links, "/templates_link")?;
        }
        Ok(())
    }
}

pub(super) fn add(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mass = MassInput::parse(input, &["templates", "groups", "macros", "templates_link"])?;
    call.write_checked(|edit| {
        mass.check(call, edit)?;
        let new_groups = mass.groups.clone().unwrap_or_default();
        call.require_at(edit, Target::TemplateGroup, Need::Write, &new_groups, "/groups")?;
        for id in &mass.templates {
            groups::add(edit, *id, &new_groups)?;
            macros::add(edit, *id, mass.macros.as_deref().unwrap_or_default())?;
        }
        links::add(edit, &mass.templates, mass.links.as_deref().unwrap_or_default())?;
        Ok(TEMPLATE.result(&mass.templates))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let known = &["templates", "groups", "macros", "templates_link", "templates_clear"];
    let mass = MassInput::parse(input, known)?;
    call.write_checked(|edit| {
        mass.check(call, edit)?;
        let mut new_links = NewLinks::default();
        for id in &mass.templates {
            if let Some(ids) = &mass.groups {
                groups::replace(call, edit, Target::TemplateGroup, *id, ids, "/groups")?;
            }
            if let Some(macros) = &mass.macros {
                macros::replace(edit, *id, macros)?;
            }
            new_links.replace(call, edit, *id, mass.links.as_deref(), &mass.clear)?;
        }
        new_links.make(edit)
    })?;
    Ok(TEMPLATE.result(&mass.templates))
}

pub(super) fn remove(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    const KNOWN: &[&str] =
        &["templateids", "groupids", "macros", "templateids_link", "templateids_clear"];
    let members = mass_object(input, KNOWN)?;
    let ids = required_list(input, "templateids")?;
    let gone_groups = params::ids(input, "groupids")?.unwrap_or_default();
    let unlink = params::ids(input, "templateids_link")?.unwrap_or_default();
    let clear = params::ids(input, "templateids_clear")?.unwrap_or_default();
    let names = members.get("macros").map(texts_of).unwrap_or_default();
    for (n, name) in names.iter().enumerate() {
        macros::check_name(name, &format!("/macros/{}", n + 1))?;
    }
    call.write(|edit| {
        call.require_at(edit, Target::Template, Need::Write, &ids, "/templateids")?;
        call.require_at(edit, Target::TemplateGroup, Need::Write, &gone_groups, "/groupids")?;
        for id in &ids {
            macros::remove(edit, *id, &names)?;
        }
        links::require_seen(call, edit, &ids, &[&clear[..], &unlink].concat())?;
        links::remove(edit, &ids, Unlink { keep: &unlink, clear: &clear })?;
        if !gone_groups.is_empty() {
            groups::remove(edit, &ids, &gone_groups)?;
        }
        Ok(())
    })?;
    Ok(TEMPLATE.result(&ids))
}
