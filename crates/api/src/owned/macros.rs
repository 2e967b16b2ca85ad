//! User macros: syntax, and the macros of hosts and templates.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};
use config::table;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::write::{names, nested, only};

/// Type of a macro whose value nobody can read.
pub(crate) const SECRET: i64 = 1;
/// Type of a macro whose value is a path in a vault.
pub(crate) const VAULT: i64 = 2;

/// Checks `{$NAME}` or `{$NAME:context}`; the error tells where it stops to be one.
pub(crate) fn check_name(name: &str, path: &str) -> ApiResult<()> {
    if name.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    if name.chars().count() > 255 {
        return Err(ApiError::at(path, "value is too long"));
    }
    match stops_at(name) {
        None => Ok(()),
        Some(at) => {
            let rest = &name[at..];
            if rest.is_empty() {
                return Err(ApiError::at(path, "unexpected end of macro"));
            }
            Err(ApiError::at(path, format_args!("incorrect syntax near \"{rest}\"")))
        }
    }
}

/// Where the text stops to be a macro; `None` = it is one.
fn stops_at(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    for (at, expected) in b"{$".iter().enumerate() {
        if bytes.get(at) != Some(expected) {
            return Some(at);
        }
    }
    let mut at = 2;
    while bytes.get(at).is_some_and(|c| matches!(c, b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.')) {
        at += 1;
    }
    if at == 2 {
        return Some(2);
    }
    if bytes.get(at) == Some(&b':') {
        at = context_end(bytes, at + 1);
    }
    match bytes.get(at) {
        Some(b'}') if at + 1 == bytes.len() => None,
        Some(b'}') => Some(at + 1),
        _ => Some(at),
    }
}

/// Where the context that starts at `at` ends: the closing `}` if all is well.
fn context_end(bytes: &[u8], mut at: usize) -> usize {
    let skip_spaces = |mut at: usize| {
        while bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        at
    };
    at = skip_spaces(at);
    if bytes[at..].starts_with(b"regex:") {
        at = skip_spaces(at + 6);
    }
    if bytes.get(at) != Some(&b'"') {
        let plain = bytes[at..].iter().position(|c| *c == b'}');
        return plain.map_or(bytes.len(), |n| at + n);
    }
    at += 1;
    while let Some(c) = bytes.get(at) {
        match c {
            b'\\' if bytes.get(at + 1) == Some(&b'"') => at += 2,
            b'"' => return skip_spaces(at + 1),
            _ => at += 1,
        }
    }
    at
}

/// The same macro may be written in several ways (`{$A:x}`, `{$A: "x"}`): one form for all.
pub(crate) fn canonical(name: &str) -> String {
    let inner = name.strip_prefix("{$").and_then(|n| n.strip_suffix('}')).unwrap_or(name);
    let Some((name, context)) = inner.split_once(':') else { return inner.to_owned() };
    let context = context.trim_start_matches(' ');
    let (kind, context) = match context.strip_prefix("regex:") {
        Some(regex) => ("regex", regex.trim_start_matches(' ')),
        None => ("text", context),
    };
    let quoted = context.strip_prefix('"').and_then(|c| c.trim_end_matches(' ').strip_suffix('"'));
    let context = quoted.map_or_else(|| context.to_owned(), |text| text.replace("\\\"", "\""));
    format!("{name}:{kind}:{context}")
}

/// Checks a value by type: a vault path is `path:key`.
pub(crate) fn check_value(kind: i64, value: &str, path: &str) -> ApiResult<()> {
    if value.chars().count() > 2048 {
        return Err(ApiError::at(path, "value is too long"));
    }
    if kind != VAULT {
        return Ok(());
    }
    if value.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    match value.split_once(':') {
        Some((place, key))
            if !place.is_empty()
                && !key.is_empty()
                && !place.starts_with('/')
                && !place.ends_with('/') =>
        {
            Ok(())
        }
        _ => Err(ApiError::at(path, format_args!("incorrect syntax near \"{value}\""))),
    }
}

/// A macro as a client gives it; what is `None` was not given.
#[derive(Debug, Clone, Default)]
pub(crate) struct MacroInput {
    /// Existing macro that is meant.
    pub(crate) id: Option<u64>,
    /// With braces, as in `{$NAME}`.
    pub(crate) name: Option<String>,
    pub(crate) value: Option<String>,
    /// Type.
    pub(crate) kind: Option<i64>,
    pub(crate) description: Option<String>,
    /// `automatic` was given, as 0: a macro that discovery made becomes the user's own.
    pub(crate) manual: bool,
    /// Where it stands in the parameters.
    pub(crate) path: String,
}

impl MacroInput {
    /// Reads the members of a macro; other members must have been refused before.
    pub(crate) fn read(
        members: &serde_json::Map<String, Json>,
        path: &str,
        id_name: &str,
    ) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let text = |name: &str| members.get(name).map(|v| params::text(v, &at(name))).transpose();
        let name = text("macro")?;
        if let Some(name) = &name {
            check_name(name, &at("macro"))?;
        }
        let kind = members.get("type").map(|v| params::int(v, &at("type"))).transpose()?;
        if kind.is_some_and(|kind| !(0..=VAULT).contains(&kind)) {
            return Err(ApiError::at(&at("type"), "value must be one of 0, 1, 2"));
        }
        let automatic = members.get("automatic");
        let automatic = automatic.map(|v| params::int(v, &at("automatic"))).transpose()?;
        if automatic.is_some_and(|automatic| automatic != 0) {
            return Err(ApiError::at(&at("automatic"), "value must be 0"));
        }
        let id = members.get(id_name).map(|v| params::id(v, &at(id_name))).transpose()?;
        Ok(Self {
            id,
            name,
            value: text("value")?,
            kind,
            description: text("description")?,
            manual: automatic.is_some(),
            path: path.to_owned(),
        })
    }

    /// Columns for a new macro.
    pub(crate) fn new_row(&self) -> ApiResult<Vec<(&'static str, Value)>> {
        let name = self.name.as_deref().ok_or_else(|| missing(&self.path, "macro"))?;
        let value = self.value.as_deref().ok_or_else(|| missing(&self.path, "value"))?;
        let kind = self.kind.unwrap_or(0);
        check_value(kind, value, &format!("{}/value", self.path))?;
        Ok(vec![
            ("macro", name.into()),
            ("value", value.into()),
            ("type", kind.into()),
            ("description", self.description.as_deref().unwrap_or_default().into()),
        ])
    }

    /// Changed columns of an existing macro.
    pub(crate) fn changes(&self, now: &Row) -> ApiResult<Vec<(&'static str, Value)>> {
        let mut row = Vec::new();
        let kind = self.kind.unwrap_or_else(|| now.int("type"));
        let opened = now.int("type") == SECRET && kind != SECRET;
        // A secret does not become readable by changing its type.
        if opened && self.value.is_none() {
            return Err(missing(&self.path, "value"));
        }
        let value = self.value.as_deref().unwrap_or_else(|| now.text("value"));
        check_value(kind, value, &format!("{}/value", self.path))?;
        if let Some(name) = &self.name {
            row.push(("macro", name.as_str().into()));
        }
        if let Some(value) = &self.value {
            row.push(("value", value.as_str().into()));
        }
        if self.kind.is_some() {
            row.push(("type", kind.into()));
        }
        if let Some(description) = &self.description {
            row.push(("description", description.as_str().into()));
        }
        if self.manual {
            row.push(("automatic", 0.into()));
        }
        Ok(row)
    }

    /// Refuses to change a macro that discovery made, which would undo it, unless the macro becomes
    /// the user's own.
    pub(crate) fn refuse_automatic(&self, now: &Row) -> ApiResult<()> {
        if now.int("automatic") == 0 || self.manual {
            return Ok(());
        }
        let name = now.text("macro");
        let text = format!("Not allowed to modify automatic user macro \"{name}\".");
        Err(ApiError::application(text))
    }

    /// [`changes`](Self::changes), of a discovery's macro only such that change nothing.
    fn allowed_changes(&self, now: &Row) -> ApiResult<Vec<(&'static str, Value)>> {
        let changes = self.changes(now)?;
        if changes.iter().any(|(name, value)| now.get(name) != Some(value)) {
            self.refuse_automatic(now)?;
        }
        Ok(changes)
    }
}

