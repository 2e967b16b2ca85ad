
mod calculated;
mod configuration;
mod preprocessing;
mod refused;
mod repeats;
mod scripts;
mod shards;
mod texts;
mod triggers;
