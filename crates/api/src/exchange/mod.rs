//! `configuration.import`, `.importcompare` and `.export`: templates, hosts and their groups as
//! text, in the form of Zabbix 7.0.
//!
//! An import is a series of calls of the objects' own methods within one transaction, so that
//! its rules are theirs; an export writes what the methods' tables say. Parts that nothing
//! executes yet (graphs, dashboards, web scenarios, host prototypes) are kept as they came.

mod export;
mod format;
mod import;
#[cfg(test)]
mod tests;
mod words;

use crate::call::{Method, UserType};

pub(crate) const METHODS: &[Method] = &[
    Method { name: "configuration.import", lowest: Some(UserType::User), run: import::run },
    Method {
        name: "configuration.importcompare",
        lowest: Some(UserType::User),
        run: import::compare,
    },
    Method { name: "configuration.export", lowest: Some(UserType::User), run: export::run },
];