/// Reads the macros of a host or template; `update`: objects may name existing macros by id.
pub(crate) fn parse(value: &Json, path: &str, update: bool) -> ApiResult<Vec<MacroInput>> {
    let mut macros: Vec<MacroInput> = Vec::new();
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (path, members) in nested(value, path)? {
        let known: &[&str] = if update {
            &["hostmacroid", "macro", "value", "type", "description", "automatic"]
        } else {
            &["macro", "value", "type", "description", "automatic"]
        };
        only(members, &path, known)?;
        let one = MacroInput::read(members, &path, "hostmacroid")?;
        if one.id.is_none() && one.name.is_none() {
            return Err(missing(&path, "macro"));
        }
        if let Some(id) = one.id.filter(|id| !ids.insert(*id)) {
            return Err(taken(&path, "hostmacroid", id));
        }
        if let Some(name) = one.name.as_deref().filter(|name| !names.insert(canonical(name))) {
            return Err(taken(&path, "macro", name));
        }
        if !update && one.value.is_none() {
            return Err(missing(&path, "value"));
        }
        macros.push(one);
    }
    Ok(macros)
}

/// Makes these the macros of a host or template. A macro of the same id or name keeps what is not
/// given, so that secrets need not be sent again.
pub(crate) fn replace(edit: &mut Edit<'_>, hostid: u64, macros: &[MacroInput]) -> ApiResult<()> {
    let now = of(edit, hostid)?;
    check_distinct(edit, hostid, &now, macros)?;
    // A row that is named by its id is no other macro's row, whatever it was called before.
    let by_id = |row: &Row| macros.iter().any(|one| one.id == Some(row.id("hostmacroid")));
    let (named, others): (Vec<Row>, Vec<Row>) = now.iter().cloned().partition(by_id);
    let mut kept = Vec::new();
    let mut added = Vec::new();
    for one in macros {
        match find(if one.id.is_some() { &named } else { &others }, one)? {
            Some(row) => {
                let id = row.id("hostmacroid");
                // Without its id it counts as a new one, which is the user's own.
                let one = MacroInput { manual: one.manual || one.id.is_none(), ..one.clone() };
                let changes = one.allowed_changes(row)?;
                edit.update(&table::HOSTMACROS, id, &changes)?;
                kept.push(id);
            }
            None => added.push(one),
        }
    }
    let gone = now.iter().map(|row| row.id("hostmacroid")).filter(|id| !kept.contains(id));
    edit.delete(&table::HOSTMACROS, "hostmacroid", &gone.collect::<Vec<_>>())?;
    for one in added {
        insert(edit, hostid, one)?;
    }
    Ok(())
}

