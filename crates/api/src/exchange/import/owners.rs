//! Groups, templates, hosts, value maps.

use config::db::Row;
use const_format::formatcp;
use objects::sql::{KIND_HOST, KIND_TEMPLATE, MACRO_SECRET};
use serde_json::{Map, json};

use super::interfaces::interfaces;
use super::{Import, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::words::{
    GROUP, HOST, INVENTORY_MODE, MACRO, MAPPING, TAG, TEMPLATE, check_members, to_api,
};
use crate::owned::macros;
use crate::permission::{Need, and, on_groups, on_hosts};

/// A template or host of the import that exists by now.
pub(super) struct Owner<'t> {
    pub(super) id: u64,
    /// Technical name.
    pub(super) name: String,
    pub(super) is_template: bool,
    pub(super) node: &'t Json,
    pub(super) path: String,
    /// It was there before.
    pub(super) existed: bool,
    /// Interface ids by `interface_ref`.
    pub(super) interfaces: Map<String, Json>,
}

const TEMPLATE_MEMBERS: &[&str] = &[
    "vendor",
    "templates",
    "groups",
    "items",
    "discovery_rules",
    "httptests",
    "macros",
    "tags",
    "dashboards",
    "valuemaps",
    "wizard_ready",
    "readme",
];
const HOST_MEMBERS: &[&str] = &[
    "monitored_by",
    "proxy",
    "proxy_group",
    "templates",
    "groups",
    "interfaces",
    "items",
    "discovery_rules",
    "httptests",
    "macros",
    "inventory",
    "inventory_mode",
    "tags",
    "valuemaps",
];

