//! Database monitor: a query by ODBC. The program `vedette-odbc` beside this one talks to the
//! drivers.

mod helper;
mod result;

use config::snapshot::source::Login;
use eval::key::ItemKey;

pub(crate) use helper::Helpers;
use helper::Request;
use result::Form;

use super::check::Check;
use super::login::{self, OUTPUT_BYTES_MAX};
use super::reply::CheckReply;

/// Asks the database that the key names.
pub(crate) async fn check(helpers: &Helpers, check: &Check<'_>) -> CheckReply {
    match ask(helpers, check).await {
        Ok(text) => CheckReply::Value(text),
        Err(why) => CheckReply::NotSupported(why),
    }
}

async fn ask(helpers: &Helpers, check: &Check<'_>) -> Result<String, String> {
    let (query, login) = login::task(check.item);
    let (form, connection) = parse(&check.item.key, login)?;
    if query.trim().is_empty() {
        return Err("SQL query cannot be empty.".to_owned());
    }
    let one = form == Form::Value;
    let timeout_s = u32::try_from(check.timeout.as_secs()).unwrap_or(u32::MAX).max(1);
    let request = Request {
        connection,
        query: query.to_owned(),
        timeout_s,
        rows_max: if one { 1 } else { usize::MAX },
        columns_max: if one { 1 } else { usize::MAX },
        bytes_max: OUTPUT_BYTES_MAX,
    };
    let rows = helpers.ask(request, check.timeout).await?;
    result::text(form, &rows)
}

/// What the key wants, and the connection string.
fn parse(key: &str, login: &Login) -> Result<(Form, String), String> {
    let key = ItemKey::parse(key).map_err(|_| "Invalid item key format.".to_owned())?;
    let form = match &*key.name {
        "db.odbc.select" => Form::Value,
        "db.odbc.get" => Form::Rows,
        "db.odbc.discovery" => Form::Discovery,
        _ => return Err("Unsupported item key for this item type.".to_owned()),
    };
    if !(2..=3).contains(&key.param_count()) {
        return Err("Invalid number of parameters.".to_owned());
    }
    let param = |n| key.param(n).unwrap_or_default();
    let mut connection = match (param(1), param(2)) {
        (source, text) if source.is_empty() && text.is_empty() => {
            return Err("Invalid database connection settings.".to_owned());
        }
        (source, text) if text.is_empty() => format!("DSN={}", quoted(&source)),
        (_, text) => text.trim_end_matches(';').to_owned(),
    };
    if !login.username.is_empty() {
        connection += &format!(";UID={}", quoted(&login.username));
        if !login.password.is_empty() {
            connection += &format!(";PWD={}", quoted(&login.password));
        }
    }
    Ok((form, connection))
}

/// A value of a connection string: what would end it stands in braces.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.@/:\\ ".contains(c) || !c.is_ascii();
    let outer = value.starts_with(' ') || value.ends_with(' ');
    match value.chars().all(plain) && !outer {
        true => value.to_owned(),
        false => format!("{{{}}}", value.replace('}', "}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let login =
            Login { username: "u".to_owned(), password: "a;b}".to_owned(), ..Login::default() };
        let user = ";UID=u;PWD={a;b}}}";
        let of = |form, text: &str| Ok((form, format!("{text}{user}")));
        let error = |why: &str| Err(why.to_owned());
        for (key, expected) in [
            ("db.odbc.select[a,dsn]", of(Form::Value, "DSN=dsn")),
            ("db.odbc.get[,dsn,]", of(Form::Rows, "DSN=dsn")),
            ("db.odbc.discovery[a,,\"Driver=x;y=z;\"]", of(Form::Discovery, "Driver=x;y=z")),
            ("db.odbc.select[a,dsn,Driver=x]", of(Form::Value, "Driver=x")),
            ("db.odbc.select[a,\"d;s\"]", of(Form::Value, "DSN={d;s}")),
            ("db.odbc.select[a,,]", error("Invalid database connection settings.")),
            ("db.odbc.select[a]", error("Invalid number of parameters.")),
            ("db.odbc.select[a,b,c,d]", error("Invalid number of parameters.")),
            ("db.odbc.nosuch[a,b]", error("Unsupported item key for this item type.")),
            ("db.odbc.select[a", error("Invalid item key format.")),
        ] {
            assert_eq!(parse(key, &login), expected, "{key}");
        }
        let open = parse("db.odbc.select[a,dsn]", &Login::default()).unwrap();
        assert_eq!(open.1, "DSN=dsn");
    }
}
