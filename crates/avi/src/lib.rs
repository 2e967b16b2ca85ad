//! The load balancer's objects in the form of the Avi API (30.2): pure translation between JSON and JSON.
//!
//! A client's object is [checked](check), its references are brought to one form, and it is
//! [translated](translate) to parameters of the methods of the JSON-RPC API, such as `pool.create`. The other
//! way, [`show`] makes the object of Avi from the result of `pool.get`. `docs/avi.md` lists the members.
//!
//! Source of the names, the defaults and the behaviour: the published Terraform provider `vmware/avi`, the
//! Ansible collection `vmware.alb` 30.2.1 and the Python SDK `avisdk` 32.1.4.
#![forbid(unsafe_code)]

mod agree;
mod conditions;
mod engines;
mod group;
mod kind;
mod members;
mod merge;
mod monitor;
mod patch;
mod plan;
mod policies;
mod pool;
mod profiles;
mod reader;
mod reference;
mod service;
mod small;
mod translate;
mod uuid;

pub use agree::agrees;
pub use kind::{Kind, Vedette};
pub use members::{check, with_defaults};
pub use merge::{changes, pair};
pub use patch::patch;
pub use plan::{Name, Plan, Target, Targets};
pub use profiles::{BuiltIn, built_ins};
pub use reference::{Reference, each_reference, referred};
pub use service::further_name;
pub use translate::{show, translate};
pub use uuid::{Source, Uuid, version};

/// Members of a JSON object, in the order of the client.
pub type Members = serde_json::Map<String, serde_json::Value>;

/// A refused request: its HTTP status, and the text that tells the client what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// 400, 403, 404, 409 or 412.
    pub status: u16,
    /// Member and reason.
    pub text: String,
}

impl Refused {
    /// A member that cannot be used.
    #[must_use]
    pub fn at(path: &str, reason: impl std::fmt::Display) -> Self {
        Self { status: 400, text: format!("{path}: {reason}") }
    }
}

/// Result of the functions of this crate.
pub type Result<T> = std::result::Result<T, Refused>;

#[cfg(test)]
mod tests;
