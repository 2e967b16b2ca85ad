//! What the API is, from the tables that validate it: the page `docs/api.md`, an OpenRPC document,
//! types for the UI.

mod catalogs;
mod openrpc;
mod shape;
mod typescript;

use std::fmt::Write;

use config::schema::{Table, tables};
use objects::UserType;

use crate::methods::{DESCRIBED, Described, OBJECTS, SINGLES};
use crate::object::{Access, FieldKind, Object};
use crate::single::{Rule, Single};

pub use openrpc::openrpc;
pub use typescript::typescript;

/// What methods of Zabbix's have in addition.
const ADDITIONS: &str = "
## Additions

Zabbix does not have these parameters.

| method | parameter | |
| --- | --- | --- |
| each `get` of objects | `offset` | Rows to skip before `limit` applies. |
| `event.get` | `groupBy: [\"clock\", \"severity\"]`, `step` | Number of events by steps of `step` seconds and by severity, from `time_from` to `time_till` (required, up to 1,000 steps): `[{clock, severity, rowscount}]`, where `clock` is the start of the step. Groups without events are left out. |
| `action.create`, `action.update` | `opmessage_oncall` of operations | On-call schedules as recipients: `[{scheduleid, who}]`, `who` 0 = on call now, 1 = next in turn, 2 = everyone. `action.get` shows it if there are any. |
| `action.get` | `scheduleids` | Only actions with these on-call schedules. |
| `maintenance.get` | `states` | Only maintenances in these states: `active` (runs now), `upcoming` (will run), `ended` (will not run again). Without `sortfield`, active ones come first by their end, then upcoming ones by their next start, then ended ones with the newest end first. |
";

/// Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# API reference\n\n\
         This page is made from the tables in the program (`vedette api` prints it).\n\
         The API is that of Zabbix 7.0: JSON-RPC 2.0 by POST to `/api_jsonrpc.php`, a session id or \
         token in the header `Authorization: Bearer`. Zabbix's manual describes parameters and \
         results; this page lists the supported methods and fields.\n\n## Methods\n\n| method | who |\n| --- | --- |\n",
    );
    for method in shape::methods() {
        let who = match method.lowest {
            None => "everybody",
            Some(UserType::User) => "users",
            Some(UserType::Admin) => "admins",
            Some(UserType::SuperAdmin) => "super admins",
        };
        let _ = writeln!(page, "| `{}` | {who} |", method.name);
    }
    page += ADDITIONS;
    for one in DESCRIBED {
        described(one, &mut page);
    }
    for object in OBJECTS {
        section(object, &mut page);
    }
    for single in SINGLES {
        settings(single, &mut page);
    }
    page
}

fn described(one: &Described, page: &mut String) {
    let _ = write!(
        page,
        "\n## {}\n\n| parameter | holds | access | |\n| --- | --- | --- | --- |\n",
        one.method
    );
    for field in one.params {
        let (holds, access) = (holds(field.kind), who(field.access));
        let _ = writeln!(page, "| `{}` | {holds} | {access} | {} |", field.name, field.doc);
    }
    let _ = write!(page, "\n| result | holds | |\n| --- | --- | --- |\n");
    for field in one.result {
        let _ = writeln!(page, "| `{}` | {} | {} |", field.name, holds(field.kind), field.doc);
    }
}

fn settings(single: &Single, page: &mut String) {
    let _ = write!(
        page,
        "\n## {}\n\n| field | holds | default | access | |\n| --- | --- | --- | --- | --- |\n",
        single.object.word(),
    );
    for one in single.settings {
        let default =
            if one.default.is_empty() { String::new() } else { format!("`{}`", one.default) };
        let _ = writeln!(
            page,
            "| `{}` | {} | {default} | {} | {} |",
            one.name,
            rule(one.rule),
            who(one.access),
            one.doc,
        );
    }
}

fn rule(rule: Rule) -> String {
    match rule {
        Rule::Of(kind) => holds(kind),
        Rule::Word(words) => {
            words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")
        }
        Rule::Time(time) => format!("time, {}–{} seconds", time.min, time.max),
        Rule::Color => "colour, 6 hexadecimal digits".to_owned(),
        Rule::Periods => "time periods".to_owned(),
        Rule::Url(max) => format!("link, {max} characters"),
        Rule::Zone => "time zone".to_owned(),
    }
}

fn who(access: Access) -> &'static str {
    match access {
        Access::Required => "required",
        Access::Optional => "",
        Access::ReadOnly => "read only",
        Access::WriteOnly => "write only",
    }
}

fn section(object: &Object, page: &mut String) {
    let _ = write!(
        page,
        "\n## {}\n\nSorted by: {}.\n\n| field | holds | default | access | |\n\
         | --- | --- | --- | --- | --- |\n",
        object.name,
        object.sort.join(", "),
    );
    for field in object.fields {
        let access = who(field.access);
        let named = if field.named { " Only shown if `output` names it." } else { "" };
        let default = match field.access {
            Access::Optional => default_of(object, field.name),
            _ => "",
        };
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let _ = writeln!(
            page,
            "| `{}` | {} | {default} | {access} | {}{named} |",
            field.name,
            holds(field.kind),
            field.doc.replace('|', "\\|"),
        );
    }
}

/// Default of a field that is a column. A view over a table calls it `r`.
fn default_of(object: &Object, name: &str) -> &'static str {
    let is_of = |table: &&Table| {
        table.name == object.table || object.table.contains(&format!("FROM {} r", table.name))
    };
    let table = tables().find(is_of);
    table.and_then(|table| table.column(name)).map_or("", |column| column.default)
}

fn holds(kind: FieldKind) -> String {
    match kind {
        FieldKind::Id => "id".to_owned(),
        FieldKind::Int(min, max) if max == i64::MAX => format!("number from {min}"),
        FieldKind::Int(min, max) => format!("number {min}–{max}"),
        FieldKind::OneOf(allowed) => {
            allowed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
        FieldKind::Text(0) => "text".to_owned(),
        FieldKind::Text(max) => format!("text, {max} characters"),
        FieldKind::Name(max) => format!("text, 1–{max} characters"),
        FieldKind::Nested => "list or object".to_owned(),
        FieldKind::Json | FieldKind::Document => "JSON".to_owned(),
        FieldKind::Settings => "object or null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_page_is_the_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == super::reference(),
            "docs/api.md is out of date: cargo run -p server -- api > docs/api.md"
        );
    }
}
