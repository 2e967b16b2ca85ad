//! What escalations there must be, and what messages: the oracle of the escalator.

use std::collections::{BTreeMap, BTreeSet};

use super::estate::{Action, Estate, Medium, Operation, Trigger};
use super::truth::{News, Problem, Truth};

/// What an escalation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    Due(i64),
    /// The end of a pause; the second in which it ends by itself, or 0.
    Paused(i64),
    End,
}

impl Waits {
    pub(super) fn due(self) -> Option<i64> {
        match self {
            Self::Due(at) => Some(at),
            Self::Paused(at) => Some(at).filter(|at| *at > 0),
            Self::End => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Escalation {
    /// The last step that was made.
    pub(super) step: u32,
    pub(super) waits: Waits,
}

/// What a message says; operations and updates by their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Step { step: u32, operation: u64 },
    Recovery { operation: u64 },
    Update { operation: u64, update: u64 },
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Sent,
    NoMedia,
    TypeDisabled,
}

/// A media type and an address of it.
pub(super) type Address = (u64, String);

/// There is one alert of each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Message {
    pub(super) problem: u64,
    pub(super) action: u64,
    pub(super) what: What,
    pub(super) user: u64,
    pub(super) address: Option<Address>,
    pub(super) fate: Fate,
}

/// What decides, as it is at the look.
pub(super) struct Facts<'a> {
    pub(super) estate: &'a Estate,
    pub(super) truth: &'a Truth,
    pub(super) now: i64,
    /// Problems whose suppression by a maintenance has changed.
    pub(super) woken: BTreeSet<u64>,
    /// Problems that a maintenance suppresses, until when.
    pub(super) maintained: BTreeMap<u64, i64>,
    /// A maintenance of this host runs, until this second: new problems are suppressed from the beginning.
    pub(super) maintenance: Option<(u64, i64)>,
}

/// A problem and an action.
type Key = (u64, u64);

#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) escalations: BTreeMap<Key, Escalation>,
    pub(super) messages: BTreeSet<Message>,
    /// News that were looked at.
    position: usize,
    /// The newest event and the newest update that were looked at.
    pub(super) looked_at: (u64, u64),
}

/// Suppressions that end by themselves are over this long after their end.
const GRACE_S: i64 = 2;

impl Facts<'_> {
    fn trigger(&self, problem: u64) -> Option<(&Problem, &Trigger)> {
        let problem = self.truth.problems.get(&problem)?;
        Some((problem, self.estate.triggers.get(&problem.trigger)?))
    }

    fn is_off(&self, action: &Action, trigger: &Trigger) -> bool {
        !action.enabled || !trigger.enabled || !self.estate.hosts[&trigger.host]
    }

    /// A trigger above has a problem.
    fn depends(&self, trigger: &Trigger) -> bool {
        let Some(id) = trigger.master else { return false };
        let Some(master) = self.estate.triggers.get(&id).filter(|one| one.enabled) else {
            return false;
        };
        !self.truth.open_of(id).is_empty() || self.depends(master)
    }

    /// Until when the problem is suppressed; 0 = until a user ends it.
    fn suppressed(&self, id: u64, problem: &Problem, trigger: &Trigger, new: bool) -> Option<i64> {
        let by_user = problem.suppressed.filter(|until| *until == 0 || *until > self.now);
        let by_watch = self.maintained.get(&id).copied().filter(|until| *until > self.now);
        let at_once = self.maintenance.filter(|(host, _)| new && *host == trigger.host);
        let all = [by_user, by_watch, at_once.map(|(_, until)| until)];
        let all = Vec::from_iter(all.into_iter().flatten());
        if all.contains(&0) { Some(0) } else { all.into_iter().max() }
    }

    /// What the problem makes an escalation of the action wait for.
    fn pause(&self, id: u64, action: &Action, new: bool) -> Option<Waits> {
        let (problem, trigger) = self.trigger(id)?;
        if self.depends(trigger) {
            return Some(Waits::Paused(0));
        }
        let until = self.suppressed(id, problem, trigger, new).filter(|_| action.pauses)?;
        Some(Waits::Paused(if until == 0 { 0 } else { until + GRACE_S }))
    }

    fn applies(&self, action: &Action, trigger: &Trigger) -> bool {
        action.enabled && trigger.severity >= action.least_severity
    }

    fn fate(&self, medium: &Medium) -> Fate {
        let of = self.estate.media_types.get(&medium.media_type);
        if of.is_some_and(|one| one.enabled) { Fate::Sent } else { Fate::TypeDisabled }
    }

    /// The enabled media of a user.
    fn media(&self, user: u64) -> impl Iterator<Item = &Medium> {
        self.estate.media.values().filter(move |one| one.user == user && one.enabled)
    }

    /// Where a user gets a message who got one at this address: there, or if the user has it no more, at all of the type.
    fn again(&self, user: u64, (media_type, sendto): &Address) -> Vec<(Address, Fate)> {
        let is_it = |one: &&Medium| one.media_type == *media_type && one.sendto == *sendto;
        let all = self.estate.media.values().filter(|one| one.user == user);
        let is_known = all.clone().any(|one| is_it(&one));
        let fits = |one: &&Medium| is_it(one) || !is_known && one.media_type == *media_type;
        let found = self.media(user).filter(fits);
        found.map(|one| ((one.media_type, one.sendto.clone()), self.fate(one))).collect()
    }
}

