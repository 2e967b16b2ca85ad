//! What hosts of a prototype should be: the prototype in a row, with what is the rule's host's.

use std::collections::{BTreeSet, HashSet};

use const_format::formatcp;
use objects::sql::{KIND_PROTOTYPE, KIND_TEMPLATE};

use super::Work;
use super::groups::Made;
use super::item_check::NAME_CHARS_MAX;
use super::overrides::HOST;
use super::places::Place;
use super::slot::Slot;
use super::substitute::Substitution;
use crate::db::{DbResult, Reader, Row, Value, placeholders, query_by_ids};
use crate::objects::{Columns, Tag};

/// Longest technical and visible name of a host, characters.
const HOST_CHARS_MAX: usize = 128;

/// Longest name and value of a tag, characters.
const TAG_CHARS_MAX: usize = 255;

/// Columns that a discovered host takes from the rule's host.
const FROM_RULES_HOST: &[&str] = &[
    "monitored_by",
    "proxyid",
    "proxy_groupid",
    "ipmi_authtype",
    "ipmi_privilege",
    "ipmi_username",
    "ipmi_password",
    "tls_connect",
    "tls_accept",
    "tls_issuer",
    "tls_subject",
    "tls_psk_identity",
    "tls_psk",
];

/// What an interface is; `main` and `type` first.
pub(super) const INTERFACE: &[&str] = &["main", "type", "useip", "ip", "dns", "port", "details"];

#[derive(PartialEq)]
pub(crate) struct HostPrototype {
    pub(crate) row: Row,
    /// Names of groups.
    groups: BTreeSet<String>,
    /// Ids and names of groups with LLD macros.
    pub(super) group_prototypes: Vec<(u64, String)>,
    /// Templates by name.
    pub(super) templates: BTreeSet<String>,
    tags: Vec<Tag>,
    macros: BTreeSet<HostMacro>,
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
    /// Technical name.
    pub(super) host: String,
    /// Visible name.
    pub(super) name: String,
    /// Further columns of `hosts`.
    pub(super) columns: Columns,
    /// Names of groups.
    pub(super) groups: BTreeSet<String>,
    /// Templates by name.
    pub(super) templates: BTreeSet<String>,
    pub(super) tags: BTreeSet<Tag>,
    pub(super) macros: BTreeSet<HostMacro>,
}

/// A host that is to be made, or as it should be.
pub(super) struct NewHost {
    pub(super) slot: Slot,
    pub(super) status: i64,
    pub(super) shape: Shape,
    /// [`INTERFACE`] of each.
    pub(super) interfaces: Vec<Columns>,
    /// Groups by their patterns' ids; not in the shape until it is known that they can be.
    pub(super) made_groups: Vec<Made>,
    /// What is wrong with it and keeps it neither from being made nor from being changed.
    pub(super) complaints: Vec<String>,
    /// Why it cannot be made, or stays as it is.
    pub(super) refused: Option<String>,
}

/// What discovered hosts have of the rule's host.
pub(super) struct RulesHost {
    columns: Columns,
    macros: Vec<HostMacro>,
    interfaces: Vec<Columns>,
}

impl RulesHost {
    pub(super) fn load(connection: &mut dyn Reader, id: u64) -> DbResult<Self> {
        let sql = format!("SELECT {} FROM hosts WHERE hostid = ?", FROM_RULES_HOST.join(", "));
        let rows = connection.query(&sql, &[id.into()])?;
        let columns = rows.first().map_or_else(Columns::new, |row| from_rules_host(row));
        let rows = connection.query("SELECT * FROM hostmacros WHERE hostid = ?", &[id.into()])?;
        let macros = rows.iter().map(host_macro).collect();
        let sql = "SELECT * FROM interfaces WHERE hostid = ? ORDER BY interfaceid";
        let rows = connection.query(sql, &[id.into()])?;
        Ok(Self { columns, macros, interfaces: rows.iter().map(interface_columns).collect() })
    }
}

fn from_rules_host(row: &Row) -> Columns {
    FROM_RULES_HOST.iter().filter_map(|name| Some((*name, row.get(name)?.clone()))).collect()
}

/// [`Shape::columns`] of a host.
pub(super) fn columns_of(row: &Row) -> Columns {
    columns(row.int("inventory_mode"), row.int("custom_interfaces"), from_rules_host(row))
}

fn columns(inventory_mode: i64, custom_interfaces: i64, further: Columns) -> Columns {
    let mut columns: Columns = vec![
        ("inventory_mode", inventory_mode.into()),
        ("custom_interfaces", custom_interfaces.into()),
    ];
    columns.extend(further);
    columns
}

/// The [`INTERFACE`] of a row of `interfaces`.
pub(super) fn interface_columns(row: &Row) -> Columns {
    INTERFACE.iter().filter_map(|name| Some((*name, row.get(name)?.clone()))).collect()
}

