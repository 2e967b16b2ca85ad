//! Host groups that discovery has made: where they come from, their names, and how long they stay.

use crate::table;
use std::collections::{BTreeMap, BTreeSet};

use const_format::formatcp;
use objects::MapElementType;
use objects::sql::GROUP_OF_HOSTS;

use super::errors::Step;
use super::host_shape::{NewHost, group_name};
use super::lost::{Known, Mark, Tables};
use super::places::Place;
use super::substitute::Substitution;
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{DbResult, Reader, Row, Value, placeholders, query_by_ids};
use crate::objects::{delete_elements_of, ids_of, without_origin};

/// A group that is made: the id in `group_prototypes`, the group's name.
pub(super) type Made = (u64, String);

/// `flags` of groups that people made.
const PEOPLE: i64 = 0;
/// `flags` of groups that discovery made.
const DISCOVERED: i64 = 4;

/// Groups that a pass makes.
#[derive(Debug, Default)]
pub(super) struct NewGroups {
    /// Those that split off from another group, by name, and that group.
    pub(super) split: BTreeMap<String, u64>,
    /// Origins that groups have no more.
    pub(super) given_up: BTreeSet<u64>,
    /// Each with the group whose rights it gets.
    heirs: Vec<(u64, u64)>,
}

impl NewGroups {
    /// Groups that split off, and origins that groups have no more.
    pub(super) fn take(&mut self) -> (BTreeMap<String, u64>, BTreeSet<u64>) {
        (std::mem::take(&mut self.split), std::mem::take(&mut self.given_up))
    }
}

/// Puts hosts into the groups that patterns name. What people made is none of these, and that is
/// told. Gives all groups that are to be made.
pub(super) fn assign(
    connection: &mut dyn Reader,
    work: &mut Work<'_>,
    hosts: &mut [NewHost],
) -> DbResult<BTreeSet<Made>> {
    work.errors.begin(Step::HostGroups);
    let all = hosts.iter().flat_map(|host| host.made_groups.iter().cloned());
    let mut wanted: BTreeSet<Made> = all.collect();
    let names: BTreeSet<&str> = wanted.iter().map(|(_, name)| name.as_str()).collect();
    let taken = named(connection, PEOPLE, &Vec::from_iter(names))?;
    for name in taken.keys() {
        work.errors.add(format!(
            "Cannot discover group: group with the same name \"{name}\" already exists."
        ));
    }
    wanted.retain(|(_, name)| !taken.contains_key(name));
    for host in hosts {
        host.made_groups.retain(|made| wanted.contains(made));
        host.shape.groups.extend(host.made_groups.iter().map(|(_, name)| name.clone()));
    }
    Ok(wanted)
}

/// Ids of groups by name; those that do not exist are made.
pub(super) fn ids(
    edit: &mut Edit<'_>,
    new: &mut NewGroups,
    names: &BTreeSet<String>,
) -> DbResult<Vec<u64>> {
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        ids.push(match by_name(edit, name)? {
            Some(row) => row.id("groupid"),
            None => make(edit, new, name)?,
        });
    }
    Ok(ids)
}

/// A new group is an heir of the one that it splits off from, or of the one right above it.
fn make(edit: &mut Edit<'_>, new: &mut NewGroups, name: &str) -> DbResult<u64> {
    let row = [("name", name.into()), ("flags", Value::from(DISCOVERED))];
    let id = edit.insert_new(&table::GROUPS, &row)?;
    let from = match (new.split.get(name), name.rsplit_once('/')) {
        (Some(group), _) => Some(*group),
        (None, Some((above, _))) => by_name(edit, above)?.map(|row| row.id("groupid")),
        (None, None) => None,
    };
    new.heirs.extend(from.map(|from| (id, from)));
    Ok(id)
}

