//! SNMP for the tasks of one thread: each asks for one value and waits for it.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::source::Snmp;
use model::InterfaceId;
use stdx::clock::SharedClock;
use tokio::sync::oneshot;

use super::Peer;
use super::engine::Engine;
use super::plan::Plan;
use super::question::{Ended, Question};
use crate::checks::reply::CheckReply;

type Answer = oneshot::Sender<CheckReply>;

/// Devices that are asked from one thread.
pub(crate) struct Asker {
    clock: SharedClock,
    engine: RefCell<Engine<Answer>>,
    /// Room for what has ended, kept from round to round.
    ended: Cell<Vec<Ended<Answer>>>,
}

impl Asker {
    /// Nothing in flight; with `source` requests leave from this address.
    pub(crate) fn new(clock: SharedClock, source: Option<IpAddr>) -> io::Result<Self> {
        let seed = clock.unix().as_nanos() as u64;
        let engine = RefCell::new(Engine::new(source, seed)?);
        Ok(Self { clock, engine, ended: Cell::default() })
    }

    /// Becomes readable when [`Self::drive`] has something to do.
    pub(crate) fn watched(&self) -> io::Result<OwnedFd> {
        self.engine.borrow().watched()
    }

    /// Asks a device for one object and waits for the answer; who calls [`Self::drive`] brings it.
    pub(crate) async fn ask(
        &self,
        address: SocketAddr,
        snmp: &Arc<Snmp>,
        oid: &str,
        timeout: Duration,
    ) -> CheckReply {
        let plan = match Plan::parse(oid) {
            Ok(plan) => plan,
            Err(why) => return CheckReply::ConfigError(why),
        };
        let shown = Arc::from(address.ip().to_string());
        let peer = Peer { address, shown, snmp: Arc::clone(snmp) };
        let (tell, answer) = oneshot::channel();
        // Single values: nothing is learned of the device that would be kept under an id.
        let mut question = Question::new(peer, InterfaceId(0), timeout);
        question.add(tell, plan);
        self.engine.borrow_mut().start(question, self.clock.monotonic());
        self.settle();
        self.engine.borrow_mut().flush();
        answer.await.unwrap_or(CheckReply::Nothing)
    }

    /// Takes what has come, gives up what has waited too long. `true` = there may be more.
    pub(crate) fn drive(&self) -> bool {
        let now = self.clock.monotonic();
        let more = {
            let mut engine = self.engine.borrow_mut();
            let more = engine.advance(now, Duration::ZERO);
            engine.time_out(now);
            more
        };
        self.settle();
        self.engine.borrow_mut().flush();
        more
    }

    fn settle(&self) {
        let mut ended = self.ended.take();
        self.engine.borrow_mut().ended(&mut ended);
        for Ended { job, reply } in ended.drain(..) {
            // Who asked may have gone.
            let _ = job.send(reply);
        }
        self.ended.set(ended);
    }
}
