//! The steps as a plot: rates, the shares that the rules look at with their limits, late checks, and what readers waited for.

use super::step::{BUSY_MAX, CPU_MAX, MEMORY_MAX, Step};
use crate::plot::{Chart, IDEAL, svg};

/// An SVG of steps that are sorted by hosts; `verdict` is the limit in words.
pub(super) fn draw(steps: &[Step], verdict: &str) -> anyhow::Result<String> {
    let mut charts = vec![rates(steps), shares(steps, verdict), queue(steps)];
    if steps.iter().any(|step| step.reads.is_some()) {
        charts.push(pages(steps));
    }
    svg(&charts)
}

fn line(steps: &[Step], of: impl Fn(&Step) -> Option<f64>) -> Vec<(f64, f64)> {
    steps.iter().filter_map(|step| Some((step.hosts as f64, of(step)?))).collect()
}

fn rates(steps: &[Step]) -> Chart {
    Chart {
        title: "Checks per second".to_owned(),
        x: "hosts",
        y: "checks/s",
        lines: vec![
            ("answered", line(steps, |step| Some(step.checks_per_s))),
            (IDEAL, line(steps, |step| Some(step.ideal_per_s))),
        ],
        limits: Vec::new(),
    }
}

fn shares(steps: &[Step], verdict: &str) -> Chart {
    let percent = |share: Option<f64>| share.map(|share| share * 100.0);
    let most = steps.last().map_or(0.0, |step| step.hosts as f64);
    let limit = |share: f64| vec![(0.0, share * 100.0), (most, share * 100.0)];
    Chart {
        title: format!("Limit: {verdict} (dashed: limits)"),
        x: "hosts",
        y: "%",
        lines: vec![
            ("pollers busy", line(steps, |step| percent(step.busy))),
            ("CPU", line(steps, |step| percent(step.cpu))),
            ("memory", line(steps, |step| percent(step.memory))),
        ],
        limits: vec![
            ("pollers busy", limit(BUSY_MAX)),
            ("CPU", limit(CPU_MAX)),
            ("memory", limit(MEMORY_MAX)),
        ],
    }
}

fn queue(steps: &[Step]) -> Chart {
    Chart {
        title: "Checks that are late by 5 s or more (dashed: allowed growth)".to_owned(),
        x: "hosts",
        y: "checks",
        lines: vec![
            ("at the end of the step", line(steps, |step| step.queue.last().copied())),
            ("growth during the step", line(steps, |step| Some(step.queue_growth().max(0.0)))),
        ],
        limits: vec![("growth during the step", line(steps, |step| Some(step.queue_growth_max())))],
    }
}

fn pages(steps: &[Step]) -> Chart {
    let page =
        |of: fn(&crate::readers::Reads) -> f64| line(steps, |step| step.reads.as_ref().map(of));
    Chart {
        title: "First rows of a page of the UI".to_owned(),
        x: "hosts",
        y: "ms",
        lines: vec![
            ("p50", page(|reads| reads.pages.p50_ms)),
            ("p99", page(|reads| reads.pages.p99_ms)),
        ],
        limits: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::Reads;

    #[test]
    fn each_figure_of_the_rules_is_drawn() {
        let step = |hosts, reads| Step {
            hosts,
            busy: Some(0.4),
            cpu: Some(0.3),
            memory: Some(0.2),
            queue: vec![1.0, 2.0, 3.0],
            reads,
            ..Step::default()
        };
        let without = draw(&[step(100, None), step(200, None)], "none").unwrap();
        for expected in ["pollers busy", "CPU", "memory", "allowed growth", "Limit: none"] {
            assert!(without.contains(expected), "{expected}");
        }
        assert!(!without.contains("p99"));
        let with = draw(&[step(100, Some(Reads::default()))], "none").unwrap();
        assert!(with.contains("p99") && with.contains("page of the UI"));
    }
}