/// Host prototypes of the rule.
pub(crate) fn prototypes(connection: &mut dyn Reader, rule: u64) -> DbResult<Vec<HostPrototype>> {
    let sql = formatcp!(
        "SELECT p.* FROM host_discovery d JOIN hosts p ON p.hostid = d.hostid \
               WHERE p.kind = {KIND_PROTOTYPE} AND d.parent_itemid = ? ORDER BY p.hostid"
    );
    let rows = connection.query(sql, &[rule.into()])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<HostPrototype> = rows
        .into_iter()
        .map(|row| HostPrototype {
            row,
            groups: BTreeSet::new(),
            group_prototypes: Vec::new(),
            templates: BTreeSet::new(),
            tags: Vec::new(),
            macros: BTreeSet::new(),
            interfaces: Vec::new(),
        })
        .collect();
    let place = |id: u64| ids.iter().position(|known| *known == id).unwrap_or_default();
    let sql = "SELECT gp.group_prototypeid, gp.hostid, gp.name AS pattern, g.name FROM group_prototypes gp \
               LEFT JOIN groups_ g ON g.groupid = gp.groupid WHERE gp.hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let one = &mut found[place(row.id("hostid"))];
        match row.text("pattern") {
            "" => drop(one.groups.insert(row.text("name").to_owned())),
            pattern => one.group_prototypes.push((row.id("group_prototypeid"), pattern.to_owned())),
        }
    }
    for row in templates_of(connection, &ids)? {
        found[place(row.id("hostid"))].templates.insert(row.text("host").to_owned());
    }
    let sql = "SELECT hostid, tag, value FROM host_tags WHERE hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let tag = Tag { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() };
        found[place(row.id("hostid"))].tags.push(tag);
    }
    let sql = "SELECT * FROM hostmacros WHERE hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        found[place(row.id("hostid"))].macros.insert(host_macro(&row));
    }
    let sql = "SELECT * FROM interfaces WHERE hostid IN ({ids}) ORDER BY interfaceid";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        found[place(row.id("hostid"))].interfaces.push(row);
    }
    // A rule that is read again is compared with what it was.
    for one in &mut found {
        one.tags.sort();
        one.group_prototypes.sort();
    }
    Ok(found)
}

