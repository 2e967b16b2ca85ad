//! What groups and limits make of messages of the past: the decisions of the escalator, second by second.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use objects::Withholding;

use super::{Brake, Found, Gathering, Grouping, Limit, Seen, Tally, Tell};

/// Looks at bundles: a group may repeat its open problems for ever.
const LOOKS_MAX: usize = 1_000_000;

/// A message that would have been sent.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    /// Number of what it reports: a summary has that of its most severe problem.
    pub(crate) note: usize,
    /// Seconds since 1970.
    pub(crate) at: i64,
    pub(crate) user: u64,
    /// Number of its media type and address.
    pub(crate) address: usize,
    /// Number of its group; `None` = it is not grouped.
    pub(crate) group: Option<usize>,
    /// What a summary counts. `open` is not looked at.
    pub(crate) seen: Seen,
    /// When the problem ended; `None` = it has not.
    pub(crate) end: Option<i64>,
    /// Messages that it summarises.
    pub(crate) tells: u64,
    /// Why it does not go by itself.
    pub(crate) withheld: Option<Withholding>,
}

/// What decides.
pub(crate) struct Rules<'a> {
    /// That of the action.
    pub(crate) grouping: Option<&'a Grouping>,
    /// That of the media type of an address.
    pub(crate) limit: &'a dyn Fn(usize) -> Option<Limit>,
    /// Whether the recipient of this letter takes a repetition of it in this second.
    pub(crate) takes: &'a dyn Fn(&Letter, i64) -> bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    user: u64,
    address: usize,
    /// `None` = that of the limit.
    group: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Group(Gathering),
    Limit(Brake),
}

impl State {
    const fn due(self) -> i64 {
        match self {
            Self::Group(gathering) => gathering.due,
            Self::Limit(brake) => brake.due,
        }
    }
}

struct Bundle {
    /// Those that are due in one second are looked at in this order.
    id: u64,
    state: State,
    /// Letters that wait, and those of a group about problems that were open at the last look.
    letters: Vec<usize>,
}

/// Letters on their way.
pub(crate) struct Course<'a> {
    rules: Rules<'a>,
    letters: Vec<Letter>,
    /// Letters that wait.
    waiting: BTreeSet<usize>,
    bundles: BTreeMap<Place, Bundle>,
    /// Seconds and ids.
    due: BTreeSet<(i64, u64, Place)>,
    next_id: u64,
    looks: usize,
}

impl<'a> Course<'a> {
    /// Of letters in the order of time.
    pub(crate) fn new(rules: Rules<'a>, letters: Vec<Letter>) -> Self {
        let (waiting, bundles, due) = Default::default();
        Self { rules, letters, waiting, bundles, due, next_id: 0, looks: 0 }
    }

    /// All letters and summaries as they are in the second `till`, and the last second that counts.
    pub(crate) fn run(mut self, till: i64) -> (Vec<Letter>, i64) {
        let all = self.letters.len();
        let mut next = 0;
        loop {
            let letter = self.letters.get(next).filter(|_| next < all).map(|letter| letter.at);
            let due = self.due.first().map(|(at, ..)| *at);
            let Some(now) = letter.into_iter().chain(due).min().filter(|at| *at <= till) else {
                return (self.letters, till);
            };
            while next < all && self.letters[next].at <= now {
                self.hold(next, now);
                next += 1;
            }
            while let Some((.., place)) = self.due.first().copied().filter(|(at, ..)| *at <= now) {
                self.looks += 1;
                self.look(place, now);
            }
            if self.looks > LOOKS_MAX {
                return (self.letters, now);
            }
        }
    }

    /// Lets a letter go, or adds it to its group or to what is beyond the limit.
    fn hold(&mut self, letter: usize, now: i64) {
        let Letter { user, address, group, .. } = self.letters[letter];
        let (Some(grouping), Some(_)) = (self.rules.grouping, group) else {
            return self.release(letter, now);
        };
        let place = Place { user, address, group };
        let before = match self.bundles.get(&place) {
            Some(Bundle { state: State::Group(gathering), .. }) => *gathering,
            _ => Gathering::default(),
        };
        self.letters[letter].withheld = Some(Withholding::Grouped);
        self.add(place, State::Group(before.add(now, grouping)), letter);
    }

    /// Sends a letter unless there are more than its address takes.
    fn release(&mut self, letter: usize, now: i64) {
        self.send(letter, now);
        let Letter { user, address, .. } = self.letters[letter];
        let Some(limit) = (self.rules.limit)(address) else { return };
        let place = Place { user, address, group: None };
        let before = match self.bundles.get(&place) {
            Some(Bundle { state: State::Limit(brake), .. }) => *brake,
            _ => Brake::default(),
        };
        let (passes, brake) = before.pass(now, limit);
        if passes {
            self.set(place, State::Limit(brake));
        } else {
            self.letters[letter].withheld = Some(Withholding::Storm);
            self.add(place, State::Limit(brake), letter);
        }
    }

