//! How a client proves over HTTP who it is: basic, [`digest`], [`ntlm`], [`negotiate`].

pub mod digest;
pub mod negotiate;
pub mod ntlm;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The value of `Authorization` or `Proxy-Authorization` with the method basic (RFC 7617).
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Headers that are for one server: a redirect to another one takes them not along.
pub fn is_secret(name: &str) -> bool {
    ["authorization", "cookie", "host"].iter().any(|secret| name.eq_ignore_ascii_case(secret))
}

#[cfg(test)]
mod tests {
    #[test]
    fn secrets() {
        assert!(["Authorization", "COOKIE", "host"].into_iter().all(super::is_secret));
        assert!(!["Accept", "Cookies", ""].into_iter().any(super::is_secret));
    }

    #[test]
    fn basic() {
        // The example of RFC 7617, section 2.
        let said = super::basic("Aladdin", "open sesame");
        assert_eq!(said, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }
}
