//! Whole shards, driven without threads by a simulated clock.

mod busy;
mod calculated;
mod configuration;
mod faults;
mod preprocessing;
mod refused;
mod repeats;
mod scripts;
mod shards;
mod simulated;
mod states;
mod texts;
mod triggers;
