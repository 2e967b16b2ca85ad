//! The export: rows to the tree that an import reads.

use std::collections::BTreeMap;

use config::db::{Row, query_by_ids};
use serde_json::{Map, json};

use super::format::Format;
use super::words::{
    CONDITION, DISCOVERED, FILTER, GROUP, HOST, INTERFACE, INVENTORY_MODE, ITEM, MACRO, MACRO_PATH,
    MAPPING, OPERATION, OPERATION_SETS, OVERRIDE, RULE, SNMP_DETAILS, STEP, TAG, TEMPLATE, TRIGGER,
    VALUES, Word, to_export,
};
use super::write_expressions;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::permission::{Need, on_groups, on_hosts};
use crate::{params, rpc};

/// Kinds of objects in the option `options`.
const OPTIONS: &[&str] = &[
    "host_groups",
    "template_groups",
    "hosts",
    "templates",
    "images",
    "maps",
    "mediaTypes",
    "groups",
];

/// `configuration.export`
pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if let Some(name) = input.as_object().and_then(|m| {
        m.keys().find(|k| !["format", "prettyprint", "options"].contains(&k.as_str()))
    }) {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let format = Format::read(input, true)?;
    let Some(options @ Json::Object(members)) = input.get("options") else {
        return Err(match input.get("options") {
            None => ApiError::at("/", "the parameter \"options\" is missing"),
            Some(_) => ApiError::at("/options", "an array is expected"),
        });
    };
    if let Some(name) = members.keys().find(|k| !OPTIONS.contains(&k.as_str())) {
        return Err(ApiError::at("/options", format_args!("unexpected parameter \"{name}\"")));
    }
    let ids = |name: &str| params::ids(options, name).map(Option::unwrap_or_default);
    let tree = Export { call }.tree(&Wanted {
        template_groups: ids("template_groups")?,
        host_groups: [ids("host_groups")?, ids("groups")?].concat(),
        templates: ids("templates")?,
        hosts: ids("hosts")?,
    })?;
    let pretty = params::flag(input.get("prettyprint"));
    let mut root = Map::new();
    root.insert("zabbix_export".into(), tree);
    Ok(format.write(&Json::Object(root), pretty))
}

/// The tree of some templates, for comparison with an import.
pub(super) fn templates(call: &Call<'_>, ids: &[u64]) -> ApiResult<Json> {
    Export { call }.tree(&Wanted { templates: ids.to_vec(), ..Wanted::default() })
}

#[derive(Default)]
struct Wanted {
    template_groups: Vec<u64>,
    host_groups: Vec<u64>,
    templates: Vec<u64>,
    hosts: Vec<u64>,
}

struct Export<'c, 'a> {
    call: &'c Call<'a>,
}

/// A row as the API's texts.
fn object(row: &Row) -> Json {
    row.iter().map(|(name, value)| (name.to_owned(), Json::String(value.to_string()))).collect()
}

fn put_list(out: &mut Map<String, Json>, name: &str, values: Vec<Json>) {
    if !values.is_empty() {
        out.insert(name.to_owned(), Json::Array(values));
    }
}

/// Rows of owned tables by their owner.
type Owned = BTreeMap<u64, Vec<Json>>;

impl Export<'_, '_> {
    fn rows(&self, sql: &str, ids: &[u64]) -> ApiResult<Vec<Row>> {
        self.call.read(|c| Ok(query_by_ids(c, sql, &[], ids)?))
    }

    /// Rows by owner with the words' fields; `sql` gives a column `owner`.
    fn owned(&self, sql: &str, ids: &[u64], words: &[Word]) -> ApiResult<Owned> {
        let mut owned = Owned::new();
        for row in self.rows(sql, ids)? {
            let shown = to_export(words, &object(&row));
            owned.entry(row.id("owner")).or_default().push(Json::Object(shown));
        }
        Ok(owned)
    }

