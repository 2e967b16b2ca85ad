//! XML to JSON: attributes as `@name`, text beside them as `#text`, repeated elements as
//! arrays, empty elements as null.

use crate::json::write_string;
use crate::xpath::dom::{Document, NodeId, NodeKind};

/// The document's root element as a JSON object.
pub(crate) fn xml_to_json(text: &str) -> Result<String, String> {
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    let root = document.root_element().ok_or("the document is empty")?;
    let mut out = String::from("{");
    write_string(&mut out, document.name(root));
    out.push(':');
    write_element(&document, root, &mut out);
    out.push('}');
    Ok(out)
}

/// The depth is bounded by the document's.
fn write_element(document: &Document, element: NodeId, out: &mut String) {
    let attributes = document.attributes(element);
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
    let mut first = true;
    let mut name = |out: &mut String, name: &str| {
        out.push(if std::mem::take(&mut first) { '{' } else { ',' });
        write_string(out, name);
        out.push(':');
    };
    for (attribute, value) in attributes {
        name(out, &format!("@{attribute}"));
        write_string(out, value);
    }
    // Text between elements has no place in an object.
    if children.is_empty() && !text.is_empty() {
        name(out, "#text");
        write_string(out, &text);
    }
    let mut seen: Vec<&str> = Vec::new();
    for child in &children {
        let child_name = document.name(*child);
        if seen.contains(&child_name) {
            continue;
        }
        seen.push(child_name);
        name(out, child_name);
        let same: Vec<NodeId> =
            children.iter().copied().filter(|c| document.name(*c) == child_name).collect();
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
    out.push('}');
}
