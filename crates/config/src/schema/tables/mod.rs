//! Every table of the database.
#![allow(missing_docs, reason = "most tables have the name of the API's object")]

/// Names the tables of a file, and lists them in order.
macro_rules! tables {
    ($list:ident: $($(#[$doc:meta])* $name:ident = $table:expr;)+) => {
        $($(#[$doc])* pub static $name: Table = $table;)+
        pub(super) static $list: &[&Table] = &[$(&$name),+];
    };
}

mod alerting;
mod balancing;
mod correlation;
mod dashboards;
mod exports;
mod found;
mod hosts;
mod items;
mod maintenance;
mod maps;
mod oncall;
mod people;
mod proxies;
mod services;
mod sign_in;
mod state;

use super::{Column, Kind, Reload, Table};

pub(super) const fn id(name: &'static str) -> Column {
    Column { name, kind: Kind::Int, default: "0", owner: None, state: false }
}

pub(super) const fn int(name: &'static str, default: &'static str) -> Column {
    Column { name, kind: Kind::Int, default, owner: None, state: false }
}

pub(super) const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, default: "", owner: None, state: false }
}

pub(super) const fn text_or(name: &'static str, default: &'static str) -> Column {
    Column { name, kind: Kind::Text, default, owner: None, state: false }
}

pub(super) const fn owned(name: &'static str, owner: &'static str) -> Column {
    Column { name, kind: Kind::Int, default: "0", owner: Some(owner), state: false }
}

/// The same column for something that the server notes beside the configuration.
pub(super) const fn state(column: Column) -> Column {
    Column { state: true, ..column }
}

pub(super) const fn table(
    name: &'static str,
    key: &'static [&'static str],
    reload: Reload,
    columns: &'static [Column],
    indexes: &'static [&'static [&'static str]],
) -> Table {
    Table {
        name,
        key,
        reload,
        read_by_discovery: false,
        decides_access: false,
        recorded: true,
        has_data: false,
        columns,
        indexes,
        usual: &[],
    }
}

/// The tables of the load balancer.
pub(crate) fn balancing_tables() -> impl Iterator<Item = &'static Table> {
    balancing::TABLES.iter().copied()
}

/// The tables by name.
pub mod named {
    pub use super::alerting::*;
    pub use super::balancing::*;
    pub use super::correlation::*;
    pub use super::dashboards::*;
    pub use super::exports::*;
    pub use super::found::*;
    pub use super::hosts::*;
    pub use super::items::*;
    pub use super::maintenance::*;
    pub use super::maps::*;
    pub use super::oncall::*;
    pub use super::people::*;
    pub use super::proxies::*;
    pub use super::services::*;
    pub use super::sign_in::*;
    pub use super::state::*;
}

/// All tables, owners before what they own.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    configuration_tables().chain(state_tables())
}

/// The tables that users change.
pub(crate) fn configuration_tables() -> impl Iterator<Item = &'static Table> {
    [
        hosts::TABLES,
        items::TABLES,
        people::TABLES,
        proxies::TABLES,
        maintenance::TABLES,
        found::TABLES,
        alerting::TABLES,
        oncall::TABLES,
        services::TABLES,
        correlation::TABLES,
        balancing::TABLES,
        maps::TABLES,
        dashboards::TABLES,
        sign_in::TABLES,
        exports::TABLES,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The tables that the server itself changes, see [`crate::Config::write_state`].
pub(crate) fn state_tables() -> impl Iterator<Item = &'static Table> {
    state::TABLES.iter().copied()
}

/// Who did what, see [`crate::audit`].
const AUDIT: &[Column] = &[
    text("auditid"),
    id("userid"),
    text("username"),
    int("clock", "0"),
    text("ip"),
    int("action", "0"),
    int("resourcetype", "0"),
    id("resourceid"),
    text("resource_cuid"),
    text("resourcename"),
    text("recordsetid"),
    text("details"),
];

const AUDIT_INDEXES: &[&[&str]] =
    &[&["clock"], &["userid", "clock"], &["resourcetype", "resourceid"], &["recordsetid"]];
