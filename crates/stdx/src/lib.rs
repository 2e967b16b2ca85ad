//! What every layer stands on and none owns: clocks, bounded queues that show their load,
//! acknowledgements across shards, files that are replaced whole, locks, listening sockets, fair shares of connections, inboxes,
//! rarer log lines, how full the machine is, time in work, large tables, tickets of Kerberos, threads that must not end, and the
//! only system calls. Knows nothing of monitoring.

pub mod ack;
pub mod clock;
pub mod datagrams;
pub mod file;
pub mod inbox;
pub mod kerberos;
pub mod listening;
pub mod machine;
pub mod memory;
pub mod queue;
pub mod seats;
pub mod seldom;
pub mod sync;
pub mod sys;
pub mod thread;
pub mod worktime;
