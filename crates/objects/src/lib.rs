//! Catalogs of what configured objects can be. A catalog is the only place that knows the numbers of the
//! API, the words of exports, labels for people, and what follows from a kind.

mod interface;
mod item_type;

pub use interface::InterfaceType;
pub use item_type::{InterfaceNeed, ItemType, ItemTypeInfo};
