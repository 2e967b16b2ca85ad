//! Repetition of a request on another server after a failure.

use proxying::http1::HeadEnd;
use proxying::http2::frame::Code;

use super::{Exchange, Reply};
use crate::config::RetryOn;
use crate::core::Core;
use crate::mux::Cut;
use crate::peer::Peer;
use crate::route::{Failure, Route};
use crate::session::{Session, Step};

impl Exchange {
    /// Whether the request goes to another server instead of this response to the client.
    pub(crate) fn is_repeated_for(&self, status: u16, route: &Route, now_ms: u64) -> bool {
        let Some(link) = route.ready() else { return false };
        self.intact
            && self.plan.idempotent
            && route.pool.has_other(&route.wish, link.server, now_ms)
            && route.pool.may_repeat(RetryOn::Status(status), self.repeated)
    }

    /// Begins again with the first byte of the request.
    fn restart(&mut self, route: &mut Route, reason: Failure, core: &mut Core) {
        self.sent = 0;
        self.refused = false;
        self.reply = Reply::Head(HeadEnd::default());
        route.before = Some(reason);
        route.from_server.clear(&mut core.hub.buffers);
    }
}

impl Session {
    /// Handles the failure of a server: repeats the request, or responds to the client.
    pub(crate) fn server_failed(&mut self, failure: Failure, core: &mut Core) -> Step {
        let unanswered = self.is_unanswered();
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Step::Close;
        };
        // That no other server is left says less than what the last one did.
        let reason = match failure {
            Failure::Unavailable | Failure::Full => route.before.unwrap_or(failure),
            failure => failure,
        };
        let link = route.take_link();
        let cut = link.as_ref().and_then(|link| match &link.peer {
            Peer::Stream(stream) => stream.cut(&core.hub),
            Peer::Socket(_) | Peer::Copy(_) => None,
        });
        // What a server has not processed is sent once more.
        let refused = cut == Some(Cut::Refused) && !route.fresh;
        let stale = link.as_ref().is_some_and(|link| {
            link.reused && failure == Failure::Closed && route.from_server.is_empty()
        });
        let stale = refused || (stale && !matches!(cut, Some(Cut::Reset(_))));
        // A copy has one time for the whole response, whose server works if it has begun.
        let slow = failure == Failure::Timeout && matches!(self.client, Peer::Copy(_));
        let works = stale || (slow && !unanswered);
        if let Some(link) = link {
            if !works {
                route.wish.tried.push(link.server);
                route.pool.failed(link.server, core.now_ms());
            }
            core.release(*link, false);
        }
        if let Some(draft) = &mut self.draft {
            draft.failed(reason);
        }
        if let (Some(Cut::Reset(code)), Some(stream)) = (cut, self.client.stream()) {
            // A reset stays one.
            stream.code = Code::of(code);
            return Step::Close;
        }
        if !unanswered {
            return Step::Close;
        }
        let on = match failure {
            Failure::Connect => Some(RetryOn::Connect),
            Failure::Closed if exchange.plan.idempotent => Some(RetryOn::Closed),
            Failure::Timeout if exchange.plan.idempotent => Some(RetryOn::Timeout),
            _ => None,
        };
        // A kept connection that the server closed meanwhile is no failure of the server.
        let nothing_sent = exchange.sent == 0 && cut.is_none();
        let free = refused || (stale && (exchange.plan.idempotent || nothing_sent));
        let repeat = exchange.intact
            && (free || on.is_some_and(|on| route.pool.may_repeat(on, exchange.repeated)));
        if !repeat {
            return match exchange.stand_in(core.now_us) {
                Some(serving) => self.stand_in(serving, core),
                None => self.refuse_for(reason, core),
            };
        }
        if let Some(draft) = &mut self.draft {
            draft.repeat();
        }
        exchange.repeated += u8::from(!free);
        route.fresh = free;
        exchange.restart(route, reason, core);
        Step::Again
    }

    /// A server has answered with a status for which another one is asked.
    pub(crate) fn ask_another(&mut self, status: u16, core: &mut Core) -> Step {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Step::Close;
        };
        if let Some(link) = route.take_link() {
            route.wish.tried.push(link.server);
            // The rest of its response is not read.
            core.release(*link, false);
        }
        exchange.repeated += 1;
        route.fresh = false;
        exchange.restart(route, Failure::Status(status), core);
        Step::Again
    }
}
