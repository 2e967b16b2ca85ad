//! Value maps of hosts and templates.

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::objects::new_uuid;
use config::table;
use objects::{HostKind, MappingType};

use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field, taken};
use crate::plain::{self, Child, Draft, Key, Plain, Select, Spec, Unique, number, text};
use crate::write::check_uuid;

pub(crate) const METHODS: &[Method] = &[
    Method::user("valuemap.get", plain::get::<ValueMap>),
    Method::admin("valuemap.create", plain::create::<ValueMap>),
    Method::admin("valuemap.update", plain::update::<ValueMap>),
    Method::admin("valuemap.delete", plain::delete::<ValueMap>),
];

const FIELDS: &[Field] = &[
    field("valuemapid", Id, ReadOnly, "Id of the value map."),
    field("hostid", Id, Required, "Host or template that it belongs to."),
    field("name", Name(64), Required, "Name."),
    field("uuid", Text(32), Optional, "Universal id; of templates only."),
    field("mappings", Nested, Required, "`[{type, value, newvalue}]`, the first that fits counts."),
];

pub(crate) static VALUE_MAP: Object = Object {
    name: "valuemap",
    table: "valuemaps",
    key: "valuemapid",
    keys: "valuemapids",
    fields: FIELDS,
    strict: true,
    sort: &["valuemapid", "name"],
};

const MAPPING: &[Field] = &[
    field("type", OneOf(MappingType::NUMBERS), Optional, "0 equal, 1 at least, 2 at most …"),
    field("value", Text(64), Required, "What the value is compared with.")
        .when("type", &[0, 1, 2, 3, 4], "should be empty")
        .tested(|before, value| check_value(mapping_type(before), value)),
    field("newvalue", Name(64), Required, "Text shown instead."),
];

static SPEC: Spec = Spec {
    fixed: &["hostid"],
    of_host: Some("hostid"),
    unique: Some(Unique {
        columns: &["hostid", "name"],
        among: None,
        error: "Value map \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some(Select::RowsOrCount("selectMappings")),
        required: true,
        check: |seen, row, path| {
            let kind = mapping_type(row);
            let value = text(row, "value").unwrap_or_default();
            let number = kind.number();
            let (name, own) = match kind {
                MappingType::Default => ("type", number.to_string()),
                MappingType::Equal => ("value", value.to_owned()),
                _ => ("type, value", format!("{number}, {value}")),
            };
            if !seen.insert(vec![name.to_owned(), own.clone()]) {
                return Err(taken(path, name, own));
            }
            Ok(())
        },
        ..Child::new(
            "mappings",
            &table::VALUEMAP_MAPPINGS,
            "valuemapid",
            Key::Position("sortorder"),
            MAPPING,
        )
    }],
    ..Spec::new(
        &VALUE_MAP,
        &table::VALUEMAPS,
        &[("valuemapids", "t.valuemapid IN ({ids})"), ("hostids", "t.hostid IN ({ids})")],
    )
};

#[derive(Default)]
struct ValueMap;

impl Plain for ValueMap {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if before.is_some() {
            return Ok(());
        }
        let host = draft.value("hostid", None);
        let kinds = edit.query("SELECT kind FROM hosts WHERE hostid = ?", &[host])?;
        let on_template = kinds.first().is_some_and(|row| HostKind::Template.is(row.int("kind")));
        let path = format!("{}/uuid", draft.path);
        let uuid = draft.text("uuid", None);
        if on_template && !draft.gives("uuid") {
            draft.set("uuid", new_uuid()?);
        } else if on_template {
            check_uuid(&uuid, &path)?;
        } else if !uuid.is_empty() {
            return Err(ApiError::at(&path, "value must be empty"));
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("valuemapid")).collect();
        let sql = "SELECT itemid FROM items WHERE valuemapid IN ({ids})";
        let users = query_by_ids(edit, sql, &[], &ids)?;
        let users: Vec<u64> = users.iter().map(|row| row.id("itemid")).collect();
        edit.update_many(&table::ITEMS, &users, &[("valuemapid", Value::Int(0))])?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// The type that the columns of a mapping give; `type` was checked before.
fn mapping_type(columns: &Columns) -> MappingType {
    MappingType::from_number(number(columns, "type")).unwrap_or(MappingType::Equal)
}

fn check_value(kind: MappingType, value: &str) -> Result<(), &'static str> {
    let (fine, error) = match kind {
        MappingType::Equal => return Ok(()),
        MappingType::AtLeast | MappingType::AtMost => {
            let fine = value.parse::<f64>().is_ok_and(f64::is_finite);
            (fine, "a floating point value is expected")
        }
        MappingType::InRange => (is_ranges(value), "invalid range expression"),
        MappingType::Regexp => (!value.is_empty() && is_regex(value), "invalid regular expression"),
        MappingType::Default => (value.is_empty(), "should be empty"),
    };
    if fine { Ok(()) } else { Err(error) }
}

/// `1-5,7,-3--1`: numbers and ranges.
fn is_ranges(text: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    text.split(',').all(|part| {
        let part = part.trim();
        // A minus that follows a digit stands between two numbers; others are signs.
        let digit = |at: usize| part[..at].trim_end().ends_with(|c: char| c.is_ascii_digit());
        let between = part.match_indices('-').map(|(at, _)| at).find(|at| digit(*at));
        match between {
            Some(at) => number(&part[..at]) && number(&part[at + 1..]),
            None => number(part),
        }
    })
}

/// Brackets and escapes that close; the evaluator compiles it when it is used.
fn is_regex(text: &str) -> bool {
    let (mut depth, mut class, mut escaped) = (0_i32, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => class = false,
            _ if class => {}
            '[' => class = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !class && !escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_type() {
        for (kind, value, good) in [
            (MappingType::Equal, "x", true),
            (MappingType::AtLeast, "1.5", true),
            (MappingType::AtLeast, "x", false),
            (MappingType::AtMost, "-1e3", true),
            (MappingType::InRange, "1-5,7", true),
            (MappingType::InRange, "-5--1", true),
            (MappingType::InRange, "x", false),
            (MappingType::InRange, "", false),
            (MappingType::Regexp, "^a(b)$", true),
            (MappingType::Regexp, "x(", false),
            (MappingType::Regexp, "", false),
            (MappingType::Default, "", true),
            (MappingType::Default, "x", false),
        ] {
            assert_eq!(check_value(kind, value).is_ok(), good, "{kind:?} {value}");
        }
    }
}
