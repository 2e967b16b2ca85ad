//! Triggers and trigger prototypes: all first, then their dependencies, which may lead anywhere.

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
            plain.push(Node { path, node, prototype: false });
        }
        let rule = self.rules.of("triggers");
        if rule.create || rule.update {
            self.write(&plain, rule)?;
        }
        if rule.delete {
            self.delete_missing(owners, &plain)?;
        }
        let rule = self.rules.of("discoveryRules");
        if rule.create || rule.update {
            self.write(&prototypes, rule)?;
        }
        Ok(())
    }

    fn write(&self, nodes: &[Node<'_>], rule: super::Rule) -> ApiResult<()> {
        let Some(first) = nodes.first() else { return Ok(()) };
        let method = if first.prototype { "triggerprototype" } else { "trigger" };
        let (mut created, mut changed) = (Vec::new(), Vec::new());
        for node in nodes {
            let mut object = self.object(node)?;
            let known = self.find_by_uuid(node)?.or(self.find(
                node.prototype,
                text(node.node, "name"),
                text(node.node, "expression"),
                text(node.node, "recovery_expression"),
            )?);
            match known {
                Some(id) if rule.update => {
                    object.remove("uuid");
                    object.insert("triggerid".into(), id.to_string().into());
                    changed.push(Json::Object(object));
                }
                None if rule.create => created.push(Json::Object(object)),
                _ => {}
            }
        }
        self.change(&format!("{method}.update"), changed)?;
        self.create(&format!("{method}.create"), created)?;
        self.dependencies(nodes, method)
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
        if object.get("recovery_mode").and_then(Json::as_str) != Some("1") {
            object.remove("recovery_expression");
        }
        if object.get("correlation_mode").and_then(Json::as_str) != Some("1") {
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
        let rows = self
            .call
            .rows("SELECT hostid FROM hosts WHERE kind = 1 AND host = ?", &[host.into()])?;
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

    /// The trigger with this name and these expressions.
    fn find(
        &self,
        prototype: bool,
        name: &str,
        expression: &str,
        recovery: &str,
    ) -> ApiResult<Option<u64>> {
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

    fn dependencies(&self, nodes: &[Node<'_>], method: &str) -> ApiResult<()> {
        let mut changed = Vec::new();
        for node in nodes {
            let wanted = list(node.node, "dependencies", "dependency", &node.path)?;
            if wanted.is_empty() {
                continue;
            }
            let mut on = Vec::new();
            for (path, dependency) in wanted {
                let (name, expression, recovery) = (
                    text(dependency, "name"),
                    text(dependency, "expression"),
                    text(dependency, "recovery_expression"),
                );
                let mut id = self.find(node.prototype, name, expression, recovery)?;
                if id.is_none() && node.prototype {
                    id = self.find(false, name, expression, recovery)?;
                }
                let id = id.ok_or_else(|| {
                    invalid(&path, &format!("the trigger \"{name}\" does not exist"))
                })?;
                on.push(json!({ "triggerid": id.to_string() }));
            }
            let own = self.find(
                node.prototype,
                text(node.node, "name"),
                text(node.node, "expression"),
                text(node.node, "recovery_expression"),
            )?;
            if let Some(own) = own {
                changed.push(json!({ "triggerid": own.to_string(), "dependencies": on }));
            }
        }
        self.change(&format!("{method}.update"), changed)
    }

    fn delete_missing(&self, owners: &[Owner<'_>], nodes: &[Node<'_>]) -> ApiResult<()> {
        let mut gone = Vec::new();
        for owner in owners.iter().filter(|owner| owner.existed) {
            let rows = self.call.rows(
                "SELECT DISTINCT t.triggerid FROM triggers t \
                 JOIN functions f ON f.triggerid = t.triggerid JOIN items i ON i.itemid = f.itemid \
                 WHERE i.hostid = ? AND t.flags = 0 AND t.templateid = 0",
                &[owner.id.into()],
            )?;
            let ids: Vec<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
            if ids.is_empty() {
                continue;
            }
            for (id, expression, recovery) in self.expressions(false, &ids)? {
                let kept = nodes.iter().any(|node| {
                    text(node.node, "expression") == expression
                        && text(node.node, "recovery_expression") == recovery
                });
                if !kept {
                    gone.push(Json::String(id.to_string()));
                }
            }
        }
        self.change("trigger.delete", gone)
    }
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
