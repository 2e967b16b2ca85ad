//! YAML, read without guessing types: every scalar is a text, also `=`, `YES` and `7.0`.

use std::fmt::Write;

use saphyr_parser::{Event, Parser};
use serde_json::Map;

use super::DEPTH_MAX;
use crate::call::Json;

enum Open {
    Array(Vec<Json>),
    Object(Map<String, Json>, Option<String>),
}

pub(super) fn parse(source: &str) -> Result<Json, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker();
            format!(
                "Cannot read YAML: line {}, column {}: {}.",
                at.line(),
                at.col() + 1,
                error.info()
            )
        })?;
        let line = span.start.line();
        let done = match event {
            // As in the field: an export's block has a line end more than the text.
            Event::Scalar(text, ..) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                Json::String(text.to_owned())
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEPTH_MAX {
                    return Err(format!(
                        "Cannot read YAML: line {line}: nested deeper than {DEPTH_MAX}."
                    ));
                }
                open.push(match event {
                    Event::SequenceStart(..) => Open::Array(Vec::new()),
                    _ => Open::Object(Map::new(), None),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Array(values)) => Json::Array(values),
                Some(Open::Object(members, _)) => Json::Object(members),
                None => return Err("Cannot read YAML: an end without a start.".to_owned()),
            },
            // An alias repeats what stands elsewhere: a few lines could become gigabytes.
            Event::Alias(_) => {
                return Err(format!("Cannot read YAML: line {line}: aliases are not taken."));
            }
            _ => continue,
        };
        match open.last_mut() {
            None if root.is_none() => root = Some(done),
            None => return Err(format!("Cannot read YAML: line {line}: a second document.")),
            Some(Open::Array(values)) => values.push(done),
            Some(Open::Object(members, key)) => match (key.take(), done) {
                (None, Json::String(name)) => *key = Some(name),
                (Some(name), value) => {
                    if members.insert(name.clone(), value).is_some() {
                        return Err(format!(
                            "Cannot read YAML: line {line}: \"{name}\" stands twice."
                        ));
                    }
                }
                (None, _) => {
                    return Err(format!("Cannot read YAML: line {line}: a name is expected."));
                }
            },
        }
    }
    root.ok_or_else(|| "Cannot read YAML: the text is empty.".to_owned())
}

pub(super) fn write(tree: &Json) -> String {
    let mut out = String::new();
    block(tree, 0, &mut out);
    out
}

/// An object or array in block style, each line indented by two spaces a level.
fn block(node: &Json, level: usize, out: &mut String) {
    match node {
        Json::Object(members) => {
            for (name, value) in members {
                pad(level, out);
                member(name, value, level, out);
            }
        }
        Json::Array(values) => {
            for value in values {
                pad(level, out);
                out.push_str("- ");
                match value {
                    Json::Object(members) if !members.is_empty() => {
                        for (n, (name, value)) in members.iter().enumerate() {
                            if n > 0 {
                                pad(level + 1, out);
                            }
                            member(name, value, level + 1, out);
                        }
                    }
                    Json::Object(_) => out.push_str("{  }\n"),
                    other => scalar(other, level, out),
                }
            }
        }
        other => scalar(other, level, out),
    }
}

fn member(name: &str, value: &Json, level: usize, out: &mut String) {
    // Names are plain words; but `y`, of positions, is a truth value to old readers.
    if plain(name) {
        out.push_str(name);
    } else {
        let _ = write!(out, "'{}'", name.replace('\'', "''"));
    }
    out.push(':');
    match value {
        Json::Object(members) if !members.is_empty() => {
            out.push('\n');
            block(value, level + 1, out);
        }
        Json::Array(values) if !values.is_empty() => {
            out.push('\n');
            block(value, level + 1, out);
        }
        Json::Object(_) => out.push_str(" {  }\n"),
        Json::Array(_) => out.push_str(" {  }\n"),
        other => {
            out.push(' ');
            scalar(other, level, out);
        }
    }
}

fn pad(level: usize, out: &mut String) {
    for _ in 0..level {
        out.push_str("  ");
    }
}

fn scalar(value: &Json, level: usize, out: &mut String) {
    let text = value.as_str().unwrap_or("");
    if literal(text) {
        let body = text.trim_end_matches('\n');
        let keep = if text.len() == body.len() { "" } else { "+" };
        let _ = writeln!(out, "|{keep}");
        for line in body.split('\n') {
            // Empty lines too, as the reference writes them.
            pad(level + 1, out);
            out.push_str(line);
            out.push('\n');
        }
        for _ in body.len()..text.len() {
            pad(level + 1, out);
            out.push('\n');
        }
    } else if plain(text) {
        out.push_str(text);
        out.push('\n');
    } else if text.chars().any(|c| c.is_control()) {
        // JSON's escapes are YAML's in double quotes. A reader takes one line end off, and other
        // readers find the line end that a block of several lines would have.
        let end = if text.contains('\n') { "\n" } else { "" };
        let _ = writeln!(out, "{}", Json::String(format!("{text}{end}")));
    } else {
        let _ = writeln!(out, "'{}'", text.replace('\'', "''"));
    }
}

/// Fit for a block literal: several lines, nothing that the indentation would hide.
fn literal(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    body.contains('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// May stand without quotes and still read as a text everywhere; so writes the reference.
fn plain(text: &str) -> bool {
    const INSIDE: &str = "'\":{}[],&*#?";
    const FIRST: &str = "-|<>=!%@`";
    const WORDS: [&str; 10] = ["null", "~", "true", "false", "y", "n", "yes", "no", "on", "off"];
    !text.is_empty()
        && !text.starts_with(|c| FIRST.contains(c))
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || INSIDE.contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
        && !number_like(text)
}

/// Some reader takes it for a number or a date.
fn number_like(text: &str) -> bool {
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit() || c == '_');
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let date = text.get(..5).and_then(|year| year.strip_suffix('-')).is_some_and(digits);
    digits(text)
        || text.parse::<f64>().is_ok()
        || hexadecimal.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit() || c == '_'))
        || date
}
