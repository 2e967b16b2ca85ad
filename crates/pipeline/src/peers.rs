//! What shards ask and tell each other. Nobody waits: a question leaves a ticket behind, and the
//! answer finds what it was for by the ticket.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use history::{Driver, Kinds, Newest, Span, View, WithPast};
use model::{ItemId, Timestamp, TriggerId};

use crate::calculated::CalculationId;
use crate::command::{PeerMessage, Scope};
use crate::core::{Core, send};
use crate::functions::PeerView;
use crate::triggers::Cause;

/// Answers that a shard waits for at most; further questions are dropped and asked later.
pub(crate) const TICKETS_MAX: usize = 65_536;
/// An answer that has not come by then does not come.
const ANSWER_WITHIN_S: u64 = 10;

/// What an answer is for.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// The past of an item that triggers name; then this many of its newest values are wanted, if
    /// they are not among it.
    Past { item: ItemId, then: Option<usize> },
    /// Trends from one hour to another that the evaluation of a trigger needs.
    Trends { item: ItemId, hours: (u32, u32), trigger: TriggerId, at: Timestamp, cause: Cause },
    /// Items of a formula.
    Calculation(CalculationId),
}

#[derive(Debug)]
struct Ticket {
    purpose: Purpose,
    items: Vec<ItemId>,
    expires: u64,
}

/// Questions without an answer yet.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    next: u64,
    open: HashMap<u64, Ticket, FixedState>,
    /// What could not be asked for, or not all of it was readable: to be asked for again.
    later: Vec<Later>,
}

/// What is tried again within a second.
#[derive(Debug)]
enum Later {
    /// The past of an item.
    Past(ItemId),
    /// An evaluation that needs trends.
    Evaluation { trigger: TriggerId, at: Timestamp, cause: Cause },
}

impl Tickets {
    /// Answers are waited for from now on.
    pub(crate) fn clock_set_back(&mut self, now: u64) {
        self.open.values_mut().for_each(|ticket| ticket.expires = now + ANSWER_WITHIN_S);
    }
}

impl Core {
    /// Asks for the trends that the evaluation of a trigger lacked; returns whether there were any.
    pub(crate) fn ask_for_trends(
        &mut self,
        trigger: TriggerId,
        at: Timestamp,
        cause: Cause,
    ) -> bool {
        let missing = std::mem::take(&mut self.missing.items);
        for (item, first, last) in &missing {
            let Some(owner) = self.snapshot.items.get(item).map(|item| self.place.owner(item))
            else {
                continue;
            };
            let (item, hours) = (*item, (*first, *last));
            let scope = Scope::Span(Span::new(hours.0, hours.1));
            let purpose = Purpose::Trends { item, hours, trigger, at, cause };
            if !self.ask(owner, vec![item], scope, purpose) {
                self.tickets.later.push(Later::Evaluation { trigger, at, cause });
                break;
            }
        }
        !missing.is_empty()
    }

    /// Asks for the past of an item; `then` = see [`Purpose::Past`].
    pub(crate) fn ask_for_past(&mut self, item: ItemId, scope: Scope, then: Option<usize>) {
        let Some(owner) = self.snapshot.items.get(&item).map(|item| self.place.owner(item)) else {
            return;
        };
        if !self.ask(owner, vec![item], scope, Purpose::Past { item, then }) {
            self.tickets.later.push(Later::Past(item));
        }
    }

    /// Returns whether the question went out.
    pub(crate) fn ask(
        &mut self,
        shard: usize,
        items: Vec<ItemId>,
        scope: Scope,
        purpose: Purpose,
    ) -> bool {
        if self.tickets.open.len() >= TICKETS_MAX {
            return false;
        }
        let ticket = self.tickets.next;
        self.tickets.next += 1;
        let expires = self.clock.unix_s() + ANSWER_WITHIN_S;
        let open = Ticket { purpose, items: items.clone(), expires };
        let before = self.tickets.open.insert(ticket, open);
        debug_assert!(before.is_none(), "BUG: two open questions have the same ticket");
        let from = self.place.index;
        send(&mut self.peers, shard, PeerMessage::Ask { from, ticket, items, scope });
        true
    }

