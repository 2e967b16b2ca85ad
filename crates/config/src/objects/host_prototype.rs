//! Host prototypes: rows of `hosts` of kind 2 that belong to a discovery rule.

use crate::table;
use const_format::formatcp;
use objects::HostKind;
use objects::sql::{KIND_HOST, KIND_TEMPLATE};

use super::group_prototype::{GroupPrototype, delete_orphaned_groups, write_group_prototypes};
use super::{Columns, Tag, delete_items, ids_of, new_uuid};
use crate::Edit;
use crate::db::{DbResult, Value};
use crate::link::{
    Changed, LinkError, Work, have_own_prototypes, inherit_host_prototypes, later, prototypes_below,
};

/// What a host prototype has in other tables; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPrototypeParts {
    /// Host groups of its hosts.
    pub group_links: Option<Vec<u64>>,
    /// Names of host groups with LLD macros.
    pub group_prototypes: Option<Vec<GroupPrototype>>,
    /// Templates of its hosts.
    pub templates: Option<Vec<u64>>,
    pub tags: Option<Vec<Tag>>,
    /// Columns of `interfaces`, for `custom_interfaces` 1.
    pub interfaces: Option<Vec<Columns>>,
    /// Columns of `hostmacros`; one with `hostmacroid` keeps its id.
    pub macros: Option<Vec<Columns>>,
}

/// Creates a host prototype of a rule from columns of `hosts`; everything linked below the rule's
/// template inherits it. Without `uuid`, one of a template gets a new one. Returns its id.
pub fn create_host_prototype(
    edit: &mut Edit<'_>,
    rule: u64,
    columns: &Columns,
    parts: &HostPrototypeParts,
) -> Result<u64, LinkError> {
    let template = template_of(edit, rule)?;
    let mut row = columns.clone();
    row.push(("kind", Value::from(HostKind::Prototype.number())));
    if template.is_some() && super::column(columns, "uuid").is_none() {
        row.push(("uuid", new_uuid()?.into()));
    }
    let id = edit.insert_new(&table::HOSTS, &row)?;
    edit.insert(&table::HOST_DISCOVERY, &[("hostid", id.into()), ("parent_itemid", rule.into())])?;
    write_parts(edit, id, parts)?;
    edit.inheriting(|edit| inherit(edit, id, rule, None))?;
    Ok(id)
}

/// The template that the rule is of, if it is a template's.
fn template_of(edit: &mut Edit<'_>, rule: u64) -> DbResult<Option<u64>> {
    let sql = formatcp!(
        "SELECT h.hostid FROM items i JOIN hosts h ON h.hostid = i.hostid \
               WHERE h.kind = {KIND_TEMPLATE} AND i.itemid = ?"
    );
    Ok(edit.query(sql, &[rule.into()])?.first().map(|row| row.id("hostid")))
}

/// Lets the rules that inherit `rule` inherit its prototype, or what has `changed` of it.
fn inherit(
    edit: &mut Edit<'_>,
    id: u64,
    rule: u64,
    changed: Option<&[&str]>,
) -> Result<(), LinkError> {
    let later = match template_of(edit, rule)? {
        Some(template) => later(edit, &[template], 1)?,
        None => None,
    };
    let own = later.is_some() && have_own_prototypes(edit, rule)?;
    let later = later.filter(|later| later.behind || !own);
    let ids = inherit_host_prototypes(edit, &[id], changed, None, later.as_ref())?;
    let Some(later) = later else { return Ok(()) };
    let work = match changed {
        None => Work::NewHostPrototypes(ids),
        Some(changed) => {
            let columns = changed.iter().map(ToString::to_string).collect();
            Work::HostPrototypes(Changed { ids, columns })
        }
    };
    Ok(later.leave(edit, &work)?)
}