    fn tree(&self, wanted: &Wanted) -> ApiResult<Json> {
        let mut tree = Map::new();
        tree.insert("version".into(), "7.0".into());
        let templates = self.readable(1, &wanted.templates)?;
        let hosts = self.readable(0, &wanted.hosts)?;
        let owners: Vec<u64> = templates.iter().chain(&hosts).map(|row| row.id("hostid")).collect();
        put_list(&mut tree, "template_groups", self.groups(1, &wanted.template_groups, &owners)?);
        put_list(&mut tree, "host_groups", self.groups(0, &wanted.host_groups, &owners)?);
        let mut triggers = Triggers::load(self, &owners)?;
        let parts = Parts::load(self, &owners)?;
        let mut shared = Shared::load(self, &owners)?;
        let mut list = Vec::new();
        for row in &templates {
            list.push(self.template(row, &mut shared, &mut triggers, &parts)?);
        }
        put_list(&mut tree, "templates", list);
        let mut list = Vec::new();
        for row in &hosts {
            list.push(self.host(row, &mut shared, &mut triggers, &parts)?);
        }
        put_list(&mut tree, "hosts", list);
        put_list(&mut tree, "triggers", triggers.rest());
        put_list(
            &mut tree,
            "graphs",
            owners.iter().flat_map(|id| parts.of(*id, 0, "graph")).collect(),
        );
        Ok(Json::Object(tree))
    }

    /// Hosts (0) or templates (1) that the user may read, by name.
    fn readable(&self, kind: i64, ids: &[u64]) -> ApiResult<Vec<Row>> {
        let mut sql = format!("SELECT * FROM hosts WHERE kind = {kind} AND flags IN (0, 4)");
        if let Some(condition) = on_hosts(self.call.user(), Need::Read, "hostid") {
            sql += &format!(" AND {condition}");
        }
        let mut rows = self.rows(&format!("{sql} AND hostid IN ({{ids}})"), ids)?;
        rows.sort_by(|a, b| a.text("host").cmp(b.text("host")));
        Ok(rows)
    }

    /// Groups that were asked for and those of the owners (also of their host prototypes).
    fn groups(&self, kind: i64, asked: &[u64], owners: &[u64]) -> ApiResult<Vec<Json>> {
        let mut sql = format!("SELECT groupid, uuid, name FROM groups_ WHERE type = {kind}");
        if let Some(condition) = on_groups(self.call.user(), Need::Read, "groupid") {
            sql += &format!(" AND {condition}");
        }
        let mut rows = self.rows(&format!("{sql} AND groupid IN ({{ids}})"), asked)?;
        let of = format!(
            "{sql} AND groupid IN (SELECT groupid FROM host_groups WHERE hostid IN ({{ids}}))"
        );
        rows.extend(self.rows(&of, owners)?);
        if kind == 0 {
            for name in self.linked_groups(owners)? {
                let found = format!("{sql} AND name = ?");
                rows.extend(self.call.rows(&found, &[name.as_str().into()])?);
            }
        }
        rows.sort_by(|a, b| a.text("name").cmp(b.text("name")));
        rows.dedup_by_key(|row| row.id("groupid"));
        Ok(rows.iter().map(|row| Json::Object(to_export(GROUP, &object(row)))).collect())
    }

    /// Names of host groups that host prototypes link to.
    fn linked_groups(&self, owners: &[u64]) -> ApiResult<Vec<String>> {
        let sql = "SELECT doc FROM parts WHERE kind = 'host_prototype' AND hostid IN ({ids})";
        let mut names = Vec::new();
        for row in self.rows(sql, owners)? {
            let doc: Json = serde_json::from_str(row.text("doc")).unwrap_or(Json::Null);
            let links = doc.get("group_links").and_then(Json::as_array);
            for link in links.into_iter().flatten() {
                if let Some(name) = link.pointer("/group/name").and_then(Json::as_str) {
                    names.push(name.to_owned());
                }
            }
        }
        Ok(names)
    }

