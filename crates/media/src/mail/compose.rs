//! The text of a mail: headers in the order of 7.0, body in base64.

use std::time::Duration;

use jiff::Timestamp;
use md5::{Digest as _, Md5};
use model::Outgoing;

use super::address::Address;
use super::encode;

/// Characters of a line of a header (RFC 5322, 2.1.1: 998).
const LINE_MAX: usize = 900;

/// What a mail has beside the message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cover<'a> {
    pub(super) from: &'a Address,
    pub(super) to: &'a [Address],
    pub(super) html: bool,
    /// Since 1970.
    pub(super) now: Duration,
    pub(super) instance: &'a str,
}

/// The whole mail with CRLF at the ends of lines.
pub(super) fn mail(message: &Outgoing, cover: &Cover<'_>) -> String {
    let kind = if cover.html { "text/html" } else { "text/plain" };
    // Those of 7.0, unless responses are read.
    let of_responses: &[(&str, &str)] = match message.reply_to.as_str() {
        "" => &[],
        address => &[("Reply-To", address), ("Auto-Submitted", "auto-generated")],
    };
    let headers = [
        ("From", cover.from.header()),
        ("To", to(cover.to)),
        ("In-Reply-To", thread(message, cover.instance)),
        ("Date", date(cover.now)),
        ("Subject", encode::subject(&message.subject)),
        ("MIME-Version", String::from("1.0")),
        ("Content-Type", format!("{kind}; charset=\"UTF-8\"")),
        ("Content-Transfer-Encoding", String::from("base64")),
    ];
    let mut out = String::new();
    for (name, value) in headers {
        out.extend([name, ": ", &value, "\r\n"]);
    }
    for (name, value) in of_responses {
        out.extend([name, ": ", value, "\r\n"]);
    }
    out.push_str("\r\n");
    out.push_str(&encode::body(&message.message));
    out
}

fn to(all: &[Address]) -> String {
    let (mut out, mut line) = (String::new(), 0);
    for address in all {
        let header = address.header();
        if !out.is_empty() {
            out.push(',');
        }
        if line + header.len() > LINE_MAX {
            out.push_str("\r\n ");
            line = 0;
        }
        line += header.len() + 1;
        out.push_str(&header);
    }
    out
}

/// All mails of one problem to one recipient are responses to one mail, which does not exist: mail programs show them
/// together.
fn thread(message: &Outgoing, instance: &str) -> String {
    let recipient = Md5::digest(message.sendto.as_bytes());
    let recipient: String = recipient.iter().map(|byte| format!("{byte:02x}")).collect();
    let (event, media_type) = (message.problem, message.media_type);
    format!("<{event}.{recipient}.{media_type}.{instance}@vedette>")
}

fn date(now: Duration) -> String {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    moment.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

#[cfg(test)]
mod tests {
    use model::{AlertId, EventId, MediaTypeId};

    use super::super::address::recipients;
    use super::*;

    fn message() -> Outgoing {
        Outgoing {
            alert: AlertId(1),
            media_type: MediaTypeId(7),
            sendto: String::from("alice@vedette.test"),
            subject: String::from("PROBLEM\nBcc: x@y.test"),
            message: String::from("value 1"),
            parameters: Vec::new(),
            problem: EventId(12),
            reply_to: String::new(),
            failures: 0,
        }
    }

    #[test]
    fn a_mail_has_exactly_the_headers_of_7_0() {
        let from = Address::parse("monitor@vedette.test").unwrap();
        let to = recipients("alice@vedette.test\nAlice Two <alice2@vedette.test>").unwrap();
        let now = Duration::from_secs(1_795_460_964);
        let cover = Cover { from: &from, to: &to, html: false, now, instance: "0f" };
        let expected = "From: <monitor@vedette.test>\r\n\
            To: <alice@vedette.test>,Alice Two <alice2@vedette.test>\r\n\
            In-Reply-To: <12.66c577bbdd5d4efe27739fdd3a0876e1.7.0f@vedette>\r\n\
            Date: Mon, 23 Nov 2026 19:09:24 +0000\r\n\
            Subject: PROBLEM Bcc: x@y.test\r\n\
            MIME-Version: 1.0\r\n\
            Content-Type: text/plain; charset=\"UTF-8\"\r\n\
            Content-Transfer-Encoding: base64\r\n\
            \r\n\
            dmFsdWUgMQ==\r\n";
        assert_eq!(mail(&message(), &cover), expected);
        let html = mail(&message(), &Cover { html: true, ..cover });
        assert!(html.contains("\r\nContent-Type: text/html; charset=\"UTF-8\"\r\n"), "{html}");
    }

    #[test]
    fn responses_go_to_an_address_with_a_token() {
        let from = Address::parse("monitor@vedette.test").unwrap();
        let to = recipients("alice@vedette.test").unwrap();
        let cover =
            Cover { from: &from, to: &to, html: false, now: Duration::ZERO, instance: "0f" };
        let reply_to = String::from("vedette+abc@vedette.test");
        let whole = mail(&Outgoing { reply_to, ..message() }, &cover);
        let added = "Reply-To: vedette+abc@vedette.test\r\nAuto-Submitted: auto-generated\r\n";
        assert_eq!(whole.replace(added, ""), mail(&message(), &cover));
        assert!(whole.contains(added), "{whole}");
    }

    #[test]
    fn many_recipients_are_folded() {
        let all: String = (0..200).map(|n| format!("user{n}@department.vedette.test\n")).collect();
        let header = to(&recipients(&all).unwrap());
        assert_eq!(header.matches('@').count(), 200);
        assert!(header.split("\r\n ").all(|line| line.len() < 998));
    }
}
