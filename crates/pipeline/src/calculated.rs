//! Calculated items: due at their intervals, evaluated over this shard's items at once, over
//! those of other shards when these have sent what the formula needs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::Item;
use config::snapshot::query::items_of;
use eval::expr::{ExprError, ExprValue, Expression, ItemCall};
use eval::func;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use history::Span;
use model::{CompactString, ItemId, Payload, Timestamp, Value};
use tokio::sync::oneshot;

use crate::command::{Scope, is_calculated};
use crate::core::Core;
use crate::fault::{Of, contained};
use crate::functions::PeerView;
use crate::peers::Purpose;
use crate::wheel::Wheel;

/// Items calculated in one go; the rest follow at the next tick, a tenth of a second later, so that
/// values are not kept waiting.
const PER_TICK_MAX: usize = 2_000;

/// Items that are calculated this much later than they were due are reported, seconds.
const LATE_S: u64 = 30;

/// How often.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Why a calculation has no value.
const TOO_BUSY: &str = "another shard is too busy to send its values; try again later";

/// A calculation that waits for other shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CalculationId(pub(crate) u64);

struct Calculation {
    item: Arc<Item>,
    formula: Expression,
    at: Timestamp,
    missing: usize,
    views: Vec<PeerView>,
    /// Who asked, if it is not for the item itself.
    reply: Option<Reply>,
}

/// Where the value of a test goes.
type Reply = oneshot::Sender<Payload>;

/// Schedule of this shard's calculated items, and calculations under way.
#[derive(Default)]
pub(crate) struct Calculated {
    wheel: Wheel<ItemId>,
    /// The second at which each item is due; other entries of the wheel are stale.
    due: HashMap<ItemId, u64, FixedState>,
    waiting: HashMap<CalculationId, Calculation, FixedState>,
    next: u64,
    /// More items are due than one tick calculates.
    is_behind: bool,
    /// When it is next said that they come late, monotonic.
    next_report: Duration,
}

impl Calculated {
    /// Every item is to be scheduled again.
    pub(crate) fn stop_clocks(&mut self) {
        self.due.clear();
        self.wheel = Wheel::default();
    }

    pub(crate) fn forget(&mut self, item: ItemId) {
        self.due.remove(&item);
    }
}

/// What a formula needs of other shards.
type Wanted = BTreeMap<(usize, ScopeKey), Vec<ItemId>>;

/// Order of scopes, so that equal ones are asked for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ScopeKey {
    Newest(usize),
    Seconds(u32),
    All,
}

impl Core {
    /// Puts an item into the schedule, or takes it out.
    pub(crate) fn schedule_calculated(&mut self, item: &Item) {
        let now = self.now_s();
        let next = item.interval.as_ref().filter(|_| item.enabled);
        match next.and_then(|next| next.next_check(item.id.0, false, now, &self.env.tz)) {
            Some(second) => {
                let second = u64::from(second);
                if self.calculated.due.insert(item.id, second) != Some(second) {
                    self.calculated.wheel.add(second, item.id);
                }
            }
            None => self.calculated.forget(item.id),
        }
    }

    /// Calculates what is due, or a first part of it.
    pub(crate) fn calculate_due(&mut self, now: u64) {
        let mut values = Vec::new();
        let mut calculated = 0;
        while calculated < PER_TICK_MAX
            && let Some((second, id)) = self.calculated.wheel.pop(now)
        {
            // A stale entry costs no calculation.
            if self.calculated.due.get(&id) != Some(&second) {
                continue;
            }
            calculated += 1;
            self.calculated.due.remove(&id);
            let Some(item) = self.snapshot.items.get(&id).cloned() else { continue };
            self.schedule_calculated(&item);
            self.report_late(now.saturating_sub(second));
            // In maintenance without data collection nothing is calculated either.
            if self.snapshot.hosts.get(&item.host).is_some_and(|host| host.collects()) {
                values.extend(self.calculate(&item, &mut None));
            }
        }
        self.calculated.is_behind = calculated == PER_TICK_MAX;
        self.run_own(values);
    }

    /// Calculates what an earlier tick of the same second left.
    pub(crate) fn calculate_rest(&mut self, now: u64) {
        if self.calculated.is_behind {
            self.calculate_due(now);
        }
    }

    fn report_late(&mut self, late_s: u64) {
        let now = self.clock.monotonic();
        if late_s >= LATE_S && now >= self.calculated.next_report {
            self.calculated.next_report = now + REPORT_EVERY;
            tracing::warn!(
                seconds = late_s,
                "calculated items are late: use longer intervals or fewer items"
            );
        }
    }

    /// Calculates items out of turn.
    pub(crate) fn calculate_now(&mut self, items: &[ItemId]) {
        let mut values = Vec::new();
        for id in items {
            if let Some(item) = self.snapshot.items.get(id).cloned()
                && item.enabled
                && is_calculated(&item)
                && self.place.owns(&item)
            {
                values.extend(self.calculate(&item, &mut None));
            }
        }
        self.run_own(values);
    }

    /// Calculates an item for a waiting caller; nothing is stored.
    pub(crate) fn calculate_for(&mut self, item: &Arc<Item>, reply: Reply) {
        let mut reply = Some(reply);
        if let (Some(value), Some(reply)) = (self.calculate(item, &mut reply), reply) {
            // Nobody may wait any more.
            drop(reply.send(value.payload));
        }
    }

