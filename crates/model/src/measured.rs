//! Limits of a machine, which `vedette bench capacity` measures and the server shows.

use serde::{Deserialize, Serialize};

/// Name of the file in the server's data folder that holds them, as JSON.
pub const FILE: &str = "capacity.json";

/// What was found. Generator and server shared the machine, so a server that has it for itself does
/// better.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Unix time.
    pub at: u64,
    /// Version of the program.
    pub version: String,
    /// Cores of the machine.
    pub cores: usize,
    /// Values/s from the trapper to durable history.
    pub values_per_s: f64,
    /// CPU seconds of the server per million of them.
    pub values_cpu_s: f64,
    /// Passive checks/s of agents that answer at once.
    pub checks_per_s: f64,
    /// CPU seconds of the server per million of them.
    pub checks_cpu_s: f64,
}
