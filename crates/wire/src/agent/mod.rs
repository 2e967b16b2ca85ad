//! What agents say and hear: passive checks on the agent's port, active checks on the trapper port.

pub mod active;
pub mod passive;

/// Where agents listen.
pub const PORT: u16 = 10050;
/// Where servers and proxies listen for active agents and senders.
pub const TRAPPER_PORT: u16 = 10051;