impl Import<'_, '_> {
    pub(super) fn groups(&self, tree: &Json, path: &str) -> ApiResult<()> {
        for (member, child, method) in [
            ("template_groups", "template_group", "templategroup"),
            ("host_groups", "host_group", "hostgroup"),
            ("groups", "group", "hostgroup"),
        ] {
            let rule = self.rules.of(member);
            for (path, node) in list(tree, member, child, path)? {
                check_members(node, &[GROUP], &[], &path)?;
                let group = to_api(GROUP, node, &path)?;
                let kind = i64::from(method == "templategroup");
                let uuid = text(node, "uuid");
                let known = self.call.rows(
                    "SELECT groupid, name, uuid FROM groups_ WHERE type = ? AND (name = ? OR (uuid = ? AND uuid <> ''))",
                    &[kind.into(), text(node, "name").into(), uuid.into()],
                )?;
                match same(&known, node, "name", text(node, "name")) {
                    None if rule.create => {
                        self.create(&format!("{method}.create"), vec![Json::Object(group)])?;
                    }
                    Some(row) if rule.update && row.text("name") != text(node, "name") => {
                        let change = json!({ "groupid": row.id("groupid").to_string(), "name": text(node, "name") });
                        self.change(&format!("{method}.update"), vec![change])?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Creates or changes templates and hosts; what hangs on them comes later.
    pub(super) fn owners<'t>(&self, tree: &'t Json, path: &str) -> ApiResult<Vec<Owner<'t>>> {
        let mut owners = Vec::new();
        for (path, node) in list(tree, "templates", "template", path)? {
            check_members(node, &[TEMPLATE], TEMPLATE_MEMBERS, &path)?;
            owners.extend(self.template(node, path)?);
        }
        for (path, node) in list(tree, "hosts", "host", path)? {
            check_members(node, &[HOST], HOST_MEMBERS, &path)?;
            owners.extend(self.host(node, path)?);
        }
        Ok(owners)
    }

    fn template<'t>(&self, node: &'t Json, path: String) -> ApiResult<Option<Owner<'t>>> {
        let name = text(node, "template").to_owned();
        // A template that the user may not write to is as good as absent.
        let right = and(on_hosts(self.call.user(), Need::Write, "hostid"));
        let known = self.call.rows(
            &format!(
                "SELECT hostid, host, uuid FROM hosts \
                 WHERE kind = {KIND_TEMPLATE} AND (host = ? OR (uuid = ? AND uuid <> '')){right}"
            ),
            &[name.as_str().into(), text(node, "uuid").into()],
        )?;
        let existed = same(&known, node, "host", &name).map(|row| row.id("hostid"));
        let rule = self.rules.of("templates");
        let write = if existed.is_some() { rule.update } else { rule.create };
        if !write && existed.is_none() {
            if rule.any() {
                self.groups_of(node, &path, 1)?;
            }
            return Ok(None);
        }
        let mut id = existed;
        if write {
            let mut object = self.template_object(node, &path, existed)?;
            if let Some(id) = existed {
                object.remove("uuid");
                object.insert("templateid".into(), id.to_string().into());
                self.change("template.update", vec![Json::Object(object)])?;
            } else {
                id = self.create("template.create", vec![Json::Object(object)])?.first().copied();
            }
        }
        let existed = existed.is_some();
        Ok(id.map(|id| Owner {
            id,
            name,
            is_template: true,
            node,
            path,
            existed,
            interfaces: Map::new(),
        }))
    }

    fn template_object(
        &self,
        node: &Json,
        path: &str,
        existed: Option<u64>,
    ) -> ApiResult<Map<String, Json>> {
        let mut object = to_api(TEMPLATE, node, path)?;
        object.entry("description").or_insert_with(|| "".into());
        object.entry("name").or_insert_with(|| text(node, "template").into());
        let vendor = node.get("vendor").unwrap_or(&Json::Null);
        object.insert("vendor_name".into(), text(vendor, "name").into());
        object.insert("vendor_version".into(), text(vendor, "version").into());
        self.common(node, path, 1, existed, &mut object)?;
        Ok(object)
    }

    fn host<'t>(&self, node: &'t Json, path: String) -> ApiResult<Option<Owner<'t>>> {
        let name = text(node, "host").to_owned();
        let user = self.call.user();
        let find = |need: Need| {
            let right = and(on_hosts(user, need, "hostid"));
            let sql =
                format!("SELECT hostid FROM hosts WHERE kind = {KIND_HOST} AND host = ?{right}");
            self.call.rows(&sql, &[name.as_str().into()])
        };
        let existed = find(Need::Read)?.first().map(|row| row.id("hostid"));
        if existed.is_some() && find(Need::Write)?.is_empty() {
            return if self.writes_hosts() { Err(ApiError::no_object()) } else { Ok(None) };
        }
        let rule = self.rules.of("hosts");
        let write = if existed.is_some() { rule.update } else { rule.create };
        if !write && existed.is_none() {
            if rule.any() {
                self.groups_of(node, &path, 0)?;
            }
            return Ok(None);
        }
        let (interfaces, refs) = interfaces(node, &path)?;
        let mut id = existed;
        if write {
            let mut object = self.host_object(node, &path, existed)?;
            if let Some(id) = existed {
                object.insert("hostid".into(), id.to_string().into());
                let kept = self.with_ids(id, &interfaces)?;
                object.insert("interfaces".into(), Json::Array(kept));
                self.change("host.update", vec![Json::Object(object)])?;
            } else {
                object.insert("interfaces".into(), Json::Array(interfaces.clone()));
                id = self.create("host.create", vec![Json::Object(object)])?.first().copied();
            }
        }
        let Some(id) = id else { return Ok(None) };
        let interfaces = self.by_reference(id, &interfaces, &refs)?;
        let existed = existed.is_some();
        Ok(Some(Owner { id, name, is_template: false, node, path, existed, interfaces }))
    }

    fn host_object(
        &self,
        node: &Json,
        path: &str,
        existed: Option<u64>,
    ) -> ApiResult<Map<String, Json>> {
        let mut object = to_api(HOST, node, path)?;
        object.extend(to_api(&[INVENTORY_MODE], node, path)?);
        object.entry("inventory_mode").or_insert_with(|| "0".into());
        object.entry("monitored_by").or_insert_with(|| "0".into());
        for (member, table, key, word) in [
            ("proxy", "proxies", "proxyid", "Proxy"),
            ("proxy_group", "proxy_groups", "proxy_groupid", "Proxy group"),
        ] {
            let name = node.get(member).map_or("", |one| text(one, "name"));
            let sql = format!("SELECT {key} FROM {table} WHERE name = ?");
            let id = match self.call.rows(&sql, &[name.into()])?.first() {
                Some(row) => row.id(key),
                None if name.is_empty() => 0,
                None => {
                    let host = text(node, "host");
                    let text = format!("{word} \"{name}\" for host \"{host}\" does not exist.");
                    return Err(ApiError::application(text));
                }
            };
            object.insert(key.into(), id.to_string().into());
        }
        if let Some(inventory @ Json::Object(_)) = node.get("inventory") {
            object.insert("inventory".into(), inventory.clone());
        }
        self.common(node, path, 0, existed, &mut object)?;
        Ok(object)
    }

    /// Ids of the groups of a node. They have to exist if its kind is imported, even if this one is
    /// neither created nor updated.
    fn groups_of(&self, node: &Json, path: &str, group_type: i64) -> ApiResult<Vec<Json>> {
        let mut groups = Vec::new();
        for (_, group) in list(node, "groups", "group", path)? {
            let name = text(group, "name");
            let right = and(on_groups(self.call.user(), Need::Read, "groupid"));
            let sql = format!("SELECT groupid FROM groups_ WHERE type = ? AND name = ?{right}");
            let rows = self.call.rows(&sql, &[group_type.into(), name.into()])?;
            let Some(row) = rows.first() else {
                let owner = match group_type {
                    0 => format!(" for host \"{}\"", text(node, "host")),
                    _ => String::new(),
                };
                let text = format!("Group \"{name}\"{owner} does not exist.");
                return Err(ApiError::application(text));
            };
            groups.push(json!({ "groupid": row.id("groupid").to_string() }));
        }
        Ok(groups)
    }

    /// Groups, tags and macros, which templates and hosts have alike.
    fn common(
        &self,
        node: &Json,
        path: &str,
        group_type: i64,
        existed: Option<u64>,
        object: &mut Map<String, Json>,
    ) -> ApiResult<()> {
        let groups = self.groups_of(node, path, group_type)?;
        object.insert("groups".into(), Json::Array(groups));
        object.insert("tags".into(), each(node, "tags", "tag", path, TAG)?);
        object.insert("macros".into(), self.macros(node, path, existed)?);
        Ok(())
    }

    /// Macros as the API takes them, with what an export leaves out said.
    pub(super) fn macros(&self, node: &Json, path: &str, existed: Option<u64>) -> ApiResult<Json> {
        let sql =
            formatcp!("SELECT macro FROM hostmacros WHERE hostid = ? AND type = {MACRO_SECRET}");
        let secrets = self.call.rows(sql, &[existed.unwrap_or(0).into()])?;
        let secrets: Vec<String> =
            secrets.iter().map(|row| macros::canonical(row.text("macro"))).collect();
        let mut macros = each(node, "macros", "macro", path, MACRO)?;
        for one in macros.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
            let member = |name: &str| one.get(name).and_then(Json::as_str).unwrap_or("");
            // Exports contain no secrets: keep the existing one.
            let kept =
                member("type") == "1" && secrets.contains(&macros::canonical(member("macro")));
            if !kept {
                one.entry("value").or_insert_with(|| "".into());
            }
            one.entry("type").or_insert_with(|| "0".into());
            one.entry("description").or_insert_with(|| "".into());
        }
        Ok(macros)
    }

    pub(super) fn value_maps(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let rule = self.rules.of("valueMaps");
        let mut seen = Vec::new();
        for (path, node) in list(owner.node, "valuemaps", "valuemap", &owner.path)? {
            let name = text(node, "name");
            let mappings = each(node, "mappings", "mapping", &path, MAPPING)?;
            let known = self.call.rows(
                "SELECT valuemapid, name, uuid FROM valuemaps WHERE hostid = ? AND (name = ? OR (uuid = ? AND uuid <> ''))",
                &[owner.id.into(), name.into(), text(node, "uuid").into()],
            )?;
            match same(&known, node, "name", name).map(|row| row.id("valuemapid")) {
                Some(id) => {
                    seen.push(id);
                    if rule.update {
                        let change = json!({ "valuemapid": id.to_string(), "name": name, "mappings": mappings });
                        self.change("valuemap.update", vec![change])?;
                    }
                }
                None if rule.create => {
                    let mut object = json!({ "hostid": owner.id.to_string(), "name": name, "mappings": mappings });
                    if owner.is_template && !text(node, "uuid").is_empty() {
                        object["uuid"] = text(node, "uuid").into();
                    }
                    seen.extend(self.create("valuemap.create", vec![object])?);
                }
                None => {}
            }
        }
        if rule.delete && owner.existed {
            let all = self
                .call
                .rows("SELECT valuemapid FROM valuemaps WHERE hostid = ?", &[owner.id.into()])?;
            let gone = all.iter().map(|row| row.id("valuemapid")).filter(|id| !seen.contains(id));
            self.delete_later("valuemap.delete", gone);
        }
        Ok(())
    }
}

/// A list whose elements are plain fields.
pub(super) fn each(
    node: &Json,
    name: &str,
    child: &str,
    path: &str,
    words: &[crate::exchange::words::Word],
) -> ApiResult<Json> {
    let values = list(node, name, child, path)?.into_iter().map(|(path, node)| {
        check_members(node, &[words], &[], &path)?;
        to_api(words, node, &path).map(Json::Object)
    });
    values.collect()
}

/// The row with the node's universal id, or else the one with this name.
pub(super) fn same<'r>(rows: &'r [Row], node: &Json, column: &str, name: &str) -> Option<&'r Row> {
    let uuid = text(node, "uuid");
    rows.iter()
        .find(|row| !uuid.is_empty() && row.text("uuid") == uuid)
        .or_else(|| rows.iter().find(|row| row.text(column) == name))
}
