//! The drivers that need no server: the embedded engine, memory, and none.

pub(crate) mod embedded;
pub(crate) mod layout;
pub(crate) mod memory;
pub(crate) mod null;
