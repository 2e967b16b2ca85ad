//! Those who get messages: the attempts that the server hands over, what comes of each, and what must hold of all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::alert::{Media, Outcome, Outgoing, Refused, Report};
use objects::AlertStatus;
use stdx::clock::Clock;
use stdx::sync::lock;

use super::estate::Estate;
use super::machine::Machine;
use super::model::Message;
use super::seen::Alert;
use crate::escalation::simulation::Random;

/// The queue of the media.
pub(super) struct Queue {
    machine: Arc<Machine>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    taken: Vec<Outgoing>,
    /// Attempts that it takes until it is full; `None` = any number.
    room: Option<usize>,
    /// The second in which it was last full.
    refused_at: Option<i64>,
    stops: bool,
}

impl Queue {
    pub(super) fn new(machine: Arc<Machine>) -> Self {
        Self { machine, inner: Mutex::default() }
    }

    pub(super) fn set_room(&self, room: Option<usize>) {
        lock(&self.inner).room = room;
    }

    /// It is full, or was in this second: the escalator tries it again in the next one.
    pub(super) fn is_full(&self, now: i64) -> bool {
        let inner = lock(&self.inner);
        inner.room == Some(0) || inner.refused_at == Some(now)
    }

    /// The server stops, or starts.
    pub(super) fn set_stops(&self, stops: bool) {
        lock(&self.inner).stops = stops;
    }

    pub(super) fn stops(&self) -> bool {
        lock(&self.inner).stops
    }

    fn take(&self) -> Vec<Outgoing> {
        std::mem::take(&mut lock(&self.inner).taken)
    }
}

impl Media for Queue {
    fn send(&self, attempt: Outgoing) -> Result<(), Refused> {
        // A dead process sends nothing.
        if !self.machine.lives() {
            return Err(Refused::Stopping(Box::new(attempt)));
        }
        let mut inner = lock(&self.inner);
        if inner.stops {
            return Err(Refused::Stopping(Box::new(attempt)));
        }
        if inner.room == Some(0) {
            inner.refused_at = i64::try_from(self.machine.unix_s()).ok();
            return Err(Refused::Full(Box::new(attempt)));
        }
        inner.room = inner.room.map(|room| room - 1);
        inner.taken.push(attempt);
        Ok(())
    }
}

/// An attempt that is not reported yet.
#[derive(Debug)]
struct Flight {
    attempt: Outgoing,
    /// `None` = it is on its way.
    outcome: Option<Outcome>,
}

/// What is known of one alert.
#[derive(Debug)]
struct Track {
    message: Message,
    deduplicates: bool,
    /// Messages that arrived, without those that the receiver recognised.
    arrived: u32,
    /// What was reported last.
    last: Option<Outcome>,
    /// The status that does not change any more.
    end: Option<AlertStatus>,
}

/// What a run did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) problems: u64,
    pub(super) messages: u64,
    pub(super) failures: u64,
    pub(super) uncertain: u64,
    pub(super) recognised: u64,
    pub(super) starts: u64,
    pub(super) cancelled: u64,
    pub(super) faults: u64,
}

/// All receivers.
pub(super) struct Receivers {
    pub(super) queue: Arc<Queue>,
    flights: Vec<Flight>,
    /// Alerts whose outcome is reported, and perhaps not stored yet.
    reported: BTreeSet<u64>,
    /// Attempts of processes that died.
    late: Vec<Outgoing>,
    tracks: BTreeMap<u64, Track>,
    /// Alerts whose attempt may have been under way when the process died.
    doubtful: BTreeSet<u64>,
    pub(super) tally: Tally,
}

const REFUSED: &str = "the receiver refuses it";

impl Receivers {
    pub(super) fn new(machine: Arc<Machine>) -> Self {
        Self {
            queue: Arc::new(Queue::new(machine)),
            flights: Vec::new(),
            reported: BTreeSet::new(),
            late: Vec::new(),
            tracks: BTreeMap::new(),
            doubtful: BTreeSet::new(),
            tally: Tally::default(),
        }
    }

    /// Alerts that are handed over and not reported.
    pub(super) fn handed(&self) -> BTreeSet<u64> {
        self.flights.iter().map(|flight| flight.attempt.alert.0).collect()
    }

    /// Attempts of a media type that are handed over and not reported, also those whose alerts were deleted since.
    pub(super) fn under_way(&self, media_type: u64) -> usize {
        let of_type = |flight: &&Flight| flight.attempt.media_type.0 == media_type;
        self.flights.iter().filter(of_type).count()
    }

