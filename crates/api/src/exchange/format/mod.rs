//! The three text forms of an export and the tree behind them: objects, arrays and texts, never
//! numbers, so that `1.10` and `"YES"` stay what they are.

mod xml;
mod yaml;

use serde_json::json;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::params;

/// A text form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Yaml,
    Xml,
    Json,
    /// The tree itself; for export only.
    Raw,
}

/// Nesting of an import that is followed; real ones reach 12.
const DEPTH_MAX: usize = 64;

impl Format {
    /// By its name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "yaml" => Self::Yaml,
            "xml" => Self::Xml,
            "json" => Self::Json,
            "raw" => Self::Raw,
            _ => return None,
        })
    }

    /// The option `format`.
    pub(super) fn read(input: &Json, raw: bool) -> ApiResult<Self> {
        let value = input
            .get("format")
            .ok_or_else(|| ApiError::at("/", "the parameter \"format\" is missing"))?;
        match Self::named(&params::text(value, "/format")?) {
            Some(format) if raw || format != Self::Raw => Ok(format),
            _ => {
                let known = if raw { ", \"raw\"" } else { "" };
                let text = format!("value must be one of \"yaml\", \"xml\", \"json\"{known}");
                Err(ApiError::at("/format", text))
            }
        }
    }

    /// Text to tree.
    pub(super) fn parse(self, source: &str) -> ApiResult<Json> {
        let tree = match self {
            Self::Yaml => yaml::parse(source),
            Self::Xml => xml::parse(source),
            Self::Json | Self::Raw => serde_json::from_str(source)
                .map_err(|error| format!("Cannot read JSON: {error}."))
                .map(texts),
        };
        tree.map_err(ApiError::application)
    }

    /// Tree to the answer of an export.
    pub(super) fn write(self, tree: &Json, pretty: bool) -> Json {
        match self {
            Self::Yaml => yaml::write(tree).into(),
            Self::Xml => xml::write(tree, pretty).into(),
            Self::Json if pretty => {
                let mut out = Vec::new();
                let indent = serde_json::ser::PrettyFormatter::with_indent(b"    ");
                let mut to = serde_json::Serializer::with_formatter(&mut out, indent);
                match serde::Serialize::serialize(tree, &mut to) {
                    Ok(()) => String::from_utf8_lossy(&out).into_owned().into(),
                    Err(_) => json!(tree.to_string()),
                }
            }
            Self::Json => tree.to_string().into(),
            Self::Raw => tree.clone(),
        }
    }
}

/// Numbers and flags of hand-written JSON as texts.
fn texts(tree: Json) -> Json {
    match tree {
        Json::Object(members) => members.into_iter().map(|(k, v)| (k, texts(v))).collect(),
        Json::Array(values) => values.into_iter().map(texts).collect(),
        Json::Number(n) => n.to_string().into(),
        Json::Bool(true) => "YES".into(),
        Json::Bool(false) => "NO".into(),
        Json::Null => "".into(),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let tree = json!({ "zabbix_export": {
            "version": "7.0",
            "template_groups": [{ "name": "A/B" }],
            "templates": [{
                "template": "x: y", "description": "two\n\nlines ending\n", "name": "'quoted' \"twice\"",
                "items": [
                    { "key": "=", "units": "!%", "params": "  indented\nfirst line", "status": "YES" },
                    { "key": "tab\there", "params": "trailing space \nx", "delay": "1m;wd1-5h9" },
                    { "key": "\u{1f600} <&>", "parameters": ["", "0x10", "null", "- a", "# no"] },
                ],
                "tags": [{ "tag": "a", "value": "" }, { "tag": "CO₂", "value": "2026-01" }],
            }],
        } });
        for format in [Format::Yaml, Format::Json, Format::Xml] {
            let text = format.write(&tree, false);
            let back = format.parse(text.as_str().unwrap()).unwrap();
            assert_eq!(back, tree, "{format:?}: {text}");
        }
    }

    #[test]
    fn hostile_texts_are_refused() {
        let deep = "[".repeat(100_000);
        let bomb = "a: &a [x, x]\nb: [*a, *a]\n";
        for (format, text) in [
            (Format::Yaml, deep.as_str()),
            (Format::Yaml, bomb),
            (Format::Yaml, "not: [valid"),
            (Format::Json, deep.as_str()),
            (Format::Xml, "<a><b></a>"),
            (Format::Xml, "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"),
        ] {
            assert_eq!(format.parse(text).unwrap_err().code, -32500, "{format:?}");
        }
    }
}
