//! Media types that send what others could not.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::{Row, query_by_ids};

use crate::error::{ApiError, ApiResult};
use crate::plain::Draft;

/// Refuses fallbacks that do not exist, and circles.
pub(super) fn check(edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
    if !drafts.iter().any(|draft| draft.gives("fallback_mediatypeid")) {
        return Ok(());
    }
    let rows = edit.query("SELECT mediatypeid, fallback_mediatypeid FROM media_types", &[])?;
    let pair = |row: &Row| (row.id("mediatypeid"), row.id("fallback_mediatypeid"));
    let fallbacks: BTreeMap<u64, u64> = rows.iter().map(pair).collect();
    for draft in drafts.iter().filter(|draft| draft.gives("fallback_mediatypeid")) {
        let refuse =
            |why: &str| Err(ApiError::at(&format!("{}/fallback_mediatypeid", draft.path), why));
        let mut seen = BTreeSet::from([draft.id]);
        let mut next = fallbacks.get(&draft.id).copied().unwrap_or(0);
        while next != 0 {
            if !seen.insert(next) {
                return refuse("media types cannot be fallbacks of each other");
            }
            match fallbacks.get(&next) {
                Some(fallback) => next = *fallback,
                None => return refuse("object does not exist"),
            }
        }
    }
    Ok(())
}

/// Refuses to delete the fallback of a media type that stays.
pub(super) fn check_unused(edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("mediatypeid")).collect();
    let sql = "SELECT mediatypeid, name, fallback_mediatypeid FROM media_types \
               WHERE fallback_mediatypeid IN ({ids}) ORDER BY mediatypeid";
    let users = query_by_ids(edit, sql, &[], &ids)?;
    let Some(user) = users.iter().find(|row| !ids.contains(&row.id("mediatypeid"))) else {
        return Ok(());
    };
    let is_used = |row: &&Row| row.id("mediatypeid") == user.id("fallback_mediatypeid");
    let name = rows.iter().find(is_used).map_or("", |row| row.text("name"));
    let text = format!("Media type \"{name}\" is the fallback of \"{}\".", user.text("name"));
    Err(ApiError::params(text))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::Server;

    fn webhook(server: &Server, name: &str, fallback: &str) -> String {
        let new = json!({
            "name": name, "type": 4, "script": "return 1", "fallback_mediatypeid": fallback,
        });
        server.create("mediatype.create", &new)
    }

    fn fallback_of(server: &Server, id: &str) -> Json {
        let options = json!({ "mediatypeids": id, "output": ["fallback_mediatypeid"] });
        server.call("mediatype.get", &options).unwrap()[0]["fallback_mediatypeid"].clone()
    }

    #[test]
    fn fallbacks_exist_and_make_no_circle() {
        let server = Server::start();
        let a = webhook(&server, "a", "0");
        let b = webhook(&server, "b", &a);
        let c = webhook(&server, "c", &b);
        assert_eq!(fallback_of(&server, &c), json!(b));
        let shown = server.call("mediatype.get", &json!({ "mediatypeids": c })).unwrap();
        assert!(shown[0].get("fallback_mediatypeid").is_none(), "7.0 has no such member");
        let set = |id: &str, fallback: &str| json!({ "mediatypeid": id, "fallback_mediatypeid": fallback });
        let circle = "media types cannot be fallbacks of each other.";
        let new = json!({ "name": "d", "type": 4, "script": "x", "fallback_mediatypeid": "9999" });
        server.refuses(&[
            ("mediatype.update", set(&a, &c), -32602, circle),
            ("mediatype.update", set(&a, &a), -32602, circle),
            ("mediatype.update", set(&a, "9999"), -32602, "\"/1/fallback_mediatypeid\": object"),
            ("mediatype.create", new, -32602, "object does not exist."),
            (
                "mediatype.update",
                json!([set(&a, &b), set(&b, "0"), set(&b, "0")]),
                -32602,
                "already",
            ),
            ("mediatype.delete", json!([a]), -32602, "Media type \"a\" is the fallback of \"b\"."),
        ]);
        server.call("mediatype.update", &json!([set(&a, &b), set(&b, "0")])).unwrap();
        assert_eq!((fallback_of(&server, &a), fallback_of(&server, &b)), (json!(b), json!("0")));
        server.call("mediatype.delete", &json!([a, b, c])).unwrap();
    }

    #[test]
    fn exports_name_the_fallback() {
        let server = Server::start();
        let last = webhook(&server, "z", "0");
        let first = webhook(&server, "y", &last);
        let options = json!({ "options": { "mediaTypes": [first, last] }, "format": "json" });
        let source = server.call("configuration.export", &options).unwrap();
        let tree: Json = serde_json::from_str(source.as_str().unwrap()).unwrap();
        let types = &tree["zabbix_export"]["media_types"];
        assert_eq!(types[0]["fallback_media_type"], "z");
        assert!(types[1].get("fallback_media_type").is_none());
        server.call("mediatype.delete", &json!([first, last])).unwrap();
        let rules = json!({ "mediaTypes": { "createMissing": true, "updateExisting": true } });
        let import = |source: &str| {
            let import = json!({ "format": "json", "rules": rules, "source": source });
            server.call("configuration.import", &import)
        };
        import(source.as_str().unwrap()).unwrap();
        let id = |name: &str| {
            let options = json!({ "filter": { "name": name }, "output": ["mediatypeid"] });
            server.call("mediatype.get", &options).unwrap()[0]["mediatypeid"].clone()
        };
        assert_eq!(fallback_of(&server, id("y").as_str().unwrap()), id("z"));
        let unknown = source
            .as_str()
            .unwrap()
            .replace("\"fallback_media_type\":\"z\"", "\"fallback_media_type\":\"q\"");
        let (_, error) = import(&unknown).unwrap_err();
        assert!(error.contains("the media type \"q\" does not exist"), "{error}");
        assert_eq!(fallback_of(&server, id("y").as_str().unwrap()), id("z"), "nothing changed");
        let without = source.as_str().unwrap().replace(",\"fallback_media_type\":\"z\"", "");
        import(&without).unwrap();
        assert_eq!(fallback_of(&server, id("y").as_str().unwrap()), json!("0"));
    }
}
