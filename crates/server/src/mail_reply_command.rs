//! `vedette mail-reply`: hands a mail that came to the address for responses to the server.
//!
//! A mail server starts it for each mail. Its exit codes are those of `sysexits.h`: mail servers repeat a temporary
//! failure, and send the text of a refusal back to the author.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use media::response::{self, Envelope, Response};
use serde_json::json;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

pub(crate) const NAME: &str = "mail-reply";

/// Largest mail. One with more has attachments, of which nothing is used.
const MAIL_BYTES_MAX: u64 = 32 << 20;
/// Longest text of a refusal that is passed on.
const ANSWER_BYTES_MAX: u64 = 4 << 10;
/// Time for the whole request.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The command's help and arguments.
pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about("Read a mail from standard input and make it a comment on its problem")
        .long_about(
            "Read a mail from standard input and make it a comment on its problem. For a pipe of the local mail \
             server, which delivers the mails of a media type's address for responses to it. Mails that programs \
             wrote, and mails to unknown addresses, are ignored with a line on standard error.",
        )
        .arg(
            Arg::new("server")
                .long("server")
                .value_name("URL")
                .default_value("http://127.0.0.1:8080")
                .help("Address of the server"),
        )
        .arg(
            Arg::new("recipient")
                .long("recipient")
                .value_name("ADDRESS")
                .help("Address that the mail came to; default: what its headers say"),
        )
        .arg(
            Arg::new("sender")
                .long("sender")
                .value_name("ADDRESS")
                .allow_hyphen_values(true)
                .help("Address for bounces, which may be empty; default: the mail's Return-Path"),
        )
}

/// How a mail ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Done,
    /// The author does not hear of it.
    Ignored(String),
    /// The author gets the reason.
    Refused(String),
    /// The mail server sends it again later.
    Later(String),
}

impl End {
    /// Codes of `sysexits.h`.
    const fn code(&self) -> u8 {
        match self {
            Self::Done | Self::Ignored(_) => 0,
            Self::Later(_) => 75,
            Self::Refused(_) => 77,
        }
    }
}

/// Reads a mail and hands it over.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let envelope = Envelope { recipient: text("recipient"), sender: text("sender") };
    let end = end(text("server").unwrap_or_default(), envelope);
    let (what, why) = match &end {
        End::Done => ("", ""),
        End::Ignored(why) => ("the mail is ignored: ", why.as_str()),
        End::Refused(why) | End::Later(why) => ("", why.as_str()),
    };
    if !why.is_empty() {
        let _ = writeln!(std::io::stderr(), "vedette: {what}{why}");
    }
    ExitCode::from(end.code())
}

fn end(server: &str, envelope: Envelope<'_>) -> End {
    let mut mail = Vec::new();
    match std::io::stdin().lock().take(MAIL_BYTES_MAX + 1).read_to_end(&mut mail) {
        Err(error) => return End::Later(format!("cannot read the mail: {error}")),
        Ok(length) if length as u64 > MAIL_BYTES_MAX => {
            return End::Refused(format!("the mail is longer than {} MiB", MAIL_BYTES_MAX >> 20));
        }
        Ok(_) => {}
    }
    match response::read(&mail, envelope) {
        Ok(response) => send(server, &response),
        Err(unused) => End::Ignored(unused.to_string()),
    }
}

fn send(server: &str, response: &Response) -> End {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::NativeTls)
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .proxy(None)
        .tls_config(tls)
        .build()
        .new_agent();
    let Response { token, from, message_id, text } = response;
    let body = json!({ "token": token, "from": from, "message_id": message_id, "text": text });
    let url = format!("{}/act/reply", server.trim_end_matches('/'));
    let sent = agent
        .post(&url)
        .header("Content-Type", "application/json")
        .send(body.to_string().as_bytes());
    let mut answer = match sent {
        Ok(answer) => answer,
        Err(error) => return End::Later(format!("cannot reach the server at {server}: {error}")),
    };
    let why = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
    of_answer(answer.status().as_u16(), why.unwrap_or_default().trim())
}

fn of_answer(status: u16, why: &str) -> End {
    match status {
        200 => End::Done,
        // A forged mail to any address must not make this machine send mails to others.
        404 => End::Ignored(why.to_owned()),
        403 | 410 => End::Refused(why.to_owned()),
        _ => End::Later(format!("the server answered with status {status}: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_servers_repeat_what_may_work_later() {
        for (status, code) in
            [(200, 0), (404, 0), (403, 77), (410, 77), (400, 75), (429, 75), (503, 75), (500, 75)]
        {
            assert_eq!(of_answer(status, "why").code(), code, "{status}");
        }
        let nobody = Response {
            token: String::new(),
            from: String::new(),
            message_id: String::new(),
            text: String::new(),
        };
        // Nothing listens on this port, which is reserved.
        let end = send("http://127.0.0.1:1/", &nobody);
        assert_eq!(end.code(), 75, "{end:?}");
    }
}