    fn template(
        &self,
        row: &Row,
        shared: &mut Shared,
        triggers: &mut Triggers,
        parts: &Parts,
    ) -> ApiResult<Json> {
        let id = row.id("hostid");
        let mut out = to_export(TEMPLATE, &object(row));
        if !row.text("vendor_name").is_empty() {
            let vendor =
                json!({ "name": row.text("vendor_name"), "version": row.text("vendor_version") });
            out.insert("vendor".into(), vendor);
        }
        put_list(&mut out, "templates", shared.templates.remove(&id).unwrap_or_default());
        put_list(&mut out, "groups", shared.groups.remove(&id).unwrap_or_default());
        self.items(id, &mut out, shared, triggers, parts)?;
        put_list(&mut out, "httptests", parts.of(id, 0, "httptest"));
        put_list(&mut out, "tags", shared.tags.remove(&id).unwrap_or_default());
        put_list(&mut out, "macros", shared.macros.remove(&id).unwrap_or_default());
        put_list(&mut out, "dashboards", parts.of(id, 0, "dashboard"));
        put_list(&mut out, "valuemaps", shared.value_maps.remove(&id).unwrap_or_default());
        Ok(Json::Object(out))
    }

    fn host(
        &self,
        row: &Row,
        shared: &mut Shared,
        triggers: &mut Triggers,
        parts: &Parts,
    ) -> ApiResult<Json> {
        let id = row.id("hostid");
        let mut out = to_export(HOST, &object(row));
        put_list(&mut out, "templates", shared.templates.remove(&id).unwrap_or_default());
        put_list(&mut out, "groups", shared.groups.remove(&id).unwrap_or_default());
        put_list(&mut out, "interfaces", shared.interfaces.remove(&id).unwrap_or_default());
        self.items(id, &mut out, shared, triggers, parts)?;
        put_list(&mut out, "httptests", parts.of(id, 0, "httptest"));
        put_list(&mut out, "tags", shared.tags.remove(&id).unwrap_or_default());
        put_list(&mut out, "macros", shared.macros.remove(&id).unwrap_or_default());
        if let Some(inventory) = shared.inventory.remove(&id) {
            out.insert("inventory".into(), Json::Object(inventory));
        }
        put_list(&mut out, "valuemaps", shared.value_maps.remove(&id).unwrap_or_default());
        out.extend(to_export(&[INVENTORY_MODE], &object(row)));
        Ok(Json::Object(out))
    }

    /// Items and discovery rules that are the owner's own, not inherited.
    fn items(
        &self,
        owner: u64,
        out: &mut Map<String, Json>,
        shared: &mut Shared,
        triggers: &mut Triggers,
        parts: &Parts,
    ) -> ApiResult<()> {
        let rows = self.call.rows(
            "SELECT * FROM items WHERE hostid = ? AND templateid = 0 AND flags IN (0, 1, 2) ORDER BY key_",
            &[owner.into()],
        )?;
        let details = ItemDetails::load(self, owner, &rows)?;
        let item = |row: &Row, words: &[&[Word]], triggers: &mut Triggers, name: &str| {
            let mut one = details.item(row, words, &shared.interface_refs);
            put_list(&mut one, name, triggers.of_item(row.id("itemid")));
            one
        };
        let plain = rows.iter().filter(|row| row.int("flags") == 0);
        let items = plain.map(|row| Json::Object(item(row, &[ITEM, VALUES], triggers, "triggers")));
        put_list(out, "items", items.collect());
        let mut found = Vec::new();
        for rule in rows.iter().filter(|row| row.int("flags") == 1) {
            let id = rule.id("itemid");
            let mut one = details.rule(rule, &shared.interface_refs);
            let prototypes =
                rows.iter().filter(|row| row.id("ruleid") == id && row.int("flags") == 2);
            let words: &[&[Word]] = &[ITEM, VALUES, DISCOVERED];
            let prototypes: Vec<Json> = prototypes
                .map(|row| Json::Object(item(row, words, triggers, "trigger_prototypes")))
                .collect();
            let ids: Vec<u64> = rows
                .iter()
                .filter(|row| row.id("ruleid") == id)
                .map(|row| row.id("itemid"))
                .collect();
            put_list(&mut one, "item_prototypes", prototypes);
            put_list(&mut one, "trigger_prototypes", triggers.of_rule(&ids));
            put_list(&mut one, "graph_prototypes", parts.of(owner, id, "graph_prototype"));
            put_list(&mut one, "host_prototypes", parts.of(owner, id, "host_prototype"));
            found.push(Json::Object(one));
        }
        put_list(out, "discovery_rules", found);
        Ok(())
    }
}