/// Links to templates: `hostid` of the host or prototype, `link_type`, `host` of the template.
pub(super) fn templates_of(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<Vec<Row>> {
    let sql = "SELECT l.hostid, l.link_type, t.host FROM host_templates l \
               JOIN hosts t ON t.hostid = l.templateid WHERE l.hostid IN ({ids})";
    query_by_ids(connection, sql, &[], ids)
}

pub(super) fn host_macro(row: &Row) -> HostMacro {
    let part = |name: &str| row.text(name).to_owned();
    (part("macro"), part("value"), part("description"), row.int("type"))
}

pub(super) fn cannot(host: &str, why: impl std::fmt::Display) -> String {
    format!("Cannot make host \"{host}\": {why}.")
}

/// What the prototype is in this row; `None` = nothing.
pub(super) fn wanted(
    work: &Work<'_>,
    slot: Slot,
    from: &RulesHost,
    connection: &mut dyn Reader,
) -> DbResult<Result<Option<NewHost>, String>> {
    let (prototype, place) = (&work.rule.hosts[slot.prototype], &work.rows[slot.row]);
    let row = Substitution::new(&place.row, &work.rule.tz);
    let host = row.name(prototype.row.text("host"));
    let name = row.name(prototype.row.text("name"));
    let made = match overridden(work, prototype, place, &host, connection)? {
        Ok(Some(made)) => made,
        Ok(None) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    if let Err(why) = check_names(&host, &name) {
        return Ok(Err(cannot(&host, why)));
    }
    let Overridden { status, inventory_mode, mut templates, tags } = made;
    let mut complaints = Vec::new();
    for unknown in unknown_templates(connection, &templates)? {
        complaints.push(format!("Host \"{host}\": there is no template \"{unknown}\"."));
        templates.remove(&unknown);
    }
    let own = prototype.row.int("custom_interfaces");
    let interfaces = match own {
        1 => prototype.interfaces.iter().map(|one| interface(one, &row)).collect(),
        _ => from.interfaces.clone(),
    };
    let made_groups = made_groups(prototype, &row, &mut complaints);
    let (tags, refused) = match row_tags(&tags, &row) {
        Ok(tags) => (tags, None),
        Err(why) => (BTreeSet::new(), Some(cannot(&host, why))),
    };
    let shape = Shape {
        name,
        columns: columns(inventory_mode, own, from.columns.clone()),
        groups: prototype.groups.clone(),
        templates,
        tags,
        macros: macros(prototype, &row, from),
        host,
    };
    let new = NewHost { slot, status, shape, interfaces, made_groups, complaints, refused };
    Ok(Ok(Some(new)))
}

/// What operations of overrides may change.
struct Overridden {
    status: i64,
    inventory_mode: i64,
    templates: BTreeSet<String>,
    tags: Vec<Tag>,
}

/// The prototype with the operations that apply to a host of this technical name; `None` = it is
/// not discovered.
fn overridden(
    work: &Work<'_>,
    prototype: &HostPrototype,
    place: &Place,
    host: &str,
    connection: &mut dyn Reader,
) -> DbResult<Result<Option<Overridden>, String>> {
    let mut discover = prototype.row.int("discover");
    let mut made = Overridden {
        status: prototype.row.int("status"),
        inventory_mode: prototype.row.int("inventory_mode"),
        templates: prototype.templates.clone(),
        tags: prototype.tags.clone(),
    };
    let operations = match work.rule.operations(place, HOST, host) {
        Ok(operations) => operations,
        Err(error) => return Ok(Err(error)),
    };
    for operation in operations {
        discover = operation.discover.unwrap_or(discover);
        made.status = operation.status.unwrap_or(made.status);
        made.inventory_mode = operation.inventory_mode.unwrap_or(made.inventory_mode);
        made.tags.extend(operation.tags.iter().cloned());
        for template in &operation.templates {
            match template {
                Ok(id) => {
                    let sql = formatcp!(
                        "SELECT host FROM hosts WHERE kind = {KIND_TEMPLATE} AND hostid = ?"
                    );
                    let rows = connection.query(sql, &[Value::from(*id)])?;
                    made.templates.extend(rows.first().map(|row| row.text("host").to_owned()));
                }
                Err(name) => drop(made.templates.insert(name.clone())),
            }
        }
    }
    Ok(Ok((discover != 1).then_some(made)))
}

fn check_names(host: &str, name: &str) -> Result<(), &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || " ._-".contains(c);
    if host.is_empty() || host.chars().count() > HOST_CHARS_MAX || !host.chars().all(fits) {
        return Err("its technical name holds what no host name may");
    }
    match name.chars().count() {
        0 => Err("its visible name is empty"),
        1..=HOST_CHARS_MAX => Ok(()),
        _ => Err("its visible name is longer than 128 characters"),
    }
}

/// The name that a pattern gives, or one that no group may have.
pub(super) fn group_name(pattern: &str, row: &Substitution<'_>) -> Result<String, String> {
    let name = row.name(pattern);
    let bad = name.chars().count() > NAME_CHARS_MAX || name.split('/').any(str::is_empty);
    if bad { Err(name) } else { Ok(name) }
}

/// Patterns of groups with the names that they give; names that no group may have are complained
/// of.
fn made_groups(
    prototype: &HostPrototype,
    row: &Substitution<'_>,
    complaints: &mut Vec<String>,
) -> Vec<Made> {
    let mut groups = Vec::with_capacity(prototype.group_prototypes.len());
    for (id, pattern) in &prototype.group_prototypes {
        match group_name(pattern, row) {
            Ok(name) => groups.push((*id, name)),
            Err(name) => complaints
                .push(format!("Cannot make host group \"{name}\": no group has such a name.")),
        }
    }
    groups
}

/// Each tag once in the row, or what is wrong with them.
fn row_tags(tags: &[Tag], row: &Substitution<'_>) -> Result<BTreeSet<Tag>, String> {
    let mut found = BTreeSet::new();
    for tag in tags {
        let tag = Tag { tag: row.text(&tag.tag), value: row.text(&tag.value) };
        if tag.tag.is_empty() {
            return Err("a tag has no name".into());
        }
        if let Some(text) =
            [&tag.tag, &tag.value].into_iter().find(|text| text.chars().count() > TAG_CHARS_MAX)
        {
            return Err(format!("tag text \"{text}\" is longer than {TAG_CHARS_MAX} characters"));
        }
        if found.contains(&tag) {
            return Err(format!("it has tag \"{}: {}\" twice", tag.tag, tag.value));
        }
        found.insert(tag);
    }
    Ok(found)
}

/// The prototype's, and those of the rule's host that the prototype does not have.
fn macros(
    prototype: &HostPrototype,
    row: &Substitution<'_>,
    from: &RulesHost,
) -> BTreeSet<HostMacro> {
    let own = prototype.macros.iter().map(|(name, value, description, kind)| {
        (name.clone(), row.text(value), row.text(description), *kind)
    });
    let names: HashSet<&str> = prototype.macros.iter().map(|(name, ..)| name.as_str()).collect();
    let others = from.macros.iter().filter(|(name, ..)| !names.contains(name.as_str()));
    own.chain(others.cloned()).collect()
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
    connection: &mut dyn Reader,
    names: &BTreeSet<String>,
) -> DbResult<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let marks = placeholders(names.len());
    let sql = format!("SELECT host FROM hosts WHERE kind = {KIND_TEMPLATE} AND host IN ({marks})");
    let params: Vec<Value> = names.iter().map(|name| Value::from(name.as_str())).collect();
    let rows = connection.query(&sql, &params)?;
    let known: HashSet<&str> = rows.iter().map(|row| row.text("host")).collect();
    Ok(names.iter().filter(|name| !known.contains(name.as_str())).cloned().collect())
}
