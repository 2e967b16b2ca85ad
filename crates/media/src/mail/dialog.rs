//! The dialogue with a mail server over any stream: commands, replies, the log.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use wire::smtp;

use crate::attempt::{Failure, Log, Result, os_error};

/// Characters of a reply that errors have.
const SHOWN_CHARS_MAX: usize = 512;

/// A connection, protected or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Where a dialogue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connect,
    Welcome,
    Helo,
    StartTls,
    Auth,
    MailFrom,
    RcptTo,
    Data,
    /// The whole message is on its way.
    End,
    /// The server has answered to the message.
    Farewell,
}

impl Stage {
    /// As errors call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connection",
            Self::Welcome => "welcome message",
            Self::Helo => "HELO",
            Self::StartTls => "STARTTLS",
            Self::Auth => "AUTH",
            Self::MailFrom => "MAIL FROM",
            Self::RcptTo => "RCPT TO",
            Self::Data => "DATA",
            Self::End => "end of data",
            Self::Farewell => "QUIT",
        }
    }

    /// An error at this stage.
    pub(super) fn broken(self, why: &str) -> Failure {
        let error = format!("error receiving answer on {}: {why}", self.name());
        match self {
            Self::End => Failure::Unknown(error),
            _ => Failure::Failed(error),
        }
    }
}

/// A reply of the server.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// All lines, with their codes.
    pub(super) text: String,
}

impl Reply {
    /// The last line as errors have it.
    pub(super) fn shown(&self) -> String {
        let line = self.text.trim_end().lines().next_back().unwrap_or_default();
        line.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS_MAX).collect()
    }

    pub(super) fn is_positive(&self) -> bool {
        self.code / 100 == 2
    }

    /// The reply, if its code is one that the stage goes on with.
    pub(super) fn expect(self, stage: Stage, code: u16) -> Result<Self> {
        if self.code == code { Ok(self) } else { Err(self.refused(stage)) }
    }

    pub(super) fn refused(&self, stage: Stage) -> Failure {
        Failure::Failed(format!("wrong answer on {} \"{}\"", stage.name(), self.shown()))
    }
}

/// One side of a dialogue.
pub(super) struct Dialog<'a> {
    stream: Box<dyn Stream>,
    /// Bytes of the server that belong to no reply yet.
    received: Vec<u8>,
    pub(super) log: &'a mut Log,
}

impl<'a> Dialog<'a> {
    pub(super) fn new(stream: Box<dyn Stream>, log: &'a mut Log) -> Self {
        Self { stream, received: Vec::new(), log }
    }

    /// Sends a command and reads the reply.
    pub(super) async fn command(&mut self, stage: Stage, line: &str) -> Result<Reply> {
        self.say(stage, line, line).await
    }

    /// Sends a line that the log shows as `***`.
    pub(super) async fn secret(&mut self, stage: Stage, line: &str) -> Result<Reply> {
        self.say(stage, line, "***").await
    }

    async fn say(&mut self, stage: Stage, line: &str, shown: &str) -> Result<Reply> {
        if line.contains(['\r', '\n']) {
            return Err(Failure::Failed(format!("{} would have two lines", stage.name())));
        }
        self.log.add(|| format!("> {shown}"));
        self.send(stage, &format!("{line}\r\n")).await?;
        self.reply(stage).await
    }

    /// Sends bytes as they are.
    pub(super) async fn send(&mut self, stage: Stage, text: &str) -> Result<()> {
        let sent = async {
            self.stream.write_all(text.as_bytes()).await?;
            self.stream.flush().await
        };
        sent.await.map_err(|error| {
            Failure::Failed(format!("error sending {}: {}", stage.name(), os_error(&error)))
        })
    }

    pub(super) async fn reply(&mut self, stage: Stage) -> Result<Reply> {
        let (code, length) = loop {
            match smtp::reply(&self.received) {
                Ok(Some(reply)) => break reply,
                Ok(None) => {}
                Err(error) => return Err(stage.broken(&error.to_string())),
            }
            let mut bytes = [0; 2_048];
            match self.stream.read(&mut bytes).await {
                Ok(0) => return Err(stage.broken("connection closed")),
                Ok(count) => self.received.extend(&bytes[..count]),
                Err(error) => return Err(stage.broken(&os_error(&error))),
            }
        };
        let text: Vec<u8> = self.received.drain(..length).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        for line in text.lines() {
            self.log.add(|| format!("< {}", line.trim_end()));
        }
        Ok(Reply { code, text })
    }

    /// The stream, for protection. What the server sent before it could be anybody's.
    pub(super) fn into_stream(self) -> Result<(Box<dyn Stream>, &'a mut Log)> {
        match self.received.is_empty() {
            true => Ok((self.stream, self.log)),
            false => Err(Failure::failed("the SMTP server sent data in clear text after STARTTLS")),
        }
    }
}