/// What hangs on hosts and templates.
#[derive(Default)]
struct Shared {
    templates: Owned,
    groups: Owned,
    tags: Owned,
    macros: Owned,
    value_maps: Owned,
    interfaces: Owned,
    interface_refs: BTreeMap<u64, String>,
    inventory: BTreeMap<u64, Map<String, Json>>,
}

impl Shared {
    fn load(export: &Export<'_, '_>, ids: &[u64]) -> ApiResult<Self> {
        let name: &[Word] = &[GROUP[1]];
        let mut shared = Self {
            templates: export.owned(
                "SELECT ht.hostid AS owner, t.host AS name FROM host_templates ht \
                 JOIN hosts t ON t.hostid = ht.templateid WHERE ht.hostid IN ({ids}) ORDER BY t.host",
                ids,
                name,
            )?,
            groups: export.owned(
                "SELECT hg.hostid AS owner, g.name FROM host_groups hg \
                 JOIN groups_ g ON g.groupid = hg.groupid WHERE hg.hostid IN ({ids}) ORDER BY g.name",
                ids,
                name,
            )?,
            tags: export.owned(
                "SELECT hostid AS owner, tag, value FROM host_tags WHERE automatic = 0 \
                 AND hostid IN ({ids}) ORDER BY tag, value",
                ids,
                TAG,
            )?,
            ..Self::default()
        };
        for row in export.rows(
            "SELECT hostid AS owner, macro, type, value, description FROM hostmacros \
             WHERE hostid IN ({ids}) ORDER BY macro",
            ids,
        )? {
            let mut one = to_export(MACRO, &object(&row));
            // A secret never leaves.
            if row.int("type") == 1 {
                one.remove("value");
            }
            shared.macros.entry(row.id("owner")).or_default().push(Json::Object(one));
        }
        shared.value_maps(export, ids)?;
        shared.interfaces(export, ids)?;
        for row in export.rows(
            "SELECT hostid, name, value FROM host_inventory WHERE hostid IN ({ids}) ORDER BY name",
            ids,
        )? {
            let fields = shared.inventory.entry(row.id("hostid")).or_default();
            fields.insert(row.text("name").to_owned(), row.text("value").into());
        }
        Ok(shared)
    }

    fn value_maps(&mut self, export: &Export<'_, '_>, ids: &[u64]) -> ApiResult<()> {
        let maps = export.rows(
            "SELECT valuemapid, hostid, uuid, name FROM valuemaps WHERE hostid IN ({ids}) ORDER BY name",
            ids,
        )?;
        let map_ids: Vec<u64> = maps.iter().map(|row| row.id("valuemapid")).collect();
        let mut mappings = export.owned(
            "SELECT valuemapid AS owner, type, value, newvalue FROM valuemap_mappings \
             WHERE valuemapid IN ({ids}) ORDER BY sortorder",
            &map_ids,
            MAPPING,
        )?;
        for row in maps {
            let mut one = to_export(GROUP, &object(&row));
            put_list(
                &mut one,
                "mappings",
                mappings.remove(&row.id("valuemapid")).unwrap_or_default(),
            );
            self.value_maps.entry(row.id("hostid")).or_default().push(Json::Object(one));
        }
        Ok(())
    }

