//! Messages over a connection.

use std::time::Duration;

use anyhow::{Context, bail};
use proxying::engine_link::{Message, message_len};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::time::sleep;

/// Bytes that one read may bring.
const READ: usize = 64 << 10;
/// Longest time for which a peer may take in nothing.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Both directions of a connection.
pub(crate) struct Channel<S> {
    reader: ReadHalf<S>,
    writer: WriteHalf<S>,
    /// What was read, and where the next message begins.
    input: Vec<u8>,
    begin: usize,
    /// Longest message that the peer may send.
    most: usize,
    output: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Channel<S> {
    pub(crate) fn new(stream: S, most: usize) -> Self {
        let (reader, writer) = split(stream);
        Self { reader, writer, input: Vec::new(), begin: 0, most, output: Vec::new() }
    }

    /// Waits for a message's last byte; [`message`](Self::message) then returns it. Can be cancelled
    /// without loss. An error also when the peer closes the connection.
    pub(crate) async fn ready(&mut self) -> anyhow::Result<()> {
        loop {
            let rest = self.input.get(self.begin..).unwrap_or_default();
            let complete = message_len(rest, self.most)
                .context("the peer does not use the engine protocol")?;
            if complete.is_some_and(|length| rest.len() >= length) {
                return Ok(());
            }
            self.input.drain(..self.begin);
            self.begin = 0;
            self.input.reserve(READ);
            if self.reader.read_buf(&mut self.input).await? == 0 {
                bail!("the peer closed the connection");
            }
        }
    }

    /// The message for which [`ready`](Self::ready) waited.
    pub(crate) fn message(&mut self) -> anyhow::Result<Message<'_>> {
        let rest = self.input.get(self.begin..).unwrap_or_default();
        let length = message_len(rest, self.most)?.unwrap_or(0);
        let bytes = rest.get(..length).context("BUG: no message is ready")?;
        self.begin += length;
        Ok(Message::read(bytes)?)
    }

    /// Sends a message. What arrives meanwhile is read: two peers that send long messages at once would
    /// otherwise wait for each other.
    pub(crate) async fn send(&mut self, message: &Message<'_>) -> anyhow::Result<()> {
        let Self { reader, writer, input, output, .. } = self;
        output.clear();
        message.write(output);
        let sent = async {
            writer.write_all(output).await?;
            writer.flush().await
        };
        let late = sleep(WRITE_TIMEOUT);
        tokio::pin!(sent, late);
        loop {
            tokio::select! {
                sent = &mut sent => break sent?,
                read = reader.read_buf(input), if input.len() < self.most => {
                    if read? == 0 {
                        bail!("the peer closed the connection");
                    }
                }
                () = &mut late => bail!("the peer stopped reading messages"),
            }
        }
        // A configuration may have been long, and has keys.
        self.output = Vec::new();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_arrive_whole_in_order_and_within_the_limit() {
        let (near, far) = tokio::io::duplex(7);
        let (mut near, mut far) = (Channel::new(near, 1_000), Channel::new(far, 1_000));
        let reasons = ["one".repeat(50), String::new(), "three".to_owned()];
        let sending = async {
            for reason in &reasons {
                near.send(&Message::Refused { reason }).await.unwrap();
            }
            near.send(&Message::Refused { reason: &"x".repeat(2_000) }).await
        };
        let receiving = async {
            for reason in &reasons {
                far.ready().await.unwrap();
                assert_eq!(far.message().unwrap(), Message::Refused { reason });
            }
            let error = far.ready().await.unwrap_err();
            drop(far);
            format!("{error:#}")
        };
        let (sent, error) = tokio::join!(sending, receiving);
        assert!(error.contains("longer than 1000"), "{error}");
        sent.unwrap_err();
    }
}
