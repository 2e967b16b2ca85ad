//! What may be a password.

use config::snapshot::Settings;

use crate::error::{ApiError, ApiResult};

/// Bits of the rules: upper and lower case, a digit, a special character, nothing easily guessed.
const CASE: u8 = 1;
const DIGIT: u8 = 2;
const SPECIAL: u8 = 4;
const NOT_GUESSED: u8 = 8;

/// Tried first by everybody who guesses, at least eight characters long; in lower case.
const COMMON: &[&str] = &[
    "00000000",
    "11111111",
    "12121212",
    "12341234",
    "12345678",
    "123123123",
    "123456789",
    "1234567890",
    "1q2w3e4r",
    "1q2w3e4r5t",
    "1qaz2wsx",
    "66666666",
    "87654321",
    "88888888",
    "987654321",
    "99999999",
    "aa123456",
    "abc12345",
    "abcd1234",
    "abcdefgh",
    "adminadmin",
    "administrator",
    "asdfasdf",
    "asdfghjk",
    "baseball",
    "changeme",
    "computer",
    "dragon123",
    "football",
    "iloveyou",
    "jennifer",
    "letmein1",
    "letmein123",
    "master123",
    "michelle",
    "monkey123",
    "p@ssw0rd",
    "p@ssword",
    "passw0rd",
    "password",
    "password!",
    "password1",
    "password12",
    "password123",
    "princess",
    "q1w2e3r4",
    "qazwsxedc",
    "qwer1234",
    "qwerty12",
    "qwerty123",
    "qwertyui",
    "qwertyuiop",
    "samantha",
    "starwars",
    "sunshine",
    "superman",
    "trustno1",
    "vedette1",
    "vedette123",
    "welcome1",
    "welcome123",
    "whatever",
    "zabbix123",
    "zaq12wsx",
    "zxcvbnm1",
];

/// Refuses passwords that are too short or break a rule of the settings, as common and personal ones
/// do. `person`: user name, name, surname.
pub(super) fn check(
    password: &str,
    path: &str,
    person: &[&str],
    settings: &Settings,
) -> ApiResult<()> {
    let refused = |what: &str| {
        Err(ApiError::params(format!("Incorrect value for field \"{path}\": {what}.")))
    };
    if password.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    let least = settings.passwords.length_min;
    if password.chars().count() < least {
        return refused(&format!("must be at least {least} characters long"));
    }
    let rule = |bit: u8| settings.passwords.rules & bit != 0;
    let has = |test: fn(char) -> bool| password.chars().any(test);
    if rule(CASE) && !(has(|c| c.is_ascii_lowercase()) && has(|c| c.is_ascii_uppercase())) {
        return refused("must contain at least one lowercase and one uppercase Latin letter");
    }
    if rule(DIGIT) && !has(|c| c.is_ascii_digit()) {
        return refused("must contain at least one digit");
    }
    if rule(SPECIAL) && !has(|c| c == ' ' || c.is_ascii_punctuation()) {
        return refused("must contain at least one special character");
    }
    if !rule(NOT_GUESSED) {
        return Ok(());
    }
    let lower = password.to_lowercase();
    if person.iter().any(|word| !word.is_empty() && lower.contains(&word.to_lowercase())) {
        return refused("must not contain user's name, surname or username");
    }
    if COMMON.contains(&lower.as_str()) {
        return refused("must not be one of common or context-specific passwords");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords() {
        for (password, good) in [
            ("", false),
            ("short", false),
            ("password", false),
            ("PassWord", false),
            ("my-Olga-1", false),
            ("operator1", false),
            ("Pa55word-oper", true),
            ("пароль12", true),
        ] {
            let person = ["operator", "Olga", ""];
            let checked = check(password, "/1/passwd", &person, &Settings::default());
            assert_eq!(checked.is_ok(), good, "{password}");
        }
    }

    #[test]
    fn the_list_of_common_ones_is_sound() {
        for word in COMMON {
            assert!(word.chars().count() >= 8 && *word == word.to_lowercase(), "{word}");
        }
    }
}