    fn interfaces(&mut self, export: &Export<'_, '_>, ids: &[u64]) -> ApiResult<()> {
        let rows = export.rows(
            "SELECT * FROM interfaces WHERE hostid IN ({ids}) ORDER BY hostid, interfaceid",
            ids,
        )?;
        for row in rows {
            let list = self.interfaces.entry(row.id("hostid")).or_default();
            let name = format!("if{}", list.len() + 1);
            let mut one = to_export(INTERFACE, &object(&row));
            if row.int("type") == 2 {
                let details = serde_json::from_str(row.text("details")).unwrap_or(Json::Null);
                one.insert("details".into(), Json::Object(to_export(SNMP_DETAILS, &details)));
            }
            one.insert("interface_ref".into(), name.as_str().into());
            list.push(Json::Object(one));
            self.interface_refs.insert(row.id("interfaceid"), name);
        }
        Ok(())
    }
}

/// What hangs on items.
struct ItemDetails {
    steps: Owned,
    tags: Owned,
    keys: BTreeMap<u64, String>,
    maps: BTreeMap<u64, String>,
    templates: BTreeMap<String, String>,
}

impl ItemDetails {
    fn load(export: &Export<'_, '_>, owner: u64, rows: &[Row]) -> ApiResult<Self> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
        let mut steps = Owned::new();
        for row in export.rows(
            "SELECT itemid, type, params, error_handler, error_handler_params FROM item_preprocessing \
             WHERE itemid IN ({ids}) ORDER BY itemid, step",
            &ids,
        )? {
            steps.entry(row.id("itemid")).or_default().push(step(&row));
        }
        let names = |sql: &str, id: &str, name: &str| -> ApiResult<BTreeMap<u64, String>> {
            let rows = export.call.rows(sql, &[owner.into()])?;
            Ok(rows.iter().map(|row| (row.id(id), row.text(name).to_owned())).collect())
        };
        let templates = export.call.rows("SELECT hostid, host FROM hosts WHERE kind = 1", &[])?;
        Ok(Self {
            steps,
            tags: export.owned(
                "SELECT itemid AS owner, tag, value FROM item_tags WHERE itemid IN ({ids}) ORDER BY tag, value",
                &ids,
                TAG,
            )?,
            keys: names("SELECT itemid, key_ FROM items WHERE hostid = ?", "itemid", "key_")?,
            maps: names("SELECT valuemapid, name FROM valuemaps WHERE hostid = ?", "valuemapid", "name")?,
            templates: templates
                .iter()
                .map(|row| (row.id("hostid").to_string(), row.text("host").to_owned()))
                .collect(),
        })
    }

    fn item(
        &self,
        row: &Row,
        words: &[&[Word]],
        interfaces: &BTreeMap<u64, String>,
    ) -> Map<String, Json> {
        let node = object(row);
        let mut out = Map::new();
        for words in words {
            out.extend(to_export(words, &node));
        }
        // The two kinds of protocols that have an authentication share numbers, not words.
        if matches!(row.int("type"), 13 | 14) && row.int("authtype") == 1 {
            out.insert("authtype".into(), "PUBLIC_KEY".into());
        }
        if !matches!(row.int("value_type"), 0 | 3) && row.int("flags") != 1 {
            out.insert("trends".into(), "0".into());
        }
        if let Some(name) = self.maps.get(&row.id("valuemapid")) {
            out.insert("valuemap".into(), json!({ "name": name }));
        }
        if let Some(steps) = self.steps.get(&row.id("itemid")) {
            out.insert("preprocessing".into(), Json::Array(steps.clone()));
        }
        if let Some(key) = self.keys.get(&row.id("master_itemid")).filter(|_| row.int("type") == 18)
        {
            out.insert("master_item".into(), json!({ "key": key }));
        }
        for name in ["query_fields", "parameters", "headers"] {
            let list: Json = serde_json::from_str(row.text(name)).unwrap_or(Json::Null);
            if list.as_array().is_some_and(|list| !list.is_empty()) {
                out.insert(name.into(), list);
            }
        }
        if let Some(name) = interfaces.get(&row.id("interfaceid")) {
            out.insert("interface_ref".into(), name.as_str().into());
        }
        if let Some(tags) = self.tags.get(&row.id("itemid")) {
            out.insert("tags".into(), Json::Array(tags.clone()));
        }
        out
    }

    fn rule(&self, row: &Row, interfaces: &BTreeMap<u64, String>) -> Map<String, Json> {
        let mut out = self.item(row, &[ITEM, RULE], interfaces);
        out.insert("delay".into(), row.text("delay").into());
        let json =
            |name: &str| -> Json { serde_json::from_str(row.text(name)).unwrap_or(Json::Null) };
        if let Some(filter) = filter(&json("filter")) {
            out.insert("filter".into(), filter);
        }
        let paths = json("lld_macro_paths");
        let paths = paths.as_array().into_iter().flatten();
        put_list(
            &mut out,
            "lld_macro_paths",
            paths.map(|p| Json::Object(to_export(MACRO_PATH, p))).collect(),
        );
        let overrides = json("overrides");
        let overrides = overrides.as_array().into_iter().flatten().map(|one| self.override_(one));
        put_list(&mut out, "overrides", overrides.collect());
        out
    }

    fn override_(&self, node: &Json) -> Json {
        let mut out = to_export(OVERRIDE, &texts(node));
        if let Some(filter) = node.get("filter").and_then(filter) {
            out.insert("filter".into(), filter);
        }
        let operations = node.get("operations").and_then(Json::as_array).into_iter().flatten();
        let operations = operations.map(|node| {
            let mut one = to_export(OPERATION, &texts(node));
            for (name, member, word) in OPERATION_SETS {
                if let Some(set) = node.get(*member).filter(|set| set.is_object()) {
                    let set = to_export(std::slice::from_ref(word), &texts(set));
                    one.extend(set.into_iter().map(|(_, value)| ((*name).to_owned(), value)));
                }
            }
            let tags = node.get("optag").and_then(Json::as_array).into_iter().flatten();
            put_list(&mut one, "tags", tags.map(|t| Json::Object(to_export(TAG, t))).collect());
            let templates = node.get("optemplate").and_then(Json::as_array).into_iter().flatten();
            let templates = templates.filter_map(|t| {
                let by_id = t
                    .get("templateid")
                    .and_then(Json::as_str)
                    .and_then(|id| self.templates.get(id));
                let name = by_id.map(String::as_str).or(t.get("name").and_then(Json::as_str))?;
                Some(json!({ "name": name }))
            });
            put_list(&mut one, "templates", templates.collect());
            Json::Object(one)
        });
        put_list(&mut out, "operations", operations.collect());
        Json::Object(out)
    }
}

