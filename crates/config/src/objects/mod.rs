//! Operations on items and triggers that keep inheritance and discovery right.
//!
//! The API, the import and low-level discovery change items and triggers through these functions
//! alone. They trust their input to be valid field by field (that is the callers' business) and
//! look after what concerns several objects: unique keys, children on linked hosts, master items,
//! functions and dependencies.

mod copy;
mod details;
mod expression;
mod graph;
mod group_prototype;
mod host;
mod host_prototype;
mod item;
mod map;
mod syntax;
mod trigger;
mod trigger_delete;
mod trigger_update;
mod unary;
mod web;

use crate::Edit;
use crate::db::{DbResult, Row, Value, query_by_ids};

pub use crate::change::Deleted;
pub use copy::copy_discovery_rule;
pub(crate) use details::{steps, tags};
pub use expression::{ExpressionError, ItemRef, Resolved, resolve};
pub use graph::{GraphChange, GraphItem, NewGraph, create_graphs, delete_graphs, update_graphs};
pub(crate) use graph::{
    ITEMS as GRAPH_ITEMS, insert_items as insert_graph_items, items_of as graph_items,
    write_items as write_graph_items,
};
pub use group_prototype::GroupPrototype;
pub(crate) use group_prototype::{delete_orphaned_groups, without_origin};
pub use host::delete_hosts;
pub use host_prototype::{
    HostPrototypeParts, create_host_prototype, delete_host_prototypes, delete_hosts_of_rules,
    update_host_prototype,
};
pub(crate) use item::take_over_items;
pub use item::{ItemChange, NewItem, Step, create_items, delete_items, update_items};
pub use map::{delete_elements, delete_elements_of};
pub use syntax::{Place, check as check_expression};
pub use trigger::{NewTrigger, TriggerChange, TriggerFunction, create_triggers, replace_ids};
pub(crate) use trigger::{TriggerTexts, existing, insert_functions};
pub use trigger_delete::delete_triggers;
pub(crate) use trigger_update::take_over_triggers;
pub use trigger_update::update_triggers;
pub use web::{WebScenario, delete_web_scenarios, write_web_scenario};

/// Columns of a row and their values; names are those of the table.
pub type Columns = Vec<(&'static str, Value)>;

/// A name with a value, which may be empty, on a host, item, trigger, event or web scenario.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Name.
    pub tag: String,
    /// Value, may be empty.
    pub value: String,
}

impl Tag {
    pub(crate) fn from_row(row: &Row) -> Self {
        Self { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() }
    }
}

/// Told of deleted objects after the commit, see [`Config::tell_deleted`](crate::Config::tell_deleted): history
/// of items and problems of triggers go with them.
pub type GoneHook = std::sync::Arc<dyn Fn(&Deleted) + Send + Sync>;

/// The column's value in a list of columns.
pub fn column<'a>(columns: &'a Columns, name: &str) -> Option<&'a Value> {
    columns.iter().find(|(column, _)| *column == name).map(|(_, value)| value)
}

/// A universal id for a new object of a template: 32 hexadecimal digits (UUID, version 4).
pub fn new_uuid() -> DbResult<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| crate::db::DbError::statement("(random bytes)", error))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// First column of the rows as ids.
pub(crate) fn ids_of(
    edit: &mut Edit<'_>,
    sql: &str,
    column: &str,
    ids: &[u64],
) -> DbResult<Vec<u64>> {
    let rows = query_by_ids(edit, sql, &[], ids)?;
    Ok(rows.iter().map(|row| row.id(column)).collect())
}
