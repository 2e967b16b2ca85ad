//! The sums of limits. Each listener bounds what its own clients can do; here is what all of them can do
//! together, checked when the program is compiled.

/// Bytes of messages, bodies, responses, imports and searches of all clients at one time, as
/// `docs/operations.md` has it.
const CLIENT_BYTES_MAX: usize = 2_560 << 20;

const CLIENT_BYTES: usize = listen::Limits::SERVER.bytes_in_flight
    + api::BYTES_MAX
    + grpc::Config::SERVER.messages_bytes_max
    + history::service::Limits::SERVER.bytes_max();

const _: () =
    assert!(CLIENT_BYTES <= CLIENT_BYTES_MAX, "the limits add up to what the manual says");

/// Connections of clients of all listeners at one time.
const CONNECTIONS: usize = listen::Limits::SERVER.connections
    + api::CONNECTIONS_MAX
    + grpc::CONNECTIONS_MAX
    + control::server::CONNECTIONS_MAX;

/// `LimitNOFILE` of the packaged service.
const SERVICE_FILES: usize = 262_144;

const _: () = assert!(
    CONNECTIONS <= SERVICE_FILES / 4,
    "connections of clients leave most descriptors of the service to checks"
);

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that are written elsewhere are those of the code.
    #[test]
    fn documents_and_the_service_have_these_limits() {
        let operations = include_str!("../../../../docs/operations.md");
        assert_eq!(2 * CLIENT_BYTES_MAX, 5 << 30);
        assert!(operations.contains("2.5 GiB of memory"));
        let service = include_str!("../../../../packaging/vedette.service");
        assert!(service.contains(&format!("LimitNOFILE={SERVICE_FILES}")));
    }
}