/// Gives new groups the rights on the groups whose heirs they are, as these were before.
pub(super) fn give_rights(edit: &mut Edit<'_>, new: &mut NewGroups) -> DbResult<()> {
    let heirs = std::mem::take(&mut new.heirs);
    let from: BTreeSet<u64> = heirs.iter().map(|(_, from)| *from).collect();
    let sql = "SELECT groupid, usrgrpid, permission FROM group_rights WHERE groupid IN ({ids})";
    let mut rights: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in query_by_ids(edit, sql, &[], &Vec::from_iter(from))? {
        rights.entry(row.id("groupid")).or_default().push(row);
    }
    let mut rows = Vec::new();
    for (id, from) in heirs {
        for right in rights.get(&from).into_iter().flatten() {
            let (who, what) = (right.id("usrgrpid"), right.int("permission"));
            rows.push(vec![who.into(), id.into(), Value::from(what)]);
        }
    }
    edit.insert_many(&table::GROUP_RIGHTS, &["usrgrpid", "groupid", "permission"], &rows)
}

/// Notes where discovered groups come from; those that no row makes any more go after the rule's
/// lifetime, once no host is in them. Manual groups are not changed.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    wanted: &BTreeSet<Made>,
    given_up: &BTreeSet<u64>,
) -> Result<(), Stop> {
    let mut existing = load(stage.connection(), work)?;
    if !given_up.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        existing.retain(|row| !given_up.contains(&row.id("groupdiscoveryid")));
        delete(edit, &Vec::from_iter(given_up.iter().copied()))?;
    }
    let known: BTreeSet<Made> = existing.iter().map(made).collect();
    let missing: Vec<&Made> = wanted.difference(&known).collect();
    let names: BTreeSet<&str> = missing.iter().map(|(_, name)| name.as_str()).collect();
    let ids = named(stage.connection(), DISCOVERED, &Vec::from_iter(names))?;
    let patterns = patterns(work);
    let rows: Vec<[(&str, Value); 4]> = missing
        .iter()
        .filter_map(|(prototype, name)| {
            Some([
                ("groupid", (*ids.get(name)?).into()),
                ("parent_group_prototypeid", (*prototype).into()),
                ("name", (*patterns.get(prototype)?).into()),
                ("lastcheck", work.clock_s.into()),
            ])
        })
        .collect();
    if !rows.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        for row in &rows {
            edit.insert_new(&table::GROUP_DISCOVERY, row)?;
        }
    }
    let known: Vec<Known> = existing
        .iter()
        .map(|row| Known {
            id: row.id("groupdiscoveryid"),
            found: wanted.contains(&made(row)),
            mark: Mark::from_row(row),
            // A group cannot be disabled.
            status: None,
        })
        .collect();
    let fates = work.fates(&known);
    let tables = Tables { objects: &table::GROUPS, discovery: &table::GROUP_DISCOVERY };
    fates.write(stage, &tables)?;
    if let Some(edit) = stage.edit() {
        delete(edit, &fates.delete)?;
    }
    Ok(())
}

/// Gives groups whose pattern has changed the names that their rows give now. Where another
/// discovered group has the name, or the group has a second origin, hosts change groups instead: the
/// step then has the origins that groups have no more.
pub(super) fn rename(stage: &mut Stage<'_, '_>, work: &mut Work<'_>) -> Result<(), Stop> {
    let patterns = patterns(work);
    let now = |row: &Row| patterns.get(&row.id("parent_group_prototypeid")).copied();
    let mut stale = load(stage.connection(), work)?;
    stale.retain(|row| now(row).is_some_and(|pattern| pattern != row.text("name")));
    let mut places: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for row in &stale {
        let (Some(pattern), old) = (now(row), row.text("group_name")) else { continue };
        let before = row.text("name");
        let of_names = places.entry(before).or_insert_with(|| {
            let names = work.rows.iter().map(|place| substitution(work, place).name(before));
            names.zip(0..).collect()
        });
        let Some(place) = of_names.get(old).map(|at| &work.rows[*at]) else { continue };
        let Ok(name) = group_name(pattern, &substitution(work, place)) else { continue };
        if name != old {
            let taken = by_name(stage.connection(), &name)?;
            // The old one is not discovered any more then.
            if taken.as_ref().is_some_and(|other| other.int("flags") == PEOPLE) {
                continue;
            }
            if taken.is_some() || is_shared(stage.connection(), row.id("groupid"))? {
                work.new_groups.given_up.insert(row.id("groupdiscoveryid"));
                work.new_groups.split.insert(name, row.id("groupid"));
                continue;
            }
        }
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        edit.update(&table::GROUPS, row.id("groupid"), &[("name", name.into())])?;
        let pattern = [("name", pattern.into())];
        edit.update(&table::GROUP_DISCOVERY, row.id("groupdiscoveryid"), &pattern)?;
    }
    Ok(())
}

