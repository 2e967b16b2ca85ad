//! Elements, links and the icon map of maps, as this user may see them.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{Row, query_by_ids};
use objects::MapElementType;
use serde_json::{Map, json};

use super::rights::{Access, kind};
use super::urls;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::found::Found;
use crate::get::Output;
use crate::methods::iconmap::ICON_MAP;
use crate::params;
use crate::permission::Need;
use crate::relate::Relation;

const ELEMENT: &[&str] = &[
    "selementid",
    "sysmapid",
    "elementtype",
    "iconid_off",
    "iconid_on",
    "label",
    "label_location",
    "x",
    "y",
    "iconid_disabled",
    "iconid_maintenance",
    "elementsubtype",
    "areatype",
    "width",
    "height",
    "viewtype",
    "use_iconmap",
    "evaltype",
];

const LINK: &[&str] =
    &["linkid", "sysmapid", "selementid1", "selementid2", "drawtype", "color", "label"];

/// `permission` of what a user does not see, and sees.
const DENIED: i8 = -1;
const READ: i8 = 2;

/// Rows of a table by the value of a column.
fn rows(call: &Call<'_>, sql: &str, ids: &[u64], by: &str) -> ApiResult<BTreeMap<u64, Vec<Row>>> {
    let rows = call.read(|c| Ok(query_by_ids(c, sql, &[], ids)?))?;
    let mut of: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in rows {
        of.entry(row.id(by)).or_default().push(row);
    }
    Ok(of)
}

/// Columns of a row that are wanted.
fn columns(row: &Row, names: &[&str], wanted: &Output) -> Map<String, Json> {
    let names = names.iter().filter(|name| wanted.has(name));
    let value = |name: &&str| Some(((*name).to_owned(), row.get(name)?.to_string().into()));
    names.filter_map(value).collect()
}

/// Columns of rows.
fn list(rows: Option<&Vec<Row>>, names: &[&str]) -> Json {
    let rows = rows.into_iter().flatten();
    rows.map(|row| Json::Object(columns(row, names, &Output::Extend))).collect()
}

/// What elements of maps show, and what of it the user may read.
struct Seen {
    /// Triggers by element, the most severe first.
    triggers: BTreeMap<u64, Vec<Row>>,
    access: Access,
}

impl Seen {
    fn load(call: &Call<'_>, elements: &BTreeMap<u64, Vec<Row>>) -> ApiResult<Self> {
        let all = || elements.values().flatten();
        let ids: Vec<u64> = all().map(|row| row.id("selementid")).collect();
        let sql = "SELECT e.selementid, e.triggerid FROM map_element_triggers e \
                   JOIN triggers t ON t.triggerid = e.triggerid WHERE e.selementid IN ({ids}) \
                   ORDER BY e.selementid, t.priority DESC, e.position";
        let triggers = rows(call, sql, &ids, "selementid")?;
        let mut shown: BTreeMap<MapElementType, BTreeSet<u64>> = BTreeMap::new();
        for row in all().filter(|row| kind(row) != MapElementType::Trigger) {
            shown.entry(kind(row)).or_default().insert(row.id("elementid"));
        }
        let of_triggers = triggers.values().flatten().map(|row| row.id("triggerid"));
        shown.entry(MapElementType::Trigger).or_default().extend(of_triggers);
        let access = call.read(|c| Access::load(call, c, Need::Read, &shown))?;
        Ok(Self { triggers, access })
    }

    /// What the element shows.
    fn shown(&self, element: &Row) -> Vec<u64> {
        match kind(element) {
            MapElementType::Image => Vec::new(),
            MapElementType::Trigger => {
                let rows = self.triggers.get(&element.id("selementid")).into_iter().flatten();
                rows.map(|row| row.id("triggerid")).collect()
            }
            _ => vec![element.id("elementid")],
        }
    }

    /// The user may read any of what it shows.
    fn is_readable(&self, element: &Row) -> bool {
        self.access.opens(Need::Read, kind(element), &self.shown(element))
    }
}

const ELEMENTS_SQL: &str =
    "SELECT * FROM map_elements WHERE sysmapid IN ({ids}) ORDER BY sysmapid, selementid";

