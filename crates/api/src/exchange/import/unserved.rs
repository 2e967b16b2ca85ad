//! Graphs, dashboards, graph prototypes: nothing executes them yet; they are kept
//! in the export's own form, so that an export gives them back.

use config::db::Value;
use config::table;

use super::owners::{Owner, same};
use super::{Import, list, text};
use crate::call::Json;
use crate::error::ApiResult;

impl Import<'_, '_> {
    pub(super) fn unserved(&self, tree: &Json, owners: &[Owner<'_>], path: &str) -> ApiResult<()> {
        for owner in owners {
            self.kind(
                owner,
                0,
                "dashboard",
                "templateDashboards",
                &list(owner.node, "dashboards", "dashboard", &owner.path)?,
            )?;
            let rules = self.ids(owner.id, "1")?;
            for (path, rule) in list(owner.node, "discovery_rules", "discovery_rule", &owner.path)?
            {
                let Some(id) = rules.get(text(rule, "key")) else { continue };
                let nodes = list(rule, "graph_prototypes", "graph_prototype", &path)?;
                self.kind(owner, *id, "graph_prototype", "discoveryRules", &nodes)?;
            }
        }
        let graphs = list(tree, "graphs", "graph", path)?;
        for owner in owners {
            let own: Vec<(String, &Json)> = graphs
                .iter()
                .filter(|(_, graph)| first_host(graph) == owner.name)
                .cloned()
                .collect();
            self.kind(owner, 0, "graph", "graphs", &own)?;
        }
        Ok(())
    }

    fn kind(
        &self,
        owner: &Owner<'_>,
        rule: u64,
        kind: &str,
        rule_name: &str,
        nodes: &[(String, &Json)],
    ) -> ApiResult<()> {
        let allowed = self.rules.of(rule_name);
        let known = self.call.rows(
            "SELECT partid, name, uuid FROM parts WHERE hostid = ? AND ruleid = ? AND kind = ?",
            &[owner.id.into(), rule.into(), kind.into()],
        )?;
        let method = kind.replace('_', "");
        let mut seen = Vec::new();
        for (_, node) in nodes {
            let name = text(node, "name");
            let uuid = text(node, "uuid");
            let same = same(&known, node, "name", name);
            let columns: [(&str, Value); 3] =
                [("name", name.into()), ("uuid", uuid.into()), ("doc", node.to_string().into())];
            match same.map(|row| row.id("partid")) {
                Some(id) => {
                    seen.push(id);
                    if allowed.update {
                        self.may(&format!("{method}.update"))?;
                        self.call.write(|edit| Ok(edit.update(&table::PARTS, id, &columns)?))?;
                    }
                }
                None if allowed.create => {
                    self.may(&format!("{method}.create"))?;
                    let mut row = vec![
                        ("hostid", Value::from(owner.id)),
                        ("ruleid", rule.into()),
                        ("kind", kind.into()),
                    ];
                    row.extend(columns);
                    self.call.write(|edit| Ok(edit.insert_new(&table::PARTS, &row)?))?;
                }
                None => {}
            }
        }
        if allowed.delete && owner.existed {
            let gone: Vec<u64> =
                known.iter().map(|row| row.id("partid")).filter(|id| !seen.contains(id)).collect();
            if !gone.is_empty() {
                self.may(&format!("{method}.delete"))?;
                self.call.write(|edit| Ok(edit.delete(&table::PARTS, "partid", &gone)?))?;
            }
        }
        Ok(())
    }
}

/// The host of a graph's first item: the graph goes with it.
fn first_host(graph: &Json) -> &str {
    let items = graph.get("graph_items").and_then(Json::as_array);
    items
        .and_then(|items| items.first())
        .and_then(|item| item.get("item"))
        .map_or("", |item| text(item, "host"))
}
