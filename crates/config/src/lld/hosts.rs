//! Hosts of discovered rows.

use crate::table;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use objects::sql::{KIND_HOST, KIND_PROTOTYPE};

use super::errors::{Deed, Step};
use super::groups;
use super::host_index::HostWindow;
use super::host_interfaces::{self, InterfaceChange};
use super::host_shape::{
    NewHost, RulesHost, Shape, cannot, columns_of, host_macro, templates_of, wanted,
};
use super::host_write;
use super::lost::{Known, Mark, Tables};
use super::slot::Slot;
use super::substitute::Substitution;
use super::{Stage, Stop, Work};
use crate::db::{DbResult, Reader, Row, Value, placeholders, query_by_ids};
use crate::objects::Tag;

/// A host that discovery made before.
struct Existing {
    row: Row,
    shape: Shape,
    manual: Manual,
    interfaces: Vec<Row>,
    found: bool,
}

impl Existing {
    fn id(&self) -> u64 {
        self.row.id("hostid")
    }
}

/// What people gave a discovered host: discovery leaves it alone.
#[derive(Default)]
struct Manual {
    templates: BTreeSet<String>,
    tags: BTreeSet<Tag>,
    /// Names.
    macros: BTreeSet<String>,
}

impl Manual {
    fn take_from(&self, shape: &mut Shape) {
        shape.templates.retain(|name| !self.templates.contains(name));
        shape.tags.retain(|tag| !self.tags.contains(tag));
        shape.macros.retain(|(name, ..)| !self.macros.contains(name));
    }
}

/// A host as it is and as it should be.
pub(super) struct Update {
    pub(super) slot: Slot,
    pub(super) id: u64,
    pub(super) now: Shape,
    pub(super) then: Shape,
    pub(super) interfaces: Vec<InterfaceChange>,
    /// The prototype's technical name, if the host was made by another.
    pub(super) pattern: Option<String>,
}

impl Update {
    fn is_empty(&self) -> bool {
        self.now == self.then && self.interfaces.is_empty() && self.pattern.is_none()
    }

    /// Anything but templates is to be changed.
    pub(super) fn differs_beside_templates(&self) -> bool {
        let then = Shape { templates: self.now.templates.clone(), ..self.then.clone() };
        then != self.now || !self.interfaces.is_empty() || self.pattern.is_some()
    }
}

/// Makes and changes the hosts of a window.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    window: &HostWindow<'_>,
) -> Result<(), Stop> {
    let from = RulesHost::load(stage.connection(), work.rule.hostid)?;
    let mut existing = load(stage.connection(), work, window)?;
    let mut news = all_wanted(stage.connection(), work, window, &from)?;
    work.found_hosts.groups = groups::assign(stage.connection(), work, &mut news)?;
    let (mut creates, mut updates) = plan(stage.connection(), work, window, &mut existing, news)?;
    refuse_taken(stage.connection(), work, &mut creates, &mut updates)?;
    updates.retain(|update| !update.is_empty());
    if !creates.is_empty() || !updates.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        host_write::create(edit, work, &creates)?;
        host_write::update(edit, work, &updates)?;
        groups::give_rights(edit, &mut work.new_groups)?;
    }
    let found = existing.values().filter(|one| one.found);
    let known: Vec<Known> = found.map(|one| Known::new(&one.row, "hostid", true)).collect();
    settle(stage, work, &known)
}

/// Compares what rows give with what exists.
fn plan(
    connection: &mut dyn Reader,
    work: &mut Work<'_>,
    window: &HostWindow<'_>,
    existing: &mut BTreeMap<u64, Existing>,
    news: Vec<NewHost>,
) -> DbResult<(Vec<NewHost>, Vec<Update>)> {
    work.errors.begin(Step::Hosts(Deed::Compare));
    let (mut creates, mut updates) = (Vec::new(), Vec::new());
    let (rule, before) = (work.rule, window.found);
    for new in news {
        let (slot, host, name) = (new.slot, new.shape.host.clone(), new.shape.name.clone());
        let prototype = &rule.hosts[slot.prototype];
        if before.hosts.contains(&host) || !work.found_hosts.hosts.insert(host.clone()) {
            work.errors.add_of(slot, cannot(&host, "another row gives the same name"));
            continue;
        }
        let row = Substitution::new(&work.rows[slot.row].row, &rule.tz);
        let is_free = |id: u64| existing.get(&id).is_some_and(|one| !one.found);
        let found = window.index.host(prototype.id(), &host, &row, is_free);
        if let Some(one) = found.and_then(|id| existing.get_mut(&id)) {
            one.found = true;
            work.found_hosts.ids.insert(one.id());
        }
        if before.names.contains(&name) || !work.found_hosts.names.insert(name) {
            work.errors.add_of(slot, cannot(&host, "another row gives its visible name"));
            continue;
        }
        new.complaints.iter().for_each(|text| work.errors.add_of(slot, text.clone()));
        if let Some(refused) = new.refused {
            work.errors.add_of(slot, refused);
            continue;
        }
        match found.and_then(|id| existing.get(&id)) {
            Some(one) => updates.push(update(connection, one, &prototype.row, new)?),
            None => creates.push(new),
        }
    }
    Ok((creates, updates))
}

