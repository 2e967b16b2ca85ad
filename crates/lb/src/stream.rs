//! A request that arrives on a stream of HTTP/2 or HTTP/3, and how its response leaves.

use proxying::http1::{self, Body, Piece, Version};
use proxying::http2::frame::Code;
use proxying::http2::hpack::List;
use proxying::http2::message;

use crate::cache::Course;
use crate::core::Core;
use crate::exchange::{Outcome, Reply};
use crate::mux::Cut;
use crate::peer::Peer;
use crate::route::Upstream;
use crate::session::{Session, Step};
use transactions::End;

impl Session {
    /// The head of the request is there. The session has just begun and not run yet.
    pub(crate) fn begin_message(&mut self, mut list: List, end: bool, core: &mut Core) -> Step {
        self.refresh(core);
        self.note_begin(core);
        if list.too_large {
            return self.refuse(http1::Refusal::HeadTooLarge.status(), core);
        }
        let key = websocket_key(core);
        let limits = self.service.limits;
        let http3 = self.client.stream().is_some_and(|stream| stream.of.http3);
        let outcome =
            message::request(&mut list.fields, end, &key, &limits).and_then(|mut request| {
                if http3 {
                    request.version = Version::Http3;
                }
                self.plan(&request, core)
            });
        match outcome {
            Ok(Outcome::Check(task, to_head)) => {
                self.held = Some(Box::new((list, end)));
                self.wait_for(*task, to_head, core)
            }
            // RFC 9113, 8.1.1: a malformed message is an error of its stream.
            Err(refusal) if refusal.status() == 400 => {
                if let Some(stream) = self.client.stream() {
                    stream.code = Code::Protocol;
                }
                self.record_local(0, core);
                Step::Close
            }
            outcome => self.begin_exchange(outcome, core),
        }
    }

    /// Moves the body of a response to a stream.
    pub(crate) fn reply_content(&mut self, core: &mut Core) -> Result<bool, Step> {
        let (Some(exchange), Some(route), Some(stream)) =
            (&mut self.exchange, &mut self.route, self.client.stream())
        else {
            return Err(Step::Close);
        };
        let Upstream::Ready(link) = &mut route.upstream else { return Ok(false) };
        let Reply::Body { body, .. } = &mut exchange.reply else { return Ok(false) };
        let bytes = route.from_server.data();
        let room = if bytes.is_empty() { 0 } else { stream.room(&mut core.hub) };
        // The end of a body needs no room.
        let mut ahead = if room == 0 { Some(body.clone()) } else { None };
        let limit = if room == 0 { bytes.len() } else { bytes.len().min(room) };
        let Ok((length, piece)) = ahead.as_mut().unwrap_or(body).next(&bytes[..limit]) else {
            return Err(self.broken_off(End::ServerInvalid));
        };
        if ahead.is_some() && matches!(piece, Piece::Data(_)) {
            return Ok(false);
        }
        if let Some(ahead) = ahead {
            *body = ahead;
        }
        let mut ended = match piece {
            Piece::Data(_) => false,
            Piece::More if link.peer.eof() && bytes.len() == length => match body {
                Body::UntilClose if !link.broken => true,
                // The client must see that the response is incomplete.
                _ => {
                    if let Peer::Stream(server) = &link.peer
                        && let Some(Cut::Reset(code)) = server.cut(&core.hub)
                    {
                        stream.code = Code::of(code);
                    }
                    return Err(self.broken_off(End::ServerClosed));
                }
            },
            Piece::More => {
                route.from_server.consume(length);
                return Ok(length > 0);
            }
            Piece::End => true,
        };
        if let Piece::Data(data) = piece {
            Course::keep(&mut exchange.plan.caching.course, data);
            ended = body.has_ended();
            stream.send(data, ended, &mut core.hub);
        } else if ended {
            let of_server = link.peer.take_trailers(&mut core.hub);
            let trailers = match &of_server {
                Some(list) => message::trailers(&list.fields),
                None => http1::trailers(body.trailers()),
            };
            stream.end_with(&trailers.unwrap_or_default(), &mut core.hub);
        }
        route.from_server.consume(length);
        if ended {
            exchange.reply = Reply::Done;
        }
        Ok(true)
    }
}

/// A `Sec-WebSocket-Key`: 16 random bytes in Base64 (RFC 6455, 4.1). It hides nothing.
fn websocket_key(core: &mut Core) -> [u8; 24] {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = u128::from(core.random()) << 64 | u128::from(core.random());
    let mut key = [b'='; 24];
    // 128 bits are 21 digits of 6 bits, and 2 bits that a last digit begins with.
    for digit in &mut key[..21] {
        *digit = DIGITS[(bits & 63) as usize];
        bits >>= 6;
    }
    key[21] = DIGITS[((bits & 3) << 4) as usize];
    key
}
