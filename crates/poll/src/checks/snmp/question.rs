//! What is asked of one device, in the order in which it is asked.

use std::collections::VecDeque;
use std::time::Duration;

use model::InterfaceId;
use wire::snmp::{Oid, PduKind};

use super::batch::Batch;
use super::by_name::Indexes;
use super::cursor::{Asking, Pace};
use super::plan::Plan;
use super::walk::Work;
use super::{CheckReply, Failure, Peer};

/// A check that has ended.
#[derive(Debug)]
pub(crate) struct Ended<J> {
    pub(crate) job: J,
    pub(crate) reply: CheckReply,
}

/// What to ask of a device: values together, then everything else, one after the other.
#[derive(Debug)]
pub(crate) struct Question<J> {
    pub(crate) peer: Peer,
    /// What is learned of the device is kept under this.
    pub(crate) interface: InterfaceId,
    /// From a request to the end of waiting for its answer.
    pub(crate) timeout: Duration,
    pub(super) values: Batch<J>,
    pub(super) works: VecDeque<(J, Box<Work>)>,
}

impl<J> Question<J> {
    /// A question without anything asked.
    pub(crate) const fn new(peer: Peer, interface: InterfaceId, timeout: Duration) -> Self {
        Self { peer, interface, timeout, values: Batch::new(), works: VecDeque::new() }
    }

    /// Adds what an item asks.
    pub(crate) fn add(&mut self, job: J, plan: Plan) {
        match plan {
            Plan::Value(oid) => self.values.push(job, oid, false),
            Plan::Get(oid) => self.values.push(job, oid, true),
            plan => {
                let snmp = &self.peer.snmp;
                let walk = matches!(plan, Plan::Walk(_));
                // A walk[] goes in large steps always, old items where the interface allows it.
                let bulk = snmp.version != 1 && (walk || snmp.bulk);
                let max = i32::try_from(snmp.max_repetitions).unwrap_or(i32::MAX).max(1);
                let repetitions = if bulk { max } else { 0 };
                let pace = Pace { repetitions, together: snmp.bulk };
                self.works.extend(Work::new(plan, pace).map(|work| (job, Box::new(work))));
            }
        }
    }

    /// Nothing is left.
    pub(crate) fn is_done(&self) -> bool {
        self.values.len() == 0 && self.works.is_empty()
    }

    /// Called before each request.
    pub(super) fn prepare(&mut self, indexes: &Indexes) {
        if self.values.len() == 0
            && let Some((_, work)) = self.works.front_mut()
        {
            work.prepare(self.interface, indexes);
        }
    }

    /// What to ask now.
    pub(super) fn asking(&self) -> Asking<'_> {
        match self.works.front() {
            Some((_, work)) if self.values.len() == 0 => work.ask(),
            _ => Asking { kind: PduKind::Get, oids: self.values.oids(), max_repetitions: 0 },
        }
    }

    /// Ends all that is left; the reply depends on the OID of a `get[]` or `walk[]`.
    pub(crate) fn end(
        &mut self,
        reply: impl Fn(Option<&Oid>) -> CheckReply,
        out: &mut Vec<Ended<J>>,
    ) {
        let of = |oid: &Oid, get: bool| reply(get.then_some(oid));
        self.values.end_all(of, &mut |job, reply| out.push(Ended { job, reply }));
        for (job, work) in self.works.drain(..) {
            out.push(Ended { job, reply: reply(work.shown()) });
        }
    }

    /// Ends all that is left as one that got no answer.
    pub(super) fn fail(&mut self, failure: &Failure, out: &mut Vec<Ended<J>>) {
        let peer = self.peer.clone();
        self.end(|oid| failure.reply(&peer, oid), out);
    }
}
