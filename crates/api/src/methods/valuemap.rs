//! Value maps of hosts and templates.

use config::Edit;
use config::db::{Value, query_by_ids};
use config::objects::new_uuid;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, Text};
use crate::object::{Field, Mode, Object, field, missing, taken};
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::write::{Target, check_uuid, names, nested, only};

pub(crate) const METHODS: &[Method] = &[
    Method::user("valuemap.get", get),
    Method::admin("valuemap.create", create),
    Method::admin("valuemap.update", update),
    Method::admin("valuemap.delete", delete),
];

const FIELDS: &[Field] = &[
    field("valuemapid", Id, ReadOnly, "Id of the value map."),
    field("hostid", Id, Required, "Host or template that it belongs to."),
    field("name", Name(64), Required, "Name."),
    field("uuid", Text(32), Optional, "Universal id; of templates only."),
    field("mappings", Nested, Required, "`[{type, value, newvalue}]`, the first that fits counts."),
];

/// What an update may change.
const CHANGES: &[&str] = &["valuemapid", "name", "uuid", "mappings"];

pub(crate) static VALUE_MAP: Object = Object {
    name: "valuemap",
    table: "valuemaps",
    key: "valuemapid",
    keys: "valuemapids",
    fields: FIELDS,
    strict: true,
    sort: &["valuemapid", "name"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &VALUE_MAP, &["valuemapids", "hostids", "selectMappings"])?;
    get.by_ids("valuemapids", "t.valuemapid IN ({ids})")?;
    get.by_ids("hostids", "t.hostid IN ({ids})")?;
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.hostid") {
        get.and(condition, []);
    }
    let mut found = get.run()?;
    if let Some(wanted) = found.wants("selectMappings")? {
        found.attach(
            "mappings",
            &wanted,
            "SELECT valuemapid AS owner, type, value, newvalue FROM valuemap_mappings \
             WHERE valuemapid IN ({ids}) ORDER BY valuemapid, sortorder",
            &["type", "value", "newvalue"],
        )?;
    }
    Ok(found.finish())
}

/// Type (0 equal, 1 at least, 2 at most, 3 in range, 4 regular expression, 5 default), value, text.
type Mapping = (i64, String, String);

fn parse_mappings(value: &Json, path: &str) -> ApiResult<Vec<Mapping>> {
    let mut mappings: Vec<Mapping> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["type", "value", "newvalue"])?;
        let at = |name: &str| format!("{path}/{name}");
        let kind = members.get("type").map_or(Ok(0), |v| params::int(v, &at("type")))?;
        if !(0..=5).contains(&kind) {
            return Err(ApiError::at(&at("type"), "value must be one of 0, 1, 2, 3, 4, 5"));
        }
        let text = |name: &str| members.get(name).map(|v| params::text(v, &at(name))).transpose();
        let value = match (text("value")?, kind) {
            (Some(value), _) => value,
            (None, 5) => String::new(),
            (None, _) => return Err(missing(&path, "value")),
        };
        check_value(kind, &value, &at("value"))?;
        let newvalue = text("newvalue")?.ok_or_else(|| missing(&path, "newvalue"))?;
        if newvalue.is_empty() {
            return Err(ApiError::at(&at("newvalue"), "cannot be empty"));
        }
        for (name, text) in [("value", &value), ("newvalue", &newvalue)] {
            if text.chars().count() > 64 {
                return Err(ApiError::at(&at(name), "value is too long"));
            }
        }
        if mappings.iter().any(|other| other.0 == kind && kind == 5) {
            return Err(taken(&path, "type", kind));
        }
        if mappings.iter().any(|other| other.0 == kind && other.1 == value) {
            let names = if kind == 0 { "value" } else { "type, value" };
            let shown = if kind == 0 { value } else { format!("{kind}, {value}") };
            return Err(taken(&path, names, shown));
        }
        mappings.push((kind, value, newvalue));
    }
    if mappings.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    Ok(mappings)
}

