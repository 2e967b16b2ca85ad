//! An XML document as a flat list of nodes in document order.

use quick_xml::events::{BytesStart, Event};

use super::XpathError;

/// Deepest nesting of elements.
pub const DEPTH_MAX: usize = 256;

/// Nodes in one document.
pub const NODES_MAX: usize = 2_000_000;

/// Index of a node; 0 is the document.
pub(crate) type NodeId = usize;

/// Kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Root,
    Element,
    Text,
    /// A text that was written as `<![CDATA[…]]>`.
    CData,
    Comment,
}

impl NodeKind {
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::CData)
    }
}

#[derive(Debug)]
struct Node {
    kind: NodeKind,
    parent: NodeId,
    /// Behind the last node below this one.
    end: NodeId,
    /// Name of an element, content of a text.
    text: String,
    attributes: Vec<(String, String)>,
    /// An element with a prefix, or below a default namespace.
    in_namespace: bool,
}

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

fn broken(error: impl std::fmt::Display) -> XpathError {
    XpathError::Document(error.to_string())
}

impl Document {
    /// Parses a document with exactly one root element. Entities other than the predefined
    /// ones are refused, so nothing can expand.
    pub(crate) fn parse(text: &str) -> Result<Self, XpathError> {
        let mut reader = quick_xml::Reader::from_str(text.trim_start());
        let mut builder = Builder {
            document: Self { nodes: Vec::new() },
            open: Vec::new(),
            default_namespaces: Vec::new(),
        };
        builder.push(NodeKind::Root, String::new());
        builder.open.push(0);
        loop {
            match reader.read_event().map_err(broken)? {
                Event::Start(start) => {
                    builder.element(&start)?;
                    if builder.open.len() > DEPTH_MAX {
                        return Err(broken("elements are nested too deeply"));
                    }
                }
                Event::Empty(start) => {
                    builder.element(&start)?;
                    builder.close();
                }
                Event::End(_) => builder.close(),
                Event::Text(text) => builder.text(&text.xml10_content()),
                Event::CData(text) => {
                    builder.push(NodeKind::CData, text.xml10_content().into_owned());
                }
                Event::GeneralRef(entity) => {
                    let c = match entity.resolve_char_ref().map_err(broken)? {
                        Some(c) => c.to_string(),
                        None => {
                            quick_xml::escape::resolve_predefined_entity(&entity.xml10_content())
                                .ok_or_else(|| broken("unknown entity"))?
                                .to_owned()
                        }
                    };
                    builder.text(&c);
                }
                Event::Comment(comment) => {
                    builder.push(NodeKind::Comment, comment.xml10_content().into_owned());
                }
                Event::Eof => break,
                _ => {}
            }
            if builder.document.nodes.len() > NODES_MAX {
                return Err(broken("the document is too large"));
            }
        }
        builder.finish()
    }

    pub(crate) fn root_element(&self) -> Option<NodeId> {
        self.children(0).find(|n| self.kind(*n) == NodeKind::Element)
    }

    pub(crate) fn kind(&self, node: NodeId) -> NodeKind {
        self.nodes[node].kind
    }

    pub(crate) fn name(&self, node: NodeId) -> &str {
        match self.nodes[node].kind {
            NodeKind::Element => &self.nodes[node].text,
            _ => "",
        }
    }