/// Numbers in stored JSON as texts.
fn texts(node: &Json) -> Json {
    let members = node.as_object().into_iter().flatten();
    let members = members.map(|(name, value)| {
        let value = if let Json::Number(n) = value { n.to_string().into() } else { value.clone() };
        (name.clone(), value)
    });
    members.collect()
}

fn filter(node: &Json) -> Option<Json> {
    let conditions = node.get("conditions").and_then(Json::as_array)?;
    if conditions.is_empty() {
        return None;
    }
    let mut out = to_export(FILTER, &texts(node));
    if out.get("evaltype").and_then(Json::as_str) != Some("FORMULA") {
        out.remove("formula");
    }
    let conditions = conditions.iter().enumerate().map(|(n, node)| {
        let mut one = to_export(CONDITION, &texts(node));
        // Letters in order where no formula gives them.
        if !one.contains_key("formulaid") {
            one.insert("formulaid".into(), letters(n).into());
        }
        Json::Object(one)
    });
    out.insert("conditions".into(), conditions.collect());
    Some(Json::Object(out))
}

/// A, B … Z, AA, AB …
fn letters(n: usize) -> String {
    let letter = |n: usize| char::from(b'A' + u8::try_from(n % 26).unwrap_or(0));
    if n < 26 { letter(n).to_string() } else { format!("{}{}", letter(n / 26 - 1), letter(n)) }
}

