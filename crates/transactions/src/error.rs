//! What can be wrong with files and filters.

/// Why a block cannot be read. Other blocks can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damage(pub(crate) &'static str);

/// Why a filter is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}, at character {position}: \"{at}\"")]
pub struct FilterError {
    pub message: String,
    /// Number of the condition's first character in the filter, from 1.
    pub position: usize,
    /// The condition as written.
    pub at: String,
}
