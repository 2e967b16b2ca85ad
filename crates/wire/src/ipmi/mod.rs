//! IPMI over LAN: sessions of version 1.5 and of version 2.0 (RMCP+), sensor records, readings.
//! Facts: "Intelligent Platform Management Interface Specification Second Generation v2.0",
//! chapters 13 (sessions), 22 (commands), 33 and 43 (records), 35 and 36 (readings), 42 (codes).
//!
//! * [`Opening`] leads to a [`Session`], which signs and encrypts requests and reads answers.
//! * [`sdr`]: what sensors there are; [`reading`]: what their bytes mean; [`names`]: in words.
//!
//! Nothing here sends or waits: packets come and go as bytes.

mod crypto;
mod login;
mod message;
pub mod names;
mod open;
mod packet;
pub mod reading;
pub mod sdr;
mod session;

pub use login::{AuthType, Login};
pub use message::{Answer, Request};
pub use open::{OpenError, Opening, Progress};
pub use session::{Session, Ticket};

/// The port of management controllers (RMCP).
pub const PORT: u16 = 623;
/// Octets of the longest packet that is read.
pub const PACKET_BYTES_MAX: usize = 1024;

/// Why bytes are no packet, message or record. Who sent them is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IpmiError {
    /// It ends too early.
    #[error("the packet is truncated")]
    Truncated,
    /// It is of another protocol.
    #[error("the packet is not an IPMI message")]
    NotIpmi,
    /// A checksum is wrong.
    #[error("the packet has a wrong checksum")]
    Checksum,
    /// Its signature is not the one that the session's key makes, or there is none.
    #[error("the packet has a wrong signature")]
    Signature,
    /// It cannot be decrypted.
    #[error("the packet cannot be decrypted")]
    Decryption,
    /// The cryptographic library refused (a cipher or hash that this machine forbids).
    #[error("the system's cryptographic library does not support the algorithm")]
    Crypto,
}

/// Network function and command of the requests that collection makes.
pub mod commands {
    /// Network functions.
    pub const CHASSIS: u8 = 0x00;
    /// See [`CHASSIS`].
    pub const SENSOR: u8 = 0x04;
    /// See [`CHASSIS`].
    pub const APP: u8 = 0x06;
    /// See [`CHASSIS`].
    pub const STORAGE: u8 = 0x0A;

    /// Chassis: power.
    pub const CHASSIS_CONTROL: u8 = 0x02;
    /// Application: what the controller is.
    pub const GET_DEVICE_ID: u8 = 0x01;
    /// Application: ways to prove oneself.
    pub const GET_AUTH_CAPABILITIES: u8 = 0x38;
    /// Application, version 1.5: the first half of opening a session.
    pub const GET_SESSION_CHALLENGE: u8 = 0x39;
    /// Application, version 1.5: the second half.
    pub const ACTIVATE_SESSION: u8 = 0x3A;
    /// Application: rights of the session.
    pub const SET_SESSION_PRIVILEGE: u8 = 0x3B;
    /// Application: its end.
    pub const CLOSE_SESSION: u8 = 0x3C;
    /// Storage: the repository's age.
    pub const GET_SDR_INFO: u8 = 0x20;
    /// Storage: a number that reading records in parts needs.
    pub const RESERVE_SDR: u8 = 0x22;
    /// Storage: a record, or a part of one.
    pub const GET_SDR: u8 = 0x23;
    /// Sensor: as [`GET_SDR`], of a controller without repository.
    pub const GET_DEVICE_SDR: u8 = 0x21;
    /// Sensor: as [`RESERVE_SDR`], of a controller without repository.
    pub const RESERVE_DEVICE_SDR: u8 = 0x22;
    /// Sensor: factors of a sensor that is not linear.
    pub const GET_READING_FACTORS: u8 = 0x23;
    /// Sensor: its limits.
    pub const GET_THRESHOLDS: u8 = 0x27;
    /// Sensor: its reading.
    pub const GET_READING: u8 = 0x2D;
}

/// A completion code in words (section 5.2, generic ones).
pub fn completion(code: u8) -> String {
    let text = match code {
        0x00 => "done",
        0x81 => "no such user",
        0x82 => "the device allows no anonymous user",
        0xC0 => "the device is busy",
        0xC1 => "the device does not know the command",
        0xC3 => "the device timed out",
        0xC5 => "the reservation is void",
        0xC9 => "a parameter is out of range",
        0xCA => "so many bytes cannot be returned at once",
        0xCB => "there is no such sensor or record",
        0xCC => "a field of the request is invalid",
        0xCD => "the command is not for this sensor or record",
        0xD0 | 0xD2 => "the device is starting",
        0xD3 => "the destination is not available",
        0xD4 => "the user's privilege does not suffice",
        0xD5 => "not possible in the device's present state",
        _ => return format!("completion code {code:#04x}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests;
