//! Elements of maps as a call gives them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::Edit;
use config::db::{Row, Value};
use config::objects::delete_elements;
use config::table;
use objects::MapElementType;
use serde_json::Map;

use super::check;
use super::fields::{ELEMENT, ELEMENT_TAG, ELEMENT_URL};
use super::parts::replace;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, columns_of, missing, taken};
use crate::params;
use crate::plain::{number, text};
use crate::write::nested;

/// An element of a list.
pub(super) struct Element {
    /// Its place in the parameters.
    pub(super) path: String,
    /// The id as given: of a stored element, or of the call's own, for its links.
    pub(super) reference: Option<String>,
    pub(super) columns: Columns,
    /// Ids of what it shows, with the member that names them.
    pub(super) shown: Option<Shown>,
    urls: Option<Vec<Columns>>,
    tags: Vec<Columns>,
}

/// What an element shows.
pub(super) struct Shown {
    /// Member of the ids; empty if there are none.
    key: String,
    pub(super) ids: Vec<u64>,
}

impl Element {
    fn parse(members: &Map<String, Json>, path: String) -> ApiResult<Self> {
        let reference = members.get("selementid");
        let reference =
            reference.map(|id| params::text(id, &format!("{path}/selementid"))).transpose()?;
        let columns = columns_of(ELEMENT, "", &Json::Object(members.clone()), &path, Mode::Update)?;
        let rows = |name: &str| members.get(name).map(|list| (list, format!("{path}/{name}")));
        let shown = rows("elements").map(|(list, path)| Shown::parse(list, &path)).transpose()?;
        let urls = rows("urls").map(|(list, path)| urls(list, &path)).transpose()?;
        // What an element leaves out stays, but for its tags.
        let tags = rows("tags").map(|(list, path)| tags(list, &path)).transpose()?;
        let tags = tags.unwrap_or_default();
        Ok(Self { path, reference, columns, shown, urls, tags })
    }

    /// The type that it has, or gets.
    pub(super) fn kind(&self, before: Option<&Row>) -> MapElementType {
        let given = self.columns.iter().any(|(name, _)| *name == "elementtype");
        let kind = match before {
            Some(row) if !given => row.int("elementtype"),
            _ => number(&self.columns, "elementtype"),
        };
        MapElementType::from_number(kind).unwrap_or(MapElementType::Host)
    }

    /// Refuses elements that lack something.
    fn check(&self, before: Option<&Row>) -> ApiResult<()> {
        let kind = self.kind(before);
        let at = format!("{}/elements", self.path);
        match (&self.shown, kind.key()) {
            (None, Some(_)) if before.is_none_or(|row| !kind.is(row.int("elementtype"))) => {
                Err(ApiError::no_object())
            }
            (Some(shown), Some(key)) if shown.ids.is_empty() || shown.key != key => {
                Err(ApiError::no_object())
            }
            (Some(shown), Some(_)) if shown.ids.len() > 1 && kind != MapElementType::Trigger => {
                Err(ApiError::at(&at, "an element shows one object"))
            }
            _ => self.check_icon(before),
        }
    }

    fn check_icon(&self, before: Option<&Row>) -> ApiResult<()> {
        if before.is_none() && number(&self.columns, "iconid_off") == 0 {
            return Err(match self.columns.iter().any(|(name, _)| *name == "iconid_off") {
                true => ApiError::at(&format!("{}/iconid_off", self.path), "cannot be empty"),
                false => missing(&self.path, "iconid_off"),
            });
        }
        Ok(())
    }

    /// The id of a stored element among `rows` that it changes.
    pub(super) fn of<'r>(&self, rows: &'r BTreeMap<u64, Row>) -> Option<&'r Row> {
        rows.get(&self.reference.as_ref()?.parse().ok()?)
    }

    fn write(&self, edit: &mut Edit<'_>, map: u64, before: Option<&Row>) -> ApiResult<u64> {
        let kind = self.kind(before);
        let mut columns = self.columns.clone();
        let one = self.shown.as_ref().filter(|_| kind != MapElementType::Trigger);
        if let Some(shown) = one {
            let id = shown.ids.first().copied().filter(|_| kind.key().is_some());
            columns.push(("elementid", id.unwrap_or(0).into()));
        }
        let id = match before {
            Some(row) => {
                let changes = |(name, value): &&(&str, Value)| {
                    row.get(name).is_none_or(|old| old.to_string() != value.to_string())
                };
                let columns: Columns = columns.iter().filter(changes).cloned().collect();
                edit.update(&table::MAP_ELEMENTS, row.id("selementid"), &columns)?;
                row.id("selementid")
            }
            None => {
                columns.push(("sysmapid", map.into()));
                edit.insert_new(&table::MAP_ELEMENTS, &columns)?
            }
        };
        if self.shown.is_some() || before.is_some_and(|row| !kind.is(row.int("elementtype"))) {
            let triggers = self.shown.iter().filter(|_| kind == MapElementType::Trigger);
            let triggers = (0_u64..).zip(triggers.flat_map(|shown| &shown.ids));
            let row = |(position, trigger): (u64, &u64)| {
                vec![("triggerid", (*trigger).into()), ("position", position.into())]
            };
            let rows: Vec<Columns> = triggers.map(row).collect();
            replace(edit, &table::MAP_ELEMENT_TRIGGERS, "selementid", id, &rows)?;
        }
        for (table, rows) in [
            (&table::MAP_ELEMENT_URLS, self.urls.as_ref()),
            (&table::MAP_ELEMENT_TAGS, Some(&self.tags)),
        ] {
            if let Some(rows) = rows {
                replace(edit, table, "selementid", id, rows)?;
            }
        }
        Ok(id)
    }
}