fn step(row: &Row) -> Json {
    let mut out = to_export(STEP, &object(row));
    let params = row.text("params");
    // One parameter that may have several lines itself.
    const WHOLE: &[i64] = &[11, 12, 21];
    let parameters: Vec<Json> = if WHOLE.contains(&row.int("type")) {
        vec![params.into()]
    } else {
        params.split('\n').map(Json::from).collect()
    };
    let mut full = Map::new();
    full.insert("type".into(), out.remove("type").unwrap_or(Json::Null));
    full.insert("parameters".into(), Json::Array(parameters));
    full.extend(out);
    Json::Object(full)
}

/// Triggers by where an export puts them: below their only item, or aside.
struct Triggers {
    single: Owned,
    /// Rule id by prototype items → triggers of several prototypes.
    several: Vec<(Vec<u64>, bool, Json)>,
}

impl Triggers {
    fn load(export: &Export<'_, '_>, owners: &[u64]) -> ApiResult<Self> {
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
                "SELECT DISTINCT f.triggerid, f.itemid FROM functions f \
                 JOIN triggers t ON t.triggerid = f.triggerid JOIN items i ON i.itemid = f.itemid \
                 WHERE t.templateid = 0 AND t.flags = {flags} AND i.hostid IN ({{ids}}) ORDER BY 1, 2"
            ),
            owners,
        )?;
        let mut of_trigger: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for row in items {
            of_trigger.entry(row.id("triggerid")).or_default().push(row.id("itemid"));
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
        }
        let rows = found.as_array().map_or(&[][..], Vec::as_slice);
        let targets = self.targets(export, rows)?;
        for row in rows {
            let text = |name: &str| row.get(name).and_then(Json::as_str).unwrap_or("");
            let id: u64 = text("triggerid").parse().unwrap_or(0);
            let mut one = to_export(TRIGGER, row);
            if flags == 2 {
                one.extend(to_export(DISCOVERED, row));
            }
            let depends = row.get("dependencies").and_then(Json::as_array).into_iter().flatten();
            let depends =
                depends.filter_map(|d| targets.get(d.get("triggerid")?.as_str()?).cloned());
            put_list(&mut one, "dependencies", depends.collect());
            let tags = row.get("tags").and_then(Json::as_array).into_iter().flatten();
            put_list(&mut one, "tags", tags.map(|tag| Json::Object(to_export(TAG, tag))).collect());
            match of_trigger.get(&id).map(Vec::as_slice) {
                Some([item]) => self.single.entry(*item).or_default().push(Json::Object(one)),
                Some(items) => self.several.push((items.to_vec(), flags == 2, Json::Object(one))),
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

    fn of_item(&mut self, item: u64) -> Vec<Json> {
        self.single.remove(&item).unwrap_or_default()
    }

    /// Prototypes over several items of which one is among `items` (prototypes of one rule).
    fn of_rule(&mut self, items: &[u64]) -> Vec<Json> {
        let (own, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.several)
            .into_iter()
            .partition(|(of, prototype, _)| *prototype && of.iter().any(|id| items.contains(id)));
        self.several = rest;
        own.into_iter().map(|(_, _, one)| one).collect()
    }

    fn rest(self) -> Vec<Json> {
        self.several
            .into_iter()
            .filter(|(_, prototype, _)| !prototype)
            .map(|(_, _, one)| one)
            .collect()
    }
}

/// Parts kept in the export's own form.
struct Parts(Vec<(u64, u64, String, Json)>);

impl Parts {
    fn load(export: &Export<'_, '_>, owners: &[u64]) -> ApiResult<Self> {
        let rows = export.rows(
            "SELECT hostid, ruleid, kind, doc FROM parts WHERE hostid IN ({ids}) ORDER BY name",
            owners,
        )?;
        let parts = rows.iter().filter_map(|row| {
            let doc = serde_json::from_str(row.text("doc")).ok()?;
            Some((row.id("hostid"), row.id("ruleid"), row.text("kind").to_owned(), doc))
        });
        Ok(Self(parts.collect()))
    }

    fn of(&self, host: u64, rule: u64, kind: &str) -> Vec<Json> {
        let own = self.0.iter().filter(|(h, r, k, _)| *h == host && *r == rule && k == kind);
        own.map(|(.., doc)| doc.clone()).collect()
    }
}