/// What the prototypes are in the rows of a window.
fn all_wanted(
    connection: &mut dyn Reader,
    work: &mut Work<'_>,
    window: &HostWindow<'_>,
    from: &RulesHost,
) -> DbResult<Vec<NewHost>> {
    work.errors.begin(Step::HostNames);
    let mut news = Vec::new();
    for slot in window.slots() {
        match wanted(work, slot, from, connection)? {
            Ok(new) => news.extend(new),
            Err(error) => work.errors.add_of(slot, error),
        }
    }
    Ok(news)
}

fn update(
    connection: &mut dyn Reader,
    one: &Existing,
    prototype: &Row,
    mut new: NewHost,
) -> DbResult<Update> {
    one.manual.take_from(&mut new.shape);
    let pattern = prototype.text("host");
    Ok(Update {
        slot: new.slot,
        id: one.id(),
        now: one.shape.clone(),
        then: new.shape,
        interfaces: host_interfaces::changes(connection, &one.interfaces, &new.interfaces)?,
        pattern: (one.row.text("d_host") != pattern).then(|| pattern.to_owned()),
    })
}

/// Hosts that may be those of the window, as far as they still exist.
fn load(
    connection: &mut dyn Reader,
    work: &Work<'_>,
    window: &HostWindow<'_>,
) -> DbResult<BTreeMap<u64, Existing>> {
    let sql = format!(
        "SELECT h.*, d.host AS d_host, {} FROM host_discovery d \
         JOIN hosts h ON h.hostid = d.hostid WHERE h.kind = {KIND_HOST} AND d.hostid IN ({{ids}})",
        Mark::COLUMNS
    );
    let ids = window.candidates(work.rule, work.rows);
    let rows = query_by_ids(connection, &sql, &[], &ids)?;
    let existing = complete(connection, rows)?;
    Ok(existing.into_iter().map(|one| (one.id(), one)).collect())
}

/// Hosts with what other tables have of them.
fn complete(connection: &mut dyn Reader, rows: Vec<Row>) -> DbResult<Vec<Existing>> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let mut parts: BTreeMap<u64, (Shape, Manual, Vec<Row>)> = BTreeMap::new();
    let sql = "SELECT hg.hostid, g.name FROM host_groups hg \
               JOIN groups_ g ON g.groupid = hg.groupid WHERE hg.hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let (shape, ..) = parts.entry(row.id("hostid")).or_default();
        shape.groups.insert(row.text("name").to_owned());
    }
    for row in templates_of(connection, &ids)? {
        let (shape, manual, _) = parts.entry(row.id("hostid")).or_default();
        let discovered = row.int("link_type") == host_write::DISCOVERED_LINK;
        let of = if discovered { &mut shape.templates } else { &mut manual.templates };
        of.insert(row.text("host").to_owned());
    }
    let sql = "SELECT hostid, tag, value, automatic FROM host_tags WHERE hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let (shape, manual, _) = parts.entry(row.id("hostid")).or_default();
        let of = if row.int("automatic") == 1 { &mut shape.tags } else { &mut manual.tags };
        of.insert(Tag { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() });
    }
    let sql = "SELECT * FROM hostmacros WHERE hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let (shape, manual, _) = parts.entry(row.id("hostid")).or_default();
        if row.int("automatic") == 1 {
            shape.macros.insert(host_macro(&row));
        } else {
            manual.macros.insert(row.text("macro").to_owned());
        }
    }
    let sql = "SELECT * FROM interfaces WHERE hostid IN ({ids}) ORDER BY interfaceid";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        parts.entry(row.id("hostid")).or_default().2.push(row);
    }
    Ok(rows
        .into_iter()
        .map(|row| {
            let (mut shape, manual, interfaces) =
                parts.remove(&row.id("hostid")).unwrap_or_default();
            row.text("host").clone_into(&mut shape.host);
            row.text("name").clone_into(&mut shape.name);
            shape.columns = columns_of(&row);
            Existing { row, shape, manual, interfaces, found: false }
        })
        .collect())
}

