//! Maps with the images that they use.

use std::collections::{BTreeMap, BTreeSet};

use objects::MapElementType;
use serde_json::{Map, json};

use super::order::natural;
use super::{Export, put_list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::words::maps::{
    ELEMENT, ELEMENT_TAG, ICONS, LINE, LINK, LINK_TRIGGER, MAP, SHAPE, TRIGGER_NAME, URL,
};
use crate::exchange::write_expressions;
use crate::rpc;

/// What maps refer to, as far as the user may read it: for each, how an export names it.
#[derive(Default)]
struct Names {
    images: BTreeMap<String, Json>,
    icon_maps: BTreeMap<String, Json>,
    /// By the member of the API with the id.
    shown: BTreeMap<&'static str, BTreeMap<String, Json>>,
}

/// Members of an object that are listed, in this order.
fn members(node: &Json, names: &[&str]) -> Map<String, Json> {
    names.iter().map(|name| ((*name).to_owned(), text(node, name).into())).collect()
}

/// Objects of a list member.
fn each<'j>(node: &'j Json, name: &str) -> impl Iterator<Item = &'j Json> {
    node.get(name).and_then(Json::as_array).into_iter().flatten()
}

fn list(node: &Json, name: &str, names: &[&str]) -> Json {
    each(node, name).map(|one| Json::Object(members(one, names))).collect()
}

fn ids(set: &BTreeSet<String>) -> Vec<u64> {
    set.iter().filter_map(|id| id.parse().ok()).filter(|id| *id != 0).collect()
}

impl Export<'_, '_> {
    /// Maps by name, and the ids of the images that they use.
    pub(super) fn maps(&self, wanted: &[u64]) -> ApiResult<(Vec<Json>, Vec<u64>)> {
        if wanted.is_empty() {
            return Ok(Default::default());
        }
        let params = json!({
            "sysmapids": wanted, "output": "extend", "selectSelements": "extend",
            "selectLinks": "extend", "selectShapes": "extend", "selectLines": "extend",
            "selectUrls": "extend",
        });
        let found = rpc::run_inner(self.call, "map.get", &params)?;
        let Json::Array(mut maps) = found else { return Ok(Default::default()) };
        maps.sort_by_cached_key(|map| natural(text(map, "name")));
        let names = self.names(&maps)?;
        let images = names.images.keys().filter_map(|id| id.parse().ok()).collect();
        let maps = maps.iter().map(|map| names.map(map)).collect::<ApiResult<_>>()?;
        Ok((maps, images))
    }

    /// Images by name.
    pub(super) fn images(&self, wanted: &[u64]) -> ApiResult<Vec<Json>> {
        let mut rows = self.rows("SELECT * FROM images WHERE imageid IN ({ids})", wanted)?;
        rows.sort_by_key(|row| row.id("imageid"));
        rows.dedup_by_key(|row| row.id("imageid"));
        let image = |row: &config::db::Row| {
            json!({
                "name": row.text("name"),
                "imagetype": row.int("imagetype").to_string(),
                "encodedImage": row.text("image"),
            })
        };
        Ok(rows.iter().map(image).collect())
    }