    /// The item's value, or `None` while other shards are asked; `reply` is taken then.
    fn calculate(&mut self, item: &Arc<Item>, reply: &mut Option<Reply>) -> Option<Value> {
        let at = Timestamp::from_unix(self.clock.unix());
        let refused = |error: String| {
            Some(Value { item: item.id, at, payload: Payload::NotSupported(error.into()) })
        };
        if let Some(reason) = &item.invalid {
            return refused(reason.to_string());
        }
        let text = item.extra.as_ref().map_or("", |extra| extra.params.as_str());
        let formula = match Expression::parse(text) {
            Ok(formula) => formula,
            Err(error) => return refused(format!("Cannot parse formula: {error}.")),
        };
        let wanted = self.wanted(item, &formula);
        if wanted.is_empty() {
            return Some(self.value_of(item, &formula, at, &[]));
        }
        let id = CalculationId(self.calculated.next);
        self.calculated.next += 1;
        let mut missing = 0;
        for ((shard, scope), items) in wanted {
            let scope = match scope {
                ScopeKey::Newest(n) => Scope::Newest(n),
                ScopeKey::Seconds(s) => {
                    Scope::Span(Span::new(at.clock.saturating_sub(s), u32::MAX))
                }
                ScopeKey::All => Scope::Span(Span::ALL),
            };
            if !self.ask(shard, items, scope, Purpose::Calculation(id)) {
                // Answers to what was asked already find no calculation.
                tracing::warn!(item = %item.id, "calculation skipped: {TOO_BUSY}");
                return reply.as_ref().and_then(|_| refused(TOO_BUSY.to_owned()));
            }
            missing += 1;
        }
        let calculation = Calculation {
            item: Arc::clone(item),
            formula,
            at,
            missing,
            views: Vec::new(),
            reply: reply.take(),
        };
        self.calculated.waiting.insert(id, calculation);
        None
    }

    pub(crate) fn calculation_answered(&mut self, id: CalculationId, view: PeerView) {
        let Some(calculation) = self.calculated.waiting.get_mut(&id) else { return };
        calculation.views.push(view);
        calculation.missing -= 1;
        if calculation.missing > 0 {
            return;
        }
        if let Some(done) = self.calculated.waiting.remove(&id) {
            let value = self.value_of(&done.item, &done.formula, done.at, &done.views);
            match done.reply {
                Some(reply) => drop(reply.send(value.payload)),
                None => self.run_own(vec![value]),
            }
        }
    }

    /// Another shard is too busy to answer: this interval has no value, the item stays as it is.
    pub(crate) fn drop_calculation(&mut self, id: CalculationId) {
        if let Some(dropped) = self.calculated.waiting.remove(&id) {
            tracing::warn!(item = %dropped.item.id, "calculation dropped: {TOO_BUSY}");
            if let Some(reply) = dropped.reply {
                drop(reply.send(Payload::NotSupported(TOO_BUSY.into())));
            }
        }
    }

    fn value_of(
        &mut self,
        item: &Item,
        formula: &Expression,
        at: Timestamp,
        views: &[PeerView],
    ) -> Value {
        let hosts = [item.host];
        let mut evaluator = self.evaluator_with(views);
        let result = contained(Of::Item(item.id.0), || evaluator.formula(formula, &hosts, at));
        let payload = match result.unwrap_or_else(|error| Err(ExprError::Unknown(error))) {
            Ok(ExprValue::Unsigned(v)) => Payload::Unsigned(v),
            Ok(ExprValue::Float(v)) => Payload::Float(v),
            Ok(ExprValue::Text(text)) => Payload::Text(CompactString::from(text)),
            Ok(ExprValue::Vector(_)) => Payload::NotSupported(
                "Cannot evaluate expression: its result is a list of values.".into(),
            ),
            Err(ExprError::Unknown(reason)) => Payload::NotSupported(reason.into()),
            Err(error) => {
                Payload::NotSupported(format!("Cannot evaluate expression: {error}").into())
            }
        };
        Value { item: item.id, at, payload }
    }

    /// Items of other shards that the formula names, by shard and by how far back it looks.
    fn wanted(&self, item: &Item, formula: &Expression) -> Wanted {
        let mut wanted = Wanted::new();
        if self.place.shards == 1 {
            return wanted;
        }
        let hosts = [item.host];
        for call in formula.item_calls() {
            let Ok(items) = items_of(&self.snapshot, &call.query, &hosts) else { continue };
            let scope = scope_of(call);
            for named in items.iter().filter(|named| !self.place.owns(named)) {
                let list = wanted.entry((self.place.owner(named), scope)).or_default();
                if !list.contains(&named.id) {
                    list.push(named.id);
                }
            }
        }
        wanted
    }
}

fn scope_of(call: &ItemCall) -> ScopeKey {
    /// A period ends now, and the other shard's clock is the same; but it answers later.
    const SLACK_S: u32 = 60;
    let Ok(function) = func::parse_call(&call.function, &call.params) else {
        return ScopeKey::Newest(1);
    };
    let back = function.lookback();
    if back.seconds > 0 {
        ScopeKey::Seconds(back.seconds.saturating_add(SLACK_S))
    } else if back.shifted || back.values == 0 {
        ScopeKey::All
    } else {
        ScopeKey::Newest(back.values)
    }
}
