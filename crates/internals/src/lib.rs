//! Self-monitoring: a [`Meter`] reads the gauges of all parts once a second; [`ServerFigures`] are
//! internal items, [`Capacity`] is what `capacity.get` shows, [`queue_rows`] what `queue.get` shows.

mod alerting;
mod capacity;
mod figures;
mod heartbeat;
mod meter;
mod queue;
mod threads;
mod work;

pub use capacity::Capacity;
pub use figures::ServerFigures;
pub use heartbeat::Heartbeat;
pub use meter::{Meter, Parts};
pub use queue::rows as queue_rows;
