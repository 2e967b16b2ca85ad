//! XML to JSON and back: attributes as `@name`, text beside them as `#text`, repeated elements as
//! arrays, empty elements as null. Names lose their namespace prefixes.

use crate::json::{self, Json, write_string};
use crate::xpath::dom::{self, Document, NodeId, NodeKind};

/// The document's root element as a JSON object.
pub(crate) fn xml_to_json(text: &str) -> Result<String, String> {
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    let root = document.root_element().ok_or("the document is empty")?;
    let mut out = String::from("{");
    write_string(&mut out, local(document.name(root)));
    out.push(':');
    write_element(&document, root, &mut out);
    out.push('}');
    Ok(out)
}

/// The depth is bounded by the document's.
fn write_element(document: &Document, element: NodeId, out: &mut String) {
    let declares = |name: &str| name == "xmlns" || name.starts_with("xmlns:");
    let attributes: Vec<&(String, String)> =
        document.attributes(element).iter().filter(|(name, _)| !declares(name)).collect();
    let children: Vec<NodeId> =
        document.children(element).filter(|c| document.kind(*c) == NodeKind::Element).collect();
    let text = document.text_of_children(element);
    if attributes.is_empty() && children.is_empty() {
        if text.is_empty() {
            out.push_str("null");
        } else {
            write_string(out, &text);
        }
        return;
    }
    let has_attributes = !attributes.is_empty();
    let mut first = true;
    let mut name = |out: &mut String, name: &str| {
        out.push(if std::mem::take(&mut first) { '{' } else { ',' });
        write_string(out, name);
        out.push(':');
    };
    for (attribute, value) in attributes {
        name(out, &format!("@{}", local(attribute)));
        write_string(out, value);
    }
    if children.is_empty() && !text.is_empty() {
        name(out, "#text");
        write_string(out, &text);
    }
    let mut seen: Vec<&str> = Vec::new();
    for child in &children {
        let child_name = local(document.name(*child));
        if seen.contains(&child_name) {
            continue;
        }
        seen.push(child_name);
        name(out, child_name);
        let same: Vec<NodeId> =
            children.iter().copied().filter(|c| local(document.name(*c)) == child_name).collect();
        if let [only] = same[..] {
            write_element(document, only, out);
            continue;
        }
        for (i, element) in same.into_iter().enumerate() {
            out.push(if i == 0 { '[' } else { ',' });
            write_element(document, element, out);
        }
        out.push(']');
    }
    if let Some(text) = text_behind(document, element, &seen) {
        name(out, if has_attributes { "#text" } else { local(document.name(element)) });
        write_string(out, &text);
    }
    out.push('}');
}

/// Text behind the first element of each name: the last one is kept, under the name of the element
/// around it. Text before or between them has no place in an object.
fn text_behind(document: &Document, element: NodeId, names: &[&str]) -> Option<String> {
    let mut waiting = names.to_vec();
    let mut found = None;
    for child in document.children(element) {
        if document.kind(child) == NodeKind::Element {
            waiting.retain(|name| *name != local(document.name(child)));
        } else if document.kind(child).is_text() {
            let text = document.string_value(child);
            if text.trim().is_empty() {
                continue;
            }
            if !waiting.is_empty() {
                return None;
            }
            found = Some(text);
        }
    }
    found.filter(|_| !names.is_empty())
}

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// The first member of a JSON object as an XML document; a list has no name and gives none.
pub(crate) fn json_to_xml(text: &str) -> Result<String, String> {
    let parsed = json::parse_container(text);
    let document = parsed.map_err(|e| format!("cannot parse as a valid JSON object: {e}"))?;
    let mut out = String::from("<?xml version=\"1.0\"?>\n");
    if let Json::Object(members) = &document
        && let Some((name, value)) = members.first()
        && !matches!(value, Json::Array(_))
    {
        write_xml(name, value, &mut out);
        out.push('\n');
    }
    Ok(out)
}

/// The depth is bounded by the document's.
fn write_xml(name: &str, value: &Json<'_>, out: &mut String) {
    let start = out.len();
    out.push('<');
    out.push_str(name);
    let head = out.len();
    match value {
        Json::Array(elements) => {
            out.truncate(start);
            elements.iter().for_each(|element| write_xml(name, element, out));
            return;
        }
        Json::Object(members) => {
            for (member, value) in members {
                if let Some(attribute) = member.strip_prefix('@') {
                    out.push(' ');
                    out.push_str(attribute);
                    out.push_str("=\"");
                    dom::escape(out, &value.to_plain(), true);
                    out.push('"');
                }
            }
            out.push('>');
            let body = out.len();
            match value.get("#text") {
                Some(text) => dom::escape(out, &text.to_plain(), false),
                None => members
                    .iter()
                    .filter(|(member, _)| !member.starts_with('@'))
                    .for_each(|(member, value)| write_xml(member, value, out)),
            }
            if out.len() == body {
                out.truncate(body - 1);
                out.push_str("/>");
                return;
            }
        }
        Json::Null => {}
        scalar => {
            out.push('>');
            dom::escape(out, &scalar.to_plain(), false);
        }
    }
    if out.len() == head || out.ends_with('>') && out.len() == head + 1 {
        out.truncate(head);
        out.push_str("/>");
        return;
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}