/// `selectSelements`
pub(super) fn elements(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_uncounted("selectSelements")? else { return Ok(()) };
    let call = found.call;
    let elements = rows(call, ELEMENTS_SQL, &found.ids(), "sysmapid")?;
    let seen = Seen::load(call, &elements)?;
    let ids: Vec<u64> = elements.values().flatten().map(|row| row.id("selementid")).collect();
    let of_element = |table: &str, key: &str| {
        let sql = format!(
            "SELECT * FROM {table} WHERE selementid IN ({{ids}}) ORDER BY selementid, {key}"
        );
        rows(call, &sql, &ids, "selementid")
    };
    let own_urls = of_element("map_element_urls", "sysmapelementurlid")?;
    let tags = of_element("map_element_tags", "selementtagid")?;
    let of_maps = match params::flag(found.option("expandUrls")) {
        true => urls::of_maps(call, &found.ids())?,
        false => BTreeMap::new(),
    };
    for row in &mut found.rows {
        let own = elements.get(&row.id).into_iter().flatten();
        let shown = own.map(|element| {
            let id = element.id("selementid");
            let is_readable = seen.is_readable(element);
            let mut out = columns(element, ELEMENT, &wanted);
            let mut put = |name: &str, value: Json| {
                if wanted.has(name) {
                    out.insert(name.to_owned(), value);
                }
            };
            let ids = seen.shown(element);
            let member = |id: &u64| Some(json!({ kind(element).key()?: id.to_string() }));
            put("elements", ids.iter().filter_map(member).collect());
            let names = ["sysmapelementurlid", "name", "url", "selementid"];
            let urls = list(own_urls.get(&id), &names);
            put(
                "urls",
                match of_maps.get(&row.id) {
                    Some(of_map) => urls::expanded(urls, of_map, element, &ids),
                    None => urls,
                },
            );
            put("tags", list(tags.get(&id), &["tag", "value", "operator"]));
            put("permission", (if is_readable { READ } else { DENIED }).into());
            Json::Object(out)
        });
        let shown: Vec<Json> = shown.collect();
        row.out.insert("selements", shown.into());
    }
    Ok(())
}

/// `selectLinks`
pub(super) fn links(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_uncounted("selectLinks")? else { return Ok(()) };
    let call = found.call;
    let maps = found.ids();
    let sql = "SELECT * FROM map_links WHERE sysmapid IN ({ids}) ORDER BY sysmapid, linkid";
    let links = rows(call, sql, &maps, "sysmapid")?;
    let ids: Vec<u64> = links.values().flatten().map(|row| row.id("linkid")).collect();
    let sql =
        "SELECT * FROM map_link_triggers WHERE linkid IN ({ids}) ORDER BY linkid, linktriggerid";
    let triggers = rows(call, sql, &ids, "linkid")?;
    let used = triggers.values().flatten().map(|row| row.id("triggerid")).collect();
    let used = BTreeMap::from([(MapElementType::Trigger, used)]);
    let access = call.read(|c| Access::load(call, c, Need::Read, &used))?;
    for row in &mut found.rows {
        let own = links.get(&row.id).into_iter().flatten();
        let shown = own.map(|link| {
            let mut out = columns(link, LINK, &wanted);
            if wanted.has("linktriggers") {
                let names = ["linktriggerid", "linkid", "triggerid", "drawtype", "color"];
                out.insert(
                    "linktriggers".to_owned(),
                    list(triggers.get(&link.id("linkid")), &names),
                );
            }
            if wanted.has("permission") {
                let used = triggers.get(&link.id("linkid")).into_iter().flatten();
                let used: Vec<u64> = used.map(|row| row.id("triggerid")).collect();
                // Links are shown to all who see the map, unless none of their triggers is readable.
                let is_readable =
                    used.is_empty() || access.opens(Need::Read, MapElementType::Trigger, &used);
                let permission = if is_readable { READ } else { DENIED };
                out.insert("permission".to_owned(), permission.into());
            }
            Json::Object(out)
        });
        let shown: Vec<Json> = shown.collect();
        row.out.insert("links", shown.into());
    }
    Ok(())
}

/// `selectIconMap`
pub(super) fn icon_map(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_uncounted("selectIconMap")? else { return Ok(()) };
    let sql = "SELECT sysmapid, iconmapid FROM maps WHERE iconmapid <> 0 AND sysmapid IN ({ids})";
    let pairs = found.call.pairs(sql, &found.ids())?;
    found.relate_one(&Relation::new("iconmap", &ICON_MAP).bare(), &wanted, &pairs)
}
