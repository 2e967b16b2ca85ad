//! A slot identifies a discovered object within one value.

/// A prototype in a row: it gives one object at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Slot {
    /// Index of the prototype.
    pub(super) prototype: usize,
    /// Index of the row.
    pub(super) row: usize,
}
