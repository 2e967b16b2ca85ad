//! Unlinking: what was inherited becomes the host's own, or goes.

use crate::table;
use objects::HostKind;
use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::{KIND_PROTOTYPE, KIND_TEMPLATE};

use super::LinkError;
use super::later::{Later, Unlinked, Work, count, hosts_max, hosts_of, templates_below};
use crate::Edit;
use crate::db::{DbResult, Value, id_params, placeholders, query_by_ids};
use crate::objects::{delete_graphs, delete_items, delete_triggers, ids_of, new_uuid};

/// Refuses to unlink templates while the host or template keeps another template of the same
/// trigger: the trigger would be neither inherited nor the host's own.
pub fn check_unlink(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
) -> Result<(), LinkError> {
    if hosts.is_empty() || templates.is_empty() {
        return Ok(());
    }
    let shared = shared_triggers(edit, templates)?;
    if shared.is_empty() {
        return Ok(());
    }
    let marks = placeholders(templates.len());
    let parents = placeholders(shared.len());
    let sql = format!(
        "SELECT DISTINCT p.hostid AS gone, q.hostid AS kept, c.hostid AS host, t.description \
         FROM items c JOIN functions f ON f.itemid = c.itemid \
         JOIN triggers t ON t.triggerid = f.triggerid AND +t.templateid IN ({parents}) \
         JOIN functions pf ON pf.triggerid = +t.templateid JOIN items p ON p.itemid = pf.itemid \
         JOIN functions qf ON qf.triggerid = +t.templateid JOIN items q ON q.itemid = qf.itemid \
         WHERE p.hostid IN ({marks}) AND q.hostid NOT IN ({marks}) AND c.hostid IN ({{ids}})"
    );
    let mut params = id_params(shared);
    params.extend(id_params(templates.iter().copied()));
    params.extend(id_params(templates.iter().copied()));
    let rows = query_by_ids(edit, &sql, &params, hosts)?;
    let Some(row) = rows.first() else { return Ok(()) };
    let ids = ["gone", "kept", "host"].map(|name| row.id(name));
    let sql = "SELECT hostid, host, kind FROM hosts WHERE hostid IN ({ids})";
    let found = query_by_ids(edit, sql, &[], &ids)?;
    let of = |id: u64| found.iter().find(|row| row.id("hostid") == id);
    let name = |id: u64| of(id).map_or("", |row| row.text("host"));
    let what = if of(ids[2]).is_some_and(|row| HostKind::Template.is(row.int("kind"))) {
        "template"
    } else {
        "host"
    };
    Err(LinkError::conflict(format!(
        "Cannot unlink template \"{}\" without template \"{}\" from {what} \"{}\" due to expression \
         of trigger \"{}\".",
        name(ids[0]),
        name(ids[1]),
        name(ids[2]),
        row.text("description")
    )))
}

/// Triggers of these templates that are of other templates, too: hosts have children of few triggers, but
/// many items.
fn shared_triggers(edit: &mut Edit<'_>, templates: &[u64]) -> DbResult<Vec<u64>> {
    let sql = format!(
        "SELECT DISTINCT pf.triggerid FROM items p JOIN functions pf ON pf.itemid = p.itemid \
         JOIN functions qf ON qf.triggerid = pf.triggerid JOIN items q ON q.itemid = qf.itemid \
         WHERE q.hostid NOT IN ({}) AND p.hostid IN ({{ids}})",
        placeholders(templates.len())
    );
    let params = id_params(templates.iter().copied());
    let rows = query_by_ids(edit, &sql, &params, templates)?;
    Ok(rows.iter().map(|row| row.id("triggerid")).collect())
}

/// Unlinks templates: what was inherited stays as the host's own, or with `clear` is deleted. Much is deleted in
/// further transactions.
pub fn unlink_templates(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
    clear: bool,
) -> Result<(), LinkError> {
    if hosts.is_empty() || templates.is_empty() {
        return Ok(());
    }
    if !clear {
        // The hosts keep all that they would have inherited.
        let mut unfinished = super::portions::unfinished_links(edit, hosts)?;
        unfinished.retain(|template, _| templates.contains(template));
        edit.inheriting(|edit| super::links::inherit(edit, &unfinished, true, None))?;
    }
    for portion in hosts.chunks(5_000) {
        let hosts = id_params(portion.iter().copied());
        let templates = id_params(templates.iter().copied());
        edit.delete_rows(
            &table::HOST_TEMPLATES,
            &[("hostid", &hosts), ("templateid", &templates)],
        )?;
    }
    // What becomes the hosts' own does so at once: until then it would follow its template, or go with it.
    if clear && leave(edit, hosts, templates)? {
        return Ok(());
    }
    settle(edit, templates, &Unlinked { hosts: hosts.to_vec(), clear }, usize::MAX)?;
    Ok(())
}

