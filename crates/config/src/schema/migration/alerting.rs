//! The step to the first version with alerting: media types, and media of users in a table of their own.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::super::Table;
use super::{has_columns, has_rows, insert};
use crate::db::{Connection, DbResult, Row, Value};
use crate::seed::media_type_rows;

/// The first version with media types in a table.
const FIRST: i64 = 17;

/// Fills the tables of a database of version `from`: with the first media types, and the media that
/// users had as JSON in a column of `users`.
pub(super) fn statements(connection: &mut dyn Connection, from: i64) -> DbResult<String> {
    let mut sql = String::new();
    let rows = media_type_rows();
    if from < FIRST && !has_rows(connection, "media_types") {
        sql.extend(rows.iter().map(|(table, row)| insert(table, row)));
    }
    if has_columns(connection, "users", "medias") {
        let users = connection.query("SELECT userid, medias FROM users WHERE medias <> ''", &[])?;
        let types = rows.iter().filter(|(table, _)| table.name == "media_types");
        let types: BTreeSet<u64> = types.map(|(_, row)| unsigned(&row[0].1)).collect();
        for row in &users {
            sql += &media(row, &types);
        }
        sql += "ALTER TABLE users DROP COLUMN medias;\n";
    }
    Ok(sql)
}

fn unsigned(value: &Value) -> u64 {
    u64::try_from(value.as_int()).unwrap_or(0)
}

/// Statements for the media of a user. Those of media types that do not exist are left out.
fn media(user: &Row, types: &BTreeSet<u64>) -> String {
    let userid = user.id("userid");
    let medias: Vec<Json> = serde_json::from_str(user.text("medias")).unwrap_or_default();
    let number =
        |media: &Json, name: &str| media[name].as_str().and_then(|n| n.parse::<u64>().ok());
    let mut sql = String::new();
    for one in &medias {
        let (id, kind) = (number(one, "mediaid"), number(one, "mediatypeid").unwrap_or(0));
        let (Some(id), true) = (id, types.contains(&kind)) else {
            tracing::warn!(
                userid,
                mediatypeid = kind,
                "removing a medium of an unknown media type"
            );
            continue;
        };
        let sendto = match &one["sendto"] {
            Json::Array(list) => {
                let list: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
                list.join("\n")
            }
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        sql += &insert(
            Table::named("media"),
            &[
                ("mediaid", id.into()),
                ("userid", userid.into()),
                ("mediatypeid", kind.into()),
                ("sendto", sendto.into()),
                ("active", number(one, "active").unwrap_or(0).into()),
                ("severity", number(one, "severity").unwrap_or(63).into()),
                ("period", one["period"].as_str().unwrap_or("1-7,00:00-24:00").into()),
            ],
        );
    }
    sql
}
