//! The export: rows to the tree that an import reads.

mod dashboards;
mod graphs;
mod hosts;
mod items;
mod maps;
mod media;
mod order;
mod rules;
mod shared;
mod triggers;
mod web;

use objects::{GroupKind, MacroType};
use std::collections::BTreeMap;

use config::db::{Row, query_by_ids};
use objects::sql::FLAGS_REAL;
use serde_json::{Map, json};

use self::graphs::Graphs;
pub(super) use self::hosts::inventory_mode;
use self::order::inner;
pub(crate) use self::order::natural;
use self::shared::Shared;
use self::triggers::Triggers;
use super::format::Format;
use super::words::{GROUP, HOST, INVENTORY_MODE, MACRO, TEMPLATE, Word, to_export};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::owned::secrets;
use crate::params;
use crate::permission::{Need, on_groups, on_hosts};

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
        media_types: ids("mediaTypes")?,
        images: ids("images")?,
        maps: ids("maps")?,
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
    media_types: Vec<u64>,
    images: Vec<u64>,
    maps: Vec<u64>,
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

/// A text member; empty if there is none.
fn text<'t>(node: &'t Json, name: &str) -> &'t str {
    node.get(name).and_then(Json::as_str).unwrap_or("")
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

    /// Macros by owner, in the order of what stands in their brackets.
    fn macros(&self, ids: &[u64]) -> ApiResult<Owned> {
        let sql = "SELECT * FROM hostmacros WHERE hostid IN ({ids}) ORDER BY macro";
        let mut owned = Owned::new();
        for row in self.rows(sql, ids)? {
            let mut one = to_export(MACRO, &object(&row));
            // A secret never leaves.
            if MacroType::Secret.is(row.int("type")) {
                one.shift_remove("value");
            }
            owned.entry(row.id("hostid")).or_default().push(Json::Object(one));
        }
        for list in owned.values_mut() {
            list.sort_by_cached_key(|one| inner(text(one, "macro")).to_owned());
        }
        Ok(owned)
    }

    fn tree(&self, wanted: &Wanted) -> ApiResult<Json> {
        let mut tree = Map::new();
        tree.insert("version".into(), "7.0".into());
        let templates = self.readable(1, &wanted.templates)?;
        let hosts = self.readable(0, &wanted.hosts)?;
        let owners: Vec<u64> = templates.iter().chain(&hosts).map(|row| row.id("hostid")).collect();
        let open = self.call.secrets_of(&owners)?;
        let hide = |row: &Row, node: &mut Json| {
            if open.as_ref().is_some_and(|open| !open.contains(&row.id("hostid"))) {
                secrets::hide_in(node);
            }
        };
        put_list(
            &mut tree,
            "template_groups",
            self.groups(GroupKind::Templates, &wanted.template_groups, &owners)?,
        );
        put_list(
            &mut tree,
            "host_groups",
            self.groups(GroupKind::Hosts, &wanted.host_groups, &owners)?,
        );
        let mut triggers = Triggers::load(self, &owners)?;
        let mut shared = Shared::load(self, &owners)?;
        shared.graphs = Graphs::load(self, &owners)?;
        let mut list = Vec::new();
        for row in &templates {
            let mut node = self.template(row, &mut shared, &mut triggers)?;
            hide(row, &mut node);
            list.push(node);
        }
        put_list(&mut tree, "templates", list);
        let mut list = Vec::new();
        for row in &hosts {
            let mut node = self.host(row, &mut shared, &mut triggers)?;
            hide(row, &mut node);
            list.push(node);
        }
        put_list(&mut tree, "hosts", list);
        put_list(&mut tree, "triggers", triggers.rest());
        put_list(&mut tree, "graphs", shared.graphs.plain);
        let (maps, used) = self.maps(&wanted.maps)?;
        let images = [&wanted.images[..], &used].concat();
        put_list(&mut tree, "images", self.images(&images)?);
        put_list(&mut tree, "maps", maps);
        put_list(&mut tree, "media_types", self.media_types(&wanted.media_types)?);
        Ok(Json::Object(tree))
    }

    /// Hosts (0) or templates (1) that the user may read, by name.
    fn readable(&self, kind: i64, ids: &[u64]) -> ApiResult<Vec<Row>> {
        let mut sql = format!("SELECT * FROM hosts WHERE kind = {kind} AND flags IN {FLAGS_REAL}");
        if let Some(condition) = on_hosts(self.call.user(), Need::Read, "hostid") {
            sql += &format!(" AND {condition}");
        }
        let mut rows = self.rows(&format!("{sql} AND hostid IN ({{ids}})"), ids)?;
        rows.sort_by_cached_key(|row| natural(row.text("host")));
        Ok(rows)
    }

    /// Groups that were asked for and those of the owners (also of their host prototypes).
    fn groups(&self, kind: GroupKind, asked: &[u64], owners: &[u64]) -> ApiResult<Vec<Json>> {
        let mut sql =
            format!("SELECT groupid, uuid, name FROM groups_ WHERE type = {}", kind.text());
        if let Some(condition) = on_groups(self.call.user(), Need::Read, "groupid") {
            sql += &format!(" AND {condition}");
        }
        let mut rows = self.rows(&format!("{sql} AND groupid IN ({{ids}})"), asked)?;
        let of = format!(
            "{sql} AND groupid IN (SELECT groupid FROM host_groups WHERE hostid IN ({{ids}}))"
        );
        rows.extend(self.rows(&of, owners)?);
        if kind == GroupKind::Hosts {
            let linked = format!("{sql} AND groupid IN ({})", hosts::LINKED_GROUPS);
            rows.extend(self.rows(&linked, owners)?);
        }
        rows.sort_by_cached_key(|row| (natural(row.text("name")), row.id("groupid")));
        rows.dedup_by_key(|row| row.id("groupid"));
        Ok(rows.iter().map(|row| Json::Object(to_export(GROUP, &object(row)))).collect())
    }

    fn template(&self, row: &Row, shared: &mut Shared, triggers: &mut Triggers) -> ApiResult<Json> {
        let id = row.id("hostid");
        let mut out = to_export(TEMPLATE, &object(row));
        if !row.text("vendor_name").is_empty() {
            let vendor =
                json!({ "name": row.text("vendor_name"), "version": row.text("vendor_version") });
            out.insert("vendor".into(), vendor);
        }
        put_list(&mut out, "templates", shared.templates.remove(&id).unwrap_or_default());
        put_list(&mut out, "groups", shared.groups.remove(&id).unwrap_or_default());
        self.items(id, &mut out, shared, triggers)?;
        put_list(&mut out, "httptests", self.web_scenarios(id)?);
        put_list(&mut out, "tags", shared.tags.remove(&id).unwrap_or_default());
        put_list(&mut out, "macros", shared.macros.remove(&id).unwrap_or_default());
        put_list(&mut out, "dashboards", shared.dashboards.remove(&id).unwrap_or_default());
        put_list(&mut out, "valuemaps", shared.value_maps.remove(&id).unwrap_or_default());
        Ok(Json::Object(out))
    }

    fn host(&self, row: &Row, shared: &mut Shared, triggers: &mut Triggers) -> ApiResult<Json> {
        let id = row.id("hostid");
        let mut out = to_export(HOST, &object(row));
        // A secret never leaves.
        out.shift_remove("ipmi_password");
        let at = out.keys().position(|member| member == "monitored_by");
        if let (Some(at), Some((member, name))) = (at, shared.collectors.remove(&id)) {
            out.shift_insert(at + 1, member.to_owned(), json!({ "name": name }));
        }
        put_list(&mut out, "templates", shared.templates.remove(&id).unwrap_or_default());
        put_list(&mut out, "groups", shared.groups.remove(&id).unwrap_or_default());
        put_list(&mut out, "interfaces", shared.interfaces.remove(&id).unwrap_or_default());
        self.items(id, &mut out, shared, triggers)?;
        put_list(&mut out, "httptests", self.web_scenarios(id)?);
        put_list(&mut out, "tags", shared.tags.remove(&id).unwrap_or_default());
        put_list(&mut out, "macros", shared.macros.remove(&id).unwrap_or_default());
        if let Some(inventory) = shared.inventory.remove(&id) {
            out.insert("inventory".into(), Json::Object(inventory));
        }
        put_list(&mut out, "valuemaps", shared.value_maps.remove(&id).unwrap_or_default());
        out.extend(to_export(&[INVENTORY_MODE], &object(row)));
        Ok(Json::Object(out))
    }
}
