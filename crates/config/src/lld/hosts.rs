//! Hosts of discovered rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::host_write;
use super::items::NAME_CHARS_MAX;
use super::lost::{Known, Mark, Tables};
use super::overrides::HOST;
use super::places::Place;
use super::substitute::Substitution;
use super::{Stage, Stop, Work};
use crate::db::{Connection, DbResult, Row, Value, placeholders, query_by_ids};
use crate::objects::{Columns, Tag};

/// Longest technical name, characters.
const HOST_CHARS_MAX: usize = 128;

/// A host prototype.
pub(crate) struct HostPrototype {
    pub(crate) row: Row,
    /// What its hosts are, with LLD macros.
    shape: Shape,
    /// Names of groups with LLD macros.
    group_prototypes: Vec<String>,
    tags: Vec<Tag>,
    interfaces: Vec<Row>,
}

impl HostPrototype {
    pub(crate) fn id(&self) -> u64 {
        self.row.id("hostid")
    }
}

/// A macro: name, value, description, type.
pub(super) type HostMacro = (String, String, String, i64);

/// What a host should be, or is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) inventory_mode: i64,
    /// Names of groups.
    pub(super) groups: BTreeSet<String>,
    /// Templates by name.
    pub(super) templates: BTreeSet<String>,
    pub(super) tags: BTreeSet<Tag>,
    pub(super) macros: BTreeSet<HostMacro>,
}

/// A host that is to be made.
pub(super) struct NewHost {
    pub(super) prototype: usize,
    pub(super) host: String,
    pub(super) status: i64,
    pub(super) shape: Shape,
    /// `None`: those of the rule's host.
    pub(super) interfaces: Option<Vec<Columns>>,
    /// Templates that it should have and that do not exist.
    unknown: Vec<String>,
}

/// Host prototypes of the rule.
pub(crate) fn prototypes(
    connection: &mut dyn Connection,
    rule: u64,
) -> DbResult<Vec<HostPrototype>> {
    let sql = "SELECT p.* FROM host_discovery d JOIN hosts p ON p.hostid = d.hostid \
               WHERE p.kind = 2 AND d.parent_itemid = ? ORDER BY p.hostid";
    let rows = connection.query(sql, &[rule.into()])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<HostPrototype> = rows
        .into_iter()
        .map(|row| HostPrototype {
            row,
            shape: Shape::default(),
            group_prototypes: Vec::new(),
            tags: Vec::new(),
            interfaces: Vec::new(),
        })
        .collect();
    let place = |id: u64| ids.iter().position(|known| *known == id).unwrap_or_default();
    let sql = "SELECT gp.hostid, gp.name AS pattern, g.name FROM group_prototypes gp \
               LEFT JOIN groups_ g ON g.groupid = gp.groupid WHERE gp.hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let one = &mut found[place(row.id("hostid"))];
        match row.text("pattern") {
            "" => drop(one.shape.groups.insert(row.text("name").to_owned())),
            pattern => one.group_prototypes.push(pattern.to_owned()),
        }
    }
    for (id, name) in templates_of(connection, &ids)? {
        found[place(id)].shape.templates.insert(name);
    }
    let sql = "SELECT hostid, tag, value FROM host_tags WHERE hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let tag = Tag { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() };
        found[place(row.id("hostid"))].tags.push(tag);
    }
    let sql = "SELECT * FROM hostmacros WHERE hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        found[place(row.id("hostid"))].shape.macros.insert(host_macro(&row));
    }
    let sql = "SELECT * FROM interfaces WHERE hostid IN ({ids}) ORDER BY interfaceid";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        found[place(row.id("hostid"))].interfaces.push(row);
    }
    Ok(found)
}

/// Host or prototype, and the technical name of a template linked to it.
fn templates_of(
    connection: &mut dyn Connection,
    ids: &[u64],
) -> DbResult<impl Iterator<Item = (u64, String)> + use<>> {
    let sql = "SELECT l.hostid, t.host FROM host_templates l \
               JOIN hosts t ON t.hostid = l.templateid WHERE l.hostid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    Ok(rows.into_iter().map(|row| (row.id("hostid"), row.text("host").to_owned())))
}

fn host_macro(row: &Row) -> HostMacro {
    let part = |name: &str| row.text(name).to_owned();
    (part("macro"), part("value"), part("description"), row.int("type"))
}

struct Existing {
    row: Row,
    shape: Shape,
    found: bool,
}

