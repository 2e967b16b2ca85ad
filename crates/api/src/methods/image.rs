//! Images: icons and backgrounds of maps.

use std::collections::{BTreeSet, HashMap};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;
use imagesize::ImageType;
use objects::UserType;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::object::Access::{ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Id, Name, OneOf, Text};
use crate::object::{Field, Object, field, missing};
use crate::params;
use crate::plain::{self, Draft, Plain, Spec, Unique, delete_rows};

pub(crate) const METHODS: &[Method] = &[
    Method::user("image.get", plain::get::<Image>),
    Method::super_admin("image.create", plain::create::<Image>),
    Method::super_admin("image.update", plain::update::<Image>),
    Method::super_admin("image.delete", plain::delete::<Image>),
];

/// Longest image in bytes.
const BYTES_MAX: usize = 1 << 20;

const FIELDS: &[Field] = &[
    field("imageid", Id, ReadOnly, "Id of the image."),
    field("imagetype", OneOf(&[1, 2]), Required, "1 = icon, 2 = background; never changes."),
    field("name", Name(64), Required, "Name."),
    field(
        "image",
        Text(0),
        WriteOnly,
        "PNG, JPEG or GIF in base64, up to 1 MB; see `select_image`.",
    ),
];

pub(crate) static IMAGE: Object = Object {
    name: "image",
    table: "images",
    key: "imageid",
    keys: "imageids",
    fields: FIELDS,
    strict: false,
    sort: &["imageid", "name"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Image \"{name}\" already exists.",
    }),
    options: &["select_image", "sysmapids"],
    fixed: &["imagetype"],
    ..Spec::new(&IMAGE, &table::IMAGES, &[("imageids", "t.imageid IN ({ids})")])
};

#[derive(Default)]
struct Image;

impl Plain for Image {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        if let Some(maps) = params::ids(input, "sysmapids")? {
            get.in_ids("t.imageid IN ({ids})", &used_by(call, &maps)?);
        }
        if get.flag("editable") && call.user().kind < UserType::Admin {
            get.and("1 = 0", []);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if found.total.is_some() || !params::flag(found.option("select_image")) {
            return Ok(());
        }
        let ids = found.ids();
        let sql = "SELECT imageid, image FROM images WHERE imageid IN ({ids})";
        let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
        let mut images: HashMap<u64, String> =
            rows.iter().map(|row| (row.id("imageid"), row.text("image").to_owned())).collect();
        for row in &mut found.rows {
            let image = images.remove(&row.id).unwrap_or_default();
            row.out.insert("image", image.into());
        }
        Ok(())
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        if draft.id == 0 && !draft.gives("image") {
            return Err(missing(&draft.path, "image"));
        }
        if draft.gives("image") {
            let bytes = check(&draft.text("image", None), &format!("{}/image", draft.path))?;
            draft.set("image", base64::engine::general_purpose::STANDARD.encode(bytes));
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        refuse_used(edit, rows)?;
        delete_rows(&SPEC, edit, rows)
    }
}

/// Images that maps use.
fn used_by(call: &Call<'_>, maps: &[u64]) -> ApiResult<Vec<u64>> {
    let mut used = BTreeSet::new();
    for (table, columns) in [
        ("maps", &["backgroundid"][..]),
        ("map_elements", &["iconid_off", "iconid_on", "iconid_disabled", "iconid_maintenance"]),
    ] {
        let names = columns.join(", ");
        let sql = format!("SELECT {names} FROM {table} WHERE sysmapid IN ({{ids}})");
        let rows = call.read(|c| Ok(query_by_ids(c, &sql, &[], maps)?))?;
        used.extend(rows.iter().flat_map(|row| columns.iter().map(|column| row.id(column))));
    }
    Ok(Vec::from_iter(used))
}

/// The bytes of an image, which must be of a known format.
fn check(image: &str, path: &str) -> ApiResult<Vec<u8>> {
    // Clients leave out padding, and break lines.
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let text: String = image.split_whitespace().collect();
    let too_large = || ApiError::at(path, "image size must be less than 1 MB");
    if text.len() / 4 * 3 > BYTES_MAX + 2 {
        return Err(too_large());
    }
    let unsupported = || ApiError::at(path, "file format is unsupported");
    let bytes = GeneralPurpose::new(&STANDARD, lenient).decode(text).map_err(|_| unsupported())?;
    if bytes.len() > BYTES_MAX {
        return Err(too_large());
    }
    let has_size = imagesize::blob_size(&bytes).is_ok_and(|size| size.width > 0 && size.height > 0);
    if has_size && is_whole(&bytes) { Ok(bytes) } else { Err(unsupported()) }
}

/// Whether it is an image of a known format that is not cut off.
fn is_whole(image: &[u8]) -> bool {
    let end: &[u8] = match imagesize::image_type(image) {
        Ok(ImageType::Png) => b"IEND",
        Ok(ImageType::Jpeg) => b"\xff\xd9",
        Ok(ImageType::Gif) => b";",
        _ => return false,
    };
    image.windows(end.len()).any(|part| part == end)
}

/// Icon maps and maps that use an image, by its ids.
const USES: &[(&str, &[&str])] = &[
    (
        "icon map",
        &[
            "SELECT m.name FROM icon_maps m WHERE m.default_iconid IN ({ids})",
            "SELECT m.name FROM icon_maps m JOIN icon_mappings g ON g.iconmapid = m.iconmapid \
             WHERE g.iconid IN ({ids})",
        ],
    ),
    (
        "map",
        &[
            "SELECT m.name FROM maps m WHERE m.backgroundid IN ({ids})",
            "SELECT m.name FROM maps m JOIN map_elements e ON e.sysmapid = m.sysmapid \
             WHERE e.iconid_off IN ({ids})",
            "SELECT m.name FROM maps m JOIN map_elements e ON e.sysmapid = m.sysmapid \
             WHERE e.iconid_on IN ({ids})",
            "SELECT m.name FROM maps m JOIN map_elements e ON e.sysmapid = m.sysmapid \
             WHERE e.iconid_disabled IN ({ids})",
            "SELECT m.name FROM maps m JOIN map_elements e ON e.sysmapid = m.sysmapid \
             WHERE e.iconid_maintenance IN ({ids})",
        ],
    ),
];

fn refuse_used(edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("imageid")).collect();
    for (what, statements) in USES {
        let mut names = BTreeSet::new();
        for sql in *statements {
            let found = query_by_ids(edit, sql, &[], &ids)?;
            names.extend(found.iter().map(|row| row.text("name").to_owned()));
        }
        if !names.is_empty() {
            let many = if names.len() > 1 { "s" } else { "" };
            let names = Vec::from_iter(names).join("\", \"");
            let text = format!("The image is used in {what}{many} \"{names}\".");
            return Err(ApiError::params(text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