/// Whether hosts have inherited so much from the templates that [`unlink_templates`] with `clear` leaves it
/// to further transactions.
pub fn is_much(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> DbResult<bool> {
    Ok(Amount::of(edit, hosts, templates)?.is_some())
}

/// What hosts and templates have inherited, if it is more than one transaction should change.
struct Amount {
    hosts_max: usize,
    /// The templates among them.
    templates: BTreeSet<u64>,
}

impl Amount {
    fn of(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> DbResult<Option<Self>> {
        let Some(portion) = edit.inheritance.portion else { return Ok(None) };
        let sql = "SELECT itemid FROM items WHERE hostid IN ({ids})";
        let objects = ids_of(edit, sql, "itemid", templates)?.len();
        let sql = formatcp!(
            "SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND hostid IN ({{ids}})"
        );
        let targets: BTreeSet<u64> = ids_of(edit, sql, "hostid", hosts)?.into_iter().collect();
        let mut all = count(hosts.len());
        if !targets.is_empty() {
            // The hosts of a template lose what it loses.
            let below = templates_below(edit, &Vec::from_iter(targets.iter().copied()))?;
            all += hosts_of(edit, &below)?;
        }
        let hosts_max = hosts_max(portion, objects);
        Ok((all > count(hosts_max)).then_some(Self { hosts_max, templates: targets }))
    }
}

/// Leaves the deletion of what hosts have inherited to the following transactions, if it is much. `false`: it
/// is not.
fn leave(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> Result<bool, LinkError> {
    let Some(amount) = Amount::of(edit, hosts, templates)? else { return Ok(false) };
    let (hosts_max, targets) = (amount.hosts_max, amount.templates);
    let later = Later { templates: templates.iter().copied().collect(), behind: false };
    let alone: Vec<u64> = hosts.iter().copied().filter(|id| !targets.contains(id)).collect();
    let portions = alone.chunks(hosts_max).map(<[u64]>::to_vec);
    for hosts in portions.chain(targets.into_iter().map(|id| vec![id])) {
        later.leave(edit, &Work::Unlinked(Unlinked { hosts, clear: true }))?;
    }
    Ok(true)
}

/// Deletes what hosts and templates have inherited from templates that they are no longer linked to, or
/// makes it their own. If hosts have inherited more than `portion` items from a template that loses them,
/// only that many are deleted, and the result is `false`.
pub(super) fn settle(
    edit: &mut Edit<'_>,
    templates: &[u64],
    unlinked: &Unlinked,
    portion: usize,
) -> DbResult<bool> {
    let hosts = &unlinked.hosts;
    let items = inherited(
        edit,
        "SELECT c.itemid AS id FROM items c JOIN items p ON p.itemid = +c.templateid",
        templates,
        hosts,
    )?;
    if unlinked.clear {
        let below = lowest_below(edit, &items, portion)?;
        if !below.is_empty() {
            delete_items(edit, &below)?;
            return Ok(false);
        }
    }
    let triggers = inherited(
        edit,
        "SELECT t.triggerid AS id FROM items c JOIN functions f ON f.itemid = c.itemid \
         JOIN triggers t ON t.triggerid = f.triggerid \
         JOIN functions pf ON pf.triggerid = +t.templateid JOIN items p ON p.itemid = pf.itemid",
        templates,
        hosts,
    )?;
    let graphs = inherited(
        edit,
        "SELECT g.graphid AS id FROM items c JOIN graph_items f ON f.itemid = c.itemid \
         JOIN graphs g ON g.graphid = f.graphid \
         JOIN graph_items pf ON pf.graphid = +g.templateid JOIN items p ON p.itemid = pf.itemid",
        templates,
        hosts,
    )?;
    if unlinked.clear {
        delete_triggers(edit, &triggers)?;
        delete_graphs(edit, &graphs)?;
        delete_items(edit, &items)?;
        return Ok(true);
    }
    let prototypes = inherited(
        edit,
        formatcp!(
            "SELECT d.hostid AS id FROM items c JOIN items p ON p.itemid = +c.templateid \
         JOIN host_discovery d ON d.parent_itemid = c.itemid \
         JOIN hosts h ON h.hostid = d.hostid AND h.kind = {KIND_PROTOTYPE} AND h.templateid > 0"
        ),
        templates,
        hosts,
    )?;
    let no_parent = ("templateid", Value::from(0));
    edit.update_many(&table::ITEMS, &items, &[no_parent.clone(), ("valuemapid", Value::from(0))])?;
    edit.update_many(&table::TRIGGERS, &triggers, std::slice::from_ref(&no_parent))?;
    edit.update_many(&table::GRAPHS, &graphs, std::slice::from_ref(&no_parent))?;
    edit.update_many(&table::HOSTS, &prototypes, std::slice::from_ref(&no_parent))?;
    let of = id_params(prototypes.iter().copied());
    edit.update_rows(&table::GROUP_PROTOTYPES, &[("hostid", &of)], &[no_parent])?;
    give_uuids(edit, [&items, &triggers, &graphs, &prototypes])?;
    Ok(true)
}

/// Up to `max` items that hosts and templates have inherited from these, of the lowest level. None if
/// everything may be deleted at once.
fn lowest_below(edit: &mut Edit<'_>, items: &[u64], max: usize) -> DbResult<Vec<u64>> {
    let mut lowest = Vec::new();
    if max == usize::MAX {
        return Ok(lowest);
    }
    let sql = format!("SELECT itemid FROM items WHERE templateid IN ({{ids}}) LIMIT {max}");
    let mut next = ids_of(edit, &sql, "itemid", items)?;
    while !next.is_empty() {
        next.truncate(max);
        lowest = next;
        next = ids_of(edit, &sql, "itemid", &lowest)?;
    }
    Ok(lowest)
}

/// Ids of a query from the hosts' items `c` to the items `p` of templates that they are not linked to.
fn inherited(
    edit: &mut Edit<'_>,
    from: &str,
    templates: &[u64],
    hosts: &[u64],
) -> DbResult<Vec<u64>> {
    let marks = placeholders(templates.len());
    let sql = format!(
        "{from} WHERE +p.hostid IN ({marks}) AND c.hostid IN ({{ids}}) AND NOT EXISTS \
         (SELECT 1 FROM host_templates ht WHERE ht.hostid = c.hostid AND ht.templateid = p.hostid)"
    );
    let params = id_params(templates.iter().copied());
    let rows = query_by_ids(edit, &sql, &params, hosts)?;
    let ids: BTreeSet<u64> = rows.iter().map(|row| row.id("id")).collect();
    Ok(ids.into_iter().collect())
}

/// Objects that are now a template's own need universal ids.
fn give_uuids(
    edit: &mut Edit<'_>,
    [items, triggers, graphs, prototypes]: [&Vec<u64>; 4],
) -> DbResult<()> {
    for (table, ids, sql) in [
        (
            &table::ITEMS,
            items,
            formatcp!(
                "SELECT i.itemid AS id FROM items i JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = {KIND_TEMPLATE} AND i.itemid IN ({{ids}})"
            ),
        ),
        (
            &table::TRIGGERS,
            triggers,
            formatcp!(
                "SELECT DISTINCT f.triggerid AS id FROM functions f \
             JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = {KIND_TEMPLATE} AND f.triggerid IN ({{ids}})"
            ),
        ),
        (
            &table::GRAPHS,
            graphs,
            formatcp!(
                "SELECT DISTINCT f.graphid AS id FROM graph_items f \
             JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = {KIND_TEMPLATE} AND f.graphid IN ({{ids}})"
            ),
        ),
        (
            &table::HOSTS,
            prototypes,
            formatcp!(
                "SELECT d.hostid AS id FROM host_discovery d JOIN items i ON i.itemid = d.parent_itemid \
             JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = {KIND_TEMPLATE} AND d.hostid IN ({{ids}})"
            ),
        ),
    ] {
        let rows = query_by_ids(edit, sql, &[], ids)?;
        let uuids: DbResult<Vec<(u64, Value)>> =
            rows.iter().map(|row| Ok((row.id("id"), new_uuid()?.into()))).collect();
        edit.update_each(table, "uuid", &uuids?)?;
    }
    Ok(())
}
