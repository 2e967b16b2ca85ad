//! A rule with its prototypes, read from the database.

use std::collections::{BTreeMap, HashMap};

use const_format::formatcp;
use eval::lld::RowFilter;
use eval::macros::Place;
use eval::regex::{GlobalExpression, GlobalKind, GlobalRegexes};
use jiff::tz::TimeZone;
use model::HostId;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_RULE, KIND_HOST};
use serde_json::Value as Json;

use super::host_shape::HostPrototype;
use super::overrides::{self, Override};
use crate::Snapshot;
use crate::db::{DbResult, Reader, Row, query_by_ids};
use crate::objects::{GraphItem, Step, Tag, TriggerFunction, graph_items, steps, tags};
use crate::snapshot::Resolver;

/// A discovery rule of a host.
#[derive(PartialEq)]
pub(super) struct Rule {
    pub(super) id: u64,
    pub(super) hostid: u64,
    pub(super) filter: RowFilter,
    /// Macros whose values the filter compares.
    pub(super) filter_macros: Vec<String>,
    /// LLD macros and their JSON paths.
    pub(super) paths: Vec<(String, String)>,
    pub(super) overrides: Vec<Override>,
    /// Until a lost object is deleted.
    pub(super) lifetime: Lifetime,
    /// Until a lost object is disabled.
    pub(super) enabled_lifetime: Lifetime,
    /// Item prototypes, masters before their dependents.
    pub(super) items: Vec<ItemPrototype>,
    pub(super) triggers: Vec<TriggerPrototype>,
    pub(super) graphs: Vec<GraphPrototype>,
    pub(super) hosts: Vec<HostPrototype>,
    pub(super) globals: GlobalRegexes,
    /// For `fmttime`.
    pub(super) tz: TimeZone,
}

/// How long something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// For seconds.
    After(u64),
    Forever,
    NotAtAll,
}

#[derive(PartialEq)]
pub(crate) struct ItemPrototype {
    pub(crate) row: Row,
    pub(crate) steps: Vec<Step>,
    pub(crate) tags: Vec<Tag>,
    /// Index of the prototype that is its master.
    pub(crate) master: Option<usize>,
    /// 0 without a prototype as master, else one more than the master's.
    pub(crate) level: usize,
}

/// A trigger (or its prototype) with what other tables have of it.
#[derive(PartialEq)]
pub(crate) struct TriggerPrototype {
    pub(crate) row: Row,
    /// By function id, in order.
    pub(crate) functions: Vec<(u64, TriggerFunction)>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) depends_on: Vec<u64>,
}

/// A graph (or its prototype) with its items in order.
#[derive(PartialEq)]
pub(crate) struct GraphPrototype {
    pub(crate) row: Row,
    pub(crate) items: Vec<GraphItem>,
}

/// Reads the rule. `Ok(None)`: there is no such rule on a host (any more); the inner error is a
/// fault of the rule itself, for its error text.
pub(super) fn load(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    id: u64,
) -> DbResult<Result<Option<Rule>, String>> {
    let rows = connection.query(
        formatcp!(
            "SELECT i.itemid, i.hostid, i.templateid, i.filter, i.lld_macro_paths, i.overrides, \
         i.lifetime_type, i.lifetime, i.enabled_lifetime_type, i.enabled_lifetime \
         FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE i.itemid = ? AND i.flags = {FLAGS_RULE} AND h.kind = {KIND_HOST}"
        ),
        &[id.into()],
    )?;
    let Some(row) = rows.first() else { return Ok(Ok(None)) };
    let rule = match assemble(row, snapshot) {
        Ok(rule) => rule,
        Err(text) => return Ok(Err(text)),
    };
    Ok(Ok(Some(Rule {
        items: item_prototypes(connection, id)?,
        triggers: trigger_prototypes(connection, id)?,
        graphs: graph_prototypes(connection, id)?,
        hosts: super::host_shape::prototypes(connection, id)?,
        ..rule
    })))
}

