//! Copies of discovery rules to other hosts and templates.

use crate::table;
use std::collections::{BTreeSet, HashMap};

use const_format::formatcp;
use objects::sql::{FLAGS_REAL, FLAGS_RULE};

use super::{
    Columns, GraphItem, HostPrototypeParts, NewGraph, NewItem, NewTrigger, TriggerChange,
    TriggerFunction, create_graphs, create_host_prototype, create_items, create_triggers,
    replace_ids, steps, tags, update_triggers,
};
use crate::Edit;
use crate::db::{DbResult, Row, Value};
use crate::link::{LinkError, Target, interface_for, targets};
use crate::lld::{
    TriggerPrototype, graph_prototypes, host_prototypes, item_prototypes, trigger_prototypes,
};
use crate::schema::Table;

/// Columns that a copy does not take over: ids, and whom it belongs to.
const OWN: &[&str] = &[
    "itemid",
    "hostid",
    "ruleid",
    "templateid",
    "interfaceid",
    "master_itemid",
    "valuemapid",
    "uuid",
];

/// Type of macros whose values nobody can read.
const SECRET: i64 = 1;

/// A copy in the making.
struct Copy<'a, 'e> {
    edit: &'a mut Edit<'e>,
    from: u64,
    to: u64,
    target: Target,
    /// Templates that copies of host prototypes may have.
    templates: &'a BTreeSet<u64>,
    /// New ids of the items that the copy has made, by the ids of the old ones.
    made: HashMap<u64, u64>,
}

/// Copies a discovery rule with its prototypes to a host or template, where the copy is one of its
/// own; returns its id. Items that the rule refers to (masters, items in expressions) are those of
/// the same keys there, interfaces the main ones that fit, value maps those of the same names.
/// Copies of host prototypes have of their templates only those in `templates`, and no secrets:
/// the owner of the copy could send them anywhere.
pub fn copy_discovery_rule(
    edit: &mut Edit<'_>,
    rule: u64,
    to: u64,
    templates: &BTreeSet<u64>,
) -> Result<u64, LinkError> {
    let rows = edit.query(
        formatcp!("SELECT * FROM items WHERE flags = {FLAGS_RULE} AND itemid = ?"),
        &[rule.into()],
    )?;
    let target = targets(edit, &[to])?.remove(&to);
    let (Some(row), Some(target)) = (rows.first(), target) else {
        return Err(LinkError::Conflict("There is no such discovery rule or host.".to_owned()));
    };
    let mut copy =
        Copy { edit, from: row.id("hostid"), to, target, templates, made: HashMap::new() };
    let steps = steps(copy.edit, &[rule])?.remove(&rule);
    let new = NewItem {
        columns: copy.columns(row, 0)?,
        preprocessing: steps.unwrap_or_default(),
        tags: Vec::new(),
    };
    let id = create_items(copy.edit, &[new])?[0];
    copy.made.insert(rule, id);
    copy.items(rule, id)?;
    copy.triggers(rule)?;
    copy.graphs(rule)?;
    copy.hosts(rule, id)?;
    Ok(id)
}

impl Copy<'_, '_> {
    fn columns(&mut self, row: &Row, rule: u64) -> Result<Columns, LinkError> {
        let (kind, key) = (row.int("type"), row.text("key_").to_owned());
        let interface = interface_for(&self.target, kind).map_err(|_| {
            LinkError::Conflict(format!(
                "Cannot find host interface on \"{}\" for item key \"{key}\".",
                self.target.name
            ))
        })?;
        let master = match row.id("master_itemid") {
            0 => 0,
            master => self.item(master)?.ok_or_else(|| {
                let what = if rule == 0 { "Discovery rule" } else { "Item prototype" };
                let name = row.text("name");
                let text = format!("{what} \"{name}\" cannot be copied without its master item.");
                LinkError::Conflict(text)
            })?,
        };
        let mut columns: Columns = table::ITEMS
            .columns
            .iter()
            .filter(|column| !OWN.contains(&column.name))
            .filter_map(|column| Some((column.name, row.get(column.name)?.clone())))
            .collect();
        columns.extend([
            ("hostid", Value::from(self.to)),
            ("ruleid", rule.into()),
            ("interfaceid", interface.into()),
            ("master_itemid", master.into()),
            ("valuemapid", self.value_map(row.id("valuemapid"))?.into()),
        ]);
        Ok(columns)
    }

