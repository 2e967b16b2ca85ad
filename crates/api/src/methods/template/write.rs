//! `template.create`, `template.update`, `template.delete`.

use config::Edit;
use config::db::{Reader, Value, query_by_ids};
use config::objects::{delete_hosts, new_uuid};
use config::table;
use const_format::formatcp;
use objects::HostKind;
use objects::sql::KIND_HOST;

use super::TEMPLATE;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, taken};
use crate::owned::links::{NewLinks, Unlink};
use crate::owned::macros::MacroInput;
use crate::owned::names::{check_free, is_technical_name};
use crate::owned::tags::Tag;
use crate::owned::{groups, links, macros, tags};
use crate::params;
use crate::permission::Need;
use crate::write::{Target, check_uuid, names, nested_ids, no_object_at, required_ids};

/// A template as a client gives it.
struct TemplateInput {
    path: String,
    host: Option<String>,
    name: Option<String>,
    columns: Columns,
    groups: Option<Vec<u64>>,
    templates: Option<Vec<u64>>,
    templates_clear: Vec<u64>,
    tags: Option<Vec<Tag>>,
    macros: Option<Vec<MacroInput>>,
}

impl TemplateInput {
    fn parse(object: &Json, path: &str, mode: Mode) -> ApiResult<Self> {
        let mut columns = TEMPLATE.validate(object, path, mode)?;
        let at = |name: &str| format!("{path}/{name}");
        let text = |name: &str| object.get(name).map(|v| params::text(v, &at(name))).transpose();
        let host = text("host")?;
        if host.as_deref().is_some_and(|host| !is_technical_name(host)) {
            return Err(ApiError::at(&at("host"), "invalid host name"));
        }
        let mut name = text("name")?;
        if mode == Mode::Create {
            if name.is_none() {
                name.clone_from(&host);
                columns.push(("name", host.clone().unwrap_or_default().into()));
            }
            match text("uuid")? {
                Some(uuid) => check_uuid(&uuid, &at("uuid"))?,
                None => columns.push(("uuid", new_uuid()?.into())),
            }
        }
        let ids = |name: &str| {
            object.get(name).map(|v| nested_ids(v, &at(name), "templateid")).transpose()
        };
        let groups = match object.get("groups") {
            Some(_) => Some(required_ids(object, path, "groups", "groupid")?),
            None => None,
        };
        Ok(Self {
            path: path.to_owned(),
            host,
            name,
            columns,
            groups,
            templates: ids("templates")?,
            templates_clear: ids("templates_clear")?.unwrap_or_default(),
            tags: object.get("tags").map(|v| tags::parse(v, &at("tags"))).transpose()?,
            macros: object
                .get("macros")
                .map(|v| macros::parse(v, &at("macros"), mode == Mode::Update))
                .transpose()?,
        })
    }

    fn write_owned<'a>(
        &'a self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        id: u64,
        new_links: &mut NewLinks<'a>,
    ) -> ApiResult<()> {
        let at = |name: &str| format!("{}/{name}", self.path);
        if let Some(ids) = &self.groups {
            groups::replace(call, edit, Target::TemplateGroup, id, ids, &at("groups"))?;
        }
        if let Some(tags) = &self.tags {
            tags::replace(edit, id, tags)?;
        }
        if let Some(macros) = &self.macros {
            macros::replace(edit, id, macros)?;
        }
        if let Some(ids) = &self.templates {
            let now = links::of(edit, id)?;
            let new: Vec<u64> = ids.iter().copied().filter(|id| !now.contains(id)).collect();
            let allowed = call.allowed(edit, Target::Template, Need::Read, &new)?;
            if let Some(n) = ids.iter().position(|id| new.contains(id) && !allowed.contains(id)) {
                return Err(no_object_at(&format!("{}/{}", at("templates"), n + 1)));
            }
        }
        new_links.replace(call, edit, id, self.templates.as_deref(), &self.templates_clear)
    }

    fn check_vendor(&self, now: Option<(&str, &str)>) -> ApiResult<()> {
        let given = |name: &str| match self.columns.iter().find(|(column, _)| *column == name) {
            Some((_, Value::Text(text))) => Some(text.as_str()),
            _ => None,
        };
        let (name, version) = now.unwrap_or_default();
        let name = given("vendor_name").unwrap_or(name);
        let version = given("vendor_version").unwrap_or(version);
        if name.is_empty() == version.is_empty() {
            return Ok(());
        }
        Err(ApiError::at(
            &self.path,
            "both vendor_name and vendor_version should be either present or empty",
        ))
    }
}