/// Refuses macros of which two would have one name: a macro that is given by its id alone keeps its
/// name.
fn check_distinct(
    edit: &mut Edit<'_>,
    hostid: u64,
    now: &[Row],
    macros: &[MacroInput],
) -> ApiResult<()> {
    let mut seen = BTreeSet::new();
    for one in macros {
        let stored = now.iter().find(|row| one.id == Some(row.id("hostmacroid")));
        let name = one.name.as_deref().or_else(|| stored.map(|row| row.text("macro")));
        let Some(name) = name else { continue };
        if !seen.insert(canonical(name)) {
            let host = names(edit, "hosts", "hostid", "name", &[hostid])?;
            return Err(ApiError::params(format!(
                "Macro \"{name}\" already exists on \"{}\".",
                host.get(&hostid).map_or("", String::as_str),
            )));
        }
    }
    Ok(())
}

/// Adds macros or changes those of the same name.
pub(crate) fn add(edit: &mut Edit<'_>, hostid: u64, macros: &[MacroInput]) -> ApiResult<()> {
    let now = of(edit, hostid)?;
    for one in macros {
        match find(&now, one)? {
            Some(row) => {
                let changes = one.allowed_changes(row)?;
                edit.update(&table::HOSTMACROS, row.id("hostmacroid"), &changes)?;
            }
            None => drop(insert(edit, hostid, one)?),
        }
    }
    Ok(())
}

