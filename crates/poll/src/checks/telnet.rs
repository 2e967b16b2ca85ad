//! Telnet checks: sign in, type a command, read up to the next prompt.

use std::cell::Cell;
use std::time::Duration;

use config::snapshot::source::Login;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::telnet;

use super::check::Check;
use super::login::{self, OUTPUT_BYTES_MAX};
use super::reply::CheckReply;

const PORT: u16 = 23;
/// What prompts of command lines end with.
const PROMPTS: &[u8] = b"$#>%";
/// A text that ends like a prompt is one when so long nothing follows.
const QUIET: Duration = Duration::from_millis(100);

/// Runs the item's command.
pub(crate) async fn check(check: &Check<'_>) -> CheckReply {
    let stage = Cell::new("Cannot connect to TELNET server: timed out");
    let asked = timeout(check.timeout, ask(check, &stage)).await;
    match asked.unwrap_or_else(|_| Err(stage.get().to_owned())) {
        Ok(text) => CheckReply::Value(text),
        Err(why) => CheckReply::NotSupported(why),
    }
}

const NO_LOGIN: &str = "No login prompt.";
const NO_PASSWORD: &str = "No password prompt.";
const FAILED: &str = "Login failed.";
const NO_PROMPT: &str = "Cannot find prompt after command execution: timeout occurred";

async fn ask(check: &Check<'_>, stage: &Cell<&'static str>) -> Result<String, String> {
    let place = login::place(check, "telnet.run", 4, PORT)?;
    let (command, login) = login::task(check.item);
    let stream = login::connect(check.shared, &place).await;
    let stream = stream.map_err(|why| format!("Cannot connect to TELNET server: {why}"))?;
    let mut dialogue = Dialogue { stream, decoder: telnet::Decoder::default() };
    let output = dialogue.run(login, command, stage).await?;
    login::decode(&output, &place.encoding, "TELNET")
}

struct Dialogue {
    stream: TcpStream,
    decoder: telnet::Decoder,
}

impl Dialogue {
    /// The output of the command, between its echo and the next prompt.
    async fn run(
        &mut self,
        login: &Login,
        command: &str,
        stage: &Cell<&'static str>,
    ) -> Result<Vec<u8>, String> {
        stage.set(NO_LOGIN);
        self.until(b":", b"").await.map_err(|_| NO_LOGIN.to_owned())?;
        self.say(&login.username).await?;
        stage.set(NO_PASSWORD);
        self.until(b":", b"").await.map_err(|_| NO_PASSWORD.to_owned())?;
        self.say(&login.password).await?;
        stage.set(FAILED);
        // A second question for a name tells that the first was of no use.
        let text = self.until(PROMPTS, b":").await.map_err(|_| FAILED.to_owned())?;
        let prompt = ending(&text).filter(|end| PROMPTS.contains(end)).ok_or(FAILED)?;
        stage.set(NO_PROMPT);
        let command = command.replace("\r\n", "\n");
        self.say(&command).await?;
        let text = self.until(&[prompt], b"").await;
        let text =
            text.map_err(|why| format!("Cannot find prompt after command execution: {why}"))?;
        Ok(output(&telnet::unix_lines(&text), &command))
    }

    async fn say(&mut self, line: &str) -> Result<(), String> {
        let sent = self.stream.write_all(&telnet::line(line)).await;
        sent.map_err(|error| format!("Cannot send to TELNET server: {error}"))
    }

    /// The text up to a pause behind one of the signs in `ends` or `stops`.
    async fn until(&mut self, ends: &[u8], stops: &[u8]) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        let mut replies = Vec::new();
        loop {
            let ended =
                ending(&text).is_some_and(|end| ends.contains(&end) || stops.contains(&end));
            let mut bytes = [0; 4096];
            let read = self.stream.read(&mut bytes);
            let read = match ended {
                true => match timeout(QUIET, read).await {
                    Ok(read) => read,
                    Err(_) => return Ok(text),
                },
                false => read.await,
            };
            let count = read.map_err(|error| error.to_string())?;
            if count == 0 {
                // What has ended like a prompt before was one.
                return if ended { Ok(text) } else { Err("the server hung up".to_owned()) };
            }
            self.decoder.feed(&bytes[..count], &mut text, &mut replies);
            if text.len() > OUTPUT_BYTES_MAX {
                return Err(format!("more than {} MiB of output", OUTPUT_BYTES_MAX >> 20));
            }
            self.stream.write_all(&replies).await.map_err(|error| error.to_string())?;
            replies.clear();
        }
    }
}

/// The last sign that is no blank.
fn ending(text: &[u8]) -> Option<u8> {
    text.iter().rev().find(|byte| **byte != b' ').copied()
}

/// Without the command's echo before it and the prompt's line behind it.
fn output(text: &[u8], command: &str) -> Vec<u8> {
    let text = text.strip_prefix(command.as_bytes()).unwrap_or(text);
    let text = text.strip_prefix(b"\n").unwrap_or(text);
    let end = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    text[..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_stands_between_echo_and_prompt() {
        for (text, command, expected) in [
            ("show\none\ntwo\n\nhost> ", "show", "one\ntwo\n"),
            ("show\nhost> ", "show", ""),
            ("show\ntexthost> ", "show", ""),
            ("one\nhost> ", "show", "one"),
            ("a\nhost> b\nx\nhost> ", "a\nb", "a\nhost> b\nx"),
            ("", "", ""),
        ] {
            assert_eq!(output(text.as_bytes(), command), expected.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn prompts_end_with_their_sign() {
        assert_eq!(ending(b"host>  "), Some(b'>'));
        assert_eq!(ending(b"  "), None);
        assert_eq!(ending(b"a\n"), Some(b'\n'));
    }
}
