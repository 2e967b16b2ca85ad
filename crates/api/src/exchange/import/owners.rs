//! Groups, templates, hosts, value maps, linkage.

use config::db::Value;
use serde_json::{Map, json};

use super::{Import, list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{
    GROUP, HOST, INTERFACE, INVENTORY_MODE, MACRO, MAPPING, SNMP_DETAILS, TAG, TEMPLATE,
    check_members, invalid, to_api,
};
use crate::owned::macros;

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

impl<'c, 'a> Import<'c, 'a> {
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
                    "SELECT groupid, name FROM groups_ WHERE type = ? AND (name = ? OR (uuid = ? AND uuid <> ''))",
                    &[kind.into(), text(node, "name").into(), uuid.into()],
                )?;
                match known.first() {
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
        let mut object = to_api(TEMPLATE, node, &path)?;
        object.entry("description").or_insert_with(|| "".into());
        let name = text(node, "template").to_owned();
        if !object.contains_key("name") {
            object.insert("name".into(), name.as_str().into());
        }
        let vendor = node.get("vendor").unwrap_or(&Json::Null);
        object.insert("vendor_name".into(), text(vendor, "name").into());
        object.insert("vendor_version".into(), text(vendor, "version").into());
        let known = self.call.rows(
            "SELECT hostid FROM hosts WHERE kind = 1 AND (host = ? OR (uuid = ? AND uuid <> ''))",
            &[name.as_str().into(), text(node, "uuid").into()],
        )?;
        let rule = self.rules.of("templates");
        let existed = known.first().map(|row| row.id("hostid"));
        self.common(node, &path, 1, existed, &mut object)?;
        let id = match existed {
            Some(id) => {
                if rule.update {
                    object.remove("uuid");
                    object.insert("templateid".into(), id.to_string().into());
                    self.change("template.update", vec![Json::Object(object)])?;
                }
                id
            }
            None if rule.create => self
                .create("template.create", vec![Json::Object(object)])?
                .first()
                .copied()
                .unwrap_or(0),
            None => return Ok(None),
        };
        Ok(Some(Owner {
            id,
            name,
            is_template: true,
            node,
            path,
            existed: existed.is_some(),
            interfaces: Map::new(),
        }))
    }

    fn host<'t>(&self, node: &'t Json, path: String) -> ApiResult<Option<Owner<'t>>> {
        let mut object = to_api(HOST, node, &path)?;
        let name = text(node, "host").to_owned();
        object.extend(to_api(&[INVENTORY_MODE], node, &path)?);
        if !object.contains_key("inventory_mode") {
            object.insert("inventory_mode".into(), "0".into());
        }
        if let Some(inventory @ Json::Object(_)) = node.get("inventory") {
            object.insert("inventory".into(), inventory.clone());
        }
        let (interfaces, refs) = interfaces(node, &path)?;
        let known = self.call.rows(
            "SELECT hostid FROM hosts WHERE kind = 0 AND host = ?",
            &[name.as_str().into()],
        )?;
        let rule = self.rules.of("hosts");
        let existed = known.first().map(|row| row.id("hostid"));
        self.common(node, &path, 0, existed, &mut object)?;
        let id = match existed {
            Some(id) => {
                if rule.update {
                    object.insert("hostid".into(), id.to_string().into());
                    self.change("host.update", vec![Json::Object(object)])?;
                }
                id
            }
            None if rule.create => {
                object.insert("interfaces".into(), Json::Array(interfaces));
                self.create("host.create", vec![Json::Object(object)])?
                    .first()
                    .copied()
                    .unwrap_or(0)
            }
            None => return Ok(None),
        };
        let rows = self.call.rows(
            "SELECT interfaceid FROM interfaces WHERE hostid = ? ORDER BY interfaceid",
            &[Value::from(id)],
        )?;
        let ids = rows.iter().map(|row| Json::String(row.id("interfaceid").to_string()));
        Ok(Some(Owner {
            id,
            name,
            is_template: false,
            node,
            path,
            existed: existed.is_some(),
            interfaces: refs.into_iter().zip(ids).collect(),
        }))
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
        let mut groups = Vec::new();
        for (path, group) in list(node, "groups", "group", path)? {
            let name = text(group, "name");
            let rows = self.call.rows(
                "SELECT groupid FROM groups_ WHERE type = ? AND name = ?",
                &[group_type.into(), name.into()],
            )?;
            let row = rows
                .first()
                .ok_or_else(|| invalid(&path, &format!("the group \"{name}\" does not exist")))?;
            groups.push(json!({ "groupid": row.id("groupid").to_string() }));
        }
        object.insert("groups".into(), Json::Array(groups));
        object.insert("tags".into(), each(node, "tags", "tag", path, TAG)?);
        object.insert("macros".into(), self.macros(node, path, existed)?);
        Ok(())
    }

    /// Macros as the API takes them, with what an export leaves out said.
    pub(super) fn macros(&self, node: &Json, path: &str, existed: Option<u64>) -> ApiResult<Json> {
        let sql = "SELECT macro FROM hostmacros WHERE hostid = ? AND type = 1";
        let secrets = self.call.rows(sql, &[existed.unwrap_or(0).into()])?;
        let secrets: Vec<String> =
            secrets.iter().map(|row| macros::canonical(row.text("macro"))).collect();
        let mut macros = each(node, "macros", "macro", path, MACRO)?;
        for one in macros.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
            let member = |name: &str| one.get(name).and_then(Json::as_str).unwrap_or("");
            // Secrets never leave: the one that is there stays.
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
                "SELECT valuemapid FROM valuemaps WHERE hostid = ? AND (name = ? OR (uuid = ? AND uuid <> ''))",
                &[owner.id.into(), name.into(), text(node, "uuid").into()],
            )?;
            match known.first().map(|row| row.id("valuemapid")) {
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
            self.change("valuemap.delete", gone.map(|id| id.to_string().into()).collect())?;
        }
        Ok(())
    }

    /// Links the templates that the import names.
    pub(super) fn link(&self, owners: &[Owner<'_>]) -> ApiResult<()> {
        let rule = self.rules.of("templateLinkage");
        for owner in owners {
            let mut wanted = Vec::new();
            for (path, node) in list(owner.node, "templates", "template", &owner.path)? {
                let name = text(node, "name");
                let rows = self
                    .call
                    .rows("SELECT hostid FROM hosts WHERE kind = 1 AND host = ?", &[name.into()])?;
                let row = rows.first().ok_or_else(|| {
                    invalid(&path, &format!("the template \"{name}\" does not exist"))
                })?;
                wanted.push(row.id("hostid"));
            }
            let linked = self.call.rows(
                "SELECT templateid FROM host_templates WHERE hostid = ?",
                &[owner.id.into()],
            )?;
            let linked: Vec<u64> = linked.iter().map(|row| row.id("templateid")).collect();
            let mut all: Vec<u64> = if rule.delete { Vec::new() } else { linked.clone() };
            all.extend(wanted.iter().filter(|id| rule.create || linked.contains(id)));
            all.sort_unstable();
            all.dedup();
            if all.iter().any(|id| !linked.contains(id)) || all.len() < linked.len() {
                let templates: Json =
                    all.iter().map(|id| json!({ "templateid": id.to_string() })).collect();
                let (method, key) = if owner.is_template {
                    ("template.update", "templateid")
                } else {
                    ("host.update", "hostid")
                };
                let change = json!({ key: owner.id.to_string(), "templates": templates });
                self.change(method, vec![change])?;
            }
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

/// Interfaces as the API takes them, and their references.
pub(super) fn interfaces(node: &Json, path: &str) -> ApiResult<(Vec<Json>, Vec<String>)> {
    let (mut interfaces, mut refs) = (Vec::new(), Vec::new());
    for (path, node) in list(node, "interfaces", "interface", path)? {
        check_members(node, &[INTERFACE], &["details", "interface_ref"], &path)?;
        let mut interface: Map<String, Json> =
            INTERFACE.iter().map(|w| (w.api.to_owned(), w.default.unwrap_or("").into())).collect();
        interface.extend(to_api(INTERFACE, node, &path)?);
        if interface.get("type").and_then(Json::as_str) == Some("2") {
            let empty = json!({});
            let details = node.get("details").unwrap_or(&empty);
            let mut full: Map<String, Json> = Map::new();
            full.insert("version".into(), "2".into());
            full.insert("bulk".into(), "1".into());
            full.extend(to_api(SNMP_DETAILS, details, &format!("{path}/details"))?);
            interface.insert("details".into(), Json::Object(full));
        }
        interfaces.push(Json::Object(interface));
        refs.push(text(node, "interface_ref").to_owned());
    }
    Ok((interfaces, refs))
}
