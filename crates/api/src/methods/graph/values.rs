//! Members of graphs and of their items as columns. As in the reference, unknown members are ignored, and
//! what a column cannot hold is an error of the column, not of a path.

use config::db::Value;
use config::objects::GraphItem;
use serde_json::Map;

use super::{ITEM, Kind};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{Access, Columns, Field, FieldKind};
use crate::params;
use crate::write::check_uuid;

/// Fields with decimal numbers.
const DECIMALS: &[&str] = &["yaxismin", "yaxismax", "percent_left", "percent_right"];

/// The columns of the given members.
pub(super) fn columns(object: &Map<String, Json>, kind: Kind, path: &str) -> ApiResult<Columns> {
    let mut columns = Columns::new();
    for field in kind.object().fields.iter().filter(|field| field.access != Access::ReadOnly) {
        let Some(value) = object.get(field.name).filter(|value| !value.is_null()) else { continue };
        let at = format!("{path}/{}", field.name);
        match field.name {
            "name" | "discover" => {
                columns.extend(field.kind.check(value, &at)?.map(|value| (field.name, value)));
            }
            "uuid" => match params::text(value, &at)? {
                uuid if uuid.is_empty() => {}
                uuid => {
                    check_uuid(&uuid, &at)?;
                    columns.push(("uuid", uuid.into()));
                }
            },
            "gitems" => {}
            _ => columns.push((field.name, column(field, value)?)),
        }
    }
    Ok(columns)
}

/// One value in the form of its column.
fn column(field: &Field, value: &Json) -> ApiResult<Value> {
    let text = params::text(value, &format!("/{}", field.name))?;
    let wrong = |what: &str| {
        let name = field.name;
        ApiError::application(format!("Incorrect value \"{text}\" for {what} field \"{name}\"."))
    };
    match field.kind {
        FieldKind::Text(_) if !DECIMALS.contains(&field.name) => Ok(text.into()),
        FieldKind::Text(_) => decimal(&text).map(Value::from).ok_or_else(|| wrong("float")),
        FieldKind::Id => text.parse::<u64>().map(Value::from).map_err(|_| ApiError::no_object()),
        _ => text.parse::<i32>().map(|n| Value::Int(n.into())).map_err(|_| wrong("int")),
    }
}

/// A decimal number as it is shown.
fn decimal(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    // Without the sign of zero.
    number.is_finite().then(|| (number + 0.0).to_string())
}

/// An item of a graph with what its members say; others stay as they are.
pub(super) fn item(members: &Map<String, Json>, before: GraphItem) -> ApiResult<GraphItem> {
    let mut item = before;
    for field in ITEM.fields {
        let Some(value) = members.get(field.name).filter(|value| !value.is_null()) else {
            continue;
        };
        let value = column(field, value)?;
        let id = u64::try_from(value.as_int()).unwrap_or(0);
        match field.name {
            "gitemid" => item.gitemid = id,
            "itemid" => item.itemid = id,
            "drawtype" => item.drawtype = value.as_int(),
            "sortorder" => item.sortorder = value.as_int(),
            "color" => item.color = value.to_string(),
            "yaxisside" => item.yaxisside = value.as_int(),
            "calc_fnc" => item.calc_fnc = value.as_int(),
            "type" => item.kind = value.as_int(),
            _ => {}
        }
    }
    Ok(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_shown_without_needless_digits() {
        for (text, shown) in [
            ("0", Some("0")),
            ("-0", Some("0")),
            ("100.0", Some("100")),
            ("12.50", Some("12.5")),
            ("-1e3", Some("-1000")),
            ("x", None),
            ("inf", None),
        ] {
            assert_eq!(decimal(text).as_deref(), shown, "{text}");
        }
    }
}
