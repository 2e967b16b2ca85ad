//! One connection: TLS or not, one message in, one answer out, bounded in time and bytes.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use stdx::seats::Seat;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use wire::zbxd::{self, Decoder, Frame, FrameError};

use super::Trapper;
use super::begun::Begun;
use super::matching::Peer;
use collect::counters::Counters;
use collect::read::read_some;
use collect::tls::Identity;

/// First byte of a TLS handshake; a frame starts with `Z`.
const TLS_HANDSHAKE: u8 = 0x16;
/// Bytes of a message that need no room in the budget: small requests are served whatever the
/// large ones do. With all connections it is a fourth of the default budget.
pub(super) const FREE_BYTES: usize = 16 * 1024;
/// zlib cannot make more out of a byte.
const INFLATE_RATIO_MAX: u64 = 1032;
/// Pause that a message beyond the budget may make.
const FINISHER_PATIENCE: Duration = Duration::from_secs(1);
/// What is read and thrown away before an answer to a message that was not taken whole, so that
/// the answer is not lost in a connection reset.
const DRAIN_BYTES: usize = 1 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Why there is no message.
#[derive(Debug)]
enum ReceiveError {
    /// Closed before the first byte.
    Nothing,
    Io(std::io::Error),
    Frame(FrameError),
    Slow,
}

impl From<std::io::Error> for ReceiveError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Room in the budget for one message.
///
/// Messages that hold a part of the budget and wait for more could wait for each other for ever.
/// So one message at a time may go beyond the budget (`finisher`): there is always one that gets
/// on, and memory stays within the budget and one message.
struct Room<'t> {
    trapper: &'t Trapper,
    held: Vec<OwnedSemaphorePermit>,
    finisher: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl<'t> Room<'t> {
    fn new(trapper: &'t Trapper) -> Self {
        Self { trapper, held: Vec::new(), finisher: None, bytes: 0 }
    }

    /// Waits until the message may have `bytes` in all.
    async fn grow(&mut self, bytes: usize) {
        if bytes <= FREE_BYTES.max(self.bytes) || self.finisher.is_some() {
            return;
        }
        // Doubling keeps the number of steps small; never more than the whole budget.
        let limit = self.trapper.shared.config.limits.bytes_in_flight;
        let target = bytes.max(self.bytes * 2).min(limit);
        let more = target.saturating_sub(self.bytes).div_ceil(1024);
        let Ok(more) = u32::try_from(more) else { return };
        if more == 0 {
            return;
        }
        tokio::select! {
            biased;
            permit = Arc::clone(&self.trapper.budget).acquire_many_owned(more) => {
                self.held.extend(permit.ok());
                self.bytes = target;
            }
            permit = Arc::clone(&self.trapper.finisher).acquire_owned() => {
                self.finisher = permit.ok();
            }
        }
    }

    /// How long the next bytes may take: who goes beyond the budget must not dawdle.
    fn patience(&self) -> Duration {
        if self.finisher.is_some() { FINISHER_PATIENCE } else { Duration::MAX }
    }
}

/// What a header announces: bytes on the wire after it, and after decompression (0 = not
/// compressed).
fn announced(head: &[u8]) -> Option<(u64, u64)> {
    let flags = *head.get(4)?;
    let width = if flags & zbxd::LARGE == 0 { 4 } else { 8 };
    let number = |at: usize| {
        let mut wide = [0; 8];
        wide.get_mut(..width)?.copy_from_slice(head.get(at..at + width)?);
        Some(u64::from_le_bytes(wide))
    };
    let (bytes, reserved) = (number(5)?, number(5 + width)?);
    Some((bytes, if flags & zbxd::COMPRESSED == 0 { 0 } else { reserved }))
}

impl Trapper {
    /// Serves one connection to its end. It is idle until its message is there.
    pub(super) async fn serve(self: &Arc<Self>, stream: Begun, ip: IpAddr, seat: &Arc<Seat>) {
        let limits = self.shared.config.limits;
        let first = match timeout(limits.first_byte, stream.first()).await {
            Ok(Ok(None) | Err(_)) => return,
            Ok(Ok(Some(first))) => first,
            Err(_) => {
                Counters::one(&self.shared.context.counters.slow);
                tracing::debug!("connection from {ip} closed: nothing came");
                return;
            }
        };
        if first != TLS_HANDSHAKE {
            let peer = Peer { ip, identity: Identity::unencrypted() };
            self.converse(stream, peer, seat).await;
            return;
        }
        match timeout(limits.first_byte, self.shared.context.tls.accept(stream)).await {
            Ok(Ok((stream, identity))) => {
                self.converse(stream, Peer { ip, identity }, seat).await;
            }
            Ok(Err(error)) => {
                Counters::one(&self.shared.context.counters.requests_refused);
                tracing::warn!("failed to accept an incoming connection from {ip}: {error}");
            }
            Err(_) => Counters::one(&self.shared.context.counters.slow),
        }
    }

    async fn converse<S>(self: &Arc<Self>, mut stream: S, peer: Peer, seat: &Arc<Seat>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let limits = self.shared.config.limits;
        let mut room = Room::new(self);
        let received = timeout(limits.receive, self.receive(&mut stream, &mut room)).await;
        let answer = match received.unwrap_or(Err(ReceiveError::Slow)) {
            Ok(frame) => self.respond(frame, peer, seat).await,
            Err(error) => {
                let answer = self.refused(&error, peer.ip);
                if answer.is_some() {
                    let _late = timeout(DRAIN_TIME, drain(&mut stream)).await;
                }
                answer
            }
        };
        drop(room);
        if let Some(answer) = answer {
            Counters::add(&self.shared.context.counters.bytes_out, answer.len() as u64);
            self.send(&mut stream, &answer).await;
        }
    }

