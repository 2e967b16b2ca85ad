//! Hosts of discovered rows.

use crate::table;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use objects::sql::{KIND_HOST, KIND_PROTOTYPE};

use super::errors::Step;
use super::groups;
use super::host_interfaces::{self, InterfaceChange};
use super::host_shape::{
    NewHost, RulesHost, Shape, cannot, columns_of, host_macro, templates_of, wanted,
};
use super::host_write;
use super::lost::{Known, Mark, Tables};
use super::places::Place;
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

/// Hosts that exist, and how to find them.
struct State {
    existing: Vec<Existing>,
    /// (prototype's id, technical name) to index.
    by_name: HashMap<(u64, String), usize>,
    /// Technical names that prototypes had when their hosts were made, if they were others.
    old_patterns: HashMap<u64, BTreeSet<String>>,
}

impl State {
    /// The host made for this prototype and row: by its name, or by the name that the row gives
    /// with what the prototype's name was before.
    fn find(&self, prototype: u64, host: &str, row: &Substitution<'_>) -> Option<usize> {
        let by = |host: &str| {
            let found = self.by_name.get(&(prototype, host.to_owned())).copied()?;
            (!self.existing[found].found).then_some(found)
        };
        by(host).or_else(|| {
            self.old_patterns.get(&prototype)?.iter().find_map(|old| by(&row.name(old)))
        })
    }
}

/// Makes, changes and gives up hosts.
pub(super) fn discover(stage: &mut Stage<'_, '_>, work: &mut Work<'_>) -> Result<(), Stop> {
    if work.rule.hosts.is_empty() {
        return Ok(());
    }
    work.errors.begin(Step::Hosts);
    let given_up = groups::rename(stage, work)?;
    let from = RulesHost::load(stage.connection(), work.rule.hostid)?;
    let mut state = load(stage.connection(), work)?;
    let (mut creates, mut updates) = (Vec::new(), Vec::new());
    let (mut hosts, mut names): (HashSet<String>, HashSet<String>) = Default::default();
    let mut news = all_wanted(stage.connection(), work, &from)?;
    let made = groups::assign(stage.connection(), work, &mut news)?;
    let rule = work.rule;
    for (place, new) in news {
        let prototype = &rule.hosts[new.prototype];
        if !hosts.insert(new.shape.host.clone()) {
            work.errors.add(cannot(&new.shape.host, "another row gives the same name"));
            continue;
        }
        let row = Substitution::new(&place.row, &rule.tz);
        let found = state.find(prototype.id(), &new.shape.host, &row);
        if let Some(index) = found {
            state.existing[index].found = true;
        }
        if !names.insert(new.shape.name.clone()) {
            work.errors.add(cannot(&new.shape.host, "another row gives its visible name"));
            continue;
        }
        new.complaints.iter().for_each(|text| work.errors.add(text.clone()));
        if let Some(refused) = new.refused {
            work.errors.add(refused);
            continue;
        }
        match found {
            Some(index) => {
                let one = &state.existing[index];
                updates.push(update(stage.connection(), one, &prototype.row, new)?);
            }
            None => creates.push(new),
        }
    }
    refuse_taken(stage.connection(), work, &mut creates, &mut updates)?;
    updates.retain(|update| !update.is_empty());
    if !creates.is_empty() || !updates.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        host_write::create(edit, work, &creates)?;
        host_write::update(edit, work, &updates)?;
        groups::give_rights(edit, &mut work.new_groups)?;
    }
    give_up(stage, work, &state.existing)?;
    groups::discover(stage, work, &made, &given_up)
}

/// What all prototypes are in all rows.
fn all_wanted<'a>(
    connection: &mut dyn Reader,
    work: &mut Work<'a>,
    from: &RulesHost,
) -> DbResult<Vec<(&'a Place, NewHost)>> {
    let (rule, rows) = (work.rule, work.rows);
    let mut news = Vec::new();
    for at in 0..rule.hosts.len() {
        for place in rows {
            match wanted(work, at, place, from, connection)? {
                Ok(Some(new)) => news.push((place, new)),
                Ok(None) => {}
                Err(error) => work.errors.add(error),
            }
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
        id: one.id(),
        now: one.shape.clone(),
        then: new.shape,
        interfaces: host_interfaces::changes(connection, &one.interfaces, &new.interfaces)?,
        pattern: (one.row.text("d_host") != pattern).then(|| pattern.to_owned()),
    })
}

fn load(connection: &mut dyn Reader, work: &Work<'_>) -> DbResult<State> {
    let sql = format!(
        "SELECT h.*, d.parent_hostid AS d_parent, d.host AS d_host, {} FROM host_discovery d \
         JOIN hosts h ON h.hostid = d.hostid WHERE h.kind = {KIND_HOST} AND d.parent_itemid = ?",
        Mark::COLUMNS
    );
    let rows = connection.query(&sql, &[work.rule.id.into()])?;
    let patterns: HashMap<u64, &str> =
        work.rule.hosts.iter().map(|one| (one.id(), one.row.text("host"))).collect();
    let mut state = State {
        existing: complete(connection, rows)?,
        by_name: HashMap::new(),
        old_patterns: HashMap::new(),
    };
    for (index, one) in state.existing.iter().enumerate() {
        let (parent, pattern) = (one.row.id("d_parent"), one.row.text("d_host"));
        state.by_name.insert((parent, one.shape.host.clone()), index);
        if patterns.get(&parent).is_some_and(|now| *now != pattern) {
            state.old_patterns.entry(parent).or_default().insert(pattern.to_owned());
        }
    }
    Ok(state)
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
    creates.retain(|new| {
        let taken =
            of_another(&hosts, &new.shape.host, 0) || of_another(&names, &new.shape.name, 0);
        if taken {
            work.errors.add(cannot(&new.shape.host, why));
        }
        !taken
    });
    for one in updates {
        let (host, name) = (one.then.host.clone(), one.then.name.clone());
        if of_another(&hosts, &host, one.id) {
            one.then.host.clone_from(&one.now.host);
            one.pattern = None;
            work.errors.add(cannot(&host, why));
        }
        if of_another(&names, &name, one.id) {
            one.then.name.clone_from(&one.now.name);
            work.errors.add(cannot(&host, why));
        }
    }
    Ok(())
}

fn give_up(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    existing: &[Existing],
) -> Result<(), Stop> {
    let known: Vec<Known> =
        existing.iter().map(|one| Known::new(&one.row, "hostid", one.found)).collect();
    let fates = work.fates(&known);
    let tables = Tables { objects: &table::HOSTS, discovery: &table::HOST_DISCOVERY };
    let (lost, again) = fates.write(stage, &tables)?;
    work.summary.lost.hosts += lost;
    work.summary.updated.hosts += again;
    if let Some(edit) = stage.edit() {
        host_write::delete(edit, work, &fates.delete)?;
    }
    Ok(())
}
