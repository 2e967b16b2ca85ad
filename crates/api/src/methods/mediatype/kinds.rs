//! Which fields media types of a kind have.

use config::db::{Row, Value};
use objects::{MediaTypeKind, SmtpAuthentication, SmtpSecurity};

use super::SPEC;
use crate::error::{ApiError, ApiResult};
use crate::methods::user::is_web_address;
use crate::params;
use crate::plain::{Draft, OnlyWhen, complete_kinds, only};

type When = &'static [(&'static str, &'static [i64])];

const EMAIL: When = &[("type", &[MediaTypeKind::Email as i64])];
const ENCRYPTED: When = &[
    ("type", &[MediaTypeKind::Email as i64]),
    ("smtp_security", &[SmtpSecurity::StartTls as i64, SmtpSecurity::Tls as i64]),
];
const BY_PASSWORD: When = &[
    ("type", &[MediaTypeKind::Email as i64]),
    ("smtp_authentication", &[SmtpAuthentication::Password as i64]),
];
const SCRIPT: When = &[("type", &[MediaTypeKind::Script as i64])];
const BY_PROGRAM: When =
    &[("type", &[MediaTypeKind::Script as i64, MediaTypeKind::Webhook as i64])];
const SMS: When = &[("type", &[MediaTypeKind::Sms as i64])];
const WEBHOOK: When = &[("type", &[MediaTypeKind::Webhook as i64])];
const WITH_MENU: When = &[("type", &[MediaTypeKind::Webhook as i64]), ("show_event_menu", &[1])];

const OWN: &[OnlyWhen] = &[
    OnlyWhen::new("smtp_server", EMAIL).required(),
    OnlyWhen::new("smtp_port", EMAIL),
    OnlyWhen::new("smtp_helo", EMAIL),
    OnlyWhen::new("smtp_email", EMAIL).required(),
    OnlyWhen::new("smtp_security", EMAIL),
    OnlyWhen::new("smtp_verify_peer", ENCRYPTED),
    OnlyWhen::new("smtp_verify_host", ENCRYPTED),
    OnlyWhen::new("smtp_authentication", EMAIL),
    OnlyWhen::new("username", BY_PASSWORD),
    OnlyWhen::new("passwd", BY_PASSWORD),
    OnlyWhen::new("message_format", EMAIL),
    OnlyWhen::new("provider", EMAIL),
    OnlyWhen::new("exec_path", SCRIPT).required(),
    OnlyWhen::new("gsm_modem", SMS).required(),
    OnlyWhen::new("script", WEBHOOK).required(),
    OnlyWhen::new("timeout", WEBHOOK),
    OnlyWhen::new("process_tags", WEBHOOK),
    OnlyWhen::new("show_event_menu", WEBHOOK),
    OnlyWhen::new("living", BY_PROGRAM),
    OnlyWhen::new("deduplicates", BY_PROGRAM),
    OnlyWhen::new("reply_address", EMAIL),
    OnlyWhen::new("event_menu_url", WITH_MENU).required(),
    OnlyWhen::new("event_menu_name", WITH_MENU).required(),
];

/// Checks values that mean the same for all kinds.
pub(super) fn check_given(draft: &Draft<'_>) -> ApiResult<()> {
    let at = |name: &str| format!("{}/{name}", draft.path);
    let given = |name: &str| draft.input.get(name).is_some();
    if given("content_type") && given("message_format") {
        return Err(ApiError::params(format!(
            "Deprecated parameter \"{}\" cannot be used with \"{}\".",
            at("content_type"),
            at("message_format")
        )));
    }
    for (name, min, max) in [("attempt_interval", 0, 3_600), ("timeout", 1, 60)] {
        if draft.gives(name) {
            let text = draft.text(name, None);
            let seconds = params::time_unit(text.trim_start_matches('-'), &at(name))?;
            if text.starts_with('-') || !(min..=max).contains(&seconds) {
                let what = format!("value must be one of {min}-{max}");
                return Err(ApiError::at(&at(name), what));
            }
        }
    }
    if draft.gives("reply_address") {
        let address = draft.text("reply_address", None);
        if !address.is_empty() && !is_reply_address(&address) {
            return Err(ApiError::at(&at("reply_address"), REPLY_ADDRESS));
        }
    }
    Ok(())
}

