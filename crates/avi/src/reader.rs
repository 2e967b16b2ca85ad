//! Reading of members with errors that name them.

use serde_json::Value as Json;

use crate::{Members, Refused, Result};

/// An object, and its place in the request.
pub(crate) struct Reader<'a> {
    pub(crate) members: &'a Members,
    path: String,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(members: &'a Members) -> Self {
        Self { members, path: String::new() }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(crate) fn refuse(&self, name: &str, reason: impl std::fmt::Display) -> Refused {
        Refused::at(&self.path(name), reason)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&'a Json> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// An empty text stands for none.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.value(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.refuse(name, "a text is expected")),
        }
    }

    pub(crate) fn required(&self, name: &str) -> Result<&'a str> {
        self.text(name)?.ok_or_else(|| self.refuse(name, "this member is required"))
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.value(name) {
            None => Ok(default),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(Json::String(text)) if text == "true" => Ok(true),
            Some(Json::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(self.refuse(name, "true or false is expected")),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>> {
        let number = match self.value(name) {
            None => return Ok(None),
            Some(Json::String(text)) if text.is_empty() => return Ok(None),
            Some(Json::String(text)) => text.parse().ok(),
            Some(value) => value.as_u64(),
        };
        number.map(Some).ok_or_else(|| self.refuse(name, "a number from 0 is expected"))
    }

    /// One of a list of words; the second of its pair is the result.
    pub(crate) fn word<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Result<Option<T>> {
        let Some(word) = self.text(name)? else { return Ok(None) };
        let found = known.iter().find(|(one, _)| *one == word);
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let words: Vec<_> = known.iter().map(|(word, _)| *word).collect();
            self.refuse(
                name,
                format_args!("Vedette does not have \"{word}\"; it has {}", words.join(", ")),
            )
        })
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&'a str>> {
        let text = |value: &'a Json| {
            value.as_str().ok_or_else(|| self.refuse(name, "a list of texts is expected"))
        };
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(Json::Array(values)) => values.iter().map(text).collect(),
            Some(_) => Err(self.refuse(name, "a list of texts is expected")),
        }
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>> {
        match self.value(name) {
            None => Ok(None),
            Some(Json::Object(members)) => Ok(Some(Self { members, path: self.path(name) })),
            Some(_) => Err(self.refuse(name, "an object is expected")),
        }
    }

    pub(crate) fn list(&self, name: &str) -> Result<Vec<Self>> {
        let values = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Json::Array(values)) => values,
            Some(_) => return Err(self.refuse(name, "a list of objects is expected")),
        };
        let one = |(n, value): (usize, &'a Json)| match value {
            Json::Object(members) => {
                Ok(Self { members, path: format!("{}[{n}]", self.path(name)) })
            }
            _ => Err(self.refuse(name, "a list of objects is expected")),
        };
        values.iter().enumerate().map(one).collect()
    }

    /// Refuses members other than these, unless they are empty.
    pub(crate) fn only(&self, known: &[&str]) -> Result<()> {
        let is_set = |value: &Json| match value {
            Json::Null | Json::Bool(false) => false,
            Json::String(text) => !text.is_empty(),
            Json::Array(values) => !values.is_empty(),
            Json::Object(members) => !members.is_empty(),
            _ => true,
        };
        let other = self
            .members
            .iter()
            .find(|(name, value)| !known.contains(&name.as_str()) && is_set(value));
        match other {
            None => Ok(()),
            Some((name, _)) => Err(self.refuse(
                name,
                format_args!("Vedette does not have this member; it has {}", known.join(", ")),
            )),
        }
    }
}