/// Changes a host prototype; those that inherit it follow.
pub fn update_host_prototype(
    edit: &mut Edit<'_>,
    id: u64,
    columns: &Columns,
    parts: &HostPrototypeParts,
) -> Result<(), LinkError> {
    edit.update(&table::HOSTS, id, columns)?;
    write_parts(edit, id, parts)?;
    let mut changed: Vec<&str> =
        columns.iter().map(|(name, _)| *name).filter(|name| *name != "uuid").collect();
    for (table, given) in [
        ("group_prototypes", parts.group_links.is_some() || parts.group_prototypes.is_some()),
        ("host_templates", parts.templates.is_some()),
        ("host_tags", parts.tags.is_some()),
        ("interfaces", parts.interfaces.is_some()),
        ("hostmacros", parts.macros.is_some()),
    ] {
        if given {
            changed.push(table);
        }
    }
    let sql = "SELECT parent_itemid FROM host_discovery WHERE hostid IN ({ids})";
    let rule = ids_of(edit, sql, "parent_itemid", &[id])?.first().copied().unwrap_or(0);
    edit.inheriting(|edit| inherit(edit, id, rule, Some(&changed)))
}

fn write_parts(edit: &mut Edit<'_>, id: u64, parts: &HostPrototypeParts) -> DbResult<()> {
    if let Some(groups) = &parts.group_links {
        let sql = "SELECT group_prototypeid FROM group_prototypes WHERE groupid > 0 AND hostid = ?";
        let rows = edit.query(sql, &[id.into()])?;
        let links: Vec<u64> = rows.iter().map(|row| row.id("group_prototypeid")).collect();
        edit.delete(&table::GROUP_PROTOTYPES, "group_prototypeid", &links)?;
        for group in groups {
            let row = [("hostid", id.into()), ("groupid", Value::from(*group))];
            edit.insert_new(&table::GROUP_PROTOTYPES, &row)?;
        }
    }
    if let Some(names) = &parts.group_prototypes {
        write_group_prototypes(edit, id, names)?;
    }
    if let Some(templates) = &parts.templates {
        edit.delete(&table::HOST_TEMPLATES, "hostid", &[id])?;
        let rows: Vec<Vec<Value>> =
            templates.iter().map(|template| vec![id.into(), Value::from(*template)]).collect();
        edit.insert_many(&table::HOST_TEMPLATES, &["hostid", "templateid"], &rows)?;
    }
    let tag = |one: &Tag| -> Columns {
        vec![("tag", one.tag.as_str().into()), ("value", one.value.as_str().into())]
    };
    let tags: Option<Vec<Columns>> = parts.tags.as_ref().map(|tags| tags.iter().map(tag).collect());
    for (table, rows) in [
        (&table::HOST_TAGS, &tags),
        (&table::INTERFACES, &parts.interfaces),
        (&table::HOSTMACROS, &parts.macros),
    ] {
        let Some(rows) = rows else { continue };
        edit.delete(table, "hostid", &[id])?;
        for one in rows {
            let mut row = vec![("hostid", Value::from(id))];
            row.extend(one.iter().cloned());
            let key = table.key[0];
            match super::column(one, key) {
                Some(_) => edit.insert(table, &row)?,
                None => drop(edit.insert_new(table, &row)?),
            }
        }
    }
    Ok(())
}

/// Deletes host prototypes with those that inherit them and the hosts and groups that discovery made of them.
pub fn delete_host_prototypes(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    let all = prototypes_below(edit, ids)?;
    let sql = formatcp!(
        "SELECT d.hostid FROM host_discovery d JOIN hosts h ON h.hostid = d.hostid \
               WHERE h.kind = {KIND_HOST} AND d.parent_hostid IN ({{ids}})"
    );
    let hosts = ids_of(edit, sql, "hostid", &all)?;
    let items = ids_of(edit, "SELECT itemid FROM items WHERE hostid IN ({ids})", "itemid", &hosts)?;
    delete_items(edit, &items)?;
    delete_rows(edit, &[all, hosts].concat())
}

/// Deletes host prototypes of these rules and the hosts that the rules have discovered; the hosts'
/// items must be gone already.
pub fn delete_hosts_of_rules(edit: &mut Edit<'_>, rules: &[u64]) -> DbResult<()> {
    let sql = "SELECT hostid FROM host_discovery WHERE parent_itemid IN ({ids})";
    let hosts = ids_of(edit, sql, "hostid", rules)?;
    delete_rows(edit, &hosts)
}

/// Deletes hosts and prototypes with the groups made of these.
fn delete_rows(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    edit.delete(&table::HOSTS, "hostid", ids)?;
    delete_orphaned_groups(edit)
}