    /// A message about the same problem is under way to the same address.
    pub(super) fn is_before(&self, message: &Message) -> bool {
        self.flights.iter().any(|flight| {
            let attempt = &flight.attempt;
            attempt.problem.0 == message.problem
                && message.address == Some((attempt.media_type.0, attempt.sendto.clone()))
        })
    }

    /// All outcomes are stored.
    pub(super) fn settled(&mut self) {
        self.reported.clear();
    }

    /// Takes what was handed over.
    pub(super) fn take(&mut self, estate: &Estate, alerts: &[Alert]) -> Result<(), String> {
        for attempt in self.queue.take() {
            let id = attempt.alert.0;
            let Some(alert) = alerts.iter().find(|alert| alert.id == id) else {
                return Err(format!("an attempt without an alert: {attempt:?}"));
            };
            let Message { user, action, problem, .. } = alert.message;
            if !estate.users.contains(&user) || !estate.actions.contains_key(&action) {
                return Err(format!("a message of a deleted action or user is sent: {alert:?}"));
            }
            if self.handed().contains(&id) {
                return Err(format!("a second attempt while the first one is made: {alert:?}"));
            }
            let media_type = estate.media_types.get(&attempt.media_type.0);
            let is_living = media_type.is_some_and(|one| one.living);
            let before = alerts.iter().find(|other| {
                other.id < id
                    && other.is_open()
                    && other.message.problem == problem
                    && other.message.address == alert.message.address
            });
            if let Some(before) = before.filter(|_| is_living) {
                return Err(format!("{id} is sent before {before:?}"));
            }
            self.flights.push(Flight { attempt, outcome: None });
        }
        Ok(())
    }

    fn arrives(&mut self, attempt: &Outgoing) -> Result<(), String> {
        let id = attempt.alert.0;
        let track = self.tracks.get_mut(&id).ok_or("a message without an alert")?;
        if track.deduplicates {
            let own = attempt.parameters.first().map(|(_, value)| value.as_str());
            if own != Some(id.to_string().as_str()) {
                return Err(format!("the receiver cannot recognise {attempt:?}"));
            }
            self.tally.recognised += u64::from(track.arrived > 0);
            track.arrived = 1;
        } else {
            track.arrived += 1;
        }
        match track.arrived {
            1 => Ok(()),
            _ => Err(format!("alert {id} arrives again: {:?}", track.message)),
        }
    }

    /// Something happens to one attempt; returns what is reported.
    pub(super) fn proceed(
        &mut self,
        random: &mut Random,
        estate: &Estate,
        is_calm: bool,
    ) -> Result<Option<Report>, String> {
        if !self.late.is_empty() && random.one_in(3) {
            let late = self.late.swap_remove(random.below(self.late.len() as u64) as usize);
            self.arrives(&late)?;
        }
        if self.flights.is_empty() {
            return Ok(None);
        }
        let at = random.below(self.flights.len() as u64) as usize;
        if let Some(outcome) = self.flights[at].outcome.clone() {
            let flight = self.flights.swap_remove(at);
            return Ok(Some(self.report(&flight.attempt, outcome)));
        }
        let attempt = self.flights[at].attempt.clone();
        let outcome = outcome_of(random, &attempt, estate, is_calm);
        let arrives = match &outcome {
            Outcome::Sent { .. } => true,
            Outcome::Unknown { .. } => random.one_in(2),
            _ => false,
        };
        if arrives {
            self.arrives(&attempt)?;
        }
        self.flights[at].outcome = Some(outcome);
        Ok(None)
    }

    fn report(&mut self, attempt: &Outgoing, outcome: Outcome) -> Report {
        self.reported.insert(attempt.alert.0);
        self.tally.failures += u64::from(!matches!(outcome, Outcome::Sent { .. }));
        if let Some(track) = self.tracks.get_mut(&attempt.alert.0) {
            track.last = Some(outcome.clone());
        }
        Report { alert: attempt.alert, outcome }
    }

    /// The media stop: what is on its way is not started.
    pub(super) fn stop(&mut self) -> Vec<Report> {
        self.queue.set_stops(true);
        let flights = std::mem::take(&mut self.flights);
        let of = |flight: Flight| {
            let outcome = flight.outcome.unwrap_or(Outcome::NotStarted);
            self.report(&flight.attempt, outcome)
        };
        flights.into_iter().map(of).collect()
    }

