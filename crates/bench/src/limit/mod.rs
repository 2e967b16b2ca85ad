//! Which limit comes first: more hosts, step by step, until a rule trips, and then the number of hosts at which it does.
//!
//! The rules are those of the published 2024 test of Zabbix's pollers: pollers busy all the time,
//! half of the processor used, nine tenths of the memory used, or a queue that grows.

mod charts;
mod kept;
mod options;
mod search;
mod server;
mod step;

pub use options::{LimitOptions, Watch};
pub use search::Plan;

use anyhow::bail;
use serde_json::{Value, json};

use crate::Context;
use crate::readers::Reads;
use crate::register::clean;
use crate::report::{Report, Steps, grouped};
use kept::Kept;
use search::{Bounds, search};
use server::Server;
use step::{COLUMNS, COLUMNS_OF_READERS, Step};

/// Runs the steps.
pub fn run(options: &LimitOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    options.plan.check()?;
    if options.watch.seconds < 3 {
        bail!("--seconds must be at least 3");
    }
    let mut kept = Kept::open(options.resume.as_deref(), &options.conditions())?;
    if options.plan.next(kept.steps()).is_some() {
        climb(options, &mut kept, context)?;
    }
    report(options, kept.steps())
}

/// Observes the steps that are missing.
fn climb(options: &LimitOptions, kept: &mut Kept, context: &mut Context<'_>) -> anyhow::Result<()> {
    if !kept.steps().is_empty() {
        let removed = clean(&options.login)?;
        context.say(&format!(
            "{} finished steps; {} hosts of an interrupted run removed",
            kept.steps().len(),
            grouped(removed as u64)
        ));
    }
    let mut server = Server::prepare(options, context)?;
    let found = search(&options.plan, &mut server, kept, context);
    server.end(context);
    found
}

fn settings(options: &LimitOptions) -> Value {
    let mut settings = options.conditions();
    let plan = &options.plan;
    for (name, value) in [
        ("start", json!(plan.start)),
        ("factor", json!(plan.factor)),
        ("hosts_max", json!(plan.hosts_max)),
        ("precision_percent", json!(plan.precision)),
    ] {
        settings[name] = value;
    }
    settings
}

fn report(options: &LimitOptions, steps: &[Step]) -> anyhow::Result<Report> {
    let mut report = Report::new("limit", settings(options));
    let Bounds { held, failed } = Bounds::of(steps);
    report.count("hosts_held", "hosts that are held", held.map_or(0, |step| step.hosts as u64));
    report.number("checks_per_s", "checks/s there", held.map_or(0.0, |step| step.checks_per_s));
    if let Some(failed) = failed {
        report.count("hosts_failed", "fewest hosts that are not held", failed.hosts as u64);
    }
    let verdict =
        failed.and_then(Step::verdict).unwrap_or_else(|| "none up to the last step".to_owned());
    report.note("limit", "limit", &verdict);
    if let Some(reads) = held.and_then(|step| step.reads) {
        add_reads(&mut report, &reads);
    }
    let mut sorted: Vec<Step> = steps.to_vec();
    sorted.sort_by_key(|step| step.hosts);
    let unused = if options.watch.readers == 0 { COLUMNS_OF_READERS } else { 0 };
    let columns = &COLUMNS[..COLUMNS.len() - unused];
    let rows = sorted.iter().map(|step| step.row()[..columns.len()].to_vec()).collect();
    report.steps(Steps { columns, rows }, charts::draw(&sorted, &verdict)?);
    Ok(report)
}

/// What readers waited for while the most hosts were held.
fn add_reads(report: &mut Report, reads: &Reads) {
    for (name, label, latency) in [
        ("sign_in", "sign-in", reads.sign_in),
        ("problems", "page of problems", reads.problems),
        ("hosts", "page of hosts", reads.hosts),
        ("graph", "page of a graph", reads.graph),
    ] {
        report.number(format!("{name}_p50_ms"), format!("{label} there, p50, ms"), latency.p50_ms);
        report.number(format!("{name}_p99_ms"), "  p99, ms", latency.p99_ms);
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use super::*;
    use crate::Login;
    use step::Rule;

    fn options(readers: usize) -> LimitOptions {
        LimitOptions {
            login: Login { url: String::new(), user: String::new(), password: String::new() },
            plan: Plan { start: 100, factor: 2.0, hosts_max: 200, precision: 5.0 },
            items: 1,
            interval_s: 10,
            delay: Duration::ZERO,
            watch: Watch { settle: None, seconds: 10, readers },
            pids: vec![],
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            addresses: 1,
            resume: None,
            keep: false,
        }
    }

    #[test]
    fn the_report_names_the_limit() {
        let of = |steps: &[Step]| report(&options(0), steps).unwrap().json();
        let first = Step { hosts: 100, checks_per_s: 10.0, cpu: Some(0.3), ..Step::default() };
        let second = Step { hosts: 200, checks_per_s: 15.0, cpu: Some(0.6), ..Step::default() };
        let third = Step { hosts: 150, checks_per_s: 14.0, cpu: Some(0.4), ..Step::default() };
        let found = of(&[first.clone(), second, third]);
        assert_eq!(found["results"]["hosts_held"], 150);
        assert_eq!(found["results"]["hosts_failed"], 200);
        assert_eq!(found["results"]["limit"], Rule::Cpu.text());
        assert_eq!(found["steps"][1]["hosts"], 150.0);
        assert_eq!(found["steps"][2]["cpu_percent"], 60.0);
        assert_eq!(found["steps"][0].get("page_p99_ms"), None);
        let held = of(&[first]);
        assert_eq!(held["results"]["limit"], "none up to the last step");
        assert_eq!(held["results"].get("hosts_failed"), None);
    }

    #[test]
    fn the_report_has_what_readers_waited_for() {
        let reads = Reads { failed: 1, ..Reads::default() };
        let step = Step { hosts: 100, reads: Some(reads), ..Step::default() };
        let found = report(&options(3), &[step]).unwrap();
        let json = found.json();
        assert_eq!(
            (&json["steps"][0]["page_failed"], &json["settings"]["readers"]),
            (&json!(1.0), &json!(3))
        );
        assert!(found.get("problems_p99_ms").is_some() && found.get("sign_in_p50_ms").is_some());
        assert!(found.markdown(None).unwrap().contains("| page p99, ms |"));
    }
}
