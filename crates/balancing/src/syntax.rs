//! Texts that HTTP and names of hosts allow.

/// Header fields that the balancer itself writes.
pub const FIXED: [&str; 5] =
    ["host", "connection", "content-length", "transfer-encoding", "upgrade"];

/// Whether a text cannot be the value of a header.
pub fn has_control(text: &str) -> bool {
    text.bytes().any(|b| b < b' ' || b == 127)
}

pub(crate) const PATH: &str = "it begins with / and has no spaces";

/// Whether the text can be the target of a request: it becomes a part of the request line.
pub fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic())
}

/// RFC 9110, 5.6.2.
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Whether a certificate can be checked against the name: a DNS name without a dot at the end, or an
/// address.
pub fn is_host_name(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last_is_number =
        text.rsplit('.').next().is_some_and(|label| label.bytes().all(|b| b.is_ascii_digit()));
    text.parse::<std::net::IpAddr>().is_ok()
        || (text.len() <= 253 && !last_is_number && text.split('.').all(label))
}
