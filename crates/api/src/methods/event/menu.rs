//! Menu entries of events: links that media types make of the tags that their webhooks returned.

use std::collections::HashMap;

use config::db::query_by_ids;
use const_format::formatcp;
use eval::macros::{FunctionEnv, TokenKind, substitute, tag_value};
use jiff::tz::TimeZone;
use objects::MediaTypeKind;
use objects::sql::STATUS_ENABLED;
use serde_json::json;

use crate::call::Json;
use crate::error::ApiResult;
use crate::get::Found;
use crate::methods::user::is_web_address;

/// Tags of an event.
type Tags = Vec<(String, String)>;

/// Adds `urls`: one for each media type with a menu entry whose macros all have values.
pub(super) fn entries(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let sql = formatcp!(
        "SELECT event_menu_name, event_menu_url FROM media_types \
         WHERE type = {} AND status = {STATUS_ENABLED} AND show_event_menu = 1 ORDER BY mediatypeid",
        MediaTypeKind::Webhook.text()
    );
    let menus = found.call.rows(sql, &[])?;
    let tags = if menus.is_empty() { HashMap::new() } else { tags(found)? };
    let tz = found.call.config().snapshot().settings.time_zone();
    for row in &mut found.rows {
        let own = tags.get(&row.id).map_or(&[][..], Vec::as_slice);
        let entry = |menu: &config::db::Row| {
            let text = |column: &str| resolved(menu.text(column), own, &tz);
            // Values of tags come from anywhere.
            let url = text("event_menu_url").filter(|url| is_web_address(url))?;
            Some(json!({ "url": url, "name": text("event_menu_name")? }))
        };
        row.out.insert("urls", Json::Array(menus.iter().filter_map(entry).collect()));
    }
    Ok(())
}

fn tags(found: &Found<'_, '_>) -> ApiResult<HashMap<u64, Tags>> {
    let sql = "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids})";
    let ids = found.ids();
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    let mut tags: HashMap<u64, Tags> = HashMap::new();
    for row in &rows {
        let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
        tags.entry(row.id("eventid")).or_default().push(tag);
    }
    Ok(tags)
}

/// The text with its macros; `None`: some have no value.
fn resolved(text: &str, tags: &[(String, String)], tz: &TimeZone) -> Option<String> {
    let mut is_whole = true;
    let value = substitute(text, &FunctionEnv { tz }, &mut |token| {
        let tags = tags.iter().map(|(tag, value)| (tag.as_str(), value.as_str()));
        let value = match &token.kind {
            TokenKind::Builtin { name, .. } => {
                name.strip_prefix("EVENT.TAGS.").and_then(|written| tag_value(tags, written))
            }
            _ => None,
        };
        is_whole &= value.is_some();
        value.map(str::to_owned)
    });
    is_whole.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_needs_values_for_all_its_macros() {
        let tags = [("ticket", "T-77"), ("a b", "c"), ("two", "z"), ("two", "y")];
        let tags = tags.map(|(tag, value)| (tag.to_owned(), value.to_owned()));
        let shown = |text: &str| resolved(text, &tags, &TimeZone::UTC);
        assert_eq!(shown("plain").as_deref(), Some("plain"));
        let link = "https://desk/{EVENT.TAGS.ticket}?{EVENT.TAGS.\"a b\"}&{EVENT.TAGS.two}";
        assert_eq!(shown(link).as_deref(), Some("https://desk/T-77?c&y"));
        assert_eq!(shown("{{EVENT.TAGS.ticket}.lowercase()}").as_deref(), Some("t-77"));
        for text in ["{EVENT.TAGS.other}", "{EVENT.ID} {EVENT.TAGS.ticket}", "{$MACRO}"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
