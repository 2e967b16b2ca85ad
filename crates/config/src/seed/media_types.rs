//! The media types of an empty database: e-mail as text and as HTML, switched off until a mail server
//! is configured, with texts for the events of all sources.

use crate::db::Value;
use crate::schema::Table;
use crate::table;

/// A row of a table.
pub(crate) type SeedRow = (&'static Table, Vec<(&'static str, Value)>);

/// Ids that API clients know from Zabbix.
const TEXT: u64 = 1;
const HTML: u64 = 4;

/// A default text.
struct Message {
    eventsource: u8,
    recovery: u8,
    subject: &'static str,
    /// Label and value of each line; without a label the line is only the value.
    lines: &'static [(&'static str, &'static str)],
}

const MESSAGES: &[Message] = &[
    Message {
        eventsource: 0,
        recovery: 0,
        subject: "Problem: {EVENT.NAME}",
        lines: &[
            ("Problem", "{EVENT.NAME}"),
            ("Host", "{HOST.NAME}"),
            ("Severity", "{EVENT.SEVERITY}"),
            ("Started", "{EVENT.DATE} {EVENT.TIME}"),
            ("Operational data", "{EVENT.OPDATA}"),
            ("Problem ID", "{EVENT.ID}"),
            ("", "{TRIGGER.URL}"),
        ],
    },
    Message {
        eventsource: 0,
        recovery: 1,
        subject: "Resolved after {EVENT.DURATION}: {EVENT.NAME}",
        lines: &[
            ("Resolved problem", "{EVENT.NAME}"),
            ("Host", "{HOST.NAME}"),
            ("Severity", "{EVENT.SEVERITY}"),
            ("Resolved", "{EVENT.RECOVERY.DATE} {EVENT.RECOVERY.TIME}"),
            ("Duration", "{EVENT.DURATION}"),
            ("Problem ID", "{EVENT.ID}"),
            ("", "{TRIGGER.URL}"),
        ],
    },
    Message {
        eventsource: 0,
        recovery: 2,
        subject: "Update after {EVENT.AGE}: {EVENT.NAME}",
        lines: &[
            ("", "{USER.FULLNAME} {EVENT.UPDATE.ACTION} the problem."),
            ("", "{EVENT.UPDATE.MESSAGE}"),
            ("Problem", "{EVENT.NAME}"),
            ("Host", "{HOST.NAME}"),
            ("Updated", "{EVENT.UPDATE.DATE} {EVENT.UPDATE.TIME}"),
            ("Status", "{EVENT.STATUS}"),
            ("Age", "{EVENT.AGE}"),
            ("Acknowledged", "{EVENT.ACK.STATUS}"),
        ],
    },
    Message {
        eventsource: 1,
        recovery: 0,
        subject: "Discovery: {DISCOVERY.DEVICE.IPADDRESS} is {DISCOVERY.DEVICE.STATUS}",
        lines: &[
            ("Discovery rule", "{DISCOVERY.RULE.NAME}"),
            ("Address", "{DISCOVERY.DEVICE.IPADDRESS}"),
            ("DNS name", "{DISCOVERY.DEVICE.DNS}"),
            ("Status", "{DISCOVERY.DEVICE.STATUS}"),
            ("Uptime", "{DISCOVERY.DEVICE.UPTIME}"),
            ("Service", "{DISCOVERY.SERVICE.NAME}"),
            ("Port", "{DISCOVERY.SERVICE.PORT}"),
            ("Service status", "{DISCOVERY.SERVICE.STATUS}"),
            ("Service uptime", "{DISCOVERY.SERVICE.UPTIME}"),
        ],
    },
    Message {
        eventsource: 2,
        recovery: 0,
        subject: "Autoregistration: {HOST.HOST}",
        lines: &[("Host", "{HOST.HOST}"), ("Address", "{HOST.IP}"), ("Port", "{HOST.PORT}")],
    },
    Message {
        eventsource: 3,
        recovery: 0,
        subject: "{EVENT.STATUS}: {EVENT.NAME}",
        lines: INTERNAL,
    },
    Message {
        eventsource: 3,
        recovery: 1,
        subject: "{EVENT.STATUS}: {EVENT.NAME}",
        lines: INTERNAL,
    },
    Message {
        eventsource: 4,
        recovery: 0,
        subject: "Service problem: {EVENT.NAME}",
        lines: SERVICE,
    },
    Message {
        eventsource: 4,
        recovery: 1,
        subject: "Service resolved after {EVENT.DURATION}: {EVENT.NAME}",
        lines: &[
            ("Service", "{SERVICE.NAME}"),
            ("Resolved", "{EVENT.RECOVERY.DATE} {EVENT.RECOVERY.TIME}"),
            ("Duration", "{EVENT.DURATION}"),
            ("Severity", "{EVENT.SEVERITY}"),
        ],
    },
    Message {
        eventsource: 4,
        recovery: 2,
        subject: "Service update: {EVENT.NAME}",
        lines: SERVICE,
    },
];

