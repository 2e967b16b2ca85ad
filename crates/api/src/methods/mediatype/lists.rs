//! Parameters and default texts of media types.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{Row, query_by_ids};
use objects::{EventSource, MediaTypeKind, OperationMode};
use serde_json::json;

use super::PARAMETERS;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::object::Access::{Optional, Required};
use crate::object::FieldKind::{Int, OneOf, Text};
use crate::object::{Columns, Field, field, missing, taken};
use crate::plain::{Draft, Seen, number, text};

/// All kinds of parameters; [`complete_parameters`] knows which members each kind has.
pub(super) const PARAMETER: &[Field] = &[
    field("name", Text(255), Optional, "Name, of webhooks."),
    field("sortorder", Int(i32::MIN as i64, i32::MAX as i64), Optional, "Place, of scripts."),
    field("value", Text(2_048), Optional, "Value, with macros."),
];

pub(super) const MESSAGE: &[Field] = &[
    field("eventsource", OneOf(EventSource::NUMBERS), Required, "Source of the events."),
    field("recovery", OneOf(OperationMode::NUMBERS), Required, "0 problem, 1 recovery, 2 update."),
    field("subject", Text(255), Optional, "Subject, with macros."),
    field("message", Text(65_535), Optional, "Text, with macros."),
];

/// Refuses modes that events of the source do not have.
pub(super) fn check_message(_: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()> {
    let source = EventSource::from_number(number(row, "eventsource"));
    let modes = source.map_or(&[][..], OperationMode::of);
    let mode = number(row, "recovery");
    if modes.iter().any(|known| known.is(mode)) {
        return Ok(());
    }
    let list: Vec<&str> = modes.iter().map(|mode| mode.text()).collect();
    let what = match list[..] {
        [one] => format!("value must be {one}"),
        _ => format!("value must be one of {}", list.join(", ")),
    };
    Err(ApiError::at(&format!("{path}/recovery"), what))
}

/// Checks parameters by the kind of the media type; those of scripts get their order.
pub(super) fn complete_parameters(
    draft: &mut Draft<'_>,
    kind: MediaTypeKind,
    before: Option<&Row>,
) -> ApiResult<()> {
    let path = format!("{}/parameters", draft.path);
    let Some(rows) = &mut draft.children[PARAMETERS] else {
        if before.is_some_and(|row| !kind.is(row.int("type"))) {
            draft.children[PARAMETERS] = Some(Vec::new());
        }
        return Ok(());
    };
    let (own, other) = match kind {
        MediaTypeKind::Webhook => ("name", "sortorder"),
        MediaTypeKind::Script => ("sortorder", "name"),
        MediaTypeKind::Email | MediaTypeKind::Sms if rows.is_empty() => return Ok(()),
        MediaTypeKind::Email | MediaTypeKind::Sms => {
            return Err(ApiError::at(&path, "should be empty"));
        }
    };
    let mut seen = BTreeSet::new();
    for (n, row) in rows.iter().enumerate() {
        let path = format!("{path}/{}", n + 1);
        let value = |column: &str| row.iter().find(|(name, _)| *name == column).map(|(_, v)| v);
        if value(other).is_some() {
            return Err(ApiError::at(&path, format_args!("unexpected parameter \"{other}\"")));
        }
        let Some(key) = value(own) else { return Err(missing(&path, own)) };
        if own == "name" && text(row, "name") == Some("") {
            return Err(ApiError::at(&format!("{path}/name"), "cannot be empty"));
        }
        if !seen.insert(key.to_string()) {
            return Err(taken(&path, own, key));
        }
    }
    if kind == MediaTypeKind::Script {
        rows.sort_by_key(|row| number(row, "sortorder"));
    }
    Ok(())
}

/// Adds the parameters to each media type.
pub(super) fn show_parameters(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let ids = found.ids();
    let sql = "SELECT * FROM media_type_params WHERE mediatypeid IN ({ids}) \
               ORDER BY mediatypeid, position";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    let mut of_type: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        of_type.entry(row.id("mediatypeid")).or_default().push(row);
    }
    for row in &mut found.rows {
        let is_script = MediaTypeKind::Script.is(row.row.int("type"));
        let shown = |parameter: &&Row| match is_script {
            true => json!({
                "sortorder": parameter.int("sortorder").to_string(),
                "value": parameter.text("value"),
            }),
            false => json!({ "name": parameter.text("name"), "value": parameter.text("value") }),
        };
        let own = of_type.remove(&row.id).unwrap_or_default();
        row.out.insert("parameters", own.iter().map(shown).collect::<Json>());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::db::Value;

    #[test]
    fn texts_have_modes_of_their_source() {
        for (source, mode, good) in
            [(0, 2, true), (1, 0, true), (1, 1, false), (3, 1, true), (3, 2, false), (4, 2, true)]
        {
            let mut row: Columns =
                vec![("eventsource", Value::Int(source)), ("recovery", Value::Int(mode))];
            let checked = check_message(&mut Seen::new(), &mut row, "/1");
            assert_eq!(checked.is_ok(), good, "{source} {mode}");
        }
    }
}