/// Why an address for responses is refused.
const REPLY_ADDRESS: &str = "an address such as \"vedette@example.com\" is expected, with at most 16 characters before the @";

/// Characters before the @, which leave room for a plus sign and a token.
const REPLY_LOCAL_MAX: usize = 16;

fn is_reply_address(address: &str) -> bool {
    let is_word = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        !text.is_empty()
            && text.bytes().all(plain)
            && !text.starts_with('.')
            && !text.ends_with('.')
    };
    address.split_once('@').is_some_and(|(local, domain)| {
        local.len() <= REPLY_LOCAL_MAX && is_word(local) && is_word(domain)
    })
}

/// Checks which fields are given and gives those that the kind does not have their defaults.
pub(super) fn complete(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<MediaTypeKind> {
    let number = draft.value("type", before).as_int();
    let kind = MediaTypeKind::from_number(number)
        .ok_or_else(|| ApiError::at(&format!("{}/type", draft.path), "an integer is expected"))?;
    complete_kinds(&SPEC, OWN, draft, before)?;
    if kind == MediaTypeKind::Sms {
        only(draft, "maxsessions", &Value::from(1_u8))?;
    }
    if draft.gives("event_menu_url") {
        let url = draft.text("event_menu_url", before);
        if !is_web_address(&url) {
            let path = format!("{}/event_menu_url", draft.path);
            return Err(ApiError::at(&path, "unacceptable URL"));
        }
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Json;
    use crate::testing::Server;

    #[test]
    fn own_fields_are_shown_by_name_and_exported_if_set() {
        let server = Server::start();
        let hook = json!({ "name": "w", "type": 4, "script": "return 1", "living": 1 });
        let mail = json!({ "name": "m", "type": 0, "smtp_server": "s", "smtp_email": "a@b.c",
                           "reply_address": "vedette@example.com" });
        let plain = json!({ "name": "p", "type": 4, "script": "return 1" });
        let ids = [hook, mail, plain].map(|one| server.create("mediatype.create", &one));
        let output = |output: Json| {
            let options =
                json!({ "mediatypeids": ids, "output": output, "sortfield": "mediatypeid" });
            server.call("mediatype.get", &options).unwrap()
        };
        assert!(output("extend".into())[0].get("living").is_none());
        let own = output(json!(["living", "reply_address"]));
        assert_eq!((&own[0]["living"], &own[2]["living"]), (&json!("1"), &json!("0")));
        assert_eq!(own[1]["reply_address"], "vedette@example.com");
        let options = json!({ "format": "yaml", "options": { "mediaTypes": ids } });
        let file = server.call("configuration.export", &options).unwrap();
        let file = file.as_str().unwrap();
        assert_eq!(file.matches("living: 'YES'").count(), 1, "{file}");
        assert_eq!(file.matches("living:").count(), 1, "{file}");
        assert_eq!(file.matches("reply_address: vedette@example.com").count(), 1, "{file}");
        assert_eq!(file.matches("reply_address:").count(), 1, "{file}");
        let update = |n: usize, name: &str, value: Json| {
            ("mediatype.update", json!({ "mediatypeid": ids[n], name: value }), -32602)
        };
        for ((method, params, code), text) in [
            (update(1, "living", 1.into()), "\"/1/living\": value must be 0."),
            (
                update(0, "reply_address", "a@b".into()),
                "\"/1/reply_address\": value must be empty.",
            ),
            (update(1, "reply_address", "a".into()), "an address such as"),
            (update(0, "living", 2.into()), "value must be one of 0, 1."),
        ] {
            server.refuses(&[(method, params, code, text)]);
        }
    }

    #[test]
    fn responses_go_to_a_plain_address() {
        for good in ["vedette@example.com", "a.b-c_d@x", "0123456789012345@mail.example.com"] {
            assert!(is_reply_address(good), "{good}");
        }
        for bad in [
            "vedette",
            "@example.com",
            "a@",
            "a+b@example.com",
            "a@b@c",
            "a b@c",
            "a@b\r\nBcc: c",
            "<a@b>",
            "a@.b",
            "01234567890123456@example.com",
            "ä@example.com",
        ] {
            assert!(!is_reply_address(bad), "{bad}");
        }
    }

    #[test]
    fn own_fields_come_after_what_decides_about_them() {
        crate::plain::check_rules(&SPEC, OWN);
    }
}
