//! The search for the limit: more hosts by a factor until a step fails, then halves of the gap between the
//! most hosts that are held and the fewest that are not.

use anyhow::bail;

use super::kept::Kept;
use super::step::Step;
use crate::Context;
use crate::report::grouped;

/// Which numbers of hosts are tried.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Hosts of the first step.
    pub start: usize,
    /// Hosts of a step as a multiple of the step before, until one fails; above 1.
    pub factor: f64,
    /// Most hosts of a step.
    pub hosts_max: usize,
    /// The search ends when the gap around the limit is at most this percentage of the hosts that are not held;
    /// 100 or more: with the first step that fails.
    pub precision: f64,
}

/// What is observed: a server with any number of hosts.
pub(super) trait Target {
    /// Gives the server this number of hosts, and observes it.
    fn observe(&mut self, hosts: usize, context: &mut Context<'_>) -> anyhow::Result<Step>;
}

/// The steps around the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds<'a> {
    /// The most hosts that are held.
    pub(super) held: Option<&'a Step>,
    /// The fewest hosts that are not.
    pub(super) failed: Option<&'a Step>,
}

impl<'a> Bounds<'a> {
    pub(super) fn of(steps: &'a [Step]) -> Self {
        Self {
            held: steps.iter().filter(|step| step.holds()).max_by_key(|step| step.hosts),
            failed: steps.iter().filter(|step| !step.holds()).min_by_key(|step| step.hosts),
        }
    }

    fn hosts(self) -> (usize, Option<usize>) {
        (self.held.map_or(0, |step| step.hosts), self.failed.map(|step| step.hosts))
    }
}

impl Plan {
    /// Refuses plans that have no first step or no end.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.factor <= 1.0 || self.start == 0 || self.hosts_max == 0 {
            bail!("--factor must be above 1, --start and --hosts-max at least 1 host");
        }
        if self.precision.is_nan() || self.precision < 0.0 {
            bail!("--precision must be a percentage");
        }
        Ok(())
    }

    /// The hosts of the step after these; `None`: the limit is found.
    pub(super) fn next(&self, steps: &[Step]) -> Option<usize> {
        match Bounds::of(steps).hosts() {
            (0, None) => Some(self.start.min(self.hosts_max)),
            (held, None) if held >= self.hosts_max => None,
            (held, None) => {
                let more = (held as f64 * self.factor).ceil() as usize;
                Some(more.max(held + 1).min(self.hosts_max))
            }
            (held, Some(failed)) => {
                let gap = failed.saturating_sub(held);
                let found = gap <= 1 || gap as f64 <= failed as f64 * self.precision / 100.0;
                (!found).then_some(held + gap / 2)
            }
        }
    }
}

/// Observes one number of hosts after the other until the limit is found; steps that are kept already are not
/// observed again.
pub(super) fn search(
    plan: &Plan,
    target: &mut impl Target,
    kept: &mut Kept,
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    while let Some(hosts) = plan.next(kept.steps()) {
        let known = match Bounds::of(kept.steps()).hosts() {
            (held, None) => format!("{} hosts are held so far", grouped(held as u64)),
            (held, Some(failed)) => {
                let (held, failed) = (grouped(held as u64), grouped(failed as u64));
                format!("the limit is between {held} and {failed} hosts")
            }
        };
        let (number, hosts_text) = (kept.steps().len() + 1, grouped(hosts as u64));
        context.say(&format!("step {number}: {hosts_text} hosts; {known}"));
        let step = target.observe(hosts, context)?;
        context.say(&step.describe());
        kept.push(step)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stdx::clock::RealClock;

    use super::*;

    /// Holds so many hosts, and fails to observe some.
    struct Fake {
        capacity: usize,
        broken: Option<usize>,
        observed: Vec<usize>,
    }

    impl Target for Fake {
        fn observe(&mut self, hosts: usize, _: &mut Context<'_>) -> anyhow::Result<Step> {
            if self.broken == Some(hosts) {
                bail!("no connection");
            }
            self.observed.push(hosts);
            let busy = Some(if hosts > self.capacity { 1.0 } else { 0.5 });
            Ok(Step { hosts, busy, ..Step::default() })
        }
    }

    fn plan(precision: f64) -> Plan {
        Plan { start: 100, factor: 2.0, hosts_max: 1000, precision }
    }

    fn climb(plan: &Plan, fake: &mut Fake, kept: &mut Kept) -> anyhow::Result<String> {
        let mut said = Vec::new();
        let mut context = Context { clock: RealClock::shared(), progress: &mut said };
        search(plan, fake, kept, &mut context)?;
        Ok(String::from_utf8(said)?)
    }

    #[test]
    fn the_gap_around_the_limit_is_halved() {
        for (capacity, precision, expected) in [
            (550, 10.0, vec![100, 200, 400, 800, 600, 500, 550]),
            (550, 100.0, vec![100, 200, 400, 800]),
            (5000, 10.0, vec![100, 200, 400, 800, 1000]),
            (30, 20.0, vec![100, 50, 25, 37, 31]),
            (0, 0.0, vec![100, 50, 25, 12, 6, 3, 1]),
        ] {
            let mut fake = Fake { capacity, broken: None, observed: Vec::new() };
            let mut kept = Kept::open(None, &json!({})).unwrap();
            let said = climb(&plan(precision), &mut fake, &mut kept).unwrap();
            assert_eq!(fake.observed, expected, "{said}");
            let bounds = Bounds::of(kept.steps()).hosts();
            assert!(bounds.0 <= capacity && bounds.1.is_none_or(|failed| failed > capacity));
        }
    }

    #[test]
    fn progress_names_the_range_of_the_limit() {
        let mut fake = Fake { capacity: 550, broken: None, observed: Vec::new() };
        let said = climb(&plan(10.0), &mut fake, &mut Kept::open(None, &json!({})).unwrap());
        let said = said.unwrap();
        for expected in [
            "step 1: 100 hosts; 0 hosts are held so far\n",
            "step 5: 600 hosts; the limit is between 400 and 800 hosts\n",
            ": the pollers are busy all the time\n",
        ] {
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn an_interrupted_search_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("steps.json");
        let conditions = json!({ "items": 1, "delay_s": 3.1 });
        let mut fake = Fake { capacity: 550, broken: Some(800), observed: Vec::new() };
        let mut kept = Kept::open(Some(&path), &conditions).unwrap();
        assert!(climb(&plan(10.0), &mut fake, &mut kept).is_err());
        let mut again = Fake { broken: None, observed: Vec::new(), ..fake };
        let mut kept = Kept::open(Some(&path), &conditions).unwrap();
        climb(&plan(10.0), &mut again, &mut kept).unwrap();
        assert_eq!(again.observed, [800, 600, 500, 550]);
        // A finer search needs only the steps that are missing.
        let mut finer = Fake { capacity: 550, broken: None, observed: Vec::new() };
        let mut kept = Kept::open(Some(&path), &conditions).unwrap();
        climb(&plan(5.0), &mut finer, &mut kept).unwrap();
        assert_eq!(finer.observed, [575]);
    }

    #[test]
    fn plans_without_end_are_refused() {
        for wrong in [
            Plan { factor: 1.0, ..plan(5.0) },
            Plan { start: 0, ..plan(5.0) },
            Plan { hosts_max: 0, ..plan(5.0) },
            plan(-1.0),
            plan(f64::NAN),
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
        plan(0.0).check().unwrap();
    }
}