    /// The process died: what was on its way arrives later, or never, as all that has a media type which was deleted. `doubtful`: alerts whose rows say that an attempt is
    /// made; `in_work`: it died while it may have handed over messages.
    pub(super) fn crash(
        &mut self,
        random: &mut Random,
        estate: &Estate,
        doubtful: BTreeSet<u64>,
        in_work: bool,
    ) -> Result<(), String> {
        let mut handed = self.handed();
        handed.append(&mut self.reported);
        if let Some(id) = doubtful.iter().find(|id| !in_work && !handed.contains(id)) {
            return Err(format!("alert {id} is neither handed over nor due"));
        }
        for flight in std::mem::take(&mut self.flights) {
            let is_gone = !estate.media_types.contains_key(&flight.attempt.media_type.0);
            if flight.outcome.is_none() && random.one_in(2) && !is_gone {
                self.late.push(flight.attempt);
            }
        }
        self.doubtful.extend(doubtful);
        Ok(())
    }

    /// Compares alerts with what came of them.
    pub(super) fn compare(&mut self, estate: &Estate, alerts: &[Alert]) -> Result<(), String> {
        for alert in alerts {
            let media_type = estate.media_types.get(&alert.media_type());
            let deduplicates = media_type.is_some_and(|one| one.deduplicates);
            let track = self.tracks.entry(alert.id).or_insert_with(|| {
                let message = alert.message.clone();
                Track { message, deduplicates, arrived: 0, last: None, end: None }
            });
            let wrong = |what: &str| Err(format!("{what}: {alert:?}, {track:?}"));
            if track.message != alert.message {
                return wrong("another message");
            }
            if track.end.is_some_and(|end| end != alert.status) {
                return wrong("it changes after its end");
            }
            if alert.is_open() {
                continue;
            }
            let is_uncertain = alert.error.starts_with("The server stopped during the attempt");
            let ends_well = match (alert.status, &track.last) {
                (AlertStatus::Sent, _) => track.arrived == 1,
                (AlertStatus::Failed, _) if is_uncertain => {
                    self.doubtful.contains(&alert.id) && !deduplicates
                }
                (AlertStatus::Failed, last) if alert.error.starts_with("The message may have") => {
                    self.doubtful.contains(&alert.id)
                        || matches!(last, Some(Outcome::Unknown { .. }))
                }
                (
                    AlertStatus::Failed,
                    Some(
                        Outcome::Failed { error, .. }
                        | Outcome::Impossible { error }
                        | Outcome::Unknown { error },
                    ),
                ) if *error == alert.error => true,
                // It was never on its way.
                (AlertStatus::Failed, _) => !alert.error.is_empty() && track.arrived == 0,
                _ => false,
            };
            if !ends_well {
                return wrong("it does not say what came of it");
            }
            self.tally.uncertain += u64::from(is_uncertain && track.end.is_none());
            track.end = Some(alert.status);
        }
        Ok(())
    }

    /// What holds in the end: all alerts have ended, and those that were sent have arrived.
    pub(super) fn finish(&mut self, alerts: &[Alert]) -> Result<Tally, String> {
        if let Some(open) = alerts.iter().find(|alert| alert.is_open()) {
            return Err(format!("never sent: {open:?}"));
        }
        self.tally.messages = self.tracks.len() as u64;
        Ok(self.tally)
    }
}

fn outcome_of(random: &mut Random, attempt: &Outgoing, estate: &Estate, calm: bool) -> Outcome {
    let media_type = estate.media_types.get(&attempt.media_type.0);
    if !media_type.is_some_and(|one| one.enabled) {
        return Outcome::Impossible { error: "The media type cannot be used.".to_owned() };
    }
    let error = || REFUSED.to_owned();
    match random.below(if calm { 6 } else { 12 }) {
        0..6 => {
            let message_id = format!("m{}", attempt.alert.0);
            Outcome::Sent { tags: Vec::new(), message_id }
        }
        6 | 7 if attempt.failures < 3 => {
            let again = Some(Duration::from_secs(random.below(120)));
            Outcome::Failed { error: error(), again }
        }
        6..9 => Outcome::Failed { error: error(), again: None },
        9 => Outcome::Impossible { error: "The address is not valid.".to_owned() },
        10 => Outcome::NotStarted,
        _ => Outcome::Unknown { error: "timeout".to_owned() },
    }
}
