//! Low-level discovery.

use crate::{ItemId, Timestamp};

/// A low-level discovery rule got a value: the pipeline's message to the worker of low-level discovery.
#[derive(Debug, Clone, PartialEq)]
pub struct LldValue {
    /// Id of the item that is the rule.
    pub rule: ItemId,
    /// Time of the value.
    pub at: Timestamp,
    /// JSON rows after preprocessing, or the reason why there are none.
    pub rows: Result<String, String>,
}

impl LldValue {
    /// Bytes of its text.
    pub fn bytes(&self) -> usize {
        let (Ok(text) | Err(text)) = &self.rows;
        text.len()
    }
}