/// The rule without its prototypes.
fn assemble(row: &Row, snapshot: &Snapshot) -> Result<Rule, String> {
    let host_ids = [HostId(row.id("hostid"))];
    let resolver = Resolver::new(snapshot, &host_ids);
    let tz = snapshot.settings.time_zone();
    let resolve = |text: &str, place: Place| resolver.text(text, place).into_owned();
    let (filter, filter_macros) = overrides::filter(&json(row, "filter")?, &resolve)?;
    let overrides = overrides::overrides(&json(row, "overrides")?, &resolve)?;
    let paths = json(row, "lld_macro_paths")?;
    let paths = paths.as_array().into_iter().flatten();
    let lifetime = |kind: &str, column: &str| match row.int(kind) {
        0 => {
            let text = resolve(row.text(column), Place::DiscoveryRule);
            match eval::num::parse_seconds(&text) {
                Some(0) => Ok(Lifetime::NotAtAll),
                Some(seconds) => Ok(Lifetime::After(u64::from(seconds))),
                None => Err(format!(
                    "Cannot process lost resources: \"{text}\" is not a period of time."
                )),
            }
        }
        1 => Ok(Lifetime::Forever),
        _ => Ok(Lifetime::NotAtAll),
    };
    Ok(Rule {
        id: row.id("itemid"),
        hostid: row.id("hostid"),
        filter,
        filter_macros,
        paths: paths
            .map(|one| (overrides::text(one, "lld_macro"), overrides::text(one, "path")))
            .collect(),
        overrides,
        lifetime: lifetime("lifetime_type", "lifetime")?,
        enabled_lifetime: lifetime("enabled_lifetime_type", "enabled_lifetime")?,
        items: Vec::new(),
        triggers: Vec::new(),
        graphs: Vec::new(),
        hosts: Vec::new(),
        globals: globals(snapshot),
        tz,
    })
}

fn json(row: &Row, column: &str) -> Result<Json, String> {
    match row.text(column) {
        "" => Ok(Json::Null),
        text => serde_json::from_str(text)
            .map_err(|error| format!("The rule's {column} cannot be read: {error}.")),
    }
}

impl Snapshot {
    /// The global regular expressions, as they are matched.
    pub fn global_regexes(&self) -> GlobalRegexes {
        globals(self)
    }
}

fn globals(snapshot: &Snapshot) -> GlobalRegexes {
    let expression = |e: &crate::snapshot::GlobalRegexp| GlobalExpression {
        kind: match e.kind {
            0 => GlobalKind::Included,
            1 => GlobalKind::AnyIncluded(e.delimiter),
            2 => GlobalKind::NotIncluded,
            4 => GlobalKind::False,
            _ => GlobalKind::True,
        },
        expression: e.expression.clone(),
        case_sensitive: e.case_sensitive,
    };
    snapshot
        .regexps
        .iter()
        .map(|(name, list)| (name.clone(), list.iter().map(expression).collect()))
        .collect()
}

/// Item prototypes of a rule, masters before their dependents.
pub(crate) fn item_prototypes(
    connection: &mut dyn Reader,
    rule: u64,
) -> DbResult<Vec<ItemPrototype>> {
    let rows = connection.query(
        formatcp!(
            "SELECT * FROM items WHERE ruleid = ? AND flags = {FLAGS_PROTOTYPE} ORDER BY itemid"
        ),
        &[rule.into()],
    )?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
    let mut steps = steps(connection, &ids)?;
    let mut tags = tags(connection, "item_tags", "itemid", &ids)?;
    let masters: HashMap<u64, u64> =
        rows.iter().map(|row| (row.id("itemid"), row.id("master_itemid"))).collect();
    let level = |id: u64| {
        let mut at = masters.get(&id).copied();
        // A circle cannot be stored; the bound is for a database that was edited by hand.
        (0..=masters.len())
            .take_while(|_| match at.and_then(|master| masters.get(&master)) {
                Some(next) => {
                    at = Some(*next);
                    true
                }
                None => false,
            })
            .count()
    };
    let mut prototypes: Vec<ItemPrototype> = Vec::with_capacity(rows.len());
    let mut rows: Vec<(usize, Row)> =
        rows.into_iter().map(|row| (level(row.id("itemid")), row)).collect();
    rows.sort_by_key(|(level, row)| (*level, row.id("itemid")));
    for (level, row) in rows {
        let id = row.id("itemid");
        let master = prototypes
            .iter()
            .position(|p: &ItemPrototype| p.row.id("itemid") == row.id("master_itemid"));
        prototypes.push(ItemPrototype {
            steps: steps.remove(&id).unwrap_or_default(),
            tags: tags.remove(&id).unwrap_or_default(),
            row,
            master,
            level,
        });
    }
    Ok(prototypes)
}

