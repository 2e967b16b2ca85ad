//! What hangs on hosts and templates as a whole.

use objects::InterfaceType;
use std::collections::BTreeMap;

use serde_json::Map;

use super::graphs::Graphs;
use super::order::natural;
use super::{Export, Owned, hosts, object, put_list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{GROUP, INTERFACE, MAPPING, SNMP_DETAILS, TAG, Word, to_export};
use crate::owned::inventory;

/// What hangs on hosts and templates.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) templates: Owned,
    pub(super) groups: Owned,
    pub(super) tags: Owned,
    pub(super) macros: Owned,
    pub(super) value_maps: Owned,
    pub(super) interfaces: Owned,
    pub(super) interface_refs: BTreeMap<u64, String>,
    pub(super) inventory: BTreeMap<u64, Map<String, Json>>,
    /// Member and name of the proxy or proxy group that monitors a host.
    pub(super) collectors: BTreeMap<u64, (&'static str, String)>,
    /// Host prototypes by rule.
    pub(super) prototypes: Owned,
    pub(super) graphs: Graphs,
    pub(super) dashboards: Owned,
}

impl Shared {
    pub(super) fn load(export: &Export<'_, '_>, ids: &[u64]) -> ApiResult<Self> {
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
            macros: export.macros(ids)?,
            ..Self::default()
        };
        shared.value_maps(export, ids)?;
        for list in shared.value_maps.values_mut() {
            list.sort_by_cached_key(|map| natural(text(map, "name")));
        }
        shared.interfaces(export, ids)?;
        let place = |name: &str| inventory::FIELDS.iter().position(|(known, _)| *known == name);
        let sql = "SELECT hostid, name, value FROM host_inventory WHERE hostid IN ({ids})";
        let mut fields = export.rows(sql, ids)?;
        fields.sort_by_key(|row| place(row.text("name")));
        for row in fields {
            let fields = shared.inventory.entry(row.id("hostid")).or_default();
            fields.insert(row.text("name").to_owned(), row.text("value").into());
        }
        for (member, sql) in [
            (
                "proxy",
                "SELECT h.hostid, p.name FROM hosts h JOIN proxies p ON p.proxyid = h.proxyid \
                 WHERE h.hostid IN ({ids})",
            ),
            (
                "proxy_group",
                "SELECT h.hostid, g.name FROM hosts h \
                 JOIN proxy_groups g ON g.proxy_groupid = h.proxy_groupid WHERE h.hostid IN ({ids})",
            ),
        ] {
            for row in export.rows(sql, ids)? {
                let name = row.text("name").to_owned();
                shared.collectors.insert(row.id("hostid"), (member, name));
            }
        }
        shared.prototypes = hosts::load(export, ids)?;
        shared.dashboards = export.dashboards(ids)?;
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
            if InterfaceType::Snmp.is(row.int("type")) {
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
