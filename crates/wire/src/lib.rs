//! Bytes to messages and back, without input or output: ZBXD framing, agent, sender, SNMP.
//!
//! Nothing here opens a socket or reads a clock: a caller feeds bytes to a [`zbxd::Decoder`], gets
//! a [`zbxd::Frame`], turns its text into a request or an answer, and encodes what it says back.
//! All texts borrow from the frame; a value without escapes costs no allocation.
//!
//! * [`zbxd`]: the frame around every message.
//! * [`trapper`]: every request that the server's trapper port serves.
//! * [`sender`]: values sent by senders and active agents, and the answer to them.
//! * [`agent`]: passive checks, active checks, heartbeat; both sides of each.
//! * [`history_service`]: values that other programs write and read, as protobuf and JSON.
//! * [`icmp`]: echo requests and replies.
//! * [`ipmi`]: sessions with management controllers, their sensors.
//! * [`java_gateway`]: JMX items, asked through a gateway.
//! * [`telnet`]: text and negotiations of terminals.
//! * [`sms`]: text messages as modems take them.
//! * [`smtp`]: the client side of mail.
//! * [`snmp`]: messages of all versions of SNMP.
//! * [`vmware`]: the API of vCenters and ESXi hosts.
//! * [`peers`]: who may connect.
//! * [`services`]: what simple checks say to a service and make of its answer.
//! * [`http`]: the client side of HTTP/1.1: URLs, answers, cookies; [`http_auth`]: authentication.

pub mod agent;
pub mod history_service;
pub mod http;
pub mod http_auth;
pub mod icmp;
pub mod ipmi;
pub mod java_gateway;
mod message;
mod oldtext;
pub mod peers;
mod reading;
pub mod sender;
pub mod services;
pub mod sms;
pub mod smtp;
pub mod snmp;
pub mod telnet;
pub mod trapper;
pub mod vmware;
pub mod zbxd;

pub use message::{MessageError, Scalar, Version, failed};
pub use reading::{Content, LogFields, Moment, READINGS_MAX, Reading, Readings, Target};
