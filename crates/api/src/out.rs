//! Members of a row's output.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Map;

use crate::answer::{push_json, push_number, push_text, separate};
use crate::call::Json;

/// A member's value, in the cheapest form that it came in.
#[derive(Debug)]
enum Member {
    Int(i64),
    Json(Json),
    /// JSON text, of related objects.
    Text(Vec<u8>),
    /// JSON text, where it is in [`Out::written`].
    Written(Range<usize>),
}

impl Member {
    fn write(&self, written: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Int(v) => push_number(out, *v),
            Self::Json(value) => push_json(out, value),
            Self::Text(text) => out.extend_from_slice(text),
            Self::Written(at) => out.extend_from_slice(&written[at.clone()]),
        }
    }

    fn into_json(self, written: &[u8]) -> Json {
        let parse = |text| serde_json::from_slice(text).expect("BUG: JSON of our own");
        match self {
            Self::Int(v) => Json::String(v.to_string()),
            Self::Json(value) => value,
            Self::Text(text) => parse(&text),
            Self::Written(at) => parse(&written[at]),
        }
    }

    fn as_json(&mut self, written: &[u8]) -> &mut Json {
        if !matches!(self, Self::Json(_)) {
            *self = Self::Json(std::mem::replace(self, Self::Int(0)).into_json(written));
        }
        match self {
            Self::Json(value) => value,
            _ => unreachable!("BUG: it was made JSON above"),
        }
    }
}

/// An object of few members, in their order.
#[derive(Debug, Default)]
pub(crate) struct Out {
    members: Vec<(Cow<'static, str>, Member)>,
    /// Texts of the row: one block of memory for all.
    written: Vec<u8>,
}

impl Out {
    pub(crate) fn with_capacity(members: usize) -> Self {
        Self { members: Vec::with_capacity(members), written: Vec::new() }
    }

    fn put(&mut self, name: Cow<'static, str>, value: Member) {
        match self.members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.members.push((name, value)),
        }
    }

    /// A new member with a number, which goes out as text.
    pub(crate) fn push_int(&mut self, name: &'static str, value: i64) {
        self.members.push((Cow::Borrowed(name), Member::Int(value)));
    }

    /// A new member with a text.
    pub(crate) fn push_text(&mut self, name: &'static str, value: &str) {
        let start = self.written.len();
        push_text(&mut self.written, value);
        let at = start..self.written.len();
        self.members.push((Cow::Borrowed(name), Member::Written(at)));
    }

    /// A new member.
    pub(crate) fn push(&mut self, name: &'static str, value: Json) {
        self.members.push((Cow::Borrowed(name), Member::Json(value)));
    }

    /// Sets a member.
    pub(crate) fn insert(&mut self, name: impl Into<Cow<'static, str>>, value: Json) {
        self.put(name.into(), Member::Json(value));
    }

    /// Sets a member to JSON text.
    pub(crate) fn insert_text(&mut self, name: &'static str, json: Vec<u8>) {
        self.put(Cow::Borrowed(name), Member::Text(json));
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// A member's value, to change it.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let Self { members, written } = self;
        let member = members.iter_mut().find(|(known, _)| known == name);
        member.map(|(_, value)| value.as_json(written))
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.retain(|known| known != name);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.members.retain(|(name, _)| keep(name));
    }

    /// Shows all members that are more than numbers to `change`; of texts of the row those of these names.
    pub(crate) fn each(&mut self, texts: &[&str], change: impl Fn(&str, &mut Json)) {
        let Self { members, written } = self;
        for (name, value) in members {
            match value {
                Member::Int(_) => {}
                Member::Written(_) if !texts.contains(&&**name) => {}
                _ => change(name, value.as_json(written)),
            }
        }
    }

    /// Appends it as JSON text.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (n, (name, value)) in self.members.iter().enumerate() {
            separate(out, n);
            push_text(out, name);
            out.push(b':');
            value.write(&self.written, out);
        }
        out.push(b'}');
    }

    pub(crate) fn into_json(self) -> Json {
        let Self { members, written } = self;
        let members =
            members.into_iter().map(|(name, value)| (name.into_owned(), value.into_json(&written)));
        Json::Object(members.collect::<Map<_, _>>())
    }
}

/// An empty result with `preservekeys` is an array, as clients of PHP's making expect.
pub(crate) fn keyed(rows: Map<String, Json>) -> Json {
    if rows.is_empty() { Json::Array(Vec::new()) } else { Json::Object(rows) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_of_all_forms_are_the_same_as_text_and_as_json() {
        let mut out = Out::with_capacity(4);
        out.push_int("n", -5);
        out.push("name", json!("a\"b"));
        out.push_text("key", "c\"d");
        out.push_text("unit", "\n%");
        out.insert_text("hosts", br#"[{"hostid":"1"}]"#.to_vec());
        out.insert("name", json!("changed"));
        out.insert("gone", json!(1));
        out.remove("gone");
        let list = out.get_mut("hosts").and_then(Json::as_array_mut).unwrap();
        list.push(json!({}));
        *out.get_mut("n").unwrap() = json!("6");
        assert_eq!(*out.get_mut("unit").unwrap(), json!("\n%"));
        let mut text = Vec::new();
        out.write(&mut text);
        let expected =
            r#"{"n":"6","name":"changed","key":"c\"d","unit":"\n%","hosts":[{"hostid":"1"},{}]}"#;
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!(out.into_json().to_string(), expected);
    }
}
