//! How a compressed response leaves: in chunks, until the connection ends, or in frames.

use proxying::engine_link::analytics::Counter;
use proxying::http1::{self, Body, Piece, Response};
use proxying::http2::message;

use super::encoder::Encoder;
use super::{Acceptance, Coded, Offer, is_untouched};
use crate::buffer::Buffer;
use crate::cache::Course;
use crate::core::Core;
use crate::exchange::Reply;
use crate::form::OVERHEAD;
use crate::mux::Cut;
use crate::peer::Peer;
use crate::route::Upstream;
use crate::session::{Session, Step};
use crate::snapshot::Service;
use transactions::End;

/// Content that is compressed before others run, in bytes.
const STEP: usize = 16 * 1024;

/// Decides how a response leaves; begins its compression.
pub(crate) fn begin(
    accepted: Option<&Acceptance>,
    response: &Response<'_>,
    service: &Service,
    core: &Core,
) -> (Offer, Option<Box<Coded>>) {
    let (Some(settings), Some(accepted)) = (&service.compression, accepted) else {
        return (Offer::Same, None);
    };
    let offer = settings.offer(response, accepted);
    let Offer::Coded(coding) = offer else { return (offer, None) };
    let encoder = settings.slots().and_then(|slots| {
        let encoder = Encoder::new(coding, settings.config.level);
        encoder.ok().map(|encoder| (slots, encoder))
    });
    let Some((slots, encoder)) = encoder else {
        core.count(&service.tally, Counter::Uncompressed);
        return (Offer::Varies, None);
    };
    let body = Body::new(response.framing);
    let coded = Coded { body, chunked: false, encoder, finished: false, _slots: slots };
    (offer, Some(Box::new(coded)))
}

impl Coded {
    /// Sends coded bytes while there is room; returns their number.
    fn send(&mut self, client: &mut Peer, output: &mut Buffer, core: &mut Core) -> usize {
        let coded = self.encoder.coded();
        let sent = match client {
            _ if coded.is_empty() => 0,
            Peer::Stream(stream) => stream.send_all(coded, false, &mut core.hub),
            Peer::Copy(_) => coded.len(),
            Peer::Socket(_) => {
                let room = output.room().saturating_sub(OVERHEAD);
                let part = &coded[..coded.len().min(room)];
                core.scratch.clear();
                if self.chunked {
                    http1::chunk(&mut core.scratch, part);
                } else {
                    core.scratch.extend_from_slice(part);
                }
                // It fits: there is room for the part and the size of its chunk.
                let _fits = output.push(&core.scratch, &mut core.hub.buffers);
                part.len()
            }
        };
        self.encoder.consume(sent);
        sent
    }

    fn finish(&mut self) -> Result<bool, End> {
        self.finished = true;
        self.encoder.finish().map(|()| true).map_err(|_| End::ServerInvalid)
    }

    /// Reads and codes the next piece of the body; false: nothing has arrived. `drained`: neither does the
    /// connection have more, so all that was read is coded to be sent.
    fn code(
        &mut self,
        from: &mut Buffer,
        server: Server,
        drained: bool,
        course: &mut Option<Course>,
    ) -> Result<bool, End> {
        let bytes = from.data();
        let input = &bytes[..bytes.len().min(STEP)];
        let all = input.len() == bytes.len();
        let (length, piece) = self.body.next(input).map_err(|_| End::ServerInvalid)?;
        let ended = match piece {
            Piece::Data(data) => {
                Course::keep(course, data);
                self.encoder.write(data).map_err(|_| End::ServerInvalid)?;
                matches!(self.body, Body::Length(0))
            }
            Piece::More if server.eof && all && input.len() == length => {
                let complete = matches!(self.body, Body::UntilClose) && !server.broken;
                if !complete {
                    return Err(End::ServerClosed);
                }
                true
            }
            Piece::More if length == 0 && all && drained => {
                return self.encoder.flush().map_err(|_| End::ServerInvalid);
            }
            Piece::More => false,
            Piece::End => true,
        };
        from.consume(length);
        if ended { self.finish() } else { Ok(length > 0) }
    }
}

/// What is known of the connection to the server.
#[derive(Debug, Clone, Copy)]
struct Server {
    /// Nothing follows what was read.
    eof: bool,
    /// A read has failed.
    broken: bool,
}

impl Session {
    /// Moves a response that is compressed. `drained`: the last read has returned nothing.
    pub(crate) fn reply_coded(&mut self, drained: bool, core: &mut Core) -> Result<bool, Step> {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        let server = match &mut route.upstream {
            Upstream::Ready(link) => Server { eof: link.peer.eof(), broken: link.broken },
            Upstream::Stored(serving) => {
                serving.fill(&mut route.from_server, &mut core.hub.buffers);
                Server { eof: serving.is_read(), broken: false }
            }
            _ => return Ok(false),
        };
        let Reply::Coded(coded) = &mut exchange.reply else { return Ok(false) };
        let sent = coded.send(&mut self.client, &mut self.output, core);
        if !coded.encoder.coded().is_empty() {
            return Ok(sent > 0);
        }
        if !coded.finished {
            let course = &mut exchange.plan.caching.course;
            let progress = coded.code(&mut route.from_server, server, drained, course);
            return match progress {
                Ok(progress) => Ok(progress || sent > 0),
                Err(end) => {
                    if let Some(Peer::Stream(server)) = route.ready().map(|link| &link.peer)
                        && let Some(Cut::Reset(code)) = server.cut(&core.hub)
                        && let Some(client) = self.client.stream()
                    {
                        client.code = proxying::http2::frame::Code::of(code);
                    }
                    // The client must see that the response is incomplete.
                    Err(self.broken_off(end))
                }
            };
        }
        if !self.output.is_empty() {
            // There must be room for the trailers, which can be taken once.
            return Ok(sent > 0);
        }
        let of_server = route.ready().and_then(|link| link.peer.take_trailers(&mut core.hub));
        let trailers = match &of_server {
            Some(list) => message::trailers(&list.fields),
            None => http1::trailers(coded.body.trailers()),
        };
        let mut trailers = trailers.unwrap_or_default();
        trailers.retain(|field| !is_untouched(field.name));
        if let Some(stream) = self.client.stream() {
            stream.end_with(&trailers, &mut core.hub);
        } else if coded.chunked {
            let wanted = if exchange.plan.trailers { &trailers[..] } else { &[] };
            core.scratch.clear();
            http1::end_of_chunks(&mut core.scratch, wanted);
            if !self.output.push(&core.scratch, &mut core.hub.buffers) {
                return Err(Step::Close);
            }
        }
        exchange.reply = Reply::Done;
        Ok(true)
    }
}
