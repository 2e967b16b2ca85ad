//! What objects become in the JSON-RPC API, and what they refer to.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value as Json;

use crate::reader::Reader;
use crate::{Kind, Members, Result};

/// An object that a reference names.
#[derive(Debug, Clone)]
pub struct Target {
    /// Id in the JSON-RPC API; `None`: the object is a profile or incomplete.
    pub id: Option<u64>,
    /// A profile, with references in the form `/api/TYPE/UUID`; other objects are their ids alone.
    pub document: Rc<Members>,
}

/// What an object refers to, directly and through its profiles.
#[derive(Debug, Default)]
pub struct Targets {
    /// By reference in the form `/api/TYPE/UUID`.
    pub by_reference: HashMap<String, Target>,
    /// Engine group of services that name none.
    pub engine_group: Option<u64>,
    /// VIP of services that have no `vsvip_ref`.
    pub vip: Option<u64>,
}

impl Targets {
    pub(crate) fn of(&self, reader: &Reader<'_>, name: &str) -> Result<Option<&Target>> {
        let reference = reader.text(name)?;
        Ok(reference.and_then(|reference| self.by_reference.get(reference)))
    }
}

/// What an object is in the JSON-RPC API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Nothing yet, because of what it lacks.
    Incomplete(&'static str),
    /// Nothing: it applies to those that refer to it.
    Profile,
    /// Parameters of `create`. Only a virtual service with several ports is more than one object.
    Objects(Vec<Members>),
}

/// Makes the reference to an object by its type and id, in the form `/api/TYPE/UUID`.
pub type Name<'a> = dyn FnMut(Kind, u64) -> String + 'a;

/// The members of an object literal; empty texts are left out.
pub(crate) fn members_of(value: Json) -> Members {
    let Json::Object(mut members) = value else { return Members::new() };
    members.retain(|_, value| !value.is_null() && value != "");
    members
}

/// A number of a `get`, where numbers are texts.
pub(crate) fn number(value: &Json) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0)
}
