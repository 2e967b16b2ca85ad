//! Triggers and trigger prototypes: all first, then their dependencies, which may lead anywhere.

use std::collections::BTreeSet;

use const_format::formatcp;
use eval::expr::Expression;
use objects::sql::KIND_TEMPLATE;
use objects::{CorrelationMode, RecoveryMode};
use serde_json::{Map, json};

use super::owners::{Owner, each};
use super::{Import, list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{DISCOVERED, TAG, TRIGGER, check_members, invalid, to_api};

/// A trigger of the import.
struct Node<'t> {
    path: String,
    node: &'t Json,
    prototype: bool,
}

impl Import<'_, '_> {
    pub(super) fn triggers(&self, tree: &Json, owners: &[Owner<'_>], path: &str) -> ApiResult<()> {
        let mut plain = Vec::new();
        let mut prototypes = Vec::new();
        for owner in owners {
            collect(owner, &mut plain, &mut prototypes)?;
        }
        for (path, node) in list(tree, "triggers", "trigger", path)? {
            // One over hosts that are not imported is none of this import's.
            if reads_one_of(text(node, "expression"), owners) {
                plain.push(Node { path, node, prototype: false });
            }
        }
        for (nodes, kind, prototype) in
            [(plain, "triggers", false), (prototypes, "discoveryRules", true)]
        {
            let rule = self.rules.of(kind);
            if !rule.any() {
                continue;
            }
            let before = if rule.delete { self.own(owners, prototype)? } else { Vec::new() };
            let seen = self.write(&nodes, prototype, rule)?;
            let gone = before.into_iter().filter(|id| !seen.contains(id));
            let method = if prototype { "triggerprototype.delete" } else { "trigger.delete" };
            self.delete_later(method, gone);
        }
        Ok(())
    }

    /// Triggers or prototypes of these owners that were there before and are not inherited.
    fn own(&self, owners: &[Owner<'_>], prototype: bool) -> ApiResult<Vec<u64>> {
        let existed = owners.iter().filter(|owner| owner.existed);
        let ids: Vec<u64> = existed.map(|owner| owner.id).collect();
        let sql = format!(
            "SELECT DISTINCT t.triggerid FROM triggers t \
             JOIN functions f ON f.triggerid = t.triggerid JOIN items i ON i.itemid = f.itemid \
             WHERE t.flags = {} AND t.templateid = 0 AND i.hostid IN ({{ids}})",
            if prototype { 2 } else { 0 }
        );
        let rows = self.call.read(|c| Ok(config::db::query_by_ids(c, &sql, &[], &ids)?))?;
        Ok(rows.iter().map(|row| row.id("triggerid")).collect())
    }

    /// Creates and updates; returns the ids of all that the file names.
    fn write(
        &self,
        nodes: &[Node<'_>],
        prototype: bool,
        rule: super::Rule,
    ) -> ApiResult<BTreeSet<u64>> {
        let method = if prototype { "triggerprototype" } else { "trigger" };
        let (mut created, mut changed) = (Vec::new(), Vec::new());
        let (mut new, mut written, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        for node in nodes {
            let known = match self.find_by_uuid(node)? {
                Some(id) => Some(id),
                None => self.find(prototype, node.node)?,
            };
            seen.extend(known);
            match known {
                Some(id) if rule.update => {
                    let mut object = self.object(node)?;
                    object.remove("uuid");
                    object.insert("triggerid".into(), id.to_string().into());
                    changed.push(Json::Object(object));
                    written.push((node, id));
                }
                None if rule.create => {
                    created.push(Json::Object(self.object(node)?));
                    new.push(node);
                }
                _ => {}
            }
        }
        self.change(&format!("{method}.update"), changed)?;
        let ids = self.create(&format!("{method}.create"), created)?;
        written.extend(new.into_iter().zip(ids));
        self.dependencies(&written, method)?;
        Ok(seen)
    }

    fn object(&self, node: &Node<'_>) -> ApiResult<Map<String, Json>> {
        let path = &node.path;
        check_members(node.node, &[TRIGGER, DISCOVERED], &["tags", "dependencies"], path)?;
        let mut object = to_api(TRIGGER, node.node, path)?;
        if node.prototype {
            object.extend(to_api(DISCOVERED, node.node, path)?);
        }
        object.insert("tags".into(), each(node.node, "tags", "tag", path, TAG)?);
        // Members that an update resets when the import leaves them out.
        for word in TRIGGER.iter().filter(|word| word.export != "uuid") {
            let default = word.default.unwrap_or("");
            let number = word.words.iter().find(|(_, n)| *n == default).map_or(default, |w| w.1);
            object.entry(word.api).or_insert_with(|| number.into());
        }
        if object.get("recovery_mode").and_then(Json::as_str)
            != Some(RecoveryMode::RecoveryExpression.text())
        {
            object.remove("recovery_expression");
        }
        if object.get("correlation_mode").and_then(Json::as_str)
            != Some(CorrelationMode::ByTag.text())
        {
            object.remove("correlation_tag");
        }
        if !self.of_template(text(node.node, "expression"))? {
            object.remove("uuid");
        }
        Ok(object)
    }

    /// Only triggers of templates have a universal id.
    fn of_template(&self, expression: &str) -> ApiResult<bool> {
        let Some(host) = expression.split('/').nth(1) else { return Ok(false) };
        let rows = self.call.rows(
            formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND host = ?"),
            &[host.into()],
        )?;
        Ok(!rows.is_empty())
    }

    fn find_by_uuid(&self, node: &Node<'_>) -> ApiResult<Option<u64>> {
        let uuid = text(node.node, "uuid");
        if uuid.is_empty() {
            return Ok(None);
        }
        let rows =
            self.call.rows("SELECT triggerid FROM triggers WHERE uuid = ?", &[uuid.into()])?;
        Ok(rows.first().map(|row| row.id("triggerid")))
    }

    /// The trigger with the node's name and expressions.
    pub(super) fn find(&self, prototype: bool, node: &Json) -> ApiResult<Option<u64>> {
        let (name, expression) = (text(node, "name"), text(node, "expression"));
        let recovery = text(node, "recovery_expression");
        let flags = if prototype { "2" } else { "0, 4" };
        let sql =
            format!("SELECT triggerid FROM triggers WHERE description = ? AND flags IN ({flags})");
        let rows = self.call.rows(&sql, &[name.into()])?;
        let ids: Vec<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let shown = self.expressions(prototype, &ids)?;
        Ok(shown
            .into_iter()
            .find(|(_, one, other)| one == expression && other == recovery)
            .map(|found| found.0))
    }

    /// Ids with both expressions in the form of exports.
    fn expressions(&self, prototype: bool, ids: &[u64]) -> ApiResult<Vec<(u64, String, String)>> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let method = if prototype { "triggerprototype.get" } else { "trigger.get" };
        let output = ["triggerid", "expression", "recovery_expression"];
        let mut found = self.api(method, &json!({ "triggerids": ids, "output": output }))?;
        if let Json::Array(rows) = &mut found {
            crate::exchange::write_expressions(self.call, rows)?;
        }
        let rows = found.as_array().map_or(&[][..], Vec::as_slice);
        Ok(rows
            .iter()
            .map(|row| {
                let id = text(row, "triggerid").parse().unwrap_or(0);
                (
                    id,
                    text(row, "expression").to_owned(),
                    text(row, "recovery_expression").to_owned(),
                )
            })
            .collect())
    }

    /// Gives the written triggers the dependencies of the file, and takes away others.
    fn dependencies(&self, written: &[(&Node<'_>, u64)], method: &str) -> ApiResult<()> {
        let ids: Vec<u64> = written.iter().map(|(_, id)| *id).collect();
        let sql = "SELECT DISTINCT triggerid FROM trigger_depends WHERE triggerid IN ({ids})";
        let rows = self.call.read(|c| Ok(config::db::query_by_ids(c, sql, &[], &ids)?))?;
        let dependent: BTreeSet<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
        let mut changed = Vec::new();
        for (node, own) in written {
            let mut on = Vec::new();
            for (path, dependency) in list(node.node, "dependencies", "dependency", &node.path)? {
                let mut id = self.find(node.prototype, dependency)?;
                if id.is_none() && node.prototype {
                    id = self.find(false, dependency)?;
                }
                let id = id.ok_or_else(|| {
                    let name = text(dependency, "name");
                    invalid(&path, &format!("the trigger \"{name}\" does not exist"))
                })?;
                on.push(json!({ "triggerid": id.to_string() }));
            }
            if !on.is_empty() || dependent.contains(own) {
                changed.push(json!({ "triggerid": own.to_string(), "dependencies": on }));
            }
        }
        self.change(&format!("{method}.update"), changed)
    }
}

/// Does the expression name one of the owners? One that cannot be read is refused later.
fn reads_one_of(expression: &str, owners: &[Owner<'_>]) -> bool {
    let Ok(parsed) = Expression::parse(expression) else { return true };
    let calls = parsed.item_calls();
    calls.is_empty()
        || calls.iter().any(|call| owners.iter().any(|owner| owner.name == call.query.host))
}

/// Triggers that stand below items and discovery rules.
fn collect<'t>(
    owner: &Owner<'t>,
    plain: &mut Vec<Node<'t>>,
    prototypes: &mut Vec<Node<'t>>,
) -> ApiResult<()> {
    for (path, item) in list(owner.node, "items", "item", &owner.path)? {
        for (path, node) in list(item, "triggers", "trigger", &path)? {
            plain.push(Node { path, node, prototype: false });
        }
    }
    for (path, rule) in list(owner.node, "discovery_rules", "discovery_rule", &owner.path)? {
        let mut take = |holder: &'t Json, path: &str| -> ApiResult<()> {
            for (path, node) in list(holder, "trigger_prototypes", "trigger_prototype", path)? {
                prototypes.push(Node { path, node, prototype: true });
            }
            Ok(())
        };
        take(rule, &path)?;
        for (path, item) in list(rule, "item_prototypes", "item_prototype", &path)? {
            take(item, &path)?;
        }
    }
    Ok(())
}
