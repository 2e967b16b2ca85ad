//! XML: a list is an element named in the plural whose children are named in the singular.

use quick_xml::Reader;
use quick_xml::escape::{escape, resolve_xml_entity};
use quick_xml::events::Event;
use serde_json::Map;

use super::DEPTH_MAX;
use crate::call::Json;

/// Elements that hold lists, with the name of their children. A name that means an object in
/// another place stands with its parent.
const LISTS: &[(&str, &str)] = &[
    ("template_groups", "template_group"),
    ("host_groups", "host_group"),
    ("hosts", "host"),
    ("templates", "template"),
    ("groups", "group"),
    ("items", "item"),
    ("triggers", "trigger"),
    ("graphs", "graph"),
    ("graph_items", "graph_item"),
    ("discovery_rules", "discovery_rule"),
    ("item_prototypes", "item_prototype"),
    ("trigger_prototypes", "trigger_prototype"),
    ("graph_prototypes", "graph_prototype"),
    ("host_prototypes", "host_prototype"),
    ("group_links", "group_link"),
    ("group_prototypes", "group_prototype"),
    ("macros", "macro"),
    ("tags", "tag"),
    ("valuemaps", "valuemap"),
    ("mappings", "mapping"),
    ("preprocessing", "step"),
    ("interfaces", "interface"),
    ("dependencies", "dependency"),
    ("conditions", "condition"),
    ("lld_macro_paths", "lld_macro_path"),
    ("overrides", "override"),
    ("operations", "operation"),
    ("dashboards", "dashboard"),
    ("pages", "page"),
    ("widgets", "widget"),
    ("fields", "field"),
    ("httptests", "httptest"),
    ("steps", "step"),
    ("query_fields", "query_field"),
    ("headers", "header"),
    ("variables", "variable"),
    ("posts", "post"),
    ("parameters", "parameter"),
    ("media_types", "media_type"),
    ("message_templates", "message_template"),
    ("images", "image"),
    ("maps", "map"),
    ("selements", "selement"),
    ("elements", "element"),
    ("shapes", "shape"),
    ("lines", "line"),
    ("links", "link"),
    ("linktriggers", "linktrigger"),
    ("urls", "url"),
];

fn child_of(list: &str) -> Option<&'static str> {
    LISTS.iter().find(|(name, _)| *name == list).map(|(_, child)| *child)
}

struct Open {
    name: String,
    text: String,
    children: Vec<(String, Json)>,
}

pub(super) fn parse(source: &str) -> Result<Json, String> {
    let mut reader = Reader::from_str(source);
    let mut open: Vec<Open> = Vec::new();
    let fail = |reader: &Reader<&[u8]>, what: &dyn std::fmt::Display| {
        format!("Cannot read XML: byte {}: {what}.", reader.buffer_position())
    };
    loop {
        let event = reader.read_event().map_err(|error| fail(&reader, &error))?;
        let done = match event {
            Event::Start(start) => {
                if open.len() >= DEPTH_MAX {
                    return Err(fail(&reader, &format!("nested deeper than {DEPTH_MAX}")));
                }
                let name = start.name().as_ref().to_owned();
                open.push(Open { name, text: String::new(), children: Vec::new() });
                continue;
            }
            Event::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                (name, Json::String(String::new()))
            }
            Event::Text(text) => {
                if let Some(open) = open.last_mut() {
                    open.text += &text;
                }
                continue;
            }
            Event::GeneralRef(reference) => {
                let known = match reference.resolve_char_ref() {
                    Ok(Some(c)) => Some(c.to_string()),
                    _ => resolve_xml_entity(&reference).map(str::to_owned),
                };
                let text =
                    known.ok_or_else(|| fail(&reader, &"an entity that XML does not have"))?;
                if let Some(open) = open.last_mut() {
                    open.text += &text;
                }
                continue;
            }
            Event::CData(data) => {
                if let Some(open) = open.last_mut() {
                    open.text += &data;
                }
                continue;
            }
            Event::End(_) => match open.pop() {
                Some(one) => close(one),
                None => return Err(fail(&reader, &"an end without a start")),
            },
            Event::DocType(_) => return Err(fail(&reader, &"a document type is not taken")),
            Event::Eof => return Err("Cannot read XML: the text ends too early.".to_owned()),
            _ => continue,
        };
        match open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => {
                let mut root = Map::new();
                root.insert(done.0, done.1);
                return Ok(Json::Object(root));
            }
        }
    }
}

fn close(one: Open) -> (String, Json) {
    let Open { name, text, children } = one;
    let value = match child_of(&name) {
        _ if children.is_empty() => {
            // Spaces between tags of an object without members mean nothing, in a text they do.
            Json::String(text)
        }
        Some(child) if children.iter().all(|(name, _)| name == child || numbered(name)) => {
            children.into_iter().map(|(_, value)| value).collect()
        }
        _ => Json::Object(children.into_iter().collect()),
    };
    (name, value)
}

/// Parameters of preprocessing steps are numbered in some versions: `<parameter>`, `<param_1>`.
fn numbered(name: &str) -> bool {
    name.strip_prefix("param_").is_some_and(|n| n.parse::<u8>().is_ok())
}

pub(super) fn write(tree: &Json, pretty: bool) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if let Json::Object(members) = tree {
        for (name, value) in members {
            element(name, value, if pretty { Some(0) } else { None }, &mut out);
        }
    }
    if !pretty {
        out.push('\n');
    }
    out
}

/// `level` = indentation of a pretty text.
fn element(name: &str, value: &Json, level: Option<usize>, out: &mut String) {
    let line = |level: Option<usize>, out: &mut String| {
        if let Some(level) = level {
            out.push_str(&"    ".repeat(level));
        }
    };
    let inner = level.map(|level| level + 1);
    line(level, out);
    let children: Vec<(&str, &Json)> = match value {
        Json::Object(members) => members.iter().map(|(k, v)| (k.as_str(), v)).collect(),
        Json::Array(values) => {
            let child = child_of(name).unwrap_or("item");
            values.iter().map(|value| (child, value)).collect()
        }
        _ => Vec::new(),
    };
    let text = value.as_str().unwrap_or("");
    if children.is_empty() && text.is_empty() {
        out.push_str(&format!("<{name}/>"));
    } else if children.is_empty() {
        // Carriage returns would be lost: parsers turn them into line feeds.
        let text = escape(text).replace('\r', "&#13;");
        out.push_str(&format!("<{name}>{text}</{name}>"));
    } else {
        out.push_str(&format!("<{name}>"));
        if level.is_some() {
            out.push('\n');
        }
        for (name, value) in children {
            element(name, value, inner, out);
        }
        line(level, out);
        out.push_str(&format!("</{name}>"));
    }
    if level.is_some() {
        out.push('\n');
    }
}
