//! Icon maps: which icon a host has on maps, by its inventory.

use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;
use objects::UserType;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::{ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested};
use crate::object::{Columns, Field, Object, field};
use crate::plain::{self, Child, Draft, Key, Plain, Seen, Select, Spec, Unique, number, text};

pub(crate) const METHODS: &[Method] = &[
    Method::user("iconmap.get", plain::get::<IconMap>),
    Method::super_admin("iconmap.create", plain::create::<IconMap>),
    Method::super_admin("iconmap.update", plain::update::<IconMap>),
    Method::super_admin("iconmap.delete", plain::delete::<IconMap>),
];

/// Number of the last field of the inventory.
const INVENTORY_FIELDS: i64 = 70;

const FIELDS: &[Field] = &[
    field("iconmapid", Id, ReadOnly, "Id of the icon map."),
    field("name", Name(64), Required, "Name."),
    field("default_iconid", Id, Required, "Icon of hosts that no mapping fits."),
    field(
        "mappings",
        Nested,
        Required,
        "`[{iconid, inventory_link, expression}]`; the first that fits decides.",
    ),
];

pub(crate) static ICON_MAP: Object = Object {
    name: "iconmap",
    table: "icon_maps",
    key: "iconmapid",
    keys: "iconmapids",
    fields: FIELDS,
    strict: false,
    sort: &["iconmapid", "name"],
};

const MAPPING: &[Field] = &[
    field("iconmappingid", Id, ReadOnly, "Id of the mapping."),
    field("iconmapid", Id, ReadOnly, "Its icon map."),
    field("iconid", Id, Required, "Icon."),
    field("inventory_link", Int(1, INVENTORY_FIELDS), Required, "Number of the inventory field."),
    field("expression", Name(64), Required, "Regular expression for its value."),
    field("sortorder", Int(0, i32::MAX as i64), ReadOnly, "Position in the order of the mappings."),
];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Icon map \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some(Select::Rows("selectMappings")),
        required: true,
        unique: &["inventory_link", "expression"],
        check: check_mapping,
        refer: |_, edit, rows, _| refer(edit, rows),
        ..Child::new(
            "mappings",
            &table::ICON_MAPPINGS,
            "iconmapid",
            Key::Id("iconmappingid"),
            MAPPING,
        )
    }],
    ..Spec::new(
        &ICON_MAP,
        &table::ICON_MAPS,
        &[
            ("iconmapids", "t.iconmapid IN ({ids})"),
            ("sysmapids", "t.iconmapid IN (SELECT iconmapid FROM maps WHERE sysmapid IN ({ids}))"),
        ],
    )
};

fn check_mapping(_: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()> {
    let pattern = text(row, "expression").unwrap_or_default();
    if !pattern.starts_with('@') && eval::regex::check(pattern).is_err() {
        return Err(ApiError::at(&format!("{path}/expression"), "invalid regular expression"));
    }
    Ok(())
}

/// Refuses icons and global regular expressions that do not exist.
fn refer(edit: &mut Edit<'_>, rows: &[Columns]) -> ApiResult<()> {
    for row in rows {
        require_icon(edit, u64::try_from(number(row, "iconid")).unwrap_or(0))?;
        let Some(name) = text(row, "expression").and_then(|text| text.strip_prefix('@')) else {
            continue;
        };
        let sql = "SELECT regexpid FROM regexps WHERE name = ?";
        if edit.query(sql, &[name.into()])?.is_empty() {
            let text = format!("Global regular expression \"{name}\" does not exist.");
            return Err(ApiError::params(text));
        }
    }
    Ok(())
}

/// Refuses ids of images that do not exist, and of backgrounds.
fn require_icon(edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
    let sql = "SELECT imageid FROM images WHERE imageid = ? AND imagetype = 1";
    if edit.query(sql, &[id.into()])?.is_empty() {
        return Err(ApiError::params(format!("Icon with ID \"{id}\" is not available.")));
    }
    Ok(())
}

#[derive(Default)]
struct IconMap;

impl Plain for IconMap {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        if get.flag("editable") && call.user().kind < UserType::SuperAdmin {
            get.and("1 = 0", []);
        }
        Ok(())
    }

    /// Mappings keep the order of the list.
    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        for rows in draft.children.iter_mut().flatten() {
            for (n, row) in (0_u64..).zip(rows) {
                row.push(("sortorder", n.into()));
            }
        }
        Ok(())
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        if draft.gives("default_iconid") {
            let id = u64::try_from(draft.value("default_iconid", None).as_int()).unwrap_or(0);
            require_icon(edit, id)?;
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("iconmapid")).collect();
        let sql = "SELECT m.name AS map, i.name FROM maps m JOIN icon_maps i \
                   ON i.iconmapid = m.iconmapid WHERE m.iconmapid IN ({ids})";
        if let Some(used) = query_by_ids(edit, sql, &[], &ids)?.first() {
            let (name, map) = (used.text("name"), used.text("map"));
            let text = format!("Icon map \"{name}\" cannot be deleted. Used in map \"{map}\".");
            return Err(ApiError::params(text));
        }
        plain::delete_rows(&SPEC, edit, rows)
    }
}

#[cfg(test)]
mod tests;
