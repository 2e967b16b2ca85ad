//! Members of a row's output.

use std::borrow::Cow;

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
}

impl Member {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int(v) => push_number(out, *v),
            Self::Json(value) => push_json(out, value),
            Self::Text(text) => out.extend_from_slice(text),
        }
    }

    fn into_json(self) -> Json {
        match self {
            Self::Int(v) => Json::String(v.to_string()),
            Self::Json(value) => value,
            Self::Text(text) => serde_json::from_slice(&text).expect("BUG: JSON of our own"),
        }
    }

    fn as_json(&mut self) -> &mut Json {
        if !matches!(self, Self::Json(_)) {
            *self = Self::Json(std::mem::replace(self, Self::Int(0)).into_json());
        }
        match self {
            Self::Json(value) => value,
            _ => unreachable!("BUG: it was made JSON above"),
        }
    }
}

/// An object of few members, in their order.
#[derive(Debug, Default)]
pub(crate) struct Out(Vec<(Cow<'static, str>, Member)>);

impl Out {
    pub(crate) fn with_capacity(members: usize) -> Self {
        Self(Vec::with_capacity(members))
    }

    fn put(&mut self, name: Cow<'static, str>, value: Member) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// A new member with a number, which goes out as text.
    pub(crate) fn push_int(&mut self, name: &'static str, value: i64) {
        self.0.push((Cow::Borrowed(name), Member::Int(value)));
    }

    /// A new member.
    pub(crate) fn push(&mut self, name: &'static str, value: Json) {
        self.0.push((Cow::Borrowed(name), Member::Json(value)));
    }

    /// Sets a member.
    pub(crate) fn insert(&mut self, name: impl Into<Cow<'static, str>>, value: Json) {
        self.put(name.into(), Member::Json(value));
    }

    /// Sets a member to a number, which goes out as text.
    pub(crate) fn insert_int(&mut self, name: &'static str, value: i64) {
        self.put(Cow::Borrowed(name), Member::Int(value));
    }

    /// Sets a member to JSON text.
    pub(crate) fn insert_text(&mut self, name: &'static str, json: Vec<u8>) {
        self.put(Cow::Borrowed(name), Member::Text(json));
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// A member's value, to change it.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let member = self.0.iter_mut().find(|(known, _)| known == name);
        member.map(|(_, value)| value.as_json())
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.retain(|known| known != name);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }

    /// Shows all members that are more than numbers to `change`.
    pub(crate) fn each(&mut self, change: impl Fn(&str, &mut Json)) {
        for (name, value) in &mut self.0 {
            if !matches!(value, Member::Int(_)) {
                change(name, value.as_json());
            }
        }
    }

    /// Appends it as JSON text.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (n, (name, value)) in self.0.iter().enumerate() {
            separate(out, n);
            push_text(out, name);
            out.push(b':');
            value.write(out);
        }
        out.push(b'}');
    }

    pub(crate) fn into_json(self) -> Json {
        let members = self.0.into_iter();
        let members = members.map(|(name, value)| (name.into_owned(), value.into_json()));
        Json::Object(members.collect::<Map<_, _>>())
    }
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
        out.insert_text("hosts", br#"[{"hostid":"1"}]"#.to_vec());
        out.insert("name", json!("changed"));
        out.insert("gone", json!(1));
        out.remove("gone");
        let list = out.get_mut("hosts").and_then(Json::as_array_mut).unwrap();
        list.push(json!({}));
        *out.get_mut("n").unwrap() = json!("6");
        let mut text = Vec::new();
        out.write(&mut text);
        let expected = r#"{"n":"6","name":"changed","hosts":[{"hostid":"1"},{}]}"#;
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!(out.into_json().to_string(), expected);
    }
}