/// Makes, changes and gives up hosts.
pub(super) fn discover(stage: &mut Stage<'_, '_>, work: &mut Work<'_>) -> Result<(), Stop> {
    if work.rule.hosts.is_empty() {
        return Ok(());
    }
    let mut existing = load(stage.connection(), work)?;
    let mut by_name: HashMap<(u64, String), usize> = HashMap::new();
    for (index, one) in existing.iter().enumerate() {
        let key = (one.row.id("d_parent"), one.row.text("host").to_owned());
        by_name.insert(key, index);
    }
    let (mut creates, mut updates) = (Vec::new(), Vec::new());
    let mut names: HashSet<String> = HashSet::new();
    let rule = work.rule;
    for (at, prototype) in rule.hosts.iter().enumerate() {
        for place in work.rows {
            let new = match wanted(work, at, prototype, place, stage.connection())? {
                Ok(Some(new)) => new,
                Ok(None) => continue,
                Err(error) => {
                    work.errors.add(error);
                    continue;
                }
            };
            if !names.insert(new.host.clone()) {
                work.errors.add(cannot(&new.host, "another row gives the same name"));
                continue;
            }
            for name in &new.unknown {
                let host = &new.host;
                work.errors.add(format!("Host \"{host}\": there is no template \"{name}\"."));
            }
            match by_name.get(&(prototype.id(), new.host.clone())) {
                Some(index) => {
                    let one = &mut existing[*index];
                    one.found = true;
                    if one.shape != new.shape {
                        updates.push((one.row.id("hostid"), one.shape.clone(), new));
                    }
                }
                None => creates.push(new),
            }
        }
    }
    refuse_taken(stage.connection(), work, &mut creates)?;
    if !creates.is_empty() || !updates.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        host_write::create(edit, work, &creates)?;
        host_write::update(edit, work, &updates)?;
    }
    give_up(stage, work, &existing)
}

fn cannot(host: &str, why: impl std::fmt::Display) -> String {
    format!("Cannot make host \"{host}\": {why}.")
}

/// What the prototype is in this row; `None` = nothing.
fn wanted(
    work: &Work<'_>,
    at: usize,
    prototype: &HostPrototype,
    place: &Place,
    connection: &mut dyn Connection,
) -> DbResult<Result<Option<NewHost>, String>> {
    let row = Substitution::new(&place.row, &work.rule.tz);
    let host = row.text(prototype.row.text("host"));
    let name = row.text(prototype.row.text("name"));
    let fits = |c: char| c.is_ascii_alphanumeric() || " ._-".contains(c);
    if host.is_empty() || host.chars().count() > HOST_CHARS_MAX || !host.chars().all(fits) {
        return Ok(Err(cannot(&host, "its technical name holds what no host name may")));
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Ok(Err(cannot(&host, "its visible name is longer than 255 characters")));
    }
    let mut discover = prototype.row.int("discover");
    let mut status = prototype.row.int("status");
    let mut inventory_mode = prototype.row.int("inventory_mode");
    let mut templates = prototype.shape.templates.clone();
    let mut tags = prototype.tags.clone();
    let operations = match work.rule.operations(place, HOST, &name) {
        Ok(operations) => operations,
        Err(error) => return Ok(Err(error)),
    };
    for operation in operations {
        discover = operation.discover.unwrap_or(discover);
        status = operation.status.unwrap_or(status);
        inventory_mode = operation.inventory_mode.unwrap_or(inventory_mode);
        tags.extend(operation.tags.iter().cloned());
        for template in &operation.templates {
            match template {
                Ok(id) => {
                    let sql = "SELECT host FROM hosts WHERE kind = 1 AND hostid = ?";
                    let rows = connection.query(sql, &[Value::from(*id)])?;
                    templates.extend(rows.first().map(|row| row.text("host").to_owned()));
                }
                Err(name) => drop(templates.insert(name.clone())),
            }
        }
    }
    if discover == 1 {
        return Ok(Ok(None));
    }
    let unknown = unknown_templates(connection, &templates)?;
    templates.retain(|name| !unknown.contains(name));
    let mut groups = prototype.shape.groups.clone();
    groups.extend(prototype.group_prototypes.iter().map(|name| row.text(name)));
    groups.remove("");
    let macros = prototype.shape.macros.iter().map(|(name, value, description, kind)| {
        (row.text(name), row.text(value), row.text(description), *kind)
    });
    let own = prototype.row.int("custom_interfaces") == 1;
    let interfaces = own.then(|| prototype.interfaces.iter().map(|one| interface(one, &row)));
    let interfaces = interfaces.map(Iterator::collect);
    let shape = Shape {
        name,
        inventory_mode,
        groups,
        templates,
        tags: row.tags(&tags).into_iter().collect(),
        macros: macros.collect(),
    };
    Ok(Ok(Some(NewHost { prototype: at, host, status, shape, interfaces, unknown })))
}

