//! Objects with the properties that were asked for.

use std::collections::BTreeMap;

use super::{Node, Reference};

/// An object and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// Which one.
    pub reference: Reference,
    /// Values by the paths that were asked for; what is not set is not there.
    pub properties: BTreeMap<Box<str>, Node>,
}

impl Object {
    /// The value at a path: a property, or a part of one.
    pub fn at(&self, path: &str) -> Option<&Node> {
        if let Some(node) = self.properties.get(path) {
            return Some(node);
        }
        let ends = path.match_indices('.').map(|(at, _)| at).rev();
        ends.into_iter().find_map(|end| self.properties.get(&path[..end])?.at(&path[end + 1..]))
    }

    /// The text at a path; an empty one where there is none.
    pub fn text(&self, path: &str) -> &str {
        self.at(path).map_or("", |node| &node.text)
    }

    /// The object that a property names.
    pub fn reference(&self, path: &str) -> Option<Reference> {
        self.at(path).map(Reference::of)
    }

    /// The elements of a property that is a list.
    pub fn list(&self, path: &str) -> &[Node] {
        self.at(path).map_or(&[], |node| &node.children)
    }
}

/// One page of objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// In the service's order.
    pub objects: Vec<Object>,
    /// For the next page; `None` = this is the last.
    pub token: Option<String>,
}

impl Page {
    /// Reads the answer to a request for properties, or for more of them.
    pub fn parse(answer: Node) -> Self {
        let mut page = Self::default();
        let values = answer.children.into_iter().filter(|child| &*child.name == "returnval");
        for node in values.flat_map(|value| value.children) {
            match &*node.name {
                "token" => page.token = Some(node.text.into()),
                "objects" => page.objects.push(object(node)),
                _ => {}
            }
        }
        page
    }
}

fn object(node: Node) -> Object {
    let mut object = Object::default();
    for part in node.children {
        match &*part.name {
            "obj" => object.reference = Reference::of(&part),
            "propSet" => {
                let (mut name, mut value) = (None, None);
                for member in part.children {
                    match &*member.name {
                        "name" => name = Some(member.text),
                        "val" => value = Some(member),
                        _ => {}
                    }
                }
                if let (Some(name), Some(value)) = (name, value) {
                    object.properties.insert(name, value);
                }
            }
            _ => {}
        }
    }
    object
}
