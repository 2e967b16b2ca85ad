//! Media types.

use std::collections::BTreeMap;

use config::db::Row;
use objects::MediaTypeKind;

use super::order::natural;
use super::{Export, object, put_list};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{
    FALLBACK, MEDIA_TYPE, MEDIA_TYPE_REST, MESSAGE_TEMPLATE, SCRIPT_PARAMETER, WEBHOOK_PARAMETER,
    to_export,
};

impl Export<'_, '_> {
    /// Media types by name; only super admins export them.
    pub(super) fn media_types(&self, ids: &[u64]) -> ApiResult<Vec<Json>> {
        if ids.is_empty() || !self.call.is_super_admin() {
            return Ok(Vec::new());
        }
        let mut rows = self.rows("SELECT * FROM media_types WHERE mediatypeid IN ({ids})", ids)?;
        rows.sort_by_cached_key(|row| natural(row.text("name")));
        let mut parameters = self.of_media_types("media_type_params", ids)?;
        let mut messages = self.of_media_types("media_type_messages", ids)?;
        let fallbacks = self.fallbacks(ids)?;
        let node = |row: &Row| {
            let (id, is_script) =
                (row.id("mediatypeid"), MediaTypeKind::Script.is(row.int("type")));
            let node = object(row);
            let mut out = to_export(MEDIA_TYPE, &node);
            // A secret never leaves.
            out.shift_remove("password");
            let mut own = parameters.remove(&id).unwrap_or_default();
            if !is_script {
                own.sort_by_cached_key(|row| natural(row.text("name")));
            }
            let words = if is_script { SCRIPT_PARAMETER } else { WEBHOOK_PARAMETER };
            let shown = |row: &Row, words| Json::Object(to_export(words, &object(row)));
            put_list(&mut out, "parameters", own.iter().map(|row| shown(row, words)).collect());
            out.extend(to_export(MEDIA_TYPE_REST, &node));
            if let Ok(Json::Object(mut limit)) = serde_json::from_str(row.text("storm_limit")) {
                // Files have texts for numbers.
                limit
                    .values_mut()
                    .filter(|v| v.is_number())
                    .for_each(|v| *v = v.to_string().into());
                out.insert("storm_limit".to_owned(), Json::Object(limit));
            }
            if let Some(name) = fallbacks.get(&id) {
                out.insert(FALLBACK.to_owned(), name.as_str().into());
            }
            let mut own = messages.remove(&id).unwrap_or_default();
            own.sort_by_key(|row| (row.int("eventsource"), row.int("recovery")));
            let own = own.iter().map(|row| shown(row, MESSAGE_TEMPLATE)).collect();
            put_list(&mut out, "message_templates", own);
            Json::Object(out)
        };
        Ok(rows.iter().map(node).collect())
    }

    /// Names of the fallbacks of media types that have one.
    fn fallbacks(&self, ids: &[u64]) -> ApiResult<BTreeMap<u64, String>> {
        let sql = "SELECT m.mediatypeid, f.name FROM media_types m JOIN media_types f \
                   ON f.mediatypeid = m.fallback_mediatypeid WHERE m.mediatypeid IN ({ids})";
        let rows = self.rows(sql, ids)?;
        let pair = |row: &Row| (row.id("mediatypeid"), row.text("name").to_owned());
        Ok(rows.iter().map(pair).collect())
    }

    /// Rows of a table by media type, in their order.
    fn of_media_types(&self, table: &str, ids: &[u64]) -> ApiResult<BTreeMap<u64, Vec<Row>>> {
        let sql = format!(
            "SELECT * FROM {table} WHERE mediatypeid IN ({{ids}}) ORDER BY mediatypeid, position"
        );
        let mut of_type: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        for row in self.rows(&sql, ids)? {
            of_type.entry(row.id("mediatypeid")).or_default().push(row);
        }
        Ok(of_type)
    }
}
