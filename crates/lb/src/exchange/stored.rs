//! How a stored response leaves: its content goes from the store to the client without a copy.

use proxying::http1::{Body, HeadEnd, Version};

use super::Reply;
use crate::cache::Serving;
use crate::compression::reply;
use crate::core::Core;
use crate::peer::Peer;
use crate::response::{Composed, is_endless};
use crate::route::Upstream;
use crate::session::{Session, Step};

impl Session {
    /// Moves a stored response to the client.
    pub(crate) fn download_stored(&mut self, core: &mut Core) -> Result<bool, Step> {
        let mut progress = self.flush(core).ok_or(Step::Close)? > 0;
        loop {
            let moved = match self.exchange.as_ref().map(|exchange| &exchange.reply) {
                Some(Reply::Head(_)) => self.head_stored(core)?,
                Some(Reply::Coded(_)) => self.reply_coded(true, core)?,
                Some(Reply::Stored) => self.content_stored(core)?,
                Some(Reply::Body { .. } | Reply::Done) | None => break,
            };
            if !moved {
                break;
            }
            progress = true;
        }
        progress |= self.flush(core).ok_or(Step::Close)? > 0;
        Ok(progress)
    }

    fn head_stored(&mut self, core: &mut Core) -> Result<bool, Step> {
        if !self.output.is_empty() {
            return Ok(false);
        }
        let Some(route) = self.route.take() else { return Err(Step::Close) };
        let result = match &route.upstream {
            Upstream::Stored(serving) => {
                self.run_scripts(&serving.response(serving.fields()), core)
            }
            _ => Ok(()),
        };
        self.route = Some(route);
        if result.is_err() {
            return Err(self.refuse_for_script(core));
        }
        self.leave(core);
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        let Upstream::Stored(serving) = &route.upstream else { return Err(Step::Close) };
        let response = serving.response(serving.fields());
        let accepted = exchange.plan.accepted.as_ref();
        let described = serving.validated();
        let described = described.as_ref().unwrap_or(&response);
        let (offer, coded) = reply::begin(accepted, described, &self.service, core);
        core.scratch.clear();
        let head = Composed { exchange, route, server: None, offer };
        head.write(&mut core.scratch, &response, &self.service);
        let ended = Body::new(response.framing).has_ended();
        let endless = is_endless(response.framing, offer);
        let chunked = endless && exchange.plan.version.has_chunks();
        if endless && exchange.plan.version == Version::Http10 {
            exchange.plan.keep_alive = false;
        }
        if let Some(draft) = &mut self.draft {
            draft.stored(response.status, core.now_us);
        }
        exchange.reply = match coded {
            Some(coded) => Reply::Coded(coded.in_chunks(chunked)),
            None if ended => Reply::Done,
            None => Reply::Stored,
        };
        if self.send_head(ended, core) { Ok(true) } else { Err(Step::Close) }
    }

    /// Sends content when the head has left.
    fn content_stored(&mut self, core: &mut Core) -> Result<bool, Step> {
        if !self.output.is_empty() && self.flush(core).is_none() {
            return Err(Step::Close);
        }
        if !self.output.is_empty() {
            return Ok(false);
        }
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        let Upstream::Stored(serving) = &mut route.upstream else { return Err(Step::Close) };
        let unread = serving.unread();
        let sent = match &mut self.client {
            Peer::Stream(stream) => stream.send_all(unread, true, &mut core.hub),
            client => client.write(unread, &mut core.hub).map_err(|_| Step::Close)?,
        };
        serving.advance(sent);
        if serving.is_read() {
            exchange.reply = Reply::Done;
        }
        Ok(sent > 0)
    }

    /// The client gets a stored response instead of that of the server, whose connection may be kept if `reusable`.
    pub(crate) fn turn_to_stored(
        &mut self,
        serving: Serving,
        reusable: bool,
        core: &mut Core,
    ) -> Step {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Step::Close;
        };
        let clean = exchange.has_left(route) && route.from_server.is_empty();
        if let Some(link) = route.take_link() {
            core.release(*link, reusable && clean);
        }
        exchange.end_upload();
        exchange.reply = Reply::Head(HeadEnd::default());
        route.to_server.clear(&mut core.hub.buffers);
        route.from_server.clear(&mut core.hub.buffers);
        route.upstream = Upstream::Stored(Box::new(serving));
        Step::Again
    }
}