    /// Asks again for what is missing, and gives up on answers that nothing depends on later.
    pub(crate) fn expire_tickets(&mut self, now: u64) {
        for later in std::mem::take(&mut self.tickets.later) {
            match later {
                Later::Past(item) => self.configure_item(None, item),
                Later::Evaluation { trigger, at, cause } => self.evaluate_again(trigger, at, cause),
            }
        }
        if self.tickets.open.is_empty() {
            return;
        }
        // A shard that is busy, or still starting, answers later: without its values triggers would
        // be evaluated wrongly. A calculation belongs to its second and is given up.
        let (mut late, mut gone) = (0_usize, Vec::new());
        self.tickets.open.retain(|_, ticket| {
            if ticket.expires > now {
                return true;
            }
            if let Purpose::Calculation(id) = ticket.purpose {
                gone.push(id);
                return false;
            }
            late += 1;
            ticket.expires = now + ANSWER_WITHIN_S;
            true
        });
        if late > 0 {
            tracing::warn!(
                questions = late,
                "another shard has not sent values of its items for {ANSWER_WITHIN_S} s; the \
                 triggers that use them wait"
            );
        }
        gone.into_iter().for_each(|id| self.drop_calculation(id));
    }

    /// A message of another shard.
    pub(crate) fn hear(&mut self, message: PeerMessage) {
        match message {
            PeerMessage::Samples(samples) => {
                let news: Vec<(ItemId, Timestamp)> =
                    samples.iter().map(|sample| (sample.item, sample.at)).collect();
                let now = self.second;
                for sample in samples {
                    // Its owner has nothing of an item without history either.
                    let item = self.snapshot.items.get(&sample.item);
                    if item.is_some_and(|item| item.history_days > 0) {
                        self.foreign.feed(sample, now);
                    }
                }
                self.evaluate_items(news.into_iter());
            }
            PeerMessage::ItemState { item, at, supported } => {
                self.foreign.set_supported(item, supported);
                if !supported {
                    self.evaluate_items(std::iter::once((item, at)));
                }
            }
            PeerMessage::TriggerState { trigger, state } => {
                // Its sender may not know yet that this shard evaluates it now.
                self.set_trigger(trigger, state);
            }
            PeerMessage::TriggerError { trigger, error } => {
                let own = self.snapshot.triggers.get(&trigger).is_some_and(|t| self.evaluates(t));
                if own && self.triggers.error(trigger).is_empty() {
                    self.triggers.set_error(trigger, &error);
                }
            }
            PeerMessage::Unevaluated(dues) => {
                self.progress.told(dues);
                self.catch_up();
            }
            PeerMessage::Ask { from, ticket, items, scope } => {
                let reader = WithPast { driver: self.driver.as_ref(), past: self.past.as_ref() };
                let view = match scope {
                    Scope::Span(span) => reader.view(&items, span),
                    Scope::Newest(n) => reader.view_newest(&items, n),
                };
                let is_bad =
                    |item: &ItemId| self.slots.peek(*item).is_some_and(|slot| slot.error.is_some());
                let unsupported = items.iter().copied().filter(is_bad).collect();
                send(&mut self.peers, from, PeerMessage::Answer { ticket, view, unsupported });
            }
            PeerMessage::Answer { ticket, view, unsupported } => {
                self.answered(ticket, view, unsupported);
            }
        }
    }

    fn answered(&mut self, ticket: u64, view: Box<dyn View>, unsupported: Vec<ItemId>) {
        let Some(ticket) = self.tickets.open.remove(&ticket) else { return };
        match ticket.purpose {
            Purpose::Past { item, then } => {
                // A view of a span, or of the newest values: everything in it is wanted.
                let mut past = match view.newest_so_far(item, Kinds::VALUES, usize::MAX >> 1) {
                    Ok(past) => past,
                    Err(error) if error.retry => {
                        self.tickets.later.push(Later::Past(item));
                        return;
                    }
                    Err(error) => {
                        tracing::error!(%error, %item, "cannot read earlier values of an item");
                        Newest { samples: Vec::new(), partial: false }
                    }
                };
                if past.partial {
                    self.tickets.later.push(Later::Past(item));
                } else if let Some(count) = then {
                    if self.foreign.add_past(item, past.samples) < count {
                        self.ask_for_past(item, Scope::Newest(count), None);
                        return;
                    }
                    past.samples = Vec::new();
                }
                if self.foreign.seed(item, past, unsupported.contains(&item), self.second) {
                    self.evaluate_postponed(item);
                }
            }
            Purpose::Trends { item, hours, trigger, at, cause } => {
                let trends = view.trends(item).unwrap_or_else(|error| {
                    tracing::error!(%error, %item, "cannot read the trends of an item");
                    Vec::new()
                });
                self.foreign.set_trends(item, hours, trends, self.second);
                self.evaluate_again(trigger, at, cause);
            }
            Purpose::Calculation(id) => {
                self.calculation_answered(id, PeerView { items: ticket.items, view, unsupported });
            }
        }
    }
}

/// A view of this shard's history.
pub(crate) fn view(driver: &dyn Driver, items: &[ItemId], scope: Scope) -> Box<dyn View> {
    match scope {
        Scope::Span(span) => driver.view(items, span),
        Scope::Newest(n) => driver.view_newest(items, n),
    }
}