/// Columns of an interface in this row.
fn interface(of: &Row, row: &Substitution<'_>) -> Columns {
    let mut columns: Columns = ["main", "type", "useip"].map(|n| (n, of.int(n).into())).into();
    columns.extend(["ip", "dns", "port"].map(|name| (name, row.text(of.text(name)).into())));
    columns.push(("details", row.json(of.text("details")).into()));
    columns
}

/// Those that do not exist.
fn unknown_templates(
    connection: &mut dyn Connection,
    names: &BTreeSet<String>,
) -> DbResult<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let marks = placeholders(names.len());
    let sql = format!("SELECT host FROM hosts WHERE kind = 1 AND host IN ({marks})");
    let params: Vec<Value> = names.iter().map(|name| Value::from(name.as_str())).collect();
    let rows = connection.query(&sql, &params)?;
    let known: HashSet<&str> = rows.iter().map(|row| row.text("host")).collect();
    Ok(names.iter().filter(|name| !known.contains(name.as_str())).cloned().collect())
}

fn load(connection: &mut dyn Connection, work: &Work<'_>) -> DbResult<Vec<Existing>> {
    let sql = format!(
        "SELECT h.hostid, h.host, h.name, h.status, h.inventory_mode, \
         d.parent_hostid AS d_parent, {} FROM host_discovery d \
         JOIN hosts h ON h.hostid = d.hostid WHERE h.kind = 0 AND d.parent_itemid = ?",
        Mark::COLUMNS
    );
    let rows = connection.query(&sql, &[work.rule.id.into()])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let mut shapes: BTreeMap<u64, Shape> = BTreeMap::new();
    let sql = "SELECT hg.hostid, g.name FROM host_groups hg \
               JOIN groups_ g ON g.groupid = hg.groupid WHERE hg.hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let shape = shapes.entry(row.id("hostid")).or_default();
        shape.groups.insert(row.text("name").to_owned());
    }
    for (id, name) in templates_of(connection, &ids)? {
        shapes.entry(id).or_default().templates.insert(name);
    }
    let sql = "SELECT hostid, tag, value FROM host_tags WHERE automatic = 1 AND hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let tag = Tag { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() };
        shapes.entry(row.id("hostid")).or_default().tags.insert(tag);
    }
    let sql = "SELECT hostid, macro, value, description, type FROM hostmacros \
               WHERE automatic = 1 AND hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        shapes.entry(row.id("hostid")).or_default().macros.insert(host_macro(&row));
    }
    Ok(rows
        .into_iter()
        .map(|row| {
            let mut shape = shapes.remove(&row.id("hostid")).unwrap_or_default();
            row.text("name").clone_into(&mut shape.name);
            shape.inventory_mode = row.int("inventory_mode");
            Existing { row, shape, found: false }
        })
        .collect())
}

/// Takes out hosts whose names others have.
fn refuse_taken(
    connection: &mut dyn Connection,
    work: &mut Work<'_>,
    creates: &mut Vec<NewHost>,
) -> DbResult<()> {
    let mut taken: HashSet<String> = HashSet::new();
    for portion in creates.chunks(1_000) {
        let marks = placeholders(portion.len());
        let sql = format!(
            "SELECT host, name FROM hosts \
             WHERE kind < 2 AND (host IN ({marks}) OR name IN ({marks}))"
        );
        let hosts = portion.iter().map(|new| Value::from(new.host.as_str()));
        let names = portion.iter().map(|new| Value::from(new.shape.name.as_str()));
        let params: Vec<Value> = hosts.chain(names).collect();
        for row in connection.query(&sql, &params)? {
            taken.extend([row.text("host").to_owned(), row.text("name").to_owned()]);
        }
    }
    creates.retain(|new| {
        let free = !taken.contains(&new.host) && !taken.contains(&new.shape.name);
        if !free {
            work.errors.add(cannot(&new.host, "another host or template has its name"));
        }
        free
    });
    Ok(())
}

fn give_up(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    existing: &[Existing],
) -> Result<(), Stop> {
    let known: Vec<Known> = existing
        .iter()
        .map(|one| Known {
            id: one.row.id("hostid"),
            found: one.found,
            mark: Mark::from_row(&one.row),
            status: one.row.int("status"),
        })
        .collect();
    let fates = work.fates(&known);
    let tables = Tables { objects: "hosts", discovery: "host_discovery", key: "hostid" };
    let (lost, again, switched) = fates.write(stage, &tables)?;
    work.summary.lost.hosts += lost;
    work.summary.updated.hosts += again;
    if let Some(edit) = stage.edit() {
        for host in switched {
            edit.touch_host(host);
        }
        host_write::delete(edit, work, &fates.delete)?;
    }
    Ok(())
}
