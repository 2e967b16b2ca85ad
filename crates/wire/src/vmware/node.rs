//! An answer's XML as a tree. Names lose their prefixes: the service uses one namespace for all
//! that matters here.

use quick_xml::events::{BytesStart, Event};

use super::VmwareError;

/// Deepest nesting of elements.
pub const DEPTH_MAX: usize = 128;
/// Elements of one answer.
pub const NODES_MAX: usize = 4_000_000;

/// An element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Local name.
    pub name: Box<str>,
    /// Local name of `xsi:type`, of a reference its `type`; empty = none.
    pub kind: Box<str>,
    /// The text in it.
    pub text: Box<str>,
    /// The elements in it.
    pub children: Vec<Self>,
}

impl Node {
    /// Parses a document with exactly one root element. Only the predefined entities are known, so
    /// that nothing can expand.
    pub fn parse(text: &str) -> Result<Self, VmwareError> {
        let mut reader = quick_xml::Reader::from_str(text.trim_start());
        let mut builder = Builder::default();
        loop {
            match reader.read_event().map_err(|why| invalid(&why))? {
                Event::Start(start) => builder.open(&start)?,
                Event::Empty(start) => {
                    builder.open(&start)?;
                    builder.close()?;
                }
                Event::End(_) => builder.close()?,
                Event::Text(text) => builder.text(&text.xml10_content()),
                Event::CData(text) => builder.text(&text.xml10_content()),
                Event::GeneralRef(entity) => {
                    match entity.resolve_char_ref().map_err(|why| invalid(&why))? {
                        Some(c) => builder.text(c.encode_utf8(&mut [0; 4])),
                        None => {
                            let name = entity.xml10_content();
                            let known = quick_xml::escape::resolve_predefined_entity(&name);
                            builder.text(known.ok_or_else(|| invalid(&"unknown entity"))?);
                        }
                    }
                }
                Event::Eof => return builder.finish(),
                _ => {}
            }
        }
    }

    /// The first element of this name in it.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| &*child.name == name)
    }

    /// All elements of this name in it.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| &*child.name == name)
    }

    /// The element at a path of names with dots between them.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, name| node.child(name))
    }

    /// The text at a path; an empty one where there is none.
    pub fn text_at(&self, path: &str) -> &str {
        self.at(path).map_or("", |node| &node.text)
    }
}

fn invalid(why: &dyn std::fmt::Display) -> VmwareError {
    VmwareError::Invalid(why.to_string())
}

#[derive(Default)]
struct Builder {
    /// The elements that are open, with their texts.
    open: Vec<(Node, String)>,
    root: Option<Node>,
    count: usize,
}

impl Builder {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), VmwareError> {
        self.count += 1;
        if self.open.len() >= DEPTH_MAX || self.count > NODES_MAX {
            return Err(VmwareError::TooLarge);
        }
        if self.root.is_some() {
            return Err(invalid(&"more than one root element"));
        }
        let mut node = Node { name: local(start.name().0).into(), ..Node::default() };
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|why| invalid(&why))?;
            if local(attribute.key.0) != "type" {
                continue;
            }
            let value = attribute.normalized_value(quick_xml::XmlVersion::default());
            node.kind = local(&value.map_err(|why| invalid(&why))?).into();
            // A reference has both: what it refers to is in the one without a prefix.
            if attribute.key.0 == "type" {
                break;
            }
        }
        self.open.push((node, String::new()));
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if let Some((_, known)) = self.open.last_mut() {
            known.push_str(text);
        }
    }

    fn close(&mut self) -> Result<(), VmwareError> {
        let (mut node, text) = self.open.pop().ok_or_else(|| invalid(&"unexpected end"))?;
        // Between elements there is only what makes them readable for people.
        if node.children.is_empty() {
            node.text = text.into();
        }
        match self.open.last_mut() {
            Some((parent, _)) => parent.children.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn finish(self) -> Result<Node, VmwareError> {
        if !self.open.is_empty() {
            return Err(invalid(&"the document ends too early"));
        }
        self.root.ok_or_else(|| invalid(&"there is no element"))
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}
