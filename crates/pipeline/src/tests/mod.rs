//! Whole shards, driven without threads by a simulated clock.

mod calculated;
mod configuration;
mod preprocessing;
mod repeats;
mod scripts;
mod shards;
mod texts;
mod triggers;
