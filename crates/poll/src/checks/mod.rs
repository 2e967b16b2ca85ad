//! Checks of all kinds: a file or a folder for each. They know their [check](check) and nothing of who
//! starts it.

pub(crate) mod agent;
pub(crate) mod check;
pub(crate) mod dial;
pub(crate) mod external;
pub(crate) mod host_keys;
pub(crate) mod http;
pub(crate) mod icmp;
pub(crate) mod ipmi;
pub(crate) mod jmx;
mod login;
pub(crate) mod odbc;
pub(crate) mod reply;
pub(crate) mod script;
pub(crate) mod simple;
pub(crate) mod snmp;
pub(crate) mod ssh;
pub(crate) mod statistics;
pub(crate) mod telnet;
pub(crate) mod vmware;
pub(crate) mod web;
