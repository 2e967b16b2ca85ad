//! Web scenarios and their steps.

use objects::Status;

use super::{Word, YES, always, text, text_or, word};

/// A scenario; its lists come beside.
pub(in crate::exchange) const SCENARIO: &[Word] = &[
    text("uuid", "uuid"),
    always("name", "name"),
    text_or("delay", "delay", "1m"),
    text_or("attempts", "retries", "1"),
    text_or("agent", "agent", "Zabbix"),
    text("http_proxy", "http_proxy"),
    word("status", "status", Status::WORDS, "0"),
    word(
        "authentication",
        "authentication",
        &[("NONE", "0"), ("BASIC", "1"), ("NTLM", "2"), ("KERBEROS", "3"), ("DIGEST", "4")],
        "0",
    ),
    text("http_user", "http_user"),
    text("http_password", "http_password"),
    word("verify_peer", "verify_peer", YES, "0"),
    word("verify_host", "verify_host", YES, "0"),
    text("ssl_cert_file", "ssl_cert_file"),
    text("ssl_key_file", "ssl_key_file"),
    text("ssl_key_password", "ssl_key_password"),
];

/// A step.
pub(in crate::exchange) const WEB_STEP: &[Word] = &[
    always("name", "name"),
    always("url", "url"),
    word("follow_redirects", "follow_redirects", YES, "1"),
    word("retrieve_mode", "retrieve_mode", &[("BODY", "0"), ("HEADERS", "1"), ("BOTH", "2")], "0"),
    text_or("timeout", "timeout", "15s"),
    text("required", "required"),
    text("status_codes", "status_codes"),
];
