//! Host prototypes of discovery rules.

use objects::InterfaceType;
use std::collections::BTreeMap;

use config::db::Row;
use const_format::formatcp;
use objects::sql::KIND_PROTOTYPE;
use serde_json::{Map, json};

use super::order::{HOST_PROTOTYPES, PROTOTYPE_DETAILS, arrange, natural};
use super::{Export, Owned, object, put_list};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{
    GROUP, HOST_PROTOTYPE, INTERFACE, INVENTORY_MODE, SNMP_DETAILS, TAG, Word, to_export,
};

/// Subquery: host groups that host prototypes of these owners (`{ids}`) put their hosts into.
pub(super) const LINKED_GROUPS: &str = "SELECT gp.groupid FROM group_prototypes gp JOIN host_discovery d ON d.hostid = gp.hostid \
     JOIN items r ON r.itemid = d.parent_itemid JOIN hosts p ON p.hostid = gp.hostid \
     WHERE gp.groupid > 0 AND p.templateid = 0 AND r.hostid IN ({ids})";

/// Own (not inherited) host prototypes of all rules of these hosts and templates, by rule.
pub(super) fn load(export: &Export<'_, '_>, owners: &[u64]) -> ApiResult<Owned> {
    let mut rows = export.rows(
        formatcp!(
            "SELECT p.*, d.parent_itemid AS ruleid, o.kind AS owner_kind FROM items r \
         JOIN host_discovery d ON d.parent_itemid = r.itemid \
         JOIN hosts p ON p.hostid = d.hostid JOIN hosts o ON o.hostid = r.hostid \
         WHERE p.kind = {KIND_PROTOTYPE} AND p.templateid = 0 AND r.hostid IN ({{ids}})"
        ),
        owners,
    )?;
    rows.sort_by_cached_key(|row| natural(row.text("host")));
    let ids: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let mut lists = Lists::load(export, &ids)?;
    let mut found = Owned::new();
    for row in &rows {
        let one = Json::Object(lists.prototype(row));
        found.entry(row.id("ruleid")).or_default().push(one);
    }
    Ok(found)
}

/// What hangs on prototypes.
struct Lists {
    group_links: Owned,
    group_prototypes: Owned,
    templates: Owned,
    macros: Owned,
    tags: Owned,
    interfaces: BTreeMap<u64, Vec<(InterfaceOrder, Json)>>,
}

/// Type, IP, DNS name, port.
type InterfaceOrder = (i64, String, String, String);

impl Lists {
    fn load(export: &Export<'_, '_>, ids: &[u64]) -> ApiResult<Self> {
        let name: &[Word] = &[GROUP[1]];
        let links = export.owned(
            "SELECT gp.hostid AS owner, g.name FROM group_prototypes gp \
             JOIN groups_ g ON g.groupid = gp.groupid WHERE gp.hostid IN ({ids}) ORDER BY g.name",
            ids,
            name,
        )?;
        let linked =
            |list: Vec<Json>| list.into_iter().map(|one| json!({ "group": one })).collect();
        let mut lists = Self {
            group_links: links.into_iter().map(|(id, list)| (id, linked(list))).collect(),
            group_prototypes: export.owned(
                "SELECT hostid AS owner, name FROM group_prototypes WHERE groupid = 0 \
                 AND hostid IN ({ids}) ORDER BY name",
                ids,
                name,
            )?,
            templates: export.owned(
                "SELECT ht.hostid AS owner, t.host AS name FROM host_templates ht \
                 JOIN hosts t ON t.hostid = ht.templateid WHERE ht.hostid IN ({ids}) ORDER BY t.host",
                ids,
                name,
            )?,
            macros: export.macros(ids)?,
            tags: export.owned(
                "SELECT hostid AS owner, tag, value FROM host_tags WHERE hostid IN ({ids}) \
                 ORDER BY tag, value",
                ids,
                TAG,
            )?,
            interfaces: BTreeMap::new(),
        };
        lists.interfaces(export, ids)?;
        Ok(lists)
    }

    fn interfaces(&mut self, export: &Export<'_, '_>, ids: &[u64]) -> ApiResult<()> {
        let sql = "SELECT * FROM interfaces WHERE hostid IN ({ids}) ORDER BY interfaceid";
        for row in export.rows(sql, ids)? {
            let mut one = to_export(INTERFACE, &object(&row));
            if InterfaceType::Snmp.is(row.int("type")) {
                let details = serde_json::from_str(row.text("details")).unwrap_or(Json::Null);
                let details = arrange(to_export(SNMP_DETAILS, &details), PROTOTYPE_DETAILS);
                one.insert("details".into(), Json::Object(details));
            }
            let part = |name: &str| row.text(name).to_owned();
            let order = (row.int("type"), part("ip"), part("dns"), part("port"));
            let list = self.interfaces.entry(row.id("hostid")).or_default();
            list.push((order, Json::Object(one)));
        }
        for list in self.interfaces.values_mut() {
            list.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Ok(())
    }

    fn prototype(&mut self, row: &Row) -> Map<String, Json> {
        let id = row.id("hostid");
        let node = object(row);
        let mut out = to_export(HOST_PROTOTYPE, &node);
        out.extend(to_export(&[inventory_mode(row.int("owner_kind") == 1)], &node));
        for (name, list) in [
            ("group_links", &mut self.group_links),
            ("group_prototypes", &mut self.group_prototypes),
            ("templates", &mut self.templates),
            ("macros", &mut self.macros),
            ("tags", &mut self.tags),
        ] {
            put_list(&mut out, name, list.remove(&id).unwrap_or_default());
        }
        let interfaces = self.interfaces.remove(&id).unwrap_or_default();
        put_list(&mut out, "interfaces", interfaces.into_iter().map(|(_, one)| one).collect());
        arrange(out, HOST_PROTOTYPES)
    }
}

/// What a left out inventory mode means differs: off on templates, manual on hosts.
pub(in crate::exchange) fn inventory_mode(on_template: bool) -> Word {
    Word { default: Some(if on_template { "-1" } else { "0" }), ..INVENTORY_MODE }
}
