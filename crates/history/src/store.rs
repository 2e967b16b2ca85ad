//! Stores beside the embedded engine, which are reached over the network.

use model::ItemId;

use crate::{Driver, Kind};

/// How many of the rows of a kind a store is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// None, whatever the item.
    Nothing,
    /// Those of some items: see [`Store::takes`].
    Some,
    All,
}

/// A store that any number of drivers can be made for; all of them share its connections.
///
/// Values reach it through [`crate::spool`], which owns its drivers; readers create their own driver
/// and request a view of it. Two rows of one item with the same clock and nanoseconds
/// have to become one, the later written, so that a batch which is sent again changes nothing.
pub trait Store: Send + Sync {
    /// A name that stays as long as kind and address do: files and gauges carry it. Letters, digits,
    /// `.` and `-` only, and no secrets.
    fn name(&self) -> String;

    /// A driver. It sends no request yet; an unavailable store fails the first call.
    fn driver(&self) -> Box<dyn Driver>;

    /// What is read comes back as the type that it was written as. Where not, reading one kind gives
    /// the right values, and reading several at once may mistake one for another.
    fn tells_types(&self) -> bool {
        true
    }

    /// Is it given the rows of an item of this kind, as the item is configured now?
    fn takes(&self, item: ItemId, kind: Kind) -> bool {
        let _ = (item, kind);
        true
    }

    /// Which rows of a kind it may have, of any item at any time.
    fn extent(&self, kind: Kind) -> Extent {
        let _ = kind;
        Extent::All
    }
}