    /// What an item of the old host is on the new one; items of third hosts stay themselves.
    fn item(&mut self, id: u64) -> DbResult<Option<u64>> {
        if let Some(made) = self.made.get(&id) {
            return Ok(Some(*made));
        }
        let rows = self.edit.query("SELECT hostid FROM items WHERE itemid = ?", &[id.into()])?;
        if rows.first().is_some_and(|row| row.id("hostid") != self.from) {
            return Ok(Some(id));
        }
        let sql = formatcp!(
            "SELECT n.itemid FROM items o JOIN items n ON n.key_ = o.key_ \
                   WHERE n.flags IN {FLAGS_REAL} AND o.itemid = ? AND n.hostid = ?"
        );
        let rows = self.edit.query(sql, &[id.into(), self.to.into()])?;
        Ok(rows.first().map(|row| row.id("itemid")))
    }

    fn value_map(&mut self, id: u64) -> DbResult<u64> {
        let sql = "SELECT n.valuemapid FROM valuemaps o JOIN valuemaps n ON n.name = o.name \
                   WHERE o.valuemapid = ? AND n.hostid = ?";
        let rows = self.edit.query(sql, &[id.into(), self.to.into()])?;
        Ok(rows.first().map_or(0, |row| row.id("valuemapid")))
    }

    /// Item prototypes, masters before what depends on them.
    fn items(&mut self, rule: u64, new_rule: u64) -> Result<(), LinkError> {
        let prototypes = item_prototypes(self.edit, rule)?;
        for level in prototypes.chunk_by(|a, b| a.level == b.level) {
            let mut new = Vec::with_capacity(level.len());
            for prototype in level {
                new.push(NewItem {
                    columns: self.columns(&prototype.row, new_rule)?,
                    preprocessing: prototype.steps.clone(),
                    tags: prototype.tags.clone(),
                });
            }
            let ids = create_items(self.edit, &new)?;
            self.made.extend(level.iter().map(|p| p.row.id("itemid")).zip(ids));
        }
        Ok(())
    }

    fn triggers(&mut self, rule: u64) -> Result<(), LinkError> {
        let prototypes = trigger_prototypes(self.edit, rule)?;
        let mut new = Vec::with_capacity(prototypes.len());
        for prototype in &prototypes {
            new.push(self.trigger(prototype)?);
        }
        let ids = create_triggers(self.edit, &new)?;
        let made: HashMap<u64, u64> =
            prototypes.iter().map(|p| p.row.id("triggerid")).zip(ids).collect();
        // Dependencies among the copies; other triggers of the old host mean nothing there.
        let depending = prototypes.iter().filter(|prototype| !prototype.depends_on.is_empty());
        let changes: Vec<TriggerChange> = depending
            .map(|prototype| TriggerChange {
                id: made[&prototype.row.id("triggerid")],
                depends_on: Some(
                    prototype.depends_on.iter().filter_map(|on| made.get(on).copied()).collect(),
                ),
                ..TriggerChange::default()
            })
            .collect();
        update_triggers(self.edit, &changes)
    }

    fn trigger(&mut self, prototype: &TriggerPrototype) -> Result<NewTrigger, LinkError> {
        const NOT_COPIED: &[&str] =
            &["triggerid", "templateid", "uuid", "expression", "recovery_expression"];
        let row = &prototype.row;
        let mut functions = Vec::with_capacity(prototype.functions.len());
        for (_, function) in &prototype.functions {
            let itemid = self.item(function.itemid)?;
            let Some(itemid) = itemid else { return Err(self.no_item(function.itemid)?) };
            functions.push(TriggerFunction { itemid, ..function.clone() });
        }
        let place = |id: u64| prototype.functions.iter().position(|(known, _)| *known == id);
        let numbered = |column: &str| {
            replace_ids(row.text(column), &mut |id| format!("{{{}}}", place(id).unwrap_or(0)))
        };
        let columns = table::TRIGGERS.columns.iter().map(|column| column.name);
        Ok(NewTrigger {
            columns: columns
                .filter(|name| !NOT_COPIED.contains(name))
                .filter_map(|name| Some((name, row.get(name)?.clone())))
                .collect(),
            expression: numbered("expression"),
            recovery: numbered("recovery_expression"),
            functions,
            tags: prototype.tags.clone(),
            depends_on: Vec::new(),
        })
    }

    fn no_item(&mut self, id: u64) -> DbResult<LinkError> {
        let rows = self.edit.query("SELECT key_ FROM items WHERE itemid = ?", &[id.into()])?;
        let key = rows.first().map_or("", |row| row.text("key_"));
        let host = &self.target.name;
        Ok(LinkError::Conflict(format!(
            "Incorrect item key \"{key}\" provided for trigger expression on \"{host}\"."
        )))
    }