const INTERNAL: &[(&str, &str)] = &[
    ("Status", "{EVENT.STATUS}"),
    ("Host", "{HOST.NAME}"),
    ("Event", "{EVENT.NAME}"),
    ("Time", "{EVENT.DATE} {EVENT.TIME}"),
];

const SERVICE: &[(&str, &str)] = &[
    ("Service", "{SERVICE.NAME}"),
    ("Severity", "{EVENT.SEVERITY}"),
    ("Started", "{EVENT.DATE} {EVENT.TIME}"),
    ("Root cause", "{SERVICE.ROOTCAUSE}"),
];

impl Message {
    /// The text; in HTML, values of macros are escaped.
    fn text(&self, is_html: bool) -> String {
        let line = |(label, value): &(&str, &str)| match (is_html, label.is_empty()) {
            (false, true) => (*value).to_owned(),
            (false, false) => format!("{label}: {value}"),
            (true, true) => escaped(value),
            (true, false) => format!("<b>{label}:</b> {}", escaped(value)),
        };
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        lines.join(if is_html { "<br>" } else { "\n" })
    }
}

/// `{A} b {C}` with the function that escapes HTML on each macro.
fn escaped(value: &str) -> String {
    value.replace('{', "{{").replace('}', "}.htmlencode()}")
}

/// All rows, media types before their texts.
pub(crate) fn media_type_rows() -> Vec<SeedRow> {
    let mut rows = Vec::new();
    for (id, name, is_html) in [(TEXT, "Email", false), (HTML, "Email (HTML)", true)] {
        rows.push((
            &table::MEDIA_TYPES,
            vec![
                ("mediatypeid", Value::from(id)),
                ("name", name.into()),
                ("smtp_server", "mail.example.com".into()),
                ("smtp_helo", "example.com".into()),
                ("smtp_email", "vedette@example.com".into()),
                ("message_format", u8::from(is_html).into()),
            ],
        ));
        for (position, message) in (0_u64..).zip(MESSAGES) {
            rows.push((
                &table::MEDIA_TYPE_MESSAGES,
                vec![
                    ("mediatypeid", Value::from(id)),
                    ("position", position.into()),
                    ("eventsource", message.eventsource.into()),
                    ("recovery", message.recovery.into()),
                    ("subject", message.subject.into()),
                    ("message", message.text(is_html).into()),
                ],
            ));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_texts_escape_what_macros_insert() {
        let recovery = &MESSAGES[1];
        assert!(recovery.text(false).starts_with("Resolved problem: {EVENT.NAME}\nHost: "));
        let html = recovery.text(true);
        let resolved = "<b>Resolved:</b> {{EVENT.RECOVERY.DATE}.htmlencode()} {{EVENT.RECOVERY.TIME}.htmlencode()}<br>";
        assert!(html.contains(resolved), "{html}");
        assert!(html.ends_with("<br>{{TRIGGER.URL}.htmlencode()}"), "{html}");
    }

    #[test]
    fn each_source_and_mode_has_one_text() {
        let mut seen = std::collections::HashSet::new();
        for Message { eventsource, recovery, subject, lines } in MESSAGES {
            assert!(seen.insert((eventsource, recovery)), "{subject}");
            assert!(!subject.is_empty() && !lines.is_empty());
        }
        assert_eq!(seen.len(), 10);
    }
}
