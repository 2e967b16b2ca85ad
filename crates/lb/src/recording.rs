//! When a session notes something of its transaction, and the record at the end.

use proxying::http2::frame::Code;
use transactions::{Cached, Client, Course, End, Protocol, Response, Target, Transaction};

use crate::analytics;
use crate::core::Core;
use crate::record::{Draft, Moments};
use crate::session::{Session, Step};

impl Session {
    /// Notes the first byte of a request.
    pub(crate) fn note_begin(&mut self, core: &Core) {
        if core.recorder.is_some() && self.draft.is_none() {
            let draft = Draft {
                moments: Moments { began_us: core.now_us, ..Moments::default() },
                ..Draft::default()
            };
            self.draft = Some(Box::new(draft));
            // The head of a stream's request was read with its first byte.
            self.counted = match self.client.socket() {
                Some(conn) => (conn.received - self.input.data().len() as u64, conn.sent),
                None => (0, 0),
            };
        }
    }

    /// A connection that is passed on as it is.
    pub(crate) fn note_tcp(&mut self) {
        if let Some(draft) = &mut self.draft {
            draft.protocol = Protocol::Tcp;
        }
    }

    /// Notes how the transaction ends.
    pub(crate) fn note_end(&mut self, end: End) {
        if let Some(draft) = &mut self.draft {
            draft.end = end;
        }
    }

    /// Notes what the cache did.
    pub(crate) fn note_cached(&mut self, cached: Cached) {
        if let Some(draft) = &mut self.draft {
            draft.cached = cached;
        }
    }

    /// The server has ended the response before its end: so does the connection.
    pub(crate) fn broken_off(&mut self, end: End) -> Step {
        self.note_end(end);
        if let Some(stream) = self.client.stream()
            && stream.code == Code::Cancel
        {
            stream.code = Code::Internal;
        }
        Step::Close
    }

    /// Writes the record of a transaction that the balancer answered by itself.
    pub(crate) fn record_local(&mut self, status: u16, core: &mut Core) {
        if let Some(draft) = &mut self.draft {
            draft.status = status;
            if draft.end == End::ClientClosed {
                draft.end = End::Local;
            }
        }
        self.record(core);
    }

    /// Writes the record of a transaction that has ended.
    pub(crate) fn record(&mut self, core: &mut Core) {
        let Some(mut draft) = self.draft.take() else { return };
        let Some(recorder) = &mut core.recorder else { return };
        let unread = self.input.data().len() as u64;
        let (received, sent) = self.client.counts();
        draft.request_bytes = (received - unread).saturating_sub(self.counted.0);
        let unsent = self.output.data().len() as u64;
        let response_bytes = (sent + unsent).saturating_sub(self.counted.1);
        let facts = self.client.facts(core.now_us);
        let timings = draft.timings(facts.rtt_us, core.now_us);
        let served = draft.served.as_ref();
        let server = served.map(|served| served.pool.server(served.server));
        let response = Response {
            status: draft.status,
            server_status: draft.server_status,
            bytes: response_bytes,
        };
        let places = &draft.places;
        let certified = self.client_name.as_deref();
        let transaction = Transaction {
            began_us: recorder.rows.unix(draft.moments.began_us),
            target: Target {
                engine: &recorder.engine,
                service: &self.service.name,
                pool: served.map_or("", |served| &served.pool.name),
                server: server.map_or("", |server| &server.name),
            },
            client: Client {
                address: self.source.ip(),
                port: self.source.port(),
                tls: facts.tls,
                user: draft.user().unwrap_or_else(|| certified.unwrap_or_default().as_bytes()),
            },
            request: transactions::Request {
                protocol: draft.protocol,
                stream: self.client.stream().map_or(0, |stream| stream.number),
                method: draft.text(&places.method),
                host: draft.text(&places.host),
                path: draft.text(&places.path),
                query: draft.text(&places.query),
                user_agent: draft.text(&places.user_agent),
                referer: draft.text(&places.referer),
                bytes: draft.request_bytes,
            },
            response,
            timings,
            course: Course {
                end: draft.end,
                tries: draft.tries,
                reused: served.is_some_and(|served| served.reused),
                rules: &draft.rules,
                cached: draft.cached,
            },
        };
        let served = served.map(|served| (&*served.pool, served.server));
        analytics::count(recorder.thread, &transaction, &self.service, served);
        recorder.rows.push(&transaction);
    }
}
