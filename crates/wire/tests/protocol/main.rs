//! Both sides of the protocols of agents and senders, against what real peers write.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

mod agent;
mod sender;
mod trapper;
mod zbxd;
