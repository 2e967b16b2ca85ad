//! Negotiate over HTTP (RFC 4559): tokens of SPNEGO, which Kerberos makes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes of a server's token in base64; tickets stay far below.
const TOKEN_MAX: usize = 64 << 10;

/// The header `Authorization` with a token.
pub fn header(token: &[u8]) -> String {
    format!("Negotiate {}", STANDARD.encode(token))
}

/// The token in the server's headers `WWW-Authenticate`. A server that begins, or starts over, has
/// none: it only names the method.
pub fn token<'a>(mut headers: impl Iterator<Item = &'a str>) -> Option<Vec<u8>> {
    headers.find_map(|header| {
        let (scheme, text) = header.trim().split_once(' ')?;
        let text = text.trim();
        let fits = scheme.eq_ignore_ascii_case("Negotiate") && text.len() <= TOKEN_MAX;
        let token = if fits { STANDARD.decode(text).ok()? } else { return None };
        (!token.is_empty()).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let said = header(b"\x60\x00ab");
        assert_eq!(said, "Negotiate YABhYg==");
        assert_eq!(token(["Basic realm=\"r\"", &said].into_iter()).unwrap(), b"\x60\x00ab");
        assert_eq!(token(["negotiate  YQ== "].into_iter()).unwrap(), b"a");
        let long = header(&vec![0; TOKEN_MAX]);
        for none in ["Negotiate", "Negotiate ", "Negotiate !", "NTLM YQ==", "", &long] {
            assert_eq!(token([none].into_iter()), None, "{none:.20}");
        }
    }
}
