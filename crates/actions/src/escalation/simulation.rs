//! Random lives of problems, with crashes and clocks that jump: an event-driven escalator over the state machine, compared
//! with a simple model that looks at every problem in every second.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

const SECONDS: i64 = 1_500;
const PROBLEMS: usize = 6;

/// Random numbers that a seed repeats (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    pub(crate) fn seconds(&mut self, n: i64) -> i64 {
        i64::try_from(self.below(u64::try_from(n).unwrap())).unwrap()
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[derive(Debug, Clone)]
enum Happens {
    Opens,
    Recovers,
    Acknowledged(bool),
    Suppressed(Suppressed),
    Symptom(bool),
    Depends(bool),
    Inhibited(bool),
    TriggerOff,
    ActionDeleted,
}

/// What happens in which second to which problem.
type Script = Vec<(i64, usize, Happens)>;

/// When, to which problem, what was done.
type Journal = Vec<(i64, usize, Order)>;

fn plan_of(random: &mut Random) -> Plan {
    let operation = |id: u64, random: &mut Random| {
        let first = 1 + u32::try_from(random.below(3)).unwrap();
        let wanted = (0..random.below(3)).map(|_| random.one_in(2)).collect();
        let combined = [EvalType::AndOr, EvalType::And, EvalType::Or][random.below(3) as usize];
        StepOperation {
            id,
            first,
            last: (!random.one_in(4)).then(|| first + u32::try_from(random.below(3)).unwrap()),
            duration_s: NonZeroU32::new([0, 0, 60, 90, 200][random.below(5) as usize]),
            conditions: Acknowledgement { combined, wanted },
        }
    };
    let operations = (1..=random.below(4)).map(|id| operation(id, random)).collect();
    Plan {
        duration_s: NonZeroU32::new([60, 75, 120][random.below(3) as usize]).unwrap(),
        operations,
        has_recovery: !random.one_in(4),
        pauses_suppressed: !random.one_in(4),
        pauses_symptoms: !random.one_in(4),
        notifies_if_canceled: !random.one_in(3),
    }
}

fn script_of(random: &mut Random) -> Script {
    let mut script = Script::new();
    for problem in 0..PROBLEMS {
        let mut at = random.seconds(200);
        script.push((at, problem, Happens::Opens));
        // What switches an escalation off is not mixed with pauses: which of them is seen first is open.
        let pauses = !random.one_in(3);
        loop {
            at += random.seconds(120);
            if at >= SECONDS {
                break;
            }
            let happens = match random.below(if pauses { 10 } else { 4 }) {
                0 => Happens::Acknowledged(true),
                1 => Happens::Acknowledged(false),
                2 if random.one_in(3) => Happens::Recovers,
                3 if !pauses && random.one_in(2) => Happens::TriggerOff,
                3 if !pauses => Happens::ActionDeleted,
                4 => Happens::Suppressed(Suppressed::UntilEvent),
                5 => Happens::Suppressed(Suppressed::Until(at + random.seconds(300))),
                6 => Happens::Suppressed(Suppressed::No),
                7 => Happens::Symptom(random.one_in(2)),
                8 => Happens::Depends(random.one_in(2)),
                9 => Happens::Inhibited(random.one_in(2)),
                _ => continue,
            };
            let is_last = matches!(happens, Happens::Recovers);
            script.push((at, problem, happens));
            if is_last {
                break;
            }
        }
    }
    script.sort_by_key(|(at, _, _)| *at);
    script
}

fn apply(problem: &mut Problem, happens: &Happens) {
    match happens {
        Happens::Opens => {}
        Happens::Recovers => problem.recovered = true,
        Happens::Acknowledged(is) => problem.acknowledged = *is,
        Happens::Suppressed(how) => problem.suppressed = *how,
        Happens::Symptom(is) => problem.symptom = *is,
        Happens::Depends(is) => problem.depends_on_problem = *is,
        Happens::Inhibited(is) => problem.calm = is.then_some(Calm::Inhibited { by: 1 }),
        Happens::TriggerOff => {
            problem.missing.get_or_insert(Missing::Trigger("t".to_owned()));
        }
        Happens::ActionDeleted => problem.missing = Some(Missing::Deleted),
    }
}

/// The problem as it is at `now`: suppressions end by themselves.
fn at(problem: &Problem, now: i64) -> Problem {
    let is_over = matches!(problem.suppressed, Suppressed::Until(until) if until <= now);
    let suppressed = if is_over { Suppressed::No } else { problem.suppressed };
    Problem { suppressed, ..problem.clone() }
}

/// What survives a crash.
#[derive(Debug, Clone, Default)]
struct Store {
    /// Up to where the script was looked at.
    position: usize,
    escalations: BTreeMap<usize, Progress>,
    due: BTreeSet<(i64, usize)>,
    journal: Journal,
}

