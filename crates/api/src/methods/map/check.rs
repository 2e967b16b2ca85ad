//! What a map refers to, and what its fields mean together.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::Row;
use objects::{MapElementType, MapLabelType};

use super::elements::Element;
use super::fields::{LINES, SHAPES};
use super::links::Link;
use super::nesting::Nesting;
use super::rights::{Access, found, readable};
use crate::call::Call;
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::methods::user::is_web_address;
use crate::object::{Columns, missing};
use crate::permission::Need;
use crate::plain::{Draft, number, text};

/// `label_format` of maps whose labels depend on the type of the element.
const BY_TYPE: i64 = 1;

/// Refuses addresses that a browser would run.
pub(super) fn url(row: &Columns, path: &str) -> ApiResult<()> {
    let url = text(row, "url").unwrap_or_default();
    if is_web_address(url) {
        Ok(())
    } else {
        Err(ApiError::at(&format!("{path}/url"), "unacceptable URL"))
    }
}

/// Refuses labels that elements of a type cannot have, and custom ones without a text.
pub(super) fn labels(draft: &Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let map = draft.text("name", before);
    let number = |field: &str| draft.value(field, before).as_int();
    let wrong = |word: &str| {
        Err(ApiError::params(format!("Incorrect {word} label type value for map \"{map}\".")))
    };
    if MapLabelType::Custom.is(number("label_type")) {
        return wrong("icon");
    }
    if number("label_format") != BY_TYPE {
        return Ok(());
    }
    for element in MapElementType::ALL {
        let word = element.label().to_lowercase();
        let kind = number(&format!("label_type_{}", element.member()));
        let (is_address, is_status) =
            (MapLabelType::Address.is(kind), MapLabelType::Status.is(kind));
        match element {
            MapElementType::Host => {}
            MapElementType::Image if is_address || is_status => return wrong(&word),
            _ if is_address => return wrong(&word),
            _ => {}
        }
        let text = draft.text(&format!("label_string_{}", element.member()), before);
        if MapLabelType::Custom.is(kind) && text.is_empty() {
            return Err(ApiError::params(format!(
                "Custom label for map \"{map}\" elements of type \"{word}\" may not be empty."
            )));
        }
    }
    Ok(())
}

/// Refuses images and icon maps that do not exist.
pub(super) fn pictures(
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    elements: &[Element],
) -> ApiResult<()> {
    let id = |columns: &Columns, name: &str| u64::try_from(number(columns, name)).unwrap_or(0);
    let icons = ["iconid_off", "iconid_on", "iconid_disabled", "iconid_maintenance"];
    let used = elements.iter().flat_map(|one| icons.map(|name| id(&one.columns, name)));
    let icons: Vec<u64> = used.filter(|id| *id != 0).collect();
    for (sql, ids) in [
        ("SELECT imageid AS id FROM images WHERE imageid IN ({ids})", icons),
        (
            "SELECT imageid AS id FROM images WHERE imageid IN ({ids})",
            vec![id(&draft.columns, "backgroundid")],
        ),
        (
            "SELECT iconmapid AS id FROM icon_maps WHERE iconmapid IN ({ids})",
            vec![id(&draft.columns, "iconmapid")],
        ),
    ] {
        let wanted: Vec<u64> = ids.into_iter().filter(|id| *id != 0).collect();
        require(edit, sql, &wanted)?;
    }
    Ok(())
}

/// Refuses elements of what does not exist or this user cannot read, and links with triggers that do not
/// exist.
pub(super) fn objects(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    elements: &[(MapElementType, &[u64])],
    links: &[Link],
) -> ApiResult<()> {
    let mut wanted: BTreeMap<MapElementType, BTreeSet<u64>> = BTreeMap::new();
    for (kind, ids) in elements.iter().filter(|(kind, _)| *kind != MapElementType::Image) {
        wanted.entry(*kind).or_default().extend(*ids);
    }
    let triggers: BTreeSet<u64> = links.iter().flat_map(Link::triggers).collect();
    let sql = "SELECT triggerid AS id FROM triggers WHERE triggerid IN ({ids})";
    require(edit, sql, &Vec::from_iter(triggers))?;
    let access = Access::load(call, edit, Need::Read, &wanted)?;
    for (kind, ids) in wanted {
        require(edit, &readable(call, Need::Read, kind), &Vec::from_iter(ids.iter().copied()))?;
        if !ids.into_iter().all(|id| access.allows(kind, id)) {
            return Err(ApiError::no_object());
        }
    }
    Ok(())
}

fn require(edit: &mut Edit<'_>, sql: &str, ids: &[u64]) -> ApiResult<()> {
    let known = found(edit, sql, ids)?;
    if ids.iter().all(|id| known.contains(id)) { Ok(()) } else { Err(ApiError::no_object()) }
}

/// Refuses shapes and lines that reach beyond the map, or that name those of other maps.
pub(super) fn shapes(
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let side = |name: &str| draft.value(name, before).as_int();
    let limits = [
        ("x", side("width")),
        ("width", side("width")),
        ("y", side("height")),
        ("height", side("height")),
    ];
    let sql = "SELECT sysmap_shapeid AS id FROM map_shapes WHERE sysmapid = ?";
    let rows = edit.query(sql, &[draft.id.into()])?;
    let known: BTreeSet<i64> = rows.iter().map(|row| row.int("id")).collect();
    for row in
        [SHAPES, LINES].into_iter().filter_map(|list| draft.children[list].as_ref()).flatten()
    {
        let id = number(row, "sysmap_shapeid");
        if id != 0 && !known.contains(&id) {
            return Err(ApiError::params(NO_OBJECT));
        }
        let given = |name: &str| row.iter().any(|(column, _)| *column == name);
        if id == 0 && !given("type") {
            return Err(missing(&format!("{}/shapes", draft.path), "type"));
        }
        for (name, limit) in limits {
            if number(row, name) > limit {
                let path = format!("{}/shapes/{name}", draft.path);
                return Err(ApiError::at(&path, format_args!("value must be one of 0-{limit}")));
            }
        }
    }
    Ok(())
}

/// Refuses maps that show themselves, also through others.
pub(super) fn circles(edit: &mut Edit<'_>, maps: &[u64]) -> ApiResult<()> {
    match Nesting::load(edit, maps)?.order().circular.is_empty() {
        true => Ok(()),
        false => Err(ApiError::params("Circular reference in maps.")),
    }
}