/// Trigger prototypes of a rule.
pub(crate) fn trigger_prototypes(
    connection: &mut dyn Reader,
    rule: u64,
) -> DbResult<Vec<TriggerPrototype>> {
    let rows = connection.query(
        formatcp!(
            "SELECT * FROM triggers WHERE flags = {FLAGS_PROTOTYPE} AND triggerid IN \
         (SELECT f.triggerid FROM functions f JOIN items i ON i.itemid = f.itemid \
         WHERE i.ruleid = ? AND i.flags = {FLAGS_PROTOTYPE}) ORDER BY triggerid"
        ),
        &[rule.into()],
    )?;
    complete(connection, rows)
}

/// Triggers with their functions, tags and dependencies.
pub(super) fn complete(
    connection: &mut dyn Reader,
    rows: Vec<Row>,
) -> DbResult<Vec<TriggerPrototype>> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
    let sql = "SELECT triggerid, functionid, itemid, name, parameter FROM functions \
               WHERE triggerid IN ({ids})";
    let mut functions: BTreeMap<u64, Vec<(u64, TriggerFunction)>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let of = functions.entry(row.id("triggerid")).or_default();
        of.push((row.id("functionid"), TriggerFunction::from_row(&row)));
    }
    let mut tags = tags(connection, "trigger_tags", "triggerid", &ids)?;
    let sql = "SELECT triggerid, depends_on FROM trigger_depends WHERE triggerid IN ({ids})";
    let mut depends: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], &ids)? {
        depends.entry(row.id("triggerid")).or_default().push(row.id("depends_on"));
    }
    Ok(rows
        .into_iter()
        .map(|row| {
            let id = row.id("triggerid");
            let mut functions = functions.remove(&id).unwrap_or_default();
            functions.sort_by_key(|(id, _)| *id);
            let mut depends_on = depends.remove(&id).unwrap_or_default();
            depends_on.sort_unstable();
            let tags = tags.remove(&id).unwrap_or_default();
            TriggerPrototype { row, functions, tags, depends_on }
        })
        .collect())
}

/// Graph prototypes of a rule.
pub(crate) fn graph_prototypes(
    connection: &mut dyn Reader,
    rule: u64,
) -> DbResult<Vec<GraphPrototype>> {
    let rows = connection.query(
        formatcp!(
            "SELECT * FROM graphs WHERE flags = {FLAGS_PROTOTYPE} AND graphid IN \
         (SELECT f.graphid FROM graph_items f JOIN items i ON i.itemid = f.itemid \
         WHERE i.ruleid = ? AND i.flags = {FLAGS_PROTOTYPE}) ORDER BY graphid"
        ),
        &[rule.into()],
    )?;
    with_items(connection, rows)
}

/// Graphs with their items.
pub(super) fn with_items(
    connection: &mut dyn Reader,
    rows: Vec<Row>,
) -> DbResult<Vec<GraphPrototype>> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("graphid")).collect();
    let mut items = graph_items(connection, &ids)?;
    let complete = |row: Row| {
        let items = items.remove(&row.id("graphid")).unwrap_or_default();
        GraphPrototype { row, items }
    };
    Ok(rows.into_iter().map(complete).collect())
}