impl Operation {
    fn is_on(&self, step: u32) -> bool {
        self.first <= step && (self.last == 0 || step <= self.last)
    }
}

impl Action {
    fn has_step_after(&self, step: u32) -> bool {
        self.operations.iter().any(|one| one.last == 0 || step < one.last)
    }

    fn duration_of(&self, step: u32) -> i64 {
        let own = self.operations.iter().filter(|one| one.is_on(step) && one.duration_s > 0);
        own.map(|one| one.duration_s).min().unwrap_or(self.period_s).into()
    }
}

impl Model {
    /// Notes that an escalation was cancelled.
    pub(super) fn cancelled(&self) -> u64 {
        self.messages.iter().filter(|one| one.what == What::Cancelled).count() as u64
    }

    /// The clock was set back.
    pub(super) fn set_back(&mut self, by: i64) {
        let earlier = |at: i64| if at > by { at - by } else { 1 };
        for one in self.escalations.values_mut() {
            one.waits = match one.waits {
                Waits::Due(at) => Waits::Due(earlier(at)),
                Waits::Paused(at) if at > 0 => Waits::Paused(earlier(at)),
                other => other,
            };
        }
    }

    /// Pauses may have ended.
    pub(super) fn wake_all(&mut self, now: i64) {
        for one in self.escalations.values_mut() {
            if matches!(one.waits, Waits::Paused(_)) {
                one.waits = Waits::Paused(now);
            }
        }
    }

    /// One look at what is new and due.
    pub(super) fn look(&mut self, facts: &Facts<'_>) {
        let news = facts.truth.news[self.position..].to_vec();
        self.position = facts.truth.news.len();
        self.looked_at = facts.truth.newest();
        let running: BTreeSet<Key> = self.escalations.keys().copied().collect();
        let (mut ended, mut woken, mut recovered) =
            (BTreeSet::new(), facts.woken.clone(), BTreeSet::new());
        let mut opened = Vec::new();
        for one in &news {
            match *one {
                News::Opened(problem) => opened.push(problem),
                News::Ended { problem, trigger } => {
                    ended.insert(problem);
                    recovered.insert(trigger);
                }
                News::Updated { problem, wakes: true, .. } => drop(woken.insert(problem)),
                News::Updated { .. } => {}
            }
        }
        let is_freed = |problem: u64| {
            facts.trigger(problem).and_then(|(_, trigger)| trigger.master).is_some_and(|master| {
                let above = facts.estate.triggers.get(&master).and_then(|one| one.master);
                recovered.contains(&master) || above.is_some_and(|id| recovered.contains(&id))
            })
        };
        let is_wanted = |key: &Key, one: &Escalation| {
            let is_paused = matches!(one.waits, Waits::Paused(_));
            one.waits.due().is_some_and(|due| due <= facts.now)
                || ended.contains(&key.0)
                || is_paused && (woken.contains(&key.0) || is_freed(key.0))
        };
        let wanted: Vec<(Key, Escalation)> = self
            .escalations
            .iter()
            .filter(|(key, one)| is_wanted(key, one))
            .map(|(key, one)| (*key, *one))
            .collect();
        for (key, one) in wanted {
            self.go_on(key, one, false, facts);
        }
        for problem in opened {
            let Some((_, trigger)) = facts.trigger(problem) else { continue };
            for (id, action) in &facts.estate.actions {
                if facts.applies(action, trigger) {
                    let new = Escalation { step: 0, waits: Waits::Due(facts.now) };
                    self.go_on((problem, *id), new, true, facts);
                }
            }
        }
        for one in &news {
            if let News::Updated { id, problem, user, .. } = *one {
                self.tell_update((id, user), problem, &running, facts);
            }
        }
    }

    fn told(&self, (problem, action): Key) -> Vec<(u64, Address)> {
        let of = |one: &&Message| {
            one.problem == problem
                && one.action == action
                && one.fate == Fate::Sent
                && !matches!(one.what, What::Update { .. })
        };
        let of = self.messages.iter().filter(of);
        of.filter_map(|one| Some((one.user, one.address.clone()?))).collect()
    }