    pub(crate) fn attributes(&self, node: NodeId) -> &[(String, String)] {
        &self.nodes[node].attributes
    }

    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node > 0).then(|| self.nodes[node].parent)
    }

    /// Nodes below a node, in document order.
    pub(crate) fn descendants(&self, node: NodeId) -> std::ops::Range<NodeId> {
        node + 1..self.nodes[node].end
    }

    /// Behind the last node below this one.
    pub(crate) fn end(&self, node: NodeId) -> NodeId {
        self.nodes[node].end
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.nodes[node].end;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let current = next;
            (current < end).then(|| {
                next = self.nodes[current].end;
                current
            })
        })
    }

    /// The string value of XPath.
    pub(crate) fn string_value(&self, node: NodeId) -> String {
        match self.nodes[node].kind {
            NodeKind::Text | NodeKind::CData | NodeKind::Comment => self.nodes[node].text.clone(),
            _ => self
                .descendants(node)
                .filter(|n| self.kind(*n).is_text())
                .map(|n| self.nodes[n].text.as_str())
                .collect(),
        }
    }

    /// Text directly inside an element.
    pub(crate) fn text_of_children(&self, node: NodeId) -> String {
        let texts = self.children(node).filter(|n| self.kind(*n).is_text());
        texts.map(|n| self.nodes[n].text.as_str()).collect()
    }

    /// The element's name has a namespace: paths, which know none, do not find it by name.
    pub(crate) fn in_namespace(&self, node: NodeId) -> bool {
        self.nodes[node].in_namespace
    }

    /// Appends an attribute as XML, with the blank before it.
    pub(crate) fn write_attribute(&self, node: NodeId, index: usize, out: &mut String) {
        let (name, value) = &self.attributes(node)[index];
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value, true);
        out.push('"');
    }

    /// Appends a node as XML; the depth is bounded by [`DEPTH_MAX`].
    pub(crate) fn write(&self, node: NodeId, out: &mut String) {
        match self.nodes[node].kind {
            NodeKind::Text => escape(out, &self.nodes[node].text, false),
            NodeKind::Comment => {
                out.push_str("<!--");
                out.push_str(&self.nodes[node].text);
                out.push_str("-->");
            }
            NodeKind::CData => {
                out.push_str("<![CDATA[");
                out.push_str(&self.nodes[node].text);
                out.push_str("]]>");
            }
            NodeKind::Root => {
                out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
                for child in self.children(node).filter(|n| !self.kind(*n).is_text()) {
                    self.write(child, out);
                    out.push('\n');
                }
            }
            NodeKind::Element => {
                out.push('<');
                out.push_str(self.name(node));
                for index in 0..self.attributes(node).len() {
                    self.write_attribute(node, index, out);
                }
                if self.descendants(node).is_empty() {
                    out.push_str("/>");
                    return;
                }
                out.push('>');
                self.children(node).for_each(|n| self.write(n, out));
                out.push_str("</");
                out.push_str(self.name(node));
                out.push('>');
            }
        }
    }
}

/// Appends text with markup escaped.
pub(crate) fn escape(out: &mut String, text: &str, quotes: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if quotes => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

struct Builder {
    document: Document,
    open: Vec<NodeId>,
    /// Whether a default namespace holds, for each open element.
    default_namespaces: Vec<bool>,
}

impl Builder {
    fn push(&mut self, kind: NodeKind, text: String) -> NodeId {
        let id = self.document.nodes.len();
        let parent = self.open.last().copied().unwrap_or(0);
        let (end, attributes) = (id + 1, Vec::new());
        let node = Node { kind, parent, end, text, attributes, in_namespace: false };
        self.document.nodes.push(node);
        id
    }

    fn element(&mut self, start: &BytesStart<'_>) -> Result<(), XpathError> {
        let id = self.push(NodeKind::Element, start.name().0.to_owned());
        for attribute in start.attributes() {
            let attribute = attribute.map_err(broken)?;
            let value = attribute
                .normalized_value(quick_xml::XmlVersion::default())
                .map_err(broken)?
                .into_owned();
            self.document.nodes[id].attributes.push((attribute.key.0.to_owned(), value));
        }
        let nodes = &self.document.nodes;
        let prefixed = nodes[id].text.contains(':');
        let default = nodes[id].attributes.iter().find(|(name, _)| name == "xmlns");
        let inherited = self.default_namespaces.last().copied().unwrap_or(false);
        let default = default.map_or(inherited, |(_, uri)| !uri.is_empty());
        self.document.nodes[id].in_namespace = prefixed || default;
        self.default_namespaces.push(default);
        self.open.push(id);
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let parent = self.open.last().copied().unwrap_or(0);
        match self.document.nodes.last_mut() {
            // Neighbouring texts, character data and entities are one node.
            Some(last) if last.kind == NodeKind::Text && last.parent == parent => {
                last.text.push_str(text);
            }
            _ => {
                self.push(NodeKind::Text, text.to_owned());
            }
        }
    }

    fn close(&mut self) {
        let end = self.document.nodes.len();
        // The reader has checked that tags match; the document itself stays open.
        if self.open.len() > 1
            && let Some(id) = self.open.pop()
        {
            self.document.nodes[id].end = end;
            self.default_namespaces.pop();
        }
    }

    fn finish(mut self) -> Result<Document, XpathError> {
        if self.open.len() > 1 {
            return Err(broken("an element is not closed"));
        }
        let end = self.document.nodes.len();
        self.document.nodes[0].end = end;
        let document = self.document;
        let mut elements = 0;
        for child in document.children(0) {
            match document.kind(child) {
                NodeKind::Element => elements += 1,
                kind if kind.is_text() && !document.string_value(child).trim().is_empty() => {
                    return Err(broken("text outside of the root element"));
                }
                _ => {}
            }
        }
        if elements == 1 { Ok(document) } else { Err(broken("there must be one root element")) }
    }
}
