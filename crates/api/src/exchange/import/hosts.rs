//! Host prototypes of discovery rules.

use config::db::Row;
use const_format::formatcp;
use objects::sql::{GROUP_OF_HOSTS, KIND_PROTOTYPE, KIND_TEMPLATE};
use serde_json::{Map, json};

use super::interfaces::interfaces;
use super::owners::{Owner, each};
use super::{Import, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::export::inventory_mode;
use crate::exchange::words::{HOST_PROTOTYPE, TAG, check_members, to_api};

/// Members beside plain fields.
const MEMBERS: &[&str] = &[
    "inventory_mode",
    "group_links",
    "group_prototypes",
    "templates",
    "macros",
    "tags",
    "interfaces",
];

impl Import<'_, '_> {
    pub(super) fn host_prototypes(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let rules = self.ids(owner.id, "1")?;
        for (path, rule) in list(owner.node, "discovery_rules", "discovery_rule", &owner.path)? {
            if let Some(id) = rules.get(text(rule, "key")) {
                let nodes = list(rule, "host_prototypes", "host_prototype", &path)?;
                self.prototypes_of(owner, *id, rule, &nodes)?;
            }
        }
        Ok(())
    }

    fn prototypes_of(
        &self,
        owner: &Owner<'_>,
        rule: u64,
        rule_node: &Json,
        nodes: &[(String, &Json)],
    ) -> ApiResult<()> {
        let allowed = self.rules.of("discoveryRules");
        let known = self.call.rows(
            formatcp!(
                "SELECT p.hostid, p.host, p.uuid FROM host_discovery d \
             JOIN hosts p ON p.hostid = d.hostid \
             WHERE p.kind = {KIND_PROTOTYPE} AND p.templateid = 0 AND d.parent_itemid = ?"
            ),
            &[rule.into()],
        )?;
        let (mut created, mut changed, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        let uuids: Vec<&str> = nodes.iter().map(|(_, node)| text(node, "uuid")).collect();
        for (path, node) in nodes {
            let (host, uuid) = (text(node, "host"), text(node, "uuid"));
            let by_uuid = known.iter().find(|row| !uuid.is_empty() && row.text("uuid") == uuid);
            let same = by_uuid.or_else(|| {
                let foreign =
                    |row: &Row| !row.text("uuid").is_empty() && uuids.contains(&row.text("uuid"));
                known.iter().find(|row| row.text("host") == host && !foreign(row))
            });
            let id = same.map(|row| row.id("hostid"));
            seen.extend(id);
            if !(if id.is_some() { allowed.update } else { allowed.create }) {
                continue;
            }
            let place = format!(
                "for host prototype \"{host}\" of discovery rule \"{}\" on \"{}\"",
                text(rule_node, "name"),
                owner.name
            );
            let mut object = self.prototype(owner, node, path, &place, id)?;
            match id {
                Some(id) => {
                    object.shift_remove("uuid");
                    object.insert("hostid".into(), id.to_string().into());
                    changed.push(Json::Object(object));
                }
                None => {
                    object.insert("ruleid".into(), rule.to_string().into());
                    created.push(Json::Object(object));
                }
            }
        }
        if allowed.delete && owner.existed {
            let gone = known.iter().map(|row| row.id("hostid")).filter(|id| !seen.contains(id));
            self.delete_later("hostprototype.delete", gone);
        }
        self.change("hostprototype.update", changed)?;
        self.create("hostprototype.create", created).map(drop)
    }

    /// A host prototype as its methods take it, with what an export leaves out said.
    fn prototype(
        &self,
        owner: &Owner<'_>,
        node: &Json,
        path: &str,
        place: &str,
        existed: Option<u64>,
    ) -> ApiResult<Map<String, Json>> {
        check_members(node, &[HOST_PROTOTYPE], MEMBERS, path)?;
        let inventory = inventory_mode(owner.is_template);
        let words = [HOST_PROTOTYPE, &[inventory]].concat();
        let mut object: Map<String, Json> = words
            .iter()
            .filter_map(|word| Some((word.api.to_owned(), word.default?.into())))
            .collect();
        object.extend(to_api(&words, node, path)?);
        if !owner.is_template || text(node, "uuid").is_empty() {
            object.shift_remove("uuid");
        }
        if text(node, "name").is_empty() {
            object.insert("name".into(), text(node, "host").into());
        }
        let mut links = Vec::new();
        for (_, link) in list(node, "group_links", "group_link", path)? {
            let name = link.get("group").map_or("", |group| text(group, "name"));
            let sql = formatcp!(
                "SELECT groupid AS id FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND name = ?"
            );
            let id = self.named(sql, name, "host group", place)?;
            links.push(json!({ "groupid": id }));
        }
        object.insert("groupLinks".into(), Json::Array(links));
        let names = list(node, "group_prototypes", "group_prototype", path)?;
        let names = names.iter().map(|(_, one)| json!({ "name": text(one, "name") }));
        object.insert("groupPrototypes".into(), names.collect());
        let mut templates = Vec::new();
        for (_, template) in list(node, "templates", "template", path)? {
            let sql = formatcp!(
                "SELECT hostid AS id FROM hosts WHERE kind = {KIND_TEMPLATE} AND host = ?"
            );
            let id = self.named(sql, text(template, "name"), "template", place)?;
            templates.push(json!({ "templateid": id }));
        }
        object.insert("templates".into(), Json::Array(templates));
        object.insert("tags".into(), each(node, "tags", "tag", path, TAG)?);
        object.insert("macros".into(), self.macros(node, path, existed)?);
        if text(node, "custom_interfaces") == "YES" {
            let (interfaces, _) = interfaces(node, path)?;
            object.insert("interfaces".into(), Json::Array(interfaces));
        }
        Ok(object)
    }

    /// Id of what has that name.
    fn named(&self, sql: &str, name: &str, what: &str, place: &str) -> ApiResult<String> {
        let rows = self.call.rows(sql, &[name.into()])?;
        rows.first()
            .map(|row| row.id("id").to_string())
            .ok_or_else(|| ApiError::application(format!("Cannot find {what} \"{name}\" {place}.")))
    }
}
