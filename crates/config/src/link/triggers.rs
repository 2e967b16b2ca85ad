//! Inheritance of triggers and trigger prototypes, with their dependencies.

use crate::table;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use const_format::formatcp;
use objects::sql::{FLAGS_DISCOVERED, KIND_HOST};

use super::{Later, LinkError};
use crate::Edit;
use crate::db::{DbResult, Value, id_params, placeholders, query_by_ids};
use crate::objects::{TriggerFunction, TriggerTexts, existing, insert_functions, replace_ids};

/// A trigger of a template with its functions, in the order of their ids.
struct Source {
    id: u64,
    description: String,
    expression: String,
    recovery: String,
    functions: Vec<(u64, TriggerFunction)>,
}

/// One trigger on one host.
struct Copy {
    source: usize,
    triggerid: u64,
    adopted: bool,
    functions: Vec<TriggerFunction>,
}

/// Copies triggers of templates to what is linked below them (only to `hosts`, if given), and on
/// to what is linked below that. A trigger over several templates comes to hosts that are linked
/// to all of them. With `later`, only templates get copies; returns the triggers that the hosts have yet
/// to inherit. The hosts need no check: a trigger that is in the way there is so on their templates, too.
pub(crate) fn inherit_triggers(
    edit: &mut Edit<'_>,
    sources: &[u64],
    hosts: Option<&[u64]>,
    later: Option<&Later>,
) -> Result<Vec<u64>, LinkError> {
    let mut sources = sources.to_vec();
    let mut left = Vec::new();
    let templates = later.map(|later| later.templates.clone());
    let hosts = hosts.map(|hosts| hosts.iter().copied().collect::<BTreeSet<u64>>());
    let mut only = hosts.or_else(|| templates.clone());
    while !sources.is_empty() {
        if later.is_some() {
            left.extend(&sources);
        }
        let copies = copy_level(edit, &sources, only.as_ref())?;
        let sql = "SELECT triggerid FROM trigger_depends WHERE depends_on IN ({ids})";
        let mut related = crate::objects::ids_of(edit, sql, "triggerid", &sources)?;
        related.extend(&sources);
        inherit_dependencies(edit, &related, only.as_ref(), false)?;
        sources = copies;
        only.clone_from(&templates);
    }
    Ok(left)
}