impl Store {
    fn set(&mut self, problem: usize, progress: Option<Progress>) {
        let before = match progress {
            Some(progress) => self.escalations.insert(problem, progress),
            None => self.escalations.remove(&problem),
        };
        let due = |progress: Option<Progress>| progress.and_then(|one| one.due());
        if let Some(at) = due(before) {
            self.due.remove(&(at, problem));
        }
        if let Some(at) = due(progress) {
            self.due.insert((at, problem));
        }
    }

    /// One transaction: what is due, and what has happened since the position. Looks at nothing else.
    fn look(&mut self, plan: &Plan, script: &Script, problems: &[Problem], t: i64, now: i64) {
        let news = script[self.position..].iter().take_while(|(at, _, _)| *at <= t);
        let news: Vec<_> = news.cloned().collect();
        self.position += news.len();
        let mut wanted: BTreeSet<usize> =
            self.due.iter().take_while(|(at, _)| *at <= now).map(|(_, problem)| *problem).collect();
        for (_, problem, happens) in &news {
            let known = self.escalations.get(problem);
            match happens {
                Happens::Opens => {
                    self.set(*problem, Some(Progress::start(now)));
                    wanted.insert(*problem);
                }
                Happens::Recovers => drop(wanted.insert(*problem)),
                Happens::Suppressed(_)
                | Happens::Symptom(_)
                | Happens::Depends(false)
                | Happens::Inhibited(false) => {
                    let waits = known.map(|one| one.waits);
                    if matches!(waits, Some(Waits::Paused | Waits::PausedUntil(_))) {
                        wanted.insert(*problem);
                    }
                }
                _ => {}
            }
        }
        for problem in wanted {
            let Some(before) = self.escalations.get(&problem) else { continue };
            let turn = plan.look(&at(&problems[problem], now), *before, now);
            let told = before.told || turn.orders.iter().any(tells);
            self.journal.extend(turn.orders.into_iter().map(|order| (t, problem, order)));
            self.set(problem, turn.next.map(|next| Progress { told, ..next }));
        }
    }

    /// As a start does it.
    fn wake_all(&mut self, now: i64) {
        for (problem, progress) in self.escalations.clone() {
            if matches!(progress.waits, Waits::Paused | Waits::PausedUntil(_)) {
                let waits = Waits::PausedUntil(now);
                self.set(problem, Some(Progress { waits, ..progress }));
            }
        }
    }

    fn set_back(&mut self, by: i64) {
        for (problem, progress) in self.escalations.clone() {
            let waits = match progress.waits {
                Waits::Until(at) => Waits::Until(at - by),
                Waits::PausedUntil(at) => Waits::PausedUntil(at - by),
                other => other,
            };
            self.set(problem, Some(Progress { waits, ..progress }));
        }
    }
}

fn tells(order: &Order) -> bool {
    matches!(order, Order::Step { .. })
}

/// Looks at one problem in every second, and knows no pause but "not now".
#[derive(Debug, Default)]
struct Model {
    step: u32,
    due: i64,
    /// The step that is due now was held back.
    held: bool,
    told: bool,
    started: bool,
    ended: bool,
}

impl Model {
    fn last_step(plan: &Plan) -> u32 {
        plan.operations.iter().map(|one| one.last.unwrap_or(u32::MAX)).max().unwrap_or(0)
    }

    fn operations(plan: &Plan, problem: &Problem, step: u32) -> Option<Order> {
        let mut operations = Vec::new();
        for one in &plan.operations {
            let on_step = step >= one.first && step <= one.last.unwrap_or(u32::MAX);
            let wanted = &one.conditions.wanted;
            let equal = wanted.iter().filter(|is| **is == problem.acknowledged).count();
            let met = match one.conditions.combined {
                EvalType::And => equal == wanted.len(),
                _ => wanted.is_empty() || equal > 0,
            };
            if on_step && met {
                operations.push(one.id);
            }
        }
        (!operations.is_empty()).then_some(Order::Step { step, operations })
    }

    fn duration(plan: &Plan, step: u32) -> i64 {
        let mut smallest = i64::MAX;
        for one in &plan.operations {
            if let (true, Some(own)) =
                (step >= one.first && step <= one.last.unwrap_or(u32::MAX), one.duration_s)
            {
                smallest = smallest.min(own.get().into());
            }
        }
        if smallest == i64::MAX { plan.duration_s.get().into() } else { smallest }
    }

