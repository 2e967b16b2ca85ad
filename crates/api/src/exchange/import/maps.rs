//! Images and maps. Objects of the same name are updated.

use const_format::formatcp;
use objects::MapElementType;
use objects::sql::{GROUP_OF_HOSTS, KIND_HOST};
use serde_json::{Map, json};

use super::{Import, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::words::maps::{
    ELEMENT, ELEMENT_TAG, ICONS, LINE, LINK, LINK_TRIGGER, MAP, SHAPE, TRIGGER_NAME, URL,
};
use crate::exchange::words::{check_members, invalid};

/// Members of an image.
const IMAGE: &[&str] = &["name", "imagetype", "encodedImage"];
/// Lists and objects of a map, in the order of an export.
const MAP_PARTS: &[&str] =
    &["background", "iconmap", "urls", "selements", "shapes", "lines", "links"];

impl Import<'_, '_> {
    /// Writes the images that the rules allow.
    pub(super) fn images(&self, tree: &Json, path: &str) -> ApiResult<()> {
        let rules = self.rules.of("images");
        let nodes = list(tree, "images", "image", path)?;
        if !rules.any() {
            return Ok(());
        }
        for (path, node) in nodes {
            let given = members(node, &path, &[IMAGE], &[])?;
            require(node, IMAGE, &path)?;
            let image = &given["encodedImage"];
            match self.id("SELECT imageid AS id FROM images WHERE name = ?", text(node, "name"))? {
                Some(id) if rules.update => {
                    let update = json!({ "imageid": id, "image": image });
                    self.change("image.update", vec![update])?;
                }
                None if rules.create => {
                    let new = json!({ "name": given["name"], "imagetype": given["imagetype"],
                                      "image": image });
                    self.create("image.create", vec![new])?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the maps that the rules allow, first without what is on them: maps may show each other.
    pub(super) fn maps(&self, tree: &Json, path: &str) -> ApiResult<()> {
        let rules = self.rules.of("maps");
        let nodes = list(tree, "maps", "map", path)?;
        if !rules.any() {
            return Ok(());
        }
        let mut written = Vec::new();
        for (path, node) in &nodes {
            let name = text(node, "name");
            let fields = members(node, path, &[MAP], MAP_PARTS)?;
            require(node, &["name", "width", "height"], path)?;
            match self.id("SELECT sysmapid AS id FROM maps WHERE name = ?", name)? {
                Some(id) if rules.update => written.push((path, *node, id)),
                None if rules.create => {
                    let ids = self.create("map.create", vec![Json::Object(fields)])?;
                    written.extend(ids.first().map(|id| (path, *node, id.to_string())));
                }
                _ => {}
            }
        }
        written.into_iter().try_for_each(|(path, node, id)| {
            let mut map = self.map(node, path)?;
            map.insert("sysmapid".to_owned(), id.into());
            self.change("map.update", vec![Json::Object(map)])
        })
    }

    /// The id of the row with this name.
    fn id(&self, sql: &str, name: &str) -> ApiResult<Option<String>> {
        let rows = self.call.rows(sql, &[name.into()])?;
        Ok(rows.first().map(|row| row.id("id").to_string()))
    }

    /// The id of what a member of a map names; "0" if it names nothing.
    fn used(&self, map: &str, node: Option<&Json>, sql: &str, word: &str) -> ApiResult<String> {
        let name = node.map_or("", |node| text(node, "name"));
        if name.is_empty() {
            return Ok("0".to_owned());
        }
        self.id(sql, name)?.ok_or_else(|| not_found(word, name, map))
    }

    fn image(&self, map: &str, node: Option<&Json>) -> ApiResult<String> {
        let sql = "SELECT imageid AS id FROM images WHERE name = ?";
        self.used(map, node, sql, "image")
    }

    fn map(&self, node: &Json, path: &str) -> ApiResult<Map<String, Json>> {
        let name = text(node, "name");
        let mut out = members(node, path, &[MAP], MAP_PARTS)?;
        let mut put = |name: &str, value: Json| out.insert(name.to_owned(), value);
        put("backgroundid", self.image(name, node.get("background"))?.into());
        let sql = "SELECT iconmapid AS id FROM icon_maps WHERE name = ?";
        put("iconmapid", self.used(name, node.get("iconmap"), sql, "icon map")?.into());
        put("urls", each(node, "urls", "url", path, URL)?);
        put("shapes", each(node, "shapes", "shape", path, SHAPE)?);
        put("lines", each(node, "lines", "line", path, LINE)?);
        let elements = list(node, "selements", "selement", path)?.into_iter();
        let elements = elements.map(|(path, one)| self.element(name, one, &path));
        put("selements", elements.collect::<ApiResult<_>>()?);
        let links = list(node, "links", "link", path)?.into_iter();
        let links = links.map(|(path, one)| self.map_link(name, one, &path));
        put("links", links.collect::<ApiResult<_>>()?);
        Ok(out)
    }

    fn element(&self, map: &str, node: &Json, path: &str) -> ApiResult<Json> {
        let parts = ["elements", "icon_off", "icon_on", "icon_disabled", "icon_maintenance"];
        let lists = [&parts[..], &["urls", "tags"]].concat();
        let fields = [&["elementtype", "evaltype"], ELEMENT];
        let mut out = members(node, path, &fields, &lists)?;
        let kind = MapElementType::from_text(text(node, "elementtype"));
        let kind =
            kind.ok_or_else(|| invalid(&format!("{path}/elementtype"), "unexpected constant"))?;
        let elements = list(node, "elements", "element", path)?.into_iter();
        let shown = elements.map(|(path, one)| self.shown(map, kind, one, &path));
        out.insert("elements".to_owned(), shown.collect::<ApiResult<_>>()?);
        for (name, icon) in ICONS {
            out.insert((*icon).to_owned(), self.image(map, node.get(name))?.into());
        }
        out.insert("urls".to_owned(), each(node, "urls", "url", path, &["name", "url"])?);
        out.insert("tags".to_owned(), each(node, "tags", "tag", path, ELEMENT_TAG)?);
        Ok(Json::Object(out))
    }

    /// What an element shows, with its id instead of its name.
    fn shown(&self, map: &str, kind: MapElementType, node: &Json, path: &str) -> ApiResult<Json> {
        let (member, word, sql) = match kind {
            MapElementType::Host => (
                "host",
                "host",
                formatcp!("SELECT hostid AS id FROM hosts WHERE kind = {KIND_HOST} AND host = ?"),
            ),
            MapElementType::HostGroup => (
                "name",
                "group",
                formatcp!(
                    "SELECT groupid AS id FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND name = ?"
                ),
            ),
            MapElementType::Map => {
                ("name", "map", "SELECT sysmapid AS id FROM maps WHERE name = ?")
            }
            MapElementType::Trigger => return self.trigger(map, node, path),
            MapElementType::Image => return Err(invalid(path, "images show no other object")),
        };
        members(node, path, &[&[member]], &[])?;
        let name = text(node, member);
        let id = self.id(sql, name)?.ok_or_else(|| not_found(word, name, map))?;
        Ok(json!({ kind.key().unwrap_or_default(): id }))
    }

    fn trigger(&self, map: &str, node: &Json, path: &str) -> ApiResult<Json> {
        members(node, path, &[TRIGGER_NAME], &[])?;
        let name = text(node, "description");
        let named = json!({ "name": name, "expression": text(node, "expression"),
                            "recovery_expression": text(node, "recovery_expression") });
        let id = self.find(false, &named)?.ok_or_else(|| not_found("trigger", name, map))?;
        Ok(json!({ "triggerid": id.to_string() }))
    }

    fn map_link(&self, map: &str, node: &Json, path: &str) -> ApiResult<Json> {
        let mut out = members(node, path, &[LINK], &["linktriggers"])?;
        let triggers = list(node, "linktriggers", "linktrigger", path)?.into_iter();
        let triggers = triggers.map(|(path, one)| {
            let mut out = members(one, &path, &[LINK_TRIGGER], &["trigger"])?;
            let path = format!("{path}/trigger");
            let Some(trigger) = one.get("trigger") else {
                return Err(invalid(&path, "the tag is missing"));
            };
            let id = self.trigger(map, trigger, &path)?;
            out.insert("triggerid".to_owned(), id["triggerid"].clone());
            Ok(Json::Object(out))
        });
        out.insert("linktriggers".to_owned(), triggers.collect::<ApiResult<_>>()?);
        Ok(Json::Object(out))
    }
}

fn not_found(word: &str, name: &str, map: &str) -> ApiError {
    ApiError::params(format!("Cannot find {word} \"{name}\" used in map \"{map}\"."))
}

/// Members that are texts; `parts` are lists and objects that the object may have beside them.
fn members(
    node: &Json,
    path: &str,
    texts: &[&[&str]],
    parts: &[&str],
) -> ApiResult<Map<String, Json>> {
    let known: Vec<&str> = texts.iter().flat_map(|names| names.iter().copied()).collect();
    check_members(node, &[], &[&known[..], parts].concat(), path)?;
    let mut out = Map::new();
    for name in known {
        match node.get(name) {
            None => {}
            Some(value @ Json::String(_)) => {
                out.insert(name.to_owned(), value.clone());
            }
            Some(_) => {
                return Err(invalid(&format!("{path}/{name}"), "a character string is expected"));
            }
        }
    }
    Ok(out)
}

/// A list of objects that have nothing but texts.
fn each(node: &Json, name: &str, child: &str, path: &str, texts: &[&str]) -> ApiResult<Json> {
    let rows = list(node, name, child, path)?.into_iter();
    rows.map(|(path, one)| Ok(Json::Object(members(one, &path, &[texts], &[])?))).collect()
}

fn require(node: &Json, names: &[&str], path: &str) -> ApiResult<()> {
    match names.iter().find(|name| text(node, name).is_empty()) {
        Some(name) => Err(invalid(path, &format!("the tag \"{name}\" is missing"))),
        None => Ok(()),
    }
}
