//! Items, item prototypes and discovery rules.
//!
//! `fields` the field tables; `rules` which fields an item type has; `steps` and `lld` the nested
//! parts; `get` and `write` the methods, shared by all three objects.

pub(crate) mod fields;
mod get;
mod lld;
mod masters;
mod prototype;
mod references;
mod rule;
mod rules;
mod state;
mod steps;
mod write;

use config::Snapshot;

use crate::call::Method;

pub(crate) use fields::{ITEM, PROTOTYPE, RULE};
pub(crate) use get::{WITH_PROTOTYPES, hosts};
pub(crate) use lld::eval_formula;
pub(crate) use prototype::METHODS as PROTOTYPE_METHODS;
pub(crate) use rule::METHODS as RULE_METHODS;
pub(crate) use rules::{check_addresses, incorrect_address, is_macro};
pub(crate) use write::tags as read_tags;

use fields::Kind;

pub(crate) const METHODS: &[Method] = &[
    Method::user("item.get", |call, input| get::get(call, input, Kind::Item)),
    Method::admin("item.create", |call, input| write::create(call, input, Kind::Item)),
    Method::admin("item.update", |call, input| write::update(call, input, Kind::Item)),
    Method::admin("item.delete", |call, input| write::delete(call, input, Kind::Item, "itemids")),
];

/// An item's name with user macros resolved; empty on templates, where they have no one value.
fn resolve_name(snapshot: &Snapshot, host: u64, name: &str) -> String {
    if snapshot.hosts.get(&model::HostId(host)).is_none() {
        return String::new();
    }
    if !name.contains("{$") {
        return name.to_owned();
    }
    crate::expand::macros(snapshot, &[host], name, &mut |_| None)
}

#[cfg(test)]
mod tests;