    fn second(&mut self, plan: &Plan, problem: &Problem, now: i64) -> Vec<Order> {
        let mut done = Vec::new();
        if self.ended {
            return done;
        }
        if !std::mem::replace(&mut self.started, true) {
            self.due = now;
        }
        let has_more = self.step < Self::last_step(plan);
        let is_due = now >= self.due && (has_more || self.step == 0);
        if let Some(missing) = &problem.missing
            && (is_due || problem.recovered)
        {
            self.ended = true;
            if *missing != Missing::Deleted && self.told && plan.notifies_if_canceled {
                done.push(Order::Cancel(missing.clone()));
            }
            return done;
        }
        let suppressed = problem.suppressed != Suppressed::No && plan.pauses_suppressed;
        let symptom = problem.symptom && plan.pauses_symptoms;
        let held = suppressed || symptom || problem.depends_on_problem || problem.calm.is_some();
        if problem.recovered {
            self.ended = true;
            if held && !self.told {
                return done;
            }
            if self.step == 0 && !held {
                done.extend(Self::operations(plan, problem, 1));
            }
            if plan.has_recovery {
                done.push(Order::Recovery);
            }
            return done;
        }
        if !is_due {
            return done;
        }
        self.held |= held;
        if held {
            return done;
        }
        if has_more {
            self.step += 1;
            let duration = Self::duration(plan, self.step);
            done.extend(Self::operations(plan, problem, self.step));
            self.told |= !done.is_empty();
            let due = self.due + duration;
            self.due = if self.held || due <= now { now + duration } else { due };
            self.held = false;
        }
        if self.step >= Self::last_step(plan) {
            self.ended = !plan.has_recovery;
            // Without a step there is nothing to be due.
            self.due = if self.step == 0 { i64::MAX } else { self.due };
        }
        done
    }
}

/// Runs one life; returns what both did.
fn run(seed: u64) -> (Journal, Journal) {
    let mut random = Random(seed);
    let plan = plan_of(&mut random);
    let script = script_of(&mut random);
    let mut problems = vec![tests::open(); PROBLEMS];
    let mut store = Store::default();
    let mut models: BTreeMap<usize, Model> = BTreeMap::new();
    let mut expected = Journal::new();
    let (mut happened, mut down, mut ahead) = (0, 0, 0);
    for t in 0..SECONDS + 500 {
        if random.one_in(300) {
            let by = random.seconds(400) - 200;
            ahead += by;
            if by < 0 {
                store.set_back(-by);
                models.values_mut().for_each(|model| model.due = model.due.saturating_add(by));
            }
        }
        let now = t + ahead;
        if down > 0 {
            down -= 1;
            if down == 0 {
                store.wake_all(now);
            }
            continue;
        }
        while let Some((_, problem, happens)) = script.get(happened).filter(|one| one.0 <= t) {
            apply(&mut problems[*problem], happens);
            if matches!(happens, Happens::Opens) {
                models.insert(*problem, Model::default());
            }
            happened += 1;
        }
        let mut after = store.clone();
        after.look(&plan, &script, &problems, t, now);
        let crashes = random.one_in(100);
        if crashes {
            down = 1 + random.seconds(200);
            // Before the commit nothing has happened.
            if random.one_in(2) {
                continue;
            }
        }
        store = after;
        for (problem, model) in &mut models {
            let done = model.second(&plan, &at(&problems[*problem], now), now);
            expected.extend(done.into_iter().map(|order| (t, *problem, order)));
        }
    }
    let (withheld, done): (Journal, Journal) = store
        .journal
        .into_iter()
        .partition(|(_, _, order)| matches!(order, Order::Withhold { .. }));
    let mut steps = BTreeSet::new();
    for (_, problem, order) in withheld {
        let Order::Withhold { step, .. } = order else { continue };
        assert!(steps.insert((problem, step)), "seed {seed}: step {step} is withheld twice");
    }
    (done, expected)
}

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "for longer runs, and to repeat one")]
pub(crate) fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_lives_of_problems_agree_with_the_model() {
    let (seeds, first) = (given("SEEDS").unwrap_or(50), given("SEED").unwrap_or(1));
    let (mut orders, mut cancelled) = (0, 0);
    for seed in first..first + seeds {
        println!("seed {seed}");
        let (done, expected) = run(seed);
        if let Some(at) =
            (0..done.len().max(expected.len())).find(|n| done.get(*n) != expected.get(*n))
        {
            panic!(
                "seed {seed}, order {at}: done {:?}, expected {:?}, before {:?}",
                done.get(at),
                expected.get(at),
                &done[at.saturating_sub(3)..at]
            );
        }
        orders += done.len();
        cancelled += done.iter().filter(|one| matches!(one.2, Order::Cancel(_))).count();
    }
    println!("{orders} orders, {cancelled} cancellations");
    if seeds >= 50 {
        assert!(orders > 300 && cancelled > 0, "{orders} {cancelled}: the lives are too quiet");
    }
}
