//! How a client proves over HTTP who it is: basic, [`digest`], [`ntlm`].

pub mod digest;
pub mod ntlm;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The value of `Authorization` or `Proxy-Authorization` with the method basic (RFC 7617).
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn basic() {
        // The example of RFC 7617, section 2.
        let said = super::basic("Aladdin", "open sesame");
        assert_eq!(said, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }
}