fn check_distinct(templates: &[TemplateInput]) -> ApiResult<()> {
    for (n, template) in templates.iter().enumerate() {
        let before = &templates[..n];
        let same = |name: &Option<String>, of: fn(&TemplateInput) -> &Option<String>| {
            name.is_some() && before.iter().any(|other| of(other) == name)
        };
        if same(&template.host, |t| &t.host) {
            return Err(taken(&template.path, "host", template.host.clone().unwrap_or_default()));
        }
        if same(&template.name, |t| &t.name) {
            return Err(taken(&template.path, "name", template.name.clone().unwrap_or_default()));
        }
    }
    Ok(())
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?;
    let templates: Vec<TemplateInput> = objects
        .into_iter()
        .map(|(path, object)| TemplateInput::parse(object, &path, Mode::Create))
        .collect::<ApiResult<_>>()?;
    check_distinct(&templates)?;
    call.write(|edit| {
        let mut ids = Vec::new();
        let mut new_links = NewLinks::default();
        for template in &templates {
            template.check_vendor(None)?;
            check_free(edit, 0, template.host.as_deref(), template.name.as_deref(), true)?;
            let mut row = template.columns.clone();
            row.push(("kind", Value::from(HostKind::Template.number())));
            let id = edit.insert_new(&table::HOSTS, &row)?;
            template.write_owned(call, edit, id, &mut new_links)?;
            ids.push(id);
        }
        new_links.make(edit)?;
        Ok(TEMPLATE.result(&ids))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut updates = Vec::new();
    let mut templates = Vec::new();
    for (path, id, object) in TEMPLATE.updates(input)? {
        updates.push(id);
        templates.push(TemplateInput::parse(object, &path, Mode::Update)?);
    }
    check_distinct(&templates)?;
    call.write_checked(|edit| {
        call.require(edit, Target::Template, Need::Write, &updates)?;
        let mut new_links = NewLinks::default();
        for (id, template) in updates.iter().zip(&templates) {
            let rows = edit.query("SELECT * FROM hosts WHERE hostid = ?", &[(*id).into()])?;
            let now = rows.first().ok_or_else(ApiError::no_object)?;
            let vendor = (now.text("vendor_name"), now.text("vendor_version"));
            template.check_vendor(Some(vendor))?;
            check_free(edit, *id, template.host.as_deref(), template.name.as_deref(), true)?;
            edit.update(&table::HOSTS, *id, &template.columns)?;
            template.write_owned(call, edit, *id, &mut new_links)?;
        }
        new_links.make(edit)
    })?;
    Ok(TEMPLATE.result(&updates))
}

/// Deletes templates with all that was inherited from them.
pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    unlink_from_many(call, &ids)?;
    call.write(|edit| {
        call.require(edit, Target::Template, Need::Write, &ids)?;
        check_prototypes(edit, &ids)?;
        let linked = linked_to(edit, &ids)?;
        links::remove(edit, &linked, Unlink { keep: &[], clear: &ids })?;
        Ok::<_, ApiError>(delete_hosts(edit, &ids)?)
    })?;
    Ok(TEMPLATE.result(&ids))
}

/// Hosts and templates that one of these templates is linked to.
fn linked_to(connection: &mut dyn Reader, ids: &[u64]) -> ApiResult<Vec<u64>> {
    let sql = "SELECT DISTINCT hostid FROM host_templates WHERE templateid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    Ok(rows.iter().map(|row| row.id("hostid")).collect())
}

/// Templates that are to be deleted leave their hosts before, if these are many, which lose what they have
/// inherited in portions.
fn unlink_from_many(call: &Call<'_>, ids: &[u64]) -> ApiResult<()> {
    // A part of a larger change is kept or taken back with it.
    if call.transaction.is_some() {
        return Ok(());
    }
    call.write(|edit| {
        call.require(edit, Target::Template, Need::Write, ids)?;
        check_prototypes(edit, ids)?;
        let linked = linked_to(edit, ids)?;
        if config::link::is_much(edit, &linked, ids)? {
            links::remove(edit, &linked, Unlink { keep: &[], clear: ids })?;
        }
        Ok(())
    })
}

/// Items that others depend on through their templates are cleared by the linkage; what is left
/// with a reference to an item of these templates would dangle.
fn check_prototypes(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let rows = query_by_ids(
        edit,
        formatcp!(
            "SELECT DISTINCT tr.triggerid, tr.description, i.hostid FROM functions f \
           JOIN items i ON i.itemid = f.itemid \
           JOIN functions f2 ON f2.triggerid = f.triggerid \
           JOIN items i2 ON i2.itemid = f2.itemid \
           JOIN hosts h2 ON h2.hostid = i2.hostid AND h2.kind = {KIND_HOST} \
           JOIN triggers tr ON tr.triggerid = f.triggerid WHERE i.hostid IN ({{ids}})"
        ),
        &[],
        ids,
    )?;
    match rows.first() {
        None => Ok(()),
        Some(row) => {
            let template = row.id("hostid");
            let names = names(edit, "hosts", "hostid", "name", &[template])?;
            Err(ApiError::params(format!(
                "Template \"{}\" is used by the trigger \"{}\" of a host. Change that first.",
                names.get(&template).map_or("", String::as_str),
                row.text("description"),
            )))
        }
    }
}