/// Removes macros by name.
pub(crate) fn remove(edit: &mut Edit<'_>, hostid: u64, names: &[String]) -> ApiResult<()> {
    let names: Vec<String> = names.iter().map(|name| canonical(name)).collect();
    let now = of(edit, hostid)?;
    let gone = now.iter().filter(|row| names.contains(&canonical(row.text("macro"))));
    let gone: Vec<u64> = gone.map(|row| row.id("hostmacroid")).collect();
    Ok(edit.delete(&table::HOSTMACROS, "hostmacroid", &gone)?)
}

/// Inserts a macro; returns its id.
pub(crate) fn insert(edit: &mut Edit<'_>, hostid: u64, one: &MacroInput) -> ApiResult<u64> {
    let mut row = vec![("hostid", Value::from(hostid))];
    row.extend(one.new_row()?);
    Ok(edit.insert_new(&table::HOSTMACROS, &row)?)
}

/// Macros of a host or template.
pub(crate) fn of(edit: &mut Edit<'_>, hostid: u64) -> ApiResult<Vec<Row>> {
    Ok(edit.query("SELECT * FROM hostmacros WHERE hostid = ?", &[hostid.into()])?)
}

fn find<'r>(now: &'r [Row], one: &MacroInput) -> ApiResult<Option<&'r Row>> {
    if let Some(id) = one.id {
        let row = now.iter().find(|row| row.id("hostmacroid") == id);
        return row.map(Some).ok_or_else(|| {
            let path = format!("{}/hostmacroid", one.path);
            ApiError::application(format!(
                "Invalid parameter \"{path}\": object does not exist or belongs to another object."
            ))
        });
    }
    let name = one.name.as_deref().map(canonical).unwrap_or_default();
    Ok(now.iter().find(|row| canonical(row.text("macro")) == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_names() {
        for good in [
            "{$A}",
            "{$A.B_1}",
            "{$A:x y}",
            "{$A:\"x}\"}",
            "{$A: \"x\" }",
            "{$A:regex:\"^x\"}",
            "{$A:regex:^x}",
            "{$A:}",
            "{$A:\"a\\\"b\"}",
        ] {
            assert_eq!(check_name(good, "/m"), Ok(()), "{good}");
        }
        for (bad, near) in [
            ("BAD", "BAD"),
            ("{GOLD}", "GOLD}"),
            ("{$a}", "a}"),
            ("{$GlOBALMACRO", "lOBALMACRO"),
            ("{{$A}}", "{$A}}"),
            ("{$A}}", "}"),
            ("{$A:\"x\"y}", "y}"),
            ("{$УТФ8}", "УТФ8}"),
        ] {
            let text = format!("Invalid parameter \"/m\": incorrect syntax near \"{near}\".");
            assert_eq!(check_name(bad, "/m").map_err(|e| e.data), Err(text), "{bad}");
        }
        assert!(check_name("{$A", "/m").is_err() && check_name("", "/m").is_err());
    }

    #[test]
    fn one_macro_in_several_forms() {
        for (a, b, same) in [
            ("{$A:x}", "{$A:\"x\"}", true),
            ("{$A: x}", "{$A:x}", true),
            ("{$A:x }", "{$A:x}", false),
            ("{$A:regex:x}", "{$A:x}", false),
            ("{$A:regex: \"x\"}", "{$A:regex:x}", true),
            ("{$A}", "{$A:}", false),
        ] {
            assert_eq!(canonical(a) == canonical(b), same, "{a} {b}");
        }
    }

    #[test]
    fn vault_paths() {
        for (value, good) in [
            ("a/b:c", true),
            ("a:b", true),
            ("nopath", false),
            ("", false),
            ("/a:b", false),
            ("a/:b", false),
        ] {
            assert_eq!(check_value(VAULT, value, "/v").is_ok(), good, "{value}");
        }
    }
}