fn load_sources(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<Vec<Source>> {
    let sql = formatcp!(
        "SELECT triggerid, description, expression, recovery_expression \
               FROM triggers WHERE flags < {FLAGS_DISCOVERED} AND triggerid IN ({{ids}})"
    );
    let mut sources: BTreeMap<u64, Source> = query_by_ids(edit, sql, &[], ids)?
        .iter()
        .map(|row| {
            let source = Source {
                id: row.id("triggerid"),
                description: row.text("description").to_owned(),
                expression: row.text("expression").to_owned(),
                recovery: row.text("recovery_expression").to_owned(),
                functions: Vec::new(),
            };
            (source.id, source)
        })
        .collect();
    let sql = "SELECT functionid, triggerid, itemid, name, parameter FROM functions \
               WHERE triggerid IN ({ids})";
    let mut rows = query_by_ids(edit, sql, &[], ids)?;
    rows.sort_by_key(|row| row.id("functionid"));
    for row in &rows {
        if let Some(source) = sources.get_mut(&row.id("triggerid")) {
            source.functions.push((row.id("functionid"), TriggerFunction::from_row(row)));
        }
    }
    Ok(sources.into_values().filter(|source| !source.functions.is_empty()).collect())
}

/// Children of items: parent → (host → child).
pub(crate) fn item_children(
    edit: &mut Edit<'_>,
    parents: &[u64],
    only: Option<&BTreeSet<u64>>,
) -> DbResult<HashMap<u64, BTreeMap<u64, u64>>> {
    let rows = match only {
        Some(hosts) => {
            let hosts: Vec<u64> = hosts.iter().copied().collect();
            super::children_on(edit, parents, &hosts)?
        }
        None => {
            let sql = "SELECT itemid, hostid, templateid FROM items WHERE templateid IN ({ids})";
            query_by_ids(edit, sql, &[], parents)?
        }
    };
    let mut children: HashMap<u64, BTreeMap<u64, u64>> = HashMap::new();
    for row in rows {
        let of = children.entry(row.id("templateid")).or_default();
        of.insert(row.id("hostid"), row.id("itemid"));
    }
    Ok(children)
}

/// Children of triggers: (parent, host) → child; on certain hosts only, if given.
pub(crate) fn related_children(
    edit: &mut Edit<'_>,
    parents: &[u64],
    only: Option<&BTreeSet<u64>>,
) -> DbResult<BTreeMap<(u64, u64), u64>> {
    const CHILDREN: &str = "SELECT DISTINCT t.templateid, t.triggerid, i.hostid FROM triggers t \
                            JOIN functions f ON f.triggerid = t.triggerid \
                            JOIN items i ON i.itemid = f.itemid";
    let mut rows = Vec::new();
    if let Some(hosts) = only {
        let hosts: Vec<u64> = hosts.iter().copied().collect();
        for portion in parents.chunks(1_000) {
            let marks = placeholders(portion.len());
            let sql =
                format!("{CHILDREN} WHERE +t.templateid IN ({marks}) AND i.hostid IN ({{ids}})");
            let params = id_params(portion.iter().copied());
            rows.extend(query_by_ids(edit, &sql, &params, &hosts)?);
        }
    } else {
        let sql = format!("{CHILDREN} WHERE t.templateid IN ({{ids}})");
        rows = query_by_ids(edit, &sql, &[], parents)?;
    }
    Ok(rows
        .iter()
        .map(|row| ((row.id("templateid"), row.id("hostid")), row.id("triggerid")))
        .collect())
}

/// One level; gives the ids of the copies.
fn copy_level(
    edit: &mut Edit<'_>,
    ids: &[u64],
    only: Option<&BTreeSet<u64>>,
) -> Result<Vec<u64>, LinkError> {
    let sources = load_sources(edit, ids)?;
    let items: BTreeSet<u64> =
        sources.iter().flat_map(|s| s.functions.iter().map(|(_, f)| f.itemid)).collect();
    let children = item_children(edit, &items.into_iter().collect::<Vec<_>>(), only)?;
    if children.is_empty() {
        return Ok(Vec::new());
    }
    let hosts: BTreeSet<u64> = children.values().flat_map(BTreeMap::keys).copied().collect();
    let done = related_children(edit, ids, Some(&hosts))?;
    let names: BTreeSet<&str> = sources.iter().map(|s| s.description.as_str()).collect();
    let own: BTreeSet<u64> = children.values().flat_map(BTreeMap::values).copied().collect();
    let own = existing(edit, &Vec::from_iter(own), &names)?;
    let mut copies = Vec::new();
    let mut fresh = 0_u64;
    for (at, source) in sources.iter().enumerate() {
        let empty = BTreeMap::new();
        let first = children.get(&source.functions[0].1.itemid).unwrap_or(&empty);
        for host in first.keys().filter(|host| !done.contains_key(&(source.id, **host))) {
            // Not linked to all templates of the trigger: not inherited.
            let Some(functions) = functions_on(source, *host, &children) else { continue };
            let place = |text: &str| replace_ids(text, &mut |id| written(source, &functions, id));
            let texts = TriggerTexts {
                description: source.description.clone(),
                expression: place(&source.expression),
                recovery: place(&source.recovery),
            };
            let same = own.find(*host, texts, Some(source.id));
            if let Some(same) = same.filter(|same| same.templateid > 0) {
                return Err(LinkError::conflict(format!(
                    "Cannot inherit trigger \"{}\", because the host has the same trigger from \
                     another template (trigger {}). Unlink one of the templates.",
                    source.description, same.id
                )));
            }
            fresh += u64::from(same.is_none());
            copies.push(Copy {
                source: at,
                triggerid: same.map_or(0, |same| same.id),
                adopted: same.is_some(),
                functions,
            });
        }
    }
    let first = edit.next_id(&table::TRIGGERS, fresh)?;
    for (id, copy) in (first..).zip(copies.iter_mut().filter(|copy| !copy.adopted)) {
        copy.triggerid = id;
    }
    write(edit, &sources, &copies)?;
    Ok(copies.iter().map(|copy| copy.triggerid).collect())
}

fn functions_on(
    source: &Source,
    host: u64,
    children: &HashMap<u64, BTreeMap<u64, u64>>,
) -> Option<Vec<TriggerFunction>> {
    source
        .functions
        .iter()
        .map(|(_, function)| {
            let itemid = *children.get(&function.itemid)?.get(&host)?;
            Some(TriggerFunction { itemid, ..function.clone() })
        })
        .collect()
}

/// A function of the source as [`existing`] writes those of the host's own triggers.
fn written(source: &Source, functions: &[TriggerFunction], id: u64) -> String {
    let at = source.functions.iter().position(|(functionid, _)| *functionid == id);
    at.and_then(|at| functions.get(at)).map_or_else(String::new, TriggerFunction::written)
}

/// Columns that a copy has of its own; all others come from the parent.
const OWN: [&str; 5] = ["triggerid", "templateid", "expression", "recovery_expression", "uuid"];

fn write(edit: &mut Edit<'_>, sources: &[Source], copies: &[Copy]) -> DbResult<()> {
    let count: usize = copies.iter().map(|copy| copy.functions.len()).sum();
    let mut functionid =
        edit.next_id(&table::FUNCTIONS, u64::try_from(count).unwrap_or(u64::MAX))?;
    let mut functions = Vec::with_capacity(count);
    let (mut fresh, mut copied) = (Vec::new(), Vec::new());
    let mut adopted = Vec::new();
    for copy in copies {
        let source = &sources[copy.source];
        let first = functionid;
        let place = |text: &str| {
            replace_ids(text, &mut |id| {
                let at = source.functions.iter().position(|(old, _)| *old == id).unwrap_or(0);
                format!("{{{}}}", first + u64::try_from(at).unwrap_or(0))
            })
        };
        for function in &copy.functions {
            functions.push((functionid, copy.triggerid, function.clone()));
            functionid += 1;
        }
        let row: [Value; 5] = [
            copy.triggerid.into(),
            source.id.into(),
            place(&source.expression).into(),
            place(&source.recovery).into(),
            "".into(),
        ];
        if !copy.adopted {
            fresh.push(row.to_vec());
            copied.push(copy.triggerid);
            continue;
        }
        // The host keeps its trigger, which becomes the inherited one.
        let own: Vec<(&str, Value)> = OWN.into_iter().zip(row).skip(1).collect();
        edit.update_like(&table::TRIGGERS, copy.triggerid, source.id, &own)?;
        adopted.push(copy.triggerid);
    }
    edit.delete(&table::FUNCTIONS, "triggerid", &adopted)?;
    edit.delete(&table::TRIGGER_TAGS, "triggerid", &adopted)?;
    edit.insert_like(&table::TRIGGERS, &OWN, "templateid", &fresh)?;
    insert_functions(edit, &functions)?;
    edit.insert_details_like(&table::TRIGGER_TAGS, &table::TRIGGERS, &copied)?;
    edit.insert_details_like(&table::TRIGGER_TAGS, &table::TRIGGERS, &adopted)
}

/// Children get the dependencies of their parents: on the child of the same host where the other
/// trigger is a template's, on the same trigger where it is a host's. `only`: children on these
/// hosts. `replace`: and no others.
pub(crate) fn inherit_dependencies(
    edit: &mut Edit<'_>,
    parents: &[u64],
    only: Option<&BTreeSet<u64>>,
    replace: bool,
) -> DbResult<()> {
    let sql = "SELECT triggerid, depends_on FROM trigger_depends WHERE triggerid IN ({ids})";
    let mut depends: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in query_by_ids(edit, sql, &[], parents)? {
        depends.entry(row.id("triggerid")).or_default().push(row.id("depends_on"));
    }
    if depends.is_empty() && !replace {
        return Ok(());
    }
    let masters: BTreeSet<u64> = depends.values().flatten().copied().collect();
    let masters: Vec<u64> = masters.into_iter().collect();
    let sql = formatcp!(
        "SELECT DISTINCT f.triggerid FROM functions f JOIN items i ON i.itemid = f.itemid \
               JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = {KIND_HOST} AND f.triggerid IN ({{ids}})"
    );
    let on_hosts: BTreeSet<u64> =
        crate::objects::ids_of(edit, sql, "triggerid", &masters)?.into_iter().collect();
    let children = related_children(edit, parents, only)?;
    let master_children = related_children(edit, &masters, only)?;
    let mut wanted: BTreeSet<(u64, u64)> = BTreeSet::new();
    for ((parent, host), child) in &children {
        for master in depends.get(parent).into_iter().flatten() {
            if let Some(on) = master_children.get(&(*master, *host)) {
                wanted.insert((*child, *on));
            } else if on_hosts.contains(master) {
                wanted.insert((*child, *master));
            }
        }
    }
    let all: Vec<u64> = children.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
    if replace {
        edit.delete(&table::TRIGGER_DEPENDS, "triggerid", &all)?;
    } else {
        let sql = "SELECT triggerid, depends_on FROM trigger_depends WHERE triggerid IN ({ids})";
        for row in query_by_ids(edit, sql, &[], &all)? {
            wanted.remove(&(row.id("triggerid"), row.id("depends_on")));
        }
    }
    let rows: Vec<Vec<Value>> =
        wanted.iter().map(|(child, on)| vec![Value::from(*child), Value::from(*on)]).collect();
    edit.insert_many(&table::TRIGGER_DEPENDS, &["triggerid", "depends_on"], &rows)
}