    /// One turn of an escalation.
    fn go_on(&mut self, key: Key, one: Escalation, new: bool, facts: &Facts<'_>) {
        self.escalations.remove(&key);
        let known = facts.trigger(key.0).zip(facts.estate.actions.get(&key.1));
        let Some(((problem, trigger), action)) = known else { return };
        let is_due = one.waits.due().is_some_and(|due| due <= facts.now);
        let is_over = problem.end != 0;
        let is_told = !self.told(key).is_empty();
        if facts.is_off(action, trigger) {
            if !is_due && !is_over && one.waits.due().is_some() {
                self.escalations.insert(key, one);
            } else if is_told && action.notifies {
                self.tell_again(key, What::Cancelled, &[], facts);
            }
            return;
        }
        let pause = facts.pause(key.0, action, new);
        let is_paused = matches!(one.waits, Waits::Paused(_));
        if is_over {
            if pause.is_some() && !is_told {
                return;
            }
            let is_due = one.waits.due().is_none_or(|due| due <= facts.now);
            if one.step == 0 && pause.is_none() && is_due && action.has_step_after(0) {
                self.tell_step(key, 1, facts);
            }
            if let Some(operation) = action.recovery {
                self.tell_again(key, What::Recovery { operation }, &[], facts);
            }
            return;
        }
        if !is_due && !is_paused {
            self.escalations.insert(key, one);
            return;
        }
        if let Some(waits) = pause {
            self.escalations.insert(key, Escalation { waits, ..one });
            return;
        }
        let mut next = one;
        if action.has_step_after(one.step) {
            next.step += 1;
            self.tell_step(key, next.step, facts);
            let duration = action.duration_of(next.step);
            let due = if let Waits::Due(at) = one.waits { at + duration } else { 0 };
            next.waits = Waits::Due(if due > facts.now { due } else { facts.now + duration });
        }
        if !action.has_step_after(next.step) {
            next.waits = Waits::End;
        }
        if next.waits != Waits::End || action.recovery.is_some() {
            self.escalations.insert(key, next);
        }
    }

    fn tell_step(&mut self, key: Key, step: u32, facts: &Facts<'_>) {
        let action = &facts.estate.actions[&key.1];
        let acknowledged = facts.truth.problems[&key.0].acknowledged;
        let applies = |one: &&Operation| {
            one.is_on(step) && one.acknowledged.is_none_or(|is| is == acknowledged)
        };
        for operation in action.operations.iter().filter(applies) {
            let what = What::Step { step, operation: operation.id };
            for user in operation.users.iter().filter(|user| facts.estate.users.contains(user)) {
                self.tell(key, what, *user, operation.media_type, facts);
            }
        }
    }

    /// To all media of a user, of this type (0 = any).
    fn tell(&mut self, (problem, action): Key, what: What, user: u64, of: u64, facts: &Facts<'_>) {
        let fits = |one: &&Medium| one.user == user && (of == 0 || one.media_type == of);
        let message = |address: Option<Address>, fate: Fate| Message {
            problem,
            action,
            what,
            user,
            address,
            fate,
        };
        if !facts.estate.media.values().any(|one| fits(&one)) {
            if !matches!(what, What::Update { .. }) {
                self.messages.insert(message(None, Fate::NoMedia));
            }
            return;
        }
        for medium in facts.media(user).filter(fits) {
            let address = (medium.media_type, medium.sendto.clone());
            self.messages.insert(message(Some(address), facts.fate(medium)));
        }
    }

    /// To all involved, but for these users.
    fn tell_again(&mut self, key: Key, what: What, but: &[u64], facts: &Facts<'_>) {
        for (user, address) in self.told(key) {
            if but.contains(&user) || !facts.estate.users.contains(&user) {
                continue;
            }
            for (address, fate) in facts.again(user, &address) {
                let (problem, action) = key;
                let address = Some(address);
                self.messages.insert(Message { problem, action, what, user, address, fate });
            }
        }
    }

    fn tell_update(
        &mut self,
        (update, author): (u64, u64),
        problem: u64,
        running: &BTreeSet<Key>,
        facts: &Facts<'_>,
    ) {
        let Some((_, trigger)) = facts.trigger(problem) else { return };
        for (id, action) in facts.estate.actions.iter().filter(|(_, one)| one.enabled) {
            let key = (problem, *id);
            let is_concerned = facts.applies(action, trigger) || running.contains(&key);
            let Some(operation) = action.update.filter(|_| is_concerned) else { continue };
            let what = What::Update { operation, update };
            self.tell_again(key, what, &[author], facts);
            let told: BTreeSet<u64> = self.told(key).into_iter().map(|(user, _)| user).collect();
            let changed = facts.truth.news.iter().filter_map(|news| match *news {
                News::Updated { id, problem: of, user, .. } if of == problem && id < update => {
                    Some(user)
                }
                _ => None,
            });
            for user in BTreeSet::from_iter(changed) {
                let is_known = facts.estate.users.contains(&user) && !told.contains(&user);
                if is_known && user != author {
                    self.tell(key, what, user, 0, facts);
                }
            }
        }
    }
}