impl Shown {
    fn parse(list: &Json, path: &str) -> ApiResult<Self> {
        let mut shown = Self { key: String::new(), ids: Vec::new() };
        for (path, members) in nested(list, path)? {
            let Some((key, id)) = members.iter().find(|(name, _)| is_key(name)) else {
                return Err(ApiError::at(&path, "an id is expected"));
            };
            let id = params::id(id, &format!("{path}/{key}"))?;
            if shown.ids.contains(&id) {
                return Err(taken(&path, key, id));
            }
            shown.ids.push(id);
            shown.key.clone_from(key);
        }
        Ok(shown)
    }
}

fn is_key(name: &str) -> bool {
    MapElementType::ALL.iter().any(|kind| kind.key() == Some(name))
}

fn urls(list: &Json, path: &str) -> ApiResult<Vec<Columns>> {
    let mut names = BTreeSet::new();
    let read = |(path, members): (String, &Map<String, Json>)| {
        let row = columns_of(ELEMENT_URL, "", &members.clone().into(), &path, Mode::Create)?;
        check::url(&row, &path)?;
        let name = row.iter().find(|(name, _)| *name == "name").map(|(_, value)| value.to_string());
        match names.insert(name.clone()) {
            true => Ok(row),
            false => Err(taken(&path, "name", name.unwrap_or_default())),
        }
    };
    nested(list, path)?.into_iter().map(read).collect()
}

fn tags(list: &Json, path: &str) -> ApiResult<Vec<Columns>> {
    let mut seen = BTreeSet::new();
    let rows = nested(list, path)?.into_iter();
    rows.map(|(path, members)| {
        let row = columns_of(ELEMENT_TAG, "", &members.clone().into(), &path, Mode::Create)?;
        let [tag, value] = ["tag", "value"].map(|name| text(&row, name).unwrap_or("").to_owned());
        match seen.insert((tag.clone(), value.clone())) {
            true => Ok(row),
            false => Err(taken(&path, "tag, value", format_args!("{tag}, {value}"))),
        }
    })
    .collect()
}

/// The elements of a map as given; `None` = not given.
pub(super) fn parse(map: &Json, path: &str) -> ApiResult<Option<Vec<Element>>> {
    let Some(list) = map.get("selements") else { return Ok(None) };
    let list = nested(list, &format!("{path}/selements"))?.into_iter();
    list.map(|(path, members)| Element::parse(members, path)).collect::<ApiResult<_>>().map(Some)
}

/// The elements of a map.
pub(super) fn stored(edit: &mut Edit<'_>, map: u64) -> ApiResult<BTreeMap<u64, Row>> {
    let rows = edit.query("SELECT * FROM map_elements WHERE sysmapid = ?", &[map.into()])?;
    Ok(rows.into_iter().map(|row| (row.id("selementid"), row)).collect())
}

/// Ids of elements by the texts with which links refer to them. Of elements with the same text it is the last.
pub(super) type References = HashMap<String, u64>;

/// The elements that a map has, by their own ids.
pub(super) fn references(edit: &mut Edit<'_>, map: u64) -> ApiResult<References> {
    Ok(stored(edit, map)?.into_keys().map(|id| (id.to_string(), id)).collect())
}

/// Makes these the elements of a map; returns their ids by reference.
pub(super) fn write(edit: &mut Edit<'_>, map: u64, elements: &[Element]) -> ApiResult<References> {
    let rows = stored(edit, map)?;
    let kept: BTreeSet<u64> =
        elements.iter().filter_map(|one| Some(one.of(&rows)?.id("selementid"))).collect();
    let gone: Vec<u64> = rows.keys().copied().filter(|id| !kept.contains(id)).collect();
    delete_elements(edit, &gone)?;
    let mut ids = References::new();
    for element in elements {
        let before = element.of(&rows);
        element.check(before)?;
        let id = element.write(edit, map, before)?;
        ids.extend(element.reference.clone().map(|reference| (reference, id)));
    }
    Ok(ids)
}