fn check_value(kind: i64, value: &str, path: &str) -> ApiResult<()> {
    let fine = match kind {
        0 => return Ok(()),
        1 | 2 => value.parse::<f64>().is_ok_and(f64::is_finite),
        3 => is_ranges(value),
        4 => !value.is_empty() && is_regex(value),
        _ => value.is_empty(),
    };
    if fine {
        return Ok(());
    }
    Err(ApiError::at(
        path,
        match kind {
            1 | 2 => "a floating point value is expected",
            3 => "invalid range expression",
            4 => "invalid regular expression",
            _ => "should be empty",
        },
    ))
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

fn write_mappings(edit: &mut Edit<'_>, id: u64, mappings: &[Mapping]) -> ApiResult<()> {
    edit.delete("valuemap_mappings", "valuemapid", &[id])?;
    for (n, (kind, value, newvalue)) in mappings.iter().enumerate() {
        let row = [
            ("valuemapid", id.into()),
            ("sortorder", Value::from(n as u64)),
            ("type", (*kind).into()),
            ("value", value.as_str().into()),
            ("newvalue", newvalue.as_str().into()),
        ];
        edit.insert("valuemap_mappings", &row)?;
    }
    Ok(())
}

fn check_free(edit: &mut Edit<'_>, host: u64, name: &str, own: u64) -> ApiResult<()> {
    let same = edit.query(
        "SELECT valuemapid FROM valuemaps WHERE hostid = ? AND name = ? AND valuemapid <> ?",
        &[host.into(), name.into(), own.into()],
    )?;
    if same.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(format!("Value map \"{name}\" already exists.")))
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut maps = Vec::new();
    for (path, object) in params::objects(input)? {
        let columns = VALUE_MAP.validate(object, &path, Mode::Create)?;
        let mappings = parse_mappings(&object["mappings"], &format!("{path}/mappings"))?;
        let host = params::id(&object["hostid"], &path)?;
        let name = params::text(&object["name"], &path)?;
        let uuid = object.get("uuid").map(|v| params::text(v, &path)).transpose()?;
        maps.push((path, host, name, uuid, columns, mappings));
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for (path, host, name, uuid, columns, mappings) in &maps {
            call.require(edit, Target::HostOrTemplate, Need::Write, &[*host])?;
            check_free(edit, *host, name, 0)?;
            let kinds = edit.query("SELECT kind FROM hosts WHERE hostid = ?", &[(*host).into()])?;
            let on_template = kinds.first().is_some_and(|row| row.int("kind") == 1);
            let mut columns = columns.clone();
            match uuid {
                Some(uuid) if on_template => check_uuid(uuid, &format!("{path}/uuid"))?,
                Some(uuid) if !uuid.is_empty() => {
                    return Err(ApiError::at(&format!("{path}/uuid"), "value must be empty"));
                }
                None if on_template => columns.push(("uuid", new_uuid()?.into())),
                _ => {}
            }
            let id = edit.insert_new("valuemaps", &columns)?;
            write_mappings(edit, id, mappings)?;
            ids.push(id);
        }
        Ok(VALUE_MAP.result(&ids))
    })
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut changes = Vec::new();
    for (path, id, object) in VALUE_MAP.updates(input)? {
        if let Some(members) = object.as_object() {
            only(members, &path, CHANGES)?;
        }
        let columns = VALUE_MAP.validate(object, &path, Mode::Update)?;
        let mappings = object
            .get("mappings")
            .map(|v| parse_mappings(v, &format!("{path}/mappings")))
            .transpose()?;
        let name = object.get("name").map(|v| params::text(v, &path)).transpose()?;
        changes.push((id, name, columns, mappings));
    }
    let ids: Vec<u64> = changes.iter().map(|(id, ..)| *id).collect();
    call.write(|edit| {
        let hosts = owners(call, edit, &ids)?;
        for ((id, name, columns, mappings), host) in changes.iter().zip(&hosts) {
            if let Some(name) = name {
                check_free(edit, *host, name, *id)?;
            }
            edit.update("valuemaps", *id, columns)?;
            if let Some(mappings) = mappings {
                write_mappings(edit, *id, mappings)?;
            }
        }
        Ok(VALUE_MAP.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        owners(call, edit, &ids)?;
        let users = query_by_ids(
            edit.connection(),
            "SELECT itemid FROM items WHERE valuemapid IN ({ids})",
            &[],
            &ids,
        )?;
        for row in users {
            edit.update("items", row.id("itemid"), &[("valuemapid", Value::Int(0))])?;
        }
        edit.delete("valuemaps", "valuemapid", &ids)?;
        Ok(VALUE_MAP.result(&ids))
    })
}

/// Hosts of value maps, in order, after checking the right to change them.
fn owners(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Vec<u64>> {
    let owners = names(edit, "valuemaps", "valuemapid", "name", ids)?;
    let mut hosts = Vec::new();
    for id in ids {
        if !owners.contains_key(id) {
            return Err(ApiError::no_object());
        }
        let rows =
            edit.query("SELECT hostid FROM valuemaps WHERE valuemapid = ?", &[(*id).into()])?;
        hosts.extend(rows.first().map(|row| row.id("hostid")));
    }
    call.require(edit, Target::HostOrTemplate, Need::Write, &hosts)?;
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_type() {
        for (kind, value, good) in [
            (0, "x", true),
            (1, "1.5", true),
            (1, "x", false),
            (2, "-1e3", true),
            (3, "1-5,7", true),
            (3, "-5--1", true),
            (3, "x", false),
            (3, "", false),
            (4, "^a(b)$", true),
            (4, "x(", false),
            (4, "", false),
            (5, "", true),
            (5, "x", false),
        ] {
            assert_eq!(check_value(kind, value, "/v").is_ok(), good, "{kind} {value}");
        }
    }
}
