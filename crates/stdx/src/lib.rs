//! What every layer stands on and none owns: clocks, bounded queues that show their load,
//! acknowledgements across shards, how full the machine is, and the only system calls. Knows
//! nothing of monitoring.

pub mod ack;
pub mod clock;
pub mod datagrams;
pub mod machine;
pub mod queue;
pub mod sys;
