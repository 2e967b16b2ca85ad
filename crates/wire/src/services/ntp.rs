//! NTP (RFC 5905): one packet each way.

/// Bytes of a packet without extensions.
pub const PACKET_BYTES: usize = 48;

/// No leap warning, version 3, client.
const REQUEST: u8 = 0x1b;
/// A server answers in the version that it was asked in.
const VERSION: u8 = 3;
const SERVER: u8 = 4;
const STRATUM_MAX: u8 = 15;
/// Seconds from 1900 to 1970.
const EPOCH: u64 = 2_208_988_800;

/// A request that left at `unix` (since 1970).
pub fn request(unix: std::time::Duration) -> [u8; PACKET_BYTES] {
    let mut packet = [0; PACKET_BYTES];
    packet[0] = REQUEST;
    let seconds = (unix.as_secs() + EPOCH) & 0xffff_ffff;
    let fraction = (u64::from(unix.subsec_nanos()) << 32) / 1_000_000_000;
    packet[40..].copy_from_slice(&(seconds << 32 | fraction).to_be_bytes());
    packet
}

/// Whether `reply` answers `request` and comes from a server with a time to give.
pub fn is_answer(request: &[u8; PACKET_BYTES], reply: &[u8]) -> bool {
    let Ok(reply) = <&[u8; PACKET_BYTES]>::try_from(reply) else { return false };
    let (version, mode) = (reply[0] >> 3 & 7, reply[0] & 7);
    mode == SERVER
        && version == VERSION
        && reply[1] <= STRATUM_MAX
        && reply[24..32] == request[40..]
        && reply[40..] != [0; 8]
}