    fn graphs(&mut self, rule: u64) -> Result<(), LinkError> {
        const NOT_COPIED: &[&str] =
            &["graphid", "templateid", "uuid", "ymin_itemid", "ymax_itemid"];
        let mut new = Vec::new();
        for prototype in graph_prototypes(self.edit, rule)? {
            let row = &prototype.row;
            let names = table::GRAPHS.columns.iter().map(|column| column.name);
            let names: Vec<&str> = names.filter(|name| !NOT_COPIED.contains(name)).collect();
            let mut columns = some_columns(row, &names);
            for axis in ["ymin_itemid", "ymax_itemid"] {
                columns.push((axis, self.graph_item(row, row.id(axis))?.into()));
            }
            let mut items = Vec::with_capacity(prototype.items.len());
            for item in &prototype.items {
                let itemid = self.graph_item(row, item.itemid)?;
                items.push(GraphItem { gitemid: 0, itemid, ..item.clone() });
            }
            new.push(NewGraph { columns, items });
        }
        create_graphs(self.edit, &new).map(drop)
    }

    /// What an item of a graph is on the new host; 0 stays 0.
    fn graph_item(&mut self, graph: &Row, id: u64) -> Result<u64, LinkError> {
        if id == 0 {
            return Ok(0);
        }
        self.item(id)?.ok_or_else(|| {
            let (name, host) = (graph.text("name"), &self.target.name);
            let text = format!("Cannot copy graph prototype \"{name}\": \"{host}\" lacks an item.");
            LinkError::Conflict(text)
        })
    }

    fn hosts(&mut self, rule: u64, new_rule: u64) -> Result<(), LinkError> {
        const COLUMNS: &[&str] =
            &["host", "name", "status", "discover", "inventory_mode", "custom_interfaces"];
        const MACRO: &[&str] = &["macro", "value", "description", "type"];
        const INTERFACE: &[&str] = &["main", "type", "useip", "ip", "dns", "port", "details"];
        for prototype in host_prototypes(self.edit, rule)? {
            let id = prototype.id();
            let mut rows = |table: &Table, names: &[&'static str]| -> DbResult<Vec<Columns>> {
                let key = table.key[0];
                let sql = format!("SELECT * FROM {table} WHERE hostid = ? ORDER BY {key}");
                let found = self.edit.query(&sql, &[id.into()])?;
                Ok(found.iter().map(|row| some_columns(row, names)).collect())
            };
            let mut macros = rows(&table::HOSTMACROS, MACRO)?;
            macros.iter_mut().for_each(empty_secret);
            let interfaces = rows(&table::INTERFACES, INTERFACE)?;
            let groups = rows(&table::GROUP_PROTOTYPES, &["groupid", "name"])?;
            let templates = rows(&table::HOST_TEMPLATES, &["templateid"])?;
            let ids = |rows: &[Columns]| -> Vec<u64> {
                let ids = rows.iter().map(|row| u64::try_from(row[0].1.as_int()).unwrap_or(0));
                ids.filter(|id| *id > 0).collect()
            };
            let mut templates = ids(&templates);
            templates.retain(|id| self.templates.contains(id));
            let names = groups.iter().map(|row| row[1].1.to_string());
            let names = names.filter(|name| !name.is_empty());
            let parts = HostPrototypeParts {
                group_links: Some(ids(&groups)),
                group_prototypes: Some(names.map(|name| name.as_str().into()).collect()),
                templates: Some(templates),
                tags: tags(self.edit, "host_tags", "hostid", &[id])?.remove(&id),
                interfaces: Some(interfaces),
                macros: Some(macros),
            };
            let columns = some_columns(&prototype.row, COLUMNS);
            create_host_prototype(self.edit, new_rule, &columns, &parts)?;
        }
        Ok(())
    }
}

fn some_columns(row: &Row, names: &[&'static str]) -> Columns {
    names.iter().filter_map(|name| Some((*name, row.get(name)?.clone()))).collect()
}

/// A secret macro becomes a text without a value.
fn empty_secret(columns: &mut Columns) {
    if super::column(columns, "type").map_or(0, Value::as_int) != SECRET {
        return;
    }
    for (name, value) in columns {
        match *name {
            "type" => *value = 0.into(),
            "value" => *value = "".into(),
            _ => {}
        }
    }
}