fn substitution<'a>(work: &Work<'a>, place: &'a Place) -> Substitution<'a> {
    Substitution::new(&place.row, &work.rule.tz)
}

/// The group with this name.
fn by_name(connection: &mut dyn Reader, name: &str) -> DbResult<Option<Row>> {
    let sql =
        formatcp!("SELECT groupid, flags FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND name = ?");
    Ok(connection.query(sql, &[name.into()])?.into_iter().next())
}

/// The group comes from several places.
fn is_shared(connection: &mut dyn Reader, group: u64) -> DbResult<bool> {
    let sql = "SELECT groupdiscoveryid FROM group_discovery WHERE groupid = ?";
    Ok(connection.query(sql, &[group.into()])?.len() > 1)
}

/// Patterns of the rule's prototypes by their ids.
fn patterns<'a>(work: &Work<'a>) -> BTreeMap<u64, &'a str> {
    let all = work.rule.hosts.iter().flat_map(|one| &one.group_prototypes);
    all.map(|(id, pattern)| (*id, pattern.as_str())).collect()
}

fn made(row: &Row) -> Made {
    (row.id("parent_group_prototypeid"), row.text("group_name").to_owned())
}

fn load(connection: &mut dyn Reader, work: &Work<'_>) -> DbResult<Vec<Row>> {
    let prototypes: Vec<u64> = work.rule.hosts.iter().map(|one| one.id()).collect();
    let sql = format!(
        "SELECT d.groupdiscoveryid, d.groupid, d.parent_group_prototypeid, d.name, \
         g.name AS group_name, {} FROM group_discovery d \
         JOIN groups_ g ON g.groupid = d.groupid \
         JOIN group_prototypes p ON p.group_prototypeid = d.parent_group_prototypeid \
         WHERE p.hostid IN ({{ids}})",
        Mark::COLUMNS
    );
    query_by_ids(connection, &sql, &[], &prototypes)
}

/// Ids of the groups with these names and `flags`.
fn named(
    connection: &mut dyn Reader,
    flags: i64,
    wanted: &[&str],
) -> DbResult<BTreeMap<String, u64>> {
    let mut ids = BTreeMap::new();
    for portion in wanted.chunks(1_000) {
        let marks = placeholders(portion.len());
        let sql = format!(
            "SELECT groupid, name FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND flags = ? AND name IN ({marks})"
        );
        let mut params = vec![Value::from(flags)];
        params.extend(portion.iter().map(|name| Value::from(*name)));
        for row in connection.query(&sql, &params)? {
            ids.insert(row.text("name").to_owned(), row.id("groupid"));
        }
    }
    Ok(ids)
}

/// Forgets origins, and deletes groups that have none left; one with hosts in it stays.
fn delete(edit: &mut Edit<'_>, origins: &[u64]) -> DbResult<()> {
    let sql = "SELECT DISTINCT groupid FROM group_discovery WHERE groupdiscoveryid IN ({ids})";
    let groups = ids_of(edit, sql, "groupid", origins)?;
    edit.delete(&table::GROUP_DISCOVERY, "groupdiscoveryid", origins)?;
    let left = without_origin(edit, &groups)?;
    let sql = "SELECT g.groupid FROM groups_ g WHERE g.groupid IN ({ids}) \
               AND NOT EXISTS (SELECT 1 FROM host_groups m WHERE m.groupid = g.groupid)";
    let empty = ids_of(edit, sql, "groupid", &left)?;
    delete_elements_of(edit, MapElementType::HostGroup, &empty)?;
    edit.delete(&table::GROUPS, "groupid", &empty)
}
