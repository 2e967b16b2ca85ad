//! Interfaces of hosts: which of a file is which of the host.

use config::db::Row;
use serde_json::{Map, json};

use super::{Import, list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{INTERFACE, SNMP_DETAILS, check_members, to_api};

/// Members that tell interfaces apart.
const FIELDS: [&str; 6] = ["type", "main", "useip", "ip", "dns", "port"];

/// Fields that have to agree, strictest first: an interface whose address alone has changed stays
/// the same interface, with its items.
const RULES: &[&[&str]] =
    &[&FIELDS, &["type", "useip", "ip", "dns", "port"], &["type", "main"], &["type"]];

impl Import<'_, '_> {
    fn stored(&self, host: u64) -> ApiResult<Vec<Row>> {
        self.call.rows(
            "SELECT interfaceid, type, main, useip, ip, dns, port FROM interfaces \
             WHERE hostid = ? ORDER BY interfaceid",
            &[host.into()],
        )
    }

    /// Interfaces of a file with the ids of the host's interfaces that they change.
    pub(super) fn with_ids(&self, host: u64, interfaces: &[Json]) -> ApiResult<Vec<Json>> {
        let stored = self.stored(host)?;
        let mut out = interfaces.to_vec();
        for (one, id) in out.iter_mut().zip(matched(interfaces, &stored, RULES)) {
            if let Some(id) = id {
                one["interfaceid"] = id.to_string().into();
            }
        }
        Ok(out)
    }

    /// Ids of the host's interfaces by the references of the file. A reference to an interface that
    /// the host does not have is left out.
    pub(super) fn by_reference(
        &self,
        host: u64,
        interfaces: &[Json],
        refs: &[String],
    ) -> ApiResult<Map<String, Json>> {
        let found = matched(interfaces, &self.stored(host)?, &RULES[..1]);
        let pairs = refs.iter().zip(found);
        Ok(pairs.filter_map(|(name, id)| Some((name.clone(), id?.to_string().into()))).collect())
    }
}

/// For each interface of a file the id of the stored one that it is; each is taken once.
fn matched(interfaces: &[Json], stored: &[Row], rules: &[&[&str]]) -> Vec<Option<u64>> {
    let mut found = vec![None; interfaces.len()];
    for fields in rules {
        for n in 0..interfaces.len() {
            if found[n].is_some() {
                continue;
            }
            let agrees = |row: &&Row| {
                let value = |name: &str| row.get(name).map(ToString::to_string).unwrap_or_default();
                fields.iter().all(|name| value(name) == text(&interfaces[n], name))
            };
            let free = |row: &&Row| !found.contains(&Some(row.id("interfaceid")));
            found[n] = stored.iter().filter(free).find(agrees).map(|row| row.id("interfaceid"));
        }
    }
    found
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