    fn names(&self, maps: &[Json]) -> ApiResult<Names> {
        let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut note = |kind: &'static str, id: &str| {
            used.entry(kind).or_default().insert(id.to_owned());
        };
        for map in maps {
            note("imageid", text(map, "backgroundid"));
            note("iconmapid", text(map, "iconmapid"));
            for element in each(map, "selements") {
                ICONS.iter().for_each(|(_, icon)| note("imageid", text(element, icon)));
                for key in MapElementType::ALL.iter().filter_map(|kind| kind.key()) {
                    each(element, "elements").for_each(|one| note(key, text(one, key)));
                }
            }
            let triggers = each(map, "links").flat_map(|link| each(link, "linktriggers"));
            triggers.for_each(|one| note("triggerid", text(one, "triggerid")));
        }
        let of = |kind: &str| used.get(kind).map(ids).unwrap_or_default();
        let mut names = Names::default();
        let named = |sql: &str, kind: &str, member: &str| -> ApiResult<BTreeMap<String, Json>> {
            let rows = self.rows(sql, &of(kind))?;
            let pair = |row: &config::db::Row| {
                (row.id("id").to_string(), json!({ member: row.text("name") }))
            };
            Ok(rows.iter().map(pair).collect())
        };
        let images = "SELECT imageid AS id, name FROM images WHERE imageid IN ({ids})";
        names.images = named(images, "imageid", "name")?;
        let icon_maps = "SELECT iconmapid AS id, name FROM icon_maps WHERE iconmapid IN ({ids})";
        names.icon_maps = named(icon_maps, "iconmapid", "name")?;
        for (kind, member, method, option) in [
            ("hostid", "host", "host.get", "hostids"),
            ("groupid", "name", "hostgroup.get", "groupids"),
            ("sysmapid", "name", "map.get", "sysmapids"),
        ] {
            let params = json!({ option: of(kind), "output": [kind, member] });
            let found = rpc::run_inner(self.call, method, &params)?;
            let rows = found.as_array().into_iter().flatten();
            let pair =
                |row: &Json| (text(row, kind).to_owned(), Json::Object(members(row, &[member])));
            names.shown.insert(kind, rows.map(pair).collect());
        }
        names.shown.insert("triggerid", self.trigger_names(&of("triggerid"))?);
        Ok(names)
    }

    /// Names and expressions of triggers.
    fn trigger_names(&self, triggers: &[u64]) -> ApiResult<BTreeMap<String, Json>> {
        if triggers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let output = ["triggerid", "description", "expression", "recovery_expression"];
        let params = json!({ "triggerids": triggers, "output": output });
        let mut found = rpc::run_inner(self.call, "trigger.get", &params)?;
        if let Json::Array(rows) = &mut found {
            write_expressions(self.call, rows)?;
        }
        let rows = found.as_array().into_iter().flatten();
        let pair = |row: &Json| {
            (text(row, "triggerid").to_owned(), Json::Object(members(row, TRIGGER_NAME)))
        };
        Ok(rows.map(pair).collect())
    }
}

impl Names {
    fn image(&self, id: &str) -> Json {
        self.images.get(id).cloned().unwrap_or_else(|| json!([]))
    }

    /// The user may read all that an exported map shows: a copy of the map would lack the rest.
    fn shown(&self, kind: &str, id: &str) -> ApiResult<Json> {
        let name = self.shown.get(kind).and_then(|names| names.get(id));
        name.cloned().ok_or_else(ApiError::no_object)
    }

    fn map(&self, map: &Json) -> ApiResult<Json> {
        let mut out = members(map, MAP);
        let mut put = |name: &str, value: Json| out.insert(name.to_owned(), value);
        put("background", self.image(text(map, "backgroundid")));
        let icon_map = self.icon_maps.get(text(map, "iconmapid")).cloned();
        put("iconmap", icon_map.unwrap_or_else(|| json!([])));
        let mut urls: Vec<Json> =
            each(map, "urls").map(|one| Json::Object(members(one, URL))).collect();
        urls.sort_by_cached_key(|url| natural(text(url, "name")));
        put("urls", urls.into());
        let elements = each(map, "selements").map(|one| self.element(one));
        put("selements", elements.collect::<ApiResult<_>>()?);
        put("shapes", list(map, "shapes", SHAPE));
        put("lines", list(map, "lines", LINE));
        let links = each(map, "links").map(|one| self.link(one));
        put("links", links.collect::<ApiResult<_>>()?);
        Ok(Json::Object(out))
    }

    fn element(&self, element: &Json) -> ApiResult<Json> {
        let mut out = members(element, &["elementtype"]);
        let shown = each(element, "elements").flat_map(|one| {
            let ids = one.as_object().into_iter().flatten();
            ids.map(|(kind, id)| self.shown(kind, id.as_str().unwrap_or_default()))
        });
        let shown = shown.collect::<ApiResult<Vec<Json>>>()?;
        put_list(&mut out, "elements", shown);
        out.extend(members(element, ELEMENT));
        for (name, icon) in ICONS {
            out.insert((*name).to_owned(), self.image(text(element, icon)));
        }
        out.insert("urls".to_owned(), list(element, "urls", &["name", "url"]));
        out.extend(members(element, &["evaltype"]));
        let tags = each(element, "tags").map(|tag| Json::Object(members(tag, ELEMENT_TAG)));
        put_list(&mut out, "tags", tags.collect());
        Ok(Json::Object(out))
    }

    fn link(&self, link: &Json) -> ApiResult<Json> {
        let mut out = members(link, LINK);
        let triggers = each(link, "linktriggers").map(|one| {
            let mut out = members(one, LINK_TRIGGER);
            out.insert("trigger".to_owned(), self.shown("triggerid", text(one, "triggerid"))?);
            Ok(Json::Object(out))
        });
        out.insert("linktriggers".to_owned(), triggers.collect::<ApiResult<_>>()?);
        Ok(Json::Object(out))
    }
}
