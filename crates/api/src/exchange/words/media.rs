//! Media types, in the order of an export.

use objects::{
    EmailProvider, EventSource, MediaTypeKind, MessageFormat, OperationMode, SmtpAuthentication,
    SmtpSecurity,
};

use super::{Word, YES, always, text, text_or, word};

/// Before the parameters.
pub(in crate::exchange) const MEDIA_TYPE: &[Word] = &[
    always("name", "name"),
    Word { export: "type", api: "type", words: MediaTypeKind::WORDS, default: None },
    word("provider", "provider", EmailProvider::WORDS, "0"),
    text("smtp_server", "smtp_server"),
    text_or("smtp_port", "smtp_port", "25"),
    text("smtp_helo", "smtp_helo"),
    text("smtp_email", "smtp_email"),
    word("smtp_security", "smtp_security", SmtpSecurity::WORDS, "0"),
    word("smtp_verify_host", "smtp_verify_host", YES, "0"),
    word("smtp_verify_peer", "smtp_verify_peer", YES, "0"),
    word("smtp_authentication", "smtp_authentication", SmtpAuthentication::WORDS, "0"),
    text("username", "username"),
    text("password", "passwd"),
    word("message_format", "message_format", MessageFormat::WORDS, "1"),
    text("script_name", "exec_path"),
    text("gsm_modem", "gsm_modem"),
];

/// Behind the parameters.
pub(in crate::exchange) const MEDIA_TYPE_REST: &[Word] = &[
    word("status", "status", &[("ENABLED", "0"), ("DISABLED", "1")], "0"),
    text_or("max_sessions", "maxsessions", "1"),
    text_or("attempts", "maxattempts", "3"),
    text_or("attempt_interval", "attempt_interval", "10s"),
    text("script", "script"),
    text_or("timeout", "timeout", "30s"),
    word("process_tags", "process_tags", YES, "0"),
    word("show_event_menu", "show_event_menu", YES, "0"),
    text("event_menu_url", "event_menu_url"),
    text("event_menu_name", "event_menu_name"),
    text("description", "description"),
    word("living", "living", YES, "0"),
    word("deduplicates", "deduplicates", YES, "0"),
    text("reply_address", "reply_address"),
];

/// The name of another media type; only if there is one.
pub(in crate::exchange) const FALLBACK: &str = "fallback_media_type";

/// A parameter of a webhook.
pub(in crate::exchange) const WEBHOOK_PARAMETER: &[Word] =
    &[always("name", "name"), text("value", "value")];

/// A parameter of a script.
pub(in crate::exchange) const SCRIPT_PARAMETER: &[Word] =
    &[always("sortorder", "sortorder"), text("value", "value")];

/// A default text.
pub(in crate::exchange) const MESSAGE_TEMPLATE: &[Word] = &[
    Word { export: "event_source", api: "eventsource", words: EventSource::WORDS, default: None },
    Word { export: "operation_mode", api: "recovery", words: OperationMode::WORDS, default: None },
    text("subject", "subject"),
    text("message", "message"),
];
