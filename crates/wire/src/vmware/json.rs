//! An element as JSON, in the form in which the field's servers convert XML.

use serde_json::{Map, Value};

use super::Node;

impl Node {
    /// The element's content: a text, null where there is none, else an object whose repeated
    /// members are lists. Types are the member `@type`. The depth is bounded by the document's.
    pub fn to_json(&self) -> Value {
        if self.children.is_empty() && self.kind.is_empty() {
            return match &*self.text {
                "" => Value::Null,
                text => Value::from(text),
            };
        }
        let mut members = Map::new();
        if !self.kind.is_empty() {
            members.insert("@type".to_owned(), Value::from(&*self.kind));
        }
        if self.children.is_empty() && !self.text.is_empty() {
            members.insert("#text".to_owned(), Value::from(&*self.text));
        }
        for child in &self.children {
            let value = child.to_json();
            match members.get_mut(&*child.name) {
                None => drop(members.insert(child.name.to_string(), value)),
                Some(Value::Array(list)) => list.push(value),
                Some(first) => *first = Value::Array(vec![first.take(), value]),
            }
        }
        Value::Object(members)
    }
}