    fn send(&mut self, letter: usize, now: i64) {
        self.waiting.remove(&letter);
        (self.letters[letter].at, self.letters[letter].withheld) = (now, None);
    }

    fn add(&mut self, place: Place, state: State, letter: usize) {
        self.set(place, state).letters.push(letter);
        self.waiting.insert(letter);
    }

    fn set(&mut self, place: Place, state: State) -> &mut Bundle {
        let new = Bundle { id: self.next_id, state, letters: Vec::new() };
        let bundle = self.bundles.entry(place).or_insert(new);
        self.next_id += 1;
        self.due.remove(&(bundle.state.due(), bundle.id, place));
        bundle.state = state;
        self.due.insert((state.due(), bundle.id, place));
        bundle
    }

    /// Does what is due of a bundle.
    fn look(&mut self, place: Place, now: i64) {
        let Some(mut bundle) = self.bundles.remove(&place) else { return };
        self.due.remove(&(bundle.state.due(), bundle.id, place));
        let tally = self.tally(&mut bundle.letters, now);
        let grouping = self.rules.grouping;
        let limit = (self.rules.limit)(place.address);
        let (tell, braked) = match bundle.state {
            State::Limit(brake) => {
                let (tell, next) = brake.look(now, tally.waiting, limit);
                (tell, next.map(State::Limit))
            }
            State::Group(gathering) => {
                let found = Found { waiting: tally.waiting, open: tally.open };
                (gathering.look(now, found, grouping), None)
            }
        };
        let has_told = self.tell(place, &bundle.letters, &tally, tell, now);
        let next = match bundle.state {
            State::Limit(_) => braked,
            State::Group(before) => {
                before.next(now, has_told, tally.open, grouping).map(State::Group)
            }
        };
        let Some(state) = next else { return };
        let is_group = place.group.is_some();
        let stays = |letter: &usize| {
            let is_open = self.letters[*letter].end.is_none_or(|end| end > now);
            self.waiting.contains(letter) || is_group && is_open
        };
        bundle.letters.retain(stays);
        self.due.insert((state.due(), bundle.id, place));
        self.bundles.insert(place, Bundle { state, ..bundle });
    }

    /// Returns whether anything was told.
    fn tell(
        &mut self,
        place: Place,
        letters: &[usize],
        tally: &Tally,
        tell: Tell,
        now: i64,
    ) -> bool {
        let of_problem = |problem: u64| {
            letters.iter().copied().find(|letter| self.letters[*letter].seen.problem == problem)
        };
        let first = |open| tally.listed(open).0.first().and_then(|one| of_problem(one.problem));
        let carrier = match tell {
            Tell::Nothing => return false,
            Tell::One => {
                let last = usize::try_from(tally.last).unwrap_or(usize::MAX);
                match place.group {
                    Some(_) => self.release(last, now),
                    None => self.send(last, now),
                }
                return true;
            }
            Tell::Summary => first(false),
            Tell::Open => first(true).filter(|one| (self.rules.takes)(&self.letters[*one], now)),
        };
        let Some(carrier) = carrier else { return false };
        for letter in letters {
            self.waiting.remove(letter);
        }
        let summary = Letter {
            at: now,
            group: None,
            tells: if tell == Tell::Open { tally.open } else { tally.waiting },
            withheld: None,
            ..self.letters[carrier].clone()
        };
        self.letters.push(summary);
        if place.group.is_some() {
            self.release(self.letters.len() - 1, now);
        }
        true
    }

    fn tally(&self, letters: &mut [usize], now: i64) -> Tally {
        letters.sort_unstable_by_key(|letter| (self.letters[*letter].seen.problem, *letter));
        let mut tally = Tally::default();
        for letter in letters {
            let one = &self.letters[*letter];
            tally.add(&Seen {
                alert: *letter as u64,
                waits: self.waiting.contains(letter),
                open: one.end.is_none_or(|end| end > now),
                ..one.seen
            });
        }
        tally.finish();
        tally
    }
}

/// Numbers of equal things.
#[derive(Debug)]
pub(crate) struct Numbers<T>(BTreeMap<Arc<T>, usize>, Vec<Arc<T>>);

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self(BTreeMap::new(), Vec::new())
    }
}

impl<T: Ord> Numbers<T> {
    pub(crate) fn of(&mut self, thing: T) -> usize {
        let thing = Arc::new(thing);
        let next = self.1.len();
        let number = *self.0.entry(Arc::clone(&thing)).or_insert(next);
        if number == next {
            self.1.push(thing);
        }
        number
    }

    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.1.get(number).map(|thing| &**thing)
    }
}