    /// The response to a complete message; `None` = close without a response.
    async fn respond(&self, frame: Frame, peer: Peer, seat: &Arc<Seat>) -> Option<Vec<u8>> {
        Counters::add(&self.shared.context.counters.bytes_in, frame.bytes);
        let ip = peer.ip;
        let _busy = seat.busy()?;
        self.in_time(ip, self.answer(frame, peer)).await
    }

    /// Waits for an answer as long as one may take.
    pub(super) async fn in_time(
        &self,
        ip: IpAddr,
        answer: impl Future<Output = Option<Vec<u8>>>,
    ) -> Option<Vec<u8>> {
        let answer = timeout(self.shared.config.limits.answer, answer).await;
        answer.unwrap_or_else(|_| {
            tracing::warn!("timeout while responding to the request from {ip}");
            None
        })
    }

    /// Waits until the peer has taken the answer, or long enough.
    pub(super) async fn send<S>(&self, stream: &mut S, answer: &[u8])
    where
        S: AsyncWrite + Unpin,
    {
        let send = async {
            stream.write_all(answer).await?;
            stream.shutdown().await
        };
        if timeout(self.shared.config.limits.send, send).await.is_err() {
            Counters::one(&self.shared.context.counters.slow);
        }
    }

    /// Reads a message of the size that is allowed.
    pub(super) fn decoder(&self) -> Decoder {
        let limits = self.shared.config.limits;
        Decoder::new(zbxd::Limits {
            frame_bytes_max: usize::try_from(limits.frame_bytes_max).unwrap_or(usize::MAX),
            payload_bytes_max: usize::try_from(limits.message_bytes_max).unwrap_or(usize::MAX),
            large: true,
            text_bytes_max: 0,
        })
    }

    async fn receive<S>(&self, stream: &mut S, room: &mut Room<'_>) -> Result<Frame, ReceiveError>
    where
        S: AsyncRead + Unpin,
    {
        let limits = self.shared.config.limits;
        let mut decoder = self.decoder();
        let mut head = Vec::with_capacity(21);
        let mut received = 0_usize;
        loop {
            // The decoder decompresses with the last byte, so room must be there before.
            let before_last = announced(&head).filter(|(_, inflated)| *inflated > 0);
            if let Some((bytes, inflated)) = before_last {
                if inflated > bytes.saturating_mul(INFLATE_RATIO_MAX) + 1024 {
                    return Err(ReceiveError::Frame(FrameError::Inflate(
                        "no zlib stream of this length holds the announced bytes",
                    )));
                }
                let left = bytes.saturating_sub(received as u64);
                let inflated = usize::try_from(inflated.min(limits.message_bytes_max)).unwrap_or(0);
                if left <= 64 * 1024 {
                    room.grow(received + inflated).await;
                }
            }
            let progress = read_some(stream, |bytes| {
                let rest = 21_usize.saturating_sub(head.len()).min(bytes.len());
                head.extend_from_slice(bytes.get(..rest).unwrap_or_default());
                received += bytes.len();
                if bytes.is_empty() {
                    return decoder.end().map(|frame| (true, frame));
                }
                decoder.feed(bytes)?.only().map(|frame| (false, frame))
            });
            let Ok(progress) = timeout(room.patience(), progress).await else {
                return Err(ReceiveError::Slow);
            };
            match progress?.map_err(ReceiveError::Frame)? {
                (_, Some(frame)) => {
                    // Parsed values take a few times the room of their text.
                    room.grow(received.saturating_add(frame.payload.len().saturating_mul(4))).await;
                    return Ok(frame);
                }
                (true, None) => return Err(ReceiveError::Nothing),
                (false, None) => room.grow(received).await,
            }
        }
    }

    fn refused(&self, error: &ReceiveError, ip: IpAddr) -> Option<Vec<u8>> {
        let counters = &self.shared.context.counters;
        match error {
            ReceiveError::Nothing => None,
            ReceiveError::Io(error) => {
                tracing::debug!("connection from {ip} broke: {error}");
                None
            }
            ReceiveError::Slow => {
                Counters::one(&counters.slow);
                tracing::warn!("Message from {ip} did not arrive in time. Message ignored.");
                None
            }
            ReceiveError::Frame(error) => {
                Counters::one(&counters.requests_refused);
                tracing::warn!("Message from {ip} {error}. Message ignored.");
                // What is not this protocol gets no answer in it.
                let known = matches!(
                    error,
                    FrameError::TooLarge { .. }
                        | FrameError::InflatedTooLarge { .. }
                        | FrameError::Inflate(_)
                );
                let info = format!("Message {error}. Message ignored.");
                known.then(|| zbxd::encode(wire::failed(&info).as_bytes(), zbxd::PROTOCOL))
            }
        }
    }
}

async fn drain<S: AsyncRead + Unpin>(stream: &mut S) {
    let mut left = DRAIN_BYTES;
    while left > 0 {
        match read_some(stream, <[u8]>::len).await {
            Ok(n) if n > 0 => left = left.saturating_sub(n),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_announce() {
        let plain = zbxd::encode(b"hello", zbxd::PROTOCOL);
        assert_eq!(announced(&plain), Some((5, 0)));
        let text = "a".repeat(5000);
        let packed = zbxd::encode(text.as_bytes(), zbxd::COMPRESSED);
        assert_eq!(announced(&packed), Some((packed.len() as u64 - 13, 5000)));
        assert_eq!(announced(&packed[..12]), None);
        let mut large = b"ZBXD\x07".to_vec();
        large.extend_from_slice(&7_u64.to_le_bytes());
        assert_eq!(announced(&large), None);
        large.extend_from_slice(&9_u64.to_le_bytes());
        assert_eq!(announced(&large), Some((7, 9)));
    }
}