/// Takes out hosts whose names others have; a host that cannot get its new name keeps the old one.
fn refuse_taken(
    connection: &mut dyn Reader,
    work: &mut Work<'_>,
    creates: &mut Vec<NewHost>,
    updates: &mut [Update],
) -> DbResult<()> {
    let renamed: Vec<&Update> = updates
        .iter()
        .filter(|one| one.now.host != one.then.host || one.now.name != one.then.name)
        .collect();
    let shapes = creates.iter().map(|new| &new.shape).chain(renamed.iter().map(|one| &one.then));
    let shapes: Vec<&Shape> = shapes.collect();
    let (mut hosts, mut names): (HashMap<String, u64>, HashMap<String, u64>) = Default::default();
    for portion in shapes.chunks(1_000) {
        let marks = placeholders(portion.len());
        let sql = format!(
            "SELECT hostid, host, name FROM hosts \
             WHERE kind < {KIND_PROTOTYPE} AND (host IN ({marks}) OR name IN ({marks}))"
        );
        let wanted = portion.iter().map(|shape| Value::from(shape.host.as_str()));
        let params: Vec<Value> =
            wanted.chain(portion.iter().map(|shape| Value::from(shape.name.as_str()))).collect();
        for row in connection.query(&sql, &params)? {
            hosts.insert(row.text("host").to_owned(), row.id("hostid"));
            names.insert(row.text("name").to_owned(), row.id("hostid"));
        }
    }
    let of_another =
        |of: &HashMap<String, u64>, name: &str, own: u64| of.get(name).is_some_and(|id| *id != own);
    let why = "another host or template has its name";
    work.errors.begin(Step::Hosts(Deed::RefuseNew));
    creates.retain(|new| {
        let taken =
            of_another(&hosts, &new.shape.host, 0) || of_another(&names, &new.shape.name, 0);
        if taken {
            work.errors.add_of(new.slot, cannot(&new.shape.host, why));
        }
        !taken
    });
    work.errors.begin(Step::Hosts(Deed::RefuseChanged));
    for one in updates {
        let (host, name) = (one.then.host.clone(), one.then.name.clone());
        if of_another(&hosts, &host, one.id) {
            one.then.host.clone_from(&one.now.host);
            one.pattern = None;
            work.errors.add_of(one.slot, cannot(&host, why));
        }
        if of_another(&names, &name, one.id) {
            one.then.name.clone_from(&one.now.name);
            work.errors.add_of(one.slot, cannot(&host, why));
        }
    }
    Ok(())
}

/// Gives up those of these hosts that still exist; no row gives them.
pub(super) fn give_up(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    ids: &[u64],
) -> Result<(), Stop> {
    let sql = format!(
        "SELECT h.hostid, h.status, {} FROM host_discovery d JOIN hosts h ON h.hostid = d.hostid \
         WHERE h.kind = {KIND_HOST} AND d.hostid IN ({{ids}})",
        Mark::COLUMNS
    );
    let rows = query_by_ids(stage.connection(), &sql, &[], ids)?;
    let known: Vec<Known> = rows.iter().map(|row| Known::new(row, "hostid", false)).collect();
    settle(stage, work, &known)
}

/// Writes what happens to these hosts.
fn settle(stage: &mut Stage<'_, '_>, work: &mut Work<'_>, known: &[Known]) -> Result<(), Stop> {
    let fates = work.fates(known);
    let tables = Tables { objects: &table::HOSTS, discovery: &table::HOST_DISCOVERY };
    let (lost, again) = fates.write(stage, &tables)?;
    work.summary.lost.hosts += lost;
    work.summary.updated.hosts += again;
    if let Some(edit) = stage.edit() {
        host_write::delete(edit, work, &fates.delete)?;
    }
    Ok(())
}
