//! Triggers and trigger prototypes, below their only item or aside.

use objects::{ItemType, Origin};
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, json};

use super::order::{TRIGGERS, arrange, natural};
use super::{Export, Owned, put_list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{DISCOVERED, TAG, TRIGGER, Word, to_export};
use crate::exchange::write_expressions;
use crate::rpc;

/// Triggers by where an export puts them: below their only item, or aside.
pub(super) struct Triggers {
    single: Owned,
    /// Rule id by prototype items → triggers of several prototypes.
    several: Vec<(Vec<u64>, bool, Json)>,
}

impl Triggers {
    pub(super) fn load(export: &Export<'_, '_>, owners: &[u64]) -> ApiResult<Self> {
        let mut triggers = Self { single: Owned::new(), several: Vec::new() };
        for (method, flags) in [("trigger.get", 0), ("triggerprototype.get", 2)] {
            triggers.read(export, owners, method, flags)?;
        }
        Ok(triggers)
    }

    fn read(
        &mut self,
        export: &Export<'_, '_>,
        owners: &[u64],
        method: &str,
        flags: i64,
    ) -> ApiResult<()> {
        let items = export.rows(
            &format!(
                "SELECT DISTINCT f.triggerid, f.itemid, i.type, i.templateid FROM functions f \
                 JOIN items i ON i.itemid = f.itemid WHERE f.triggerid IN ( \
                 SELECT t.triggerid FROM triggers t \
                 JOIN functions o ON o.triggerid = t.triggerid JOIN items oi ON oi.itemid = o.itemid \
                 WHERE t.templateid = 0 AND t.flags = {flags} AND oi.hostid IN ({{ids}})) \
                 ORDER BY 1, 2"
            ),
            owners,
        )?;
        let mut of_trigger: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        // Those whose item an export does not show: of web scenarios, of linked templates.
        let mut aside = BTreeSet::new();
        for row in items {
            of_trigger.entry(row.id("triggerid")).or_default().push(row.id("itemid"));
            if ItemType::Web.is(row.int("type")) || row.id("templateid") != 0 {
                aside.insert(row.id("triggerid"));
            }
        }
        let ids: Vec<String> = of_trigger.keys().map(ToString::to_string).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut found = rpc::run_inner(
            export.call,
            method,
            &json!({
                "triggerids": ids, "output": "extend",
                "selectTags": ["tag", "value"], "sortfield": "description",
                "selectDependencies": ["triggerid"],
            }),
        )?;
        if let Json::Array(rows) = &mut found {
            write_expressions(export.call, rows)?;
            rows.sort_by_cached_key(|row| {
                (natural(text(row, "description")), text(row, "expression").to_owned())
            });
        }
        let rows = found.as_array().map_or(&[][..], Vec::as_slice);
        let targets = self.targets(export, rows)?;
        for row in rows {
            let id = text(row, "triggerid").parse().unwrap_or(0);
            let mut one = to_export(TRIGGER, row);
            if Origin::Prototype.is(flags) {
                one.extend(to_export(DISCOVERED, row));
            }
            put_list(&mut one, "dependencies", dependencies(row, &targets));
            put_list(&mut one, "tags", tags(row));
            let one = arrange(one, TRIGGERS);
            match of_trigger.get(&id).map(Vec::as_slice) {
                Some([item]) if !aside.contains(&id) => {
                    self.single.entry(*item).or_default().push(Json::Object(one))
                }
                Some(items) => {
                    let is_prototype = Origin::Prototype.is(flags);
                    self.several.push((items.to_vec(), is_prototype, Json::Object(one)));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Name and expressions of the triggers that others depend on.
    fn targets(&self, export: &Export<'_, '_>, rows: &[Json]) -> ApiResult<BTreeMap<String, Json>> {
        let ids: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.get("dependencies").and_then(Json::as_array))
            .flatten()
            .filter_map(|d| d.get("triggerid").and_then(Json::as_str))
            .collect();
        let mut targets = BTreeMap::new();
        if ids.is_empty() {
            return Ok(targets);
        }
        for method in ["trigger.get", "triggerprototype.get"] {
            let params = json!({
                "triggerids": ids,
                "output": ["triggerid", "description", "expression", "recovery_expression"],
            });
            let mut found = rpc::run_inner(export.call, method, &params)?;
            if let Json::Array(rows) = &mut found {
                write_expressions(export.call, rows)?;
            }
            for row in found.as_array().into_iter().flatten() {
                let words = TRIGGER.iter().filter(|w| {
                    ["expression", "recovery_expression", "description"].contains(&w.api)
                });
                let words: Vec<Word> = words.copied().collect();
                let shown = to_export(&words, row);
                let mut one = Map::new();
                for name in ["name", "expression", "recovery_expression"] {
                    if let Some(value) = shown.get(name) {
                        one.insert(name.to_owned(), value.clone());
                    }
                }
                let id = row.get("triggerid").and_then(Json::as_str).unwrap_or("");
                targets.insert(id.to_owned(), Json::Object(one));
            }
        }
        Ok(targets)
    }

    pub(super) fn of_item(&mut self, item: u64) -> Vec<Json> {
        self.single.remove(&item).unwrap_or_default()
    }

    /// Prototypes over several items of which one is among `items` (prototypes of one rule).
    pub(super) fn of_rule(&mut self, items: &[u64]) -> Vec<Json> {
        let (own, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.several)
            .into_iter()
            .partition(|(of, prototype, _)| *prototype && of.iter().any(|id| items.contains(id)));
        self.several = rest;
        own.into_iter().map(|(_, _, one)| one).collect()
    }

    pub(super) fn rest(self) -> Vec<Json> {
        self.several
            .into_iter()
            .filter(|(_, prototype, _)| !prototype)
            .map(|(_, _, one)| one)
            .collect()
    }
}

/// The tags of a trigger, sorted.
fn tags(row: &Json) -> Vec<Json> {
    let tags = row.get("tags").and_then(Json::as_array).into_iter().flatten();
    let mut tags: Vec<Json> = tags.map(|tag| Json::Object(to_export(TAG, tag))).collect();
    tags.sort_by_cached_key(|tag| (text(tag, "tag").to_owned(), text(tag, "value").to_owned()));
    tags
}

/// The triggers that a trigger depends on, sorted by name.
fn dependencies(row: &Json, targets: &BTreeMap<String, Json>) -> Vec<Json> {
    let depends = row.get("dependencies").and_then(Json::as_array).into_iter().flatten();
    let mut depends: Vec<Json> =
        depends.filter_map(|one| targets.get(one.get("triggerid")?.as_str()?).cloned()).collect();
    depends.sort_by_cached_key(|one| natural(text(one, "name")));
    depends
}
