//! Triggers of hosts with their functions.

use objects::{ProblemMode, RecoveryMode, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eval::expr::Expression;
use eval::macros::Place;
use model::{FunctionId, HostId, ItemId, Severity, TriggerId};
use objects::sql::FLAGS_REAL;

use super::{PORTION, Scope};
use crate::db::{DbResult, Reader, Row, Value, query_by_ids};
use crate::snapshot::{Function, Resolver, Snapshot, Trigger, TriggerRecovery};

const COLUMNS: &str = "triggerid, description, event_name, opdata, expression, recovery_mode, \
    recovery_expression, priority, status, type";

/// The triggers in scope whose items are all in the snapshot: that leaves out those of templates.
pub(super) fn read(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    scope: &Scope,
) -> DbResult<Vec<Trigger>> {
    let mut found = Vec::new();
    match scope {
        Scope::All => {
            let mut after = 0;
            loop {
                let sql = format!(
                    "SELECT {COLUMNS} FROM triggers WHERE triggerid > ? AND flags IN {FLAGS_REAL} \
                     ORDER BY triggerid LIMIT {PORTION}"
                );
                let rows = connection.query(&sql, &[Value::from(after)])?;
                let Some(last) = rows.last() else { break };
                after = last.id("triggerid");
                found.extend(complete(connection, snapshot, &rows)?);
            }
        }
        Scope::Ids(ids) => {
            let sql = format!(
                "SELECT {COLUMNS} FROM triggers WHERE flags IN {FLAGS_REAL} AND triggerid IN ({{ids}})"
            );
            let rows = query_by_ids(connection, &sql, &[], ids)?;
            found.extend(complete(connection, snapshot, &rows)?);
        }
    }
    Ok(found)
}

/// Triggers whose expressions name these items.
pub(super) fn naming(
    connection: &mut dyn Reader,
    items: &BTreeSet<ItemId>,
) -> DbResult<BTreeSet<TriggerId>> {
    let ids: Vec<u64> = items.iter().map(|id| id.0).collect();
    let sql = "SELECT DISTINCT triggerid FROM functions WHERE itemid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &ids)?;
    Ok(rows.iter().map(|row| TriggerId(row.id("triggerid"))).collect())
}

/// Items that the expressions of these triggers name.
pub(super) fn named(
    connection: &mut dyn Reader,
    triggers: &BTreeSet<TriggerId>,
) -> DbResult<BTreeSet<ItemId>> {
    let ids: Vec<u64> = triggers.iter().map(|id| id.0).collect();
    let sql = "SELECT DISTINCT itemid FROM functions WHERE triggerid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &ids)?;
    Ok(rows.iter().map(|row| ItemId(row.id("itemid"))).collect())
}

/// Rows of triggers with what other tables have of them.
fn complete(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    rows: &[Row],
) -> DbResult<Vec<Trigger>> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
    let mut functions = by_trigger(query_by_ids(
        connection,
        "SELECT triggerid, functionid, itemid, name, parameter FROM functions \
         WHERE triggerid IN ({ids}) ORDER BY functionid",
        &[],
        &ids,
    )?);
    let mut depends = by_trigger(query_by_ids(
        connection,
        "SELECT triggerid, depends_on FROM trigger_depends WHERE triggerid IN ({ids})",
        &[],
        &ids,
    )?);
    let mut tags = by_trigger(query_by_ids(
        connection,
        "SELECT triggerid, tag, value FROM trigger_tags WHERE triggerid IN ({ids}) \
         ORDER BY triggertagid",
        &[],
        &ids,
    )?);
    Ok(rows
        .iter()
        .filter_map(|row| {
            let id = row.id("triggerid");
            trigger(
                row,
                snapshot,
                &functions.remove(&id).unwrap_or_default(),
                &depends.remove(&id).unwrap_or_default(),
                &tags.remove(&id).unwrap_or_default(),
            )
        })
        .collect())
}

fn by_trigger(rows: Vec<Row>) -> BTreeMap<u64, Vec<Row>> {
    let mut found: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in rows {
        found.entry(row.id("triggerid")).or_default().push(row);
    }
    found
}

fn trigger(
    row: &Row,
    snapshot: &Snapshot,
    functions: &[Row],
    depends: &[Row],
    tags: &[Row],
) -> Option<Trigger> {
    let mut hosts: Vec<HostId> = Vec::new();
    let mut enabled = Status::Enabled.is(row.int("status")) && !functions.is_empty();
    for function in functions {
        let item = snapshot.items.get(&ItemId(function.id("itemid")))?;
        enabled &= item.enabled;
        if !hosts.contains(&item.host) {
            hosts.push(item.host);
        }
    }
    if functions.is_empty() {
        return None;
    }
    let resolver = Resolver::new(snapshot, &hosts);
    let functions = functions.iter().map(|function| Function {
        id: FunctionId(function.id("functionid")),
        item: ItemId(function.id("itemid")),
        name: Arc::from(function.text("name")),
        parameter: Arc::from(resolver.text(function.text("parameter"), Place::Formula)),
    });
    let mut invalid = None;
    let mut parse = |name: &str| {
        let text = row.text(name);
        Expression::parse(text).map(Arc::new).map_err(|error| {
            invalid = Some(format!("Cannot evaluate \"{text}\": {error}").into_boxed_str());
        })
    };
    let never = || Expression::parse("0").ok().map(Arc::new);
    let expression = parse("expression").ok().or_else(never)?;
    let recovery = match RecoveryMode::from_number(row.int("recovery_mode")) {
        Some(RecoveryMode::RecoveryExpression) => parse("recovery_expression")
            .map_or(TriggerRecovery::None, TriggerRecovery::RecoveryExpression),
        Some(RecoveryMode::None) => TriggerRecovery::None,
        Some(RecoveryMode::Expression) | None => TriggerRecovery::Expression,
    };
    let text = |name: &str| Arc::<str>::from(row.text(name));
    Some(Trigger {
        id: TriggerId(row.id("triggerid")),
        description: text("description"),
        event_name: text("event_name"),
        opdata: text("opdata"),
        expression,
        recovery,
        functions: functions.collect(),
        priority: u8::try_from(row.int("priority"))
            .ok()
            .and_then(Severity::from_api)
            .unwrap_or(Severity::NotClassified),
        enabled,
        multiple: ProblemMode::Multiple.is(row.int("type")),
        depends_on: depends.iter().map(|row| TriggerId(row.id("depends_on"))).collect(),
        tags: tags
            .iter()
            .map(|row| (Arc::from(row.text("tag")), Arc::from(row.text("value"))))
            .collect(),
        invalid,
    })
}
