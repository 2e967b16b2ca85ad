//! Time-based one-time passwords (RFC 6238).

use data_encoding::BASE32_NOPAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use totp_rs::{Algorithm, Builder};

use crate::error::{ApiError, ApiResult};

/// Seconds for which a code is shown.
const STEP_S: u64 = 30;
/// Codes of so many steps before and after the current one are accepted, because clocks differ.
const STEPS_ASIDE: u64 = 1;
/// Bytes of a secret: 32 characters of base 32.
const SECRET_BYTES: usize = 20;

/// How codes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Codes {
    algorithm: Algorithm,
    digits: u8,
}

impl Codes {
    /// From `hash_function` and `code_length` of an MFA method.
    pub(crate) fn new(hash_function: i64, code_length: i64) -> Self {
        let algorithm = match hash_function {
            2 => Algorithm::SHA256,
            3 => Algorithm::SHA512,
            _ => Algorithm::SHA1,
        };
        Self { algorithm, digits: if code_length == 8 { 8 } else { 6 } }
    }

    /// The time step whose code this is, at the unix time `now_s`: the current one, or one close to it. The
    /// time of a comparison does not depend on the code.
    pub(crate) fn step_of(self, code: &str, secret: &str, now_s: u64) -> ApiResult<Option<u64>> {
        let bytes = BASE32_NOPAD.decode(secret.as_bytes()).map_err(|error| {
            ApiError::application(format!("The stored secret is damaged: {error}"))
        })?;
        let totp = Builder::new()
            .with_algorithm(self.algorithm)
            .with_digits(self.digits)
            .with_skew(0)
            .with_step_duration(STEP_S)
            .with_secret(bytes)
            .build()
            .map_err(|error| {
                ApiError::application(format!("The secret cannot be used: {error}"))
            })?;
        let now = now_s / STEP_S;
        let steps = now.saturating_sub(STEPS_ASIDE)..=now + STEPS_ASIDE;
        // All are compared, whichever fits.
        Ok(steps.filter_map(|step| totp.check(code, step * STEP_S)).max())
    }

    /// What authenticators read to enrol, as a URI of the scheme `otpauth`.
    pub(crate) fn uri(self, issuer: &str, account: &str, secret: &str) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let (issuer, account) = (encode(issuer), encode(account));
        let Self { algorithm, digits } = self;
        format!(
            "otpauth://totp/{issuer}:{account}?secret={secret}&issuer={issuer}&algorithm={algorithm}\
             &digits={digits}&period={STEP_S}"
        )
    }
}

/// A new secret, in base 32.
pub(crate) fn new_secret() -> ApiResult<String> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        ApiError::application(format!("The machine gives no random numbers: {error}"))
    })?;
    Ok(BASE32_NOPAD.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Secret and codes of RFC 6238, appendix B.
    #[test]
    fn codes_of_the_standard_are_accepted_close_to_their_step() {
        let secret = BASE32_NOPAD.encode(b"12345678901234567890");
        let codes = Codes::new(1, 8);
        for (now, code) in
            [(59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471")]
        {
            let step_of = |now| codes.step_of(code, &secret, now).unwrap();
            let step = now / STEP_S;
            assert_eq!(step_of(now), Some(step), "{code}");
            assert_eq!(step_of((step + 2) * STEP_S - 1), Some(step), "{code}, a step late");
            assert_eq!(step_of((step + 2) * STEP_S), None, "{code}, two steps late");
            assert_eq!(step_of((step - 1) * STEP_S), Some(step), "{code}, a step early");
        }
        assert_eq!(Codes::new(1, 6).step_of("287082", &secret, 59).unwrap(), Some(1));
        assert_eq!(codes.step_of("", &secret, 59).unwrap(), None);
    }

    #[test]
    fn longer_hashes_have_the_codes_of_the_standard() {
        let secret = BASE32_NOPAD.encode(b"12345678901234567890123456789012");
        assert_eq!(Codes::new(2, 8).step_of("46119246", &secret, 59).unwrap(), Some(1));
        let secret = b"1234567890123456789012345678901234567890123456789012345678901234".as_slice();
        let secret = BASE32_NOPAD.encode(secret);
        assert_eq!(Codes::new(3, 8).step_of("90693936", &secret, 59).unwrap(), Some(1));
    }

    #[test]
    fn uri_and_secret() {
        let secret = new_secret().unwrap();
        assert_eq!(secret.len(), 32);
        let uri = Codes::new(2, 8).uri("Zabbix TOTP", "ann@b.c", &secret);
        let expected = format!(
            "otpauth://totp/Zabbix%20TOTP:ann%40b%2Ec?secret={secret}&issuer=Zabbix%20TOTP\
             &algorithm=SHA256&digits=8&period=30"
        );
        assert_eq!(uri, expected);
    }
}
