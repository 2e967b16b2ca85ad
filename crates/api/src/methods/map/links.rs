//! Links between the elements of a map.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::{Row, Value};
use config::table;
use serde_json::Map;

use super::elements::{Element, References};
use super::fields::{LINK, LINK_TRIGGER};
use super::parts::replace;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, columns_of, taken};
use crate::params;
use crate::plain::number;
use crate::write::nested;

/// The members with the ends of a link.
const ENDS: [&str; 2] = ["selementid1", "selementid2"];

/// A link as a call gives it.
pub(super) struct Link {
    /// 0 = not given.
    id: u64,
    /// References to elements; `None` = not given.
    ends: [Option<String>; 2],
    columns: Columns,
    triggers: Option<Vec<Columns>>,
}

impl Link {
    fn parse(members: &Map<String, Json>, path: &str) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let id = members.get("linkid").map(|id| params::id(id, &at("linkid"))).transpose()?;
        let end =
            |name: &str| members.get(name).map(|end| params::text(end, &at(name))).transpose();
        let ends = [end(ENDS[0])?, end(ENDS[1])?];
        let columns = columns_of(LINK, "", &members.clone().into(), path, Mode::Update)?;
        let triggers = members.get("linktriggers");
        let triggers = triggers.map(|list| triggers_of(list, &at("linktriggers"))).transpose()?;
        Ok(Self { id: id.unwrap_or(0), ends, columns, triggers })
    }

    /// Ids of its triggers.
    pub(super) fn triggers(&self) -> impl Iterator<Item = u64> {
        let rows = self.triggers.iter().flatten();
        rows.filter_map(|row| u64::try_from(number(row, "triggerid")).ok())
    }

    fn write(
        &self,
        edit: &mut Edit<'_>,
        map: u64,
        before: Option<&Row>,
        elements: &References,
    ) -> ApiResult<()> {
        let mut columns = self.columns.clone();
        for (name, end) in ENDS.iter().zip(&self.ends) {
            match end.as_ref().and_then(|end| elements.get(end)) {
                Some(id) => columns.push((name, (*id).into())),
                None => return Err(lost(edit, map, name, end.as_deref().unwrap_or_default())?),
            }
        }
        let id = match before {
            Some(row) => {
                let changes = |(name, value): &&(&str, Value)| {
                    row.get(name).is_none_or(|old| old.to_string() != value.to_string())
                };
                let columns: Columns = columns.iter().filter(changes).cloned().collect();
                edit.update(&table::MAP_LINKS, self.id, &columns)?;
                self.id
            }
            None => {
                columns.push(("sysmapid", map.into()));
                edit.insert_new(&table::MAP_LINKS, &columns)?
            }
        };
        if let Some(triggers) = &self.triggers {
            replace(edit, &table::MAP_LINK_TRIGGERS, "linkid", id, triggers)?;
        }
        Ok(())
    }
}

/// A link names an element that is not on the map, or none.
fn lost(edit: &mut Edit<'_>, map: u64, name: &str, id: &str) -> ApiResult<ApiError> {
    let rows = edit.query("SELECT name FROM maps WHERE sysmapid = ?", &[map.into()])?;
    let map = rows.first().map_or("", |row| row.text("name"));
    Ok(ApiError::params(format!(
        "Link \"{name}\" field is pointing to a nonexistent map selement ID \"{id}\" for map \"{map}\"."
    )))
}

/// Refuses elements that leave out one of a link that stays.
pub(super) fn check_kept(edit: &mut Edit<'_>, map: u64, elements: &[Element]) -> ApiResult<()> {
    let kept: BTreeSet<&str> = elements.iter().filter_map(|one| one.reference.as_deref()).collect();
    let rows = edit.query("SELECT * FROM map_links WHERE sysmapid = ?", &[map.into()])?;
    for row in &rows {
        for name in ENDS {
            let id = row.id(name).to_string();
            if !kept.contains(id.as_str()) {
                return Err(lost(edit, map, name, &id)?);
            }
        }
    }
    Ok(())
}

fn triggers_of(list: &Json, path: &str) -> ApiResult<Vec<Columns>> {
    let (mut rows, mut seen) = (Vec::new(), BTreeSet::new());
    for (path, members) in nested(list, path)? {
        let row = columns_of(LINK_TRIGGER, "", &members.clone().into(), &path, Mode::Create)?;
        let id = number(&row, "triggerid");
        if !seen.insert(id) {
            return Err(taken(&path, "triggerid", id));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The links of a map as given; `None` = not given.
pub(super) fn parse(map: &Json, path: &str) -> ApiResult<Option<Vec<Link>>> {
    let Some(list) = map.get("links") else { return Ok(None) };
    let list = nested(list, &format!("{path}/links"))?.into_iter();
    list.map(|(path, members)| Link::parse(members, &path)).collect::<ApiResult<_>>().map(Some)
}

/// Makes these the links of a map; `elements` are the elements that they name, with their ids.
pub(super) fn write(
    edit: &mut Edit<'_>,
    map: u64,
    links: &[Link],
    elements: &References,
) -> ApiResult<()> {
    let rows = edit.query("SELECT * FROM map_links WHERE sysmapid = ?", &[map.into()])?;
    let rows: BTreeMap<u64, Row> = rows.into_iter().map(|row| (row.id("linkid"), row)).collect();
    let kept: BTreeSet<u64> = links.iter().map(|link| link.id).collect();
    let gone: Vec<u64> = rows.keys().copied().filter(|id| !kept.contains(id)).collect();
    edit.delete(&table::MAP_LINKS, "linkid", &gone)?;
    links.iter().try_for_each(|link| link.write(edit, map, rows.get(&link.id), elements))
}
