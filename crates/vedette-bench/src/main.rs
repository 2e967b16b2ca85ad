//! `vedette bench`: measures a server through its public protocols. A program of its own, so that the
//! server carries neither load generators nor plots.

mod active;
mod alerts;
mod args;
mod capacity;
mod common;
mod history_service;
mod lb;
mod limit;
mod ping;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bench::agents::{AgentOptions, Asked};
use bench::blackout::BlackoutOptions;
use bench::configuration::ConfigOptions;
use bench::ledger::CheckOptions;
use bench::line::{CountStored, LineOptions};
use bench::overload::OverloadOptions;
use bench::read::ReadOptions;
use bench::report::Report;
use bench::steps::StepsOptions;
use bench::trapper::TrapperOptions;
use bench::{Context, Login, Order, Through};
use clap::{Args as _, FromArgMatches};
use history::{Class, Kinds, Span};
use model::ItemId;
use stdx::clock::{RealClock, SharedClock};

use args::{Agent, Bench, Crash, Load, What};
use common::{Access, Files};

/// How often a history store is asked before it is taken for away, and how long apart.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_secs(1);
/// Items of a history store that are read together.
const ITEMS_TOGETHER: usize = 500;

impl Access {
    fn login(&self) -> Login {
        let (url, user) = (self.api.clone(), self.user.clone());
        Login { url, user, password: self.password.clone() }
    }
}

impl Load {
    fn options(&self) -> TrapperOptions {
        TrapperOptions {
            server: self.server.clone(),
            login: self.common.access.login(),
            hosts: self.hosts,
            items: self.items,
            order: if self.random { Order::Random } else { Order::InTurn },
            batch: self.batch,
            connections: self.connections,
            seconds: self.seconds,
            rate: self.rate.0,
            pids: self.common.pids.clone(),
            verify: false,
            keep: self.keep,
            ledger: None,
            change_per_second: false,
            trigger_every: 0,
        }
    }
}

impl Agent {
    fn options(&self, asked: Asked) -> AgentOptions {
        AgentOptions {
            asked,
            login: self.common.access.login(),
            hosts: self.hosts,
            items: self.checks.items,
            interval_s: self.checks.interval,
            delay: self.checks.delay,
            warm: self.warm,
            seconds: self.checks.seconds,
            pids: self.common.pids.clone(),
            listen: self.checks.listen,
            addresses: self.checks.addresses,
            keep: self.keep,
        }
    }
}

/// As in the server: the generator makes as many values as it takes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // It may write figures into the data folder of a server.
    stdx::sys::set_umask(0o077);
    match run(&command().get_matches()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "vedette bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> clap::Command {
    let command = clap::Command::new("vedette-bench").bin_name("vedette bench");
    Bench::augment_args(command.version(env!("CARGO_PKG_VERSION")))
}

/// Runs one of the measurements.
fn run(matches: &clap::ArgMatches) -> anyhow::Result<()> {
    let mut progress = std::io::stderr();
    let mut context = Context { clock: RealClock::shared(), progress: &mut progress };
    match Bench::from_arg_matches(matches)?.what {
        What::Trapper(told) => {
            let options = TrapperOptions {
                verify: told.verify,
                ledger: told.log.clone(),
                change_per_second: told.change_per_second,
                trigger_every: told.trigger_every,
                ..told.load.options()
            };
            finish(&bench::trapper::run(&options, &mut context)?, &told.load.common.files)
        }
        What::Steps(told) => {
            let options = StepsOptions {
                server: told.server.clone(),
                login: told.common.access.login(),
                chains: told.chains.clone(),
                items: told.items,
                values: told.values,
                batch: told.batch,
                rounds: told.rounds,
                pids: told.common.pids.clone(),
                keep: told.keep,
            };
            finish(&bench::steps::run(&options, &mut context)?, &told.common.files)
        }
        What::Active(told) => {
            finish(&bench::active::run(&told.options(), &mut context)?, &told.common.files)
        }
        What::Alerts(told) => {
            finish(&bench::alerts::run(&told.options(), &mut context)?, &told.common.files)
        }
        What::Agent(told) => {
            let options = told.options(Asked::Agents);
            finish(&bench::agents::run(&options, &mut context)?, &told.common.files)
        }
        What::Http(told) => {
            let options = told.options(Asked::Web);
            finish(&bench::agents::run(&options, &mut context)?, &told.common.files)
        }
        What::Snmp(told) => {
            let asked = Asked::Snmp { style: told.style.of(told.rows), bulk: told.bulk };
            let options = told.load.options(asked);
            finish(&bench::agents::run(&options, &mut context)?, &told.load.common.files)
        }
        What::Read(told) => {
            let load = told.load.options();
            let (warm_seconds, readers, seconds) = (told.warm, told.readers, load.seconds);
            let options = ReadOptions { load, warm_seconds, readers, seconds, age: told.age };
            finish(&bench::read::run(&options, &mut context)?, &told.load.common.files)
        }
        What::HistoryService(told) => {
            finish(&bench::service::run(&told.options(), &mut context)?, &told.common.files)
        }
        What::Overload(told) => {
            let options = OverloadOptions {
                load: told.load.options(),
                calm_seconds: told.calm,
                times: told.times,
                connections_times: told.connections_times,
            };
            finish(&bench::overload::run(&options, &mut context)?, &told.load.common.files)
        }
        What::Blackout(told) => {
            let options = BlackoutOptions {
                login: told.common.access.login(),
                hosts: told.hosts,
                living: told.living,
                items: told.items,
                interval_s: told.interval,
                before: told.before,
                dark: told.dark,
                after: told.after,
                pids: told.common.pids.clone(),
                listen: told.listen,
                addresses: told.addresses,
                keep: told.keep,
            };
            finish(&bench::blackout::run(&options, &mut context)?, &told.common.files)
        }
        What::Config(told) => {
            let options = ConfigOptions {
                server: told.server.clone(),
                login: told.common.access.login(),
                hosts: told.hosts,
                items: told.items,
                through: if told.without_template { Through::Items } else { Through::Template },
                changes: told.changes,
                settle: told.settle,
                pids: told.common.pids.clone(),
                keep: told.keep,
            };
            finish(&bench::configuration::run(&options, &mut context)?, &told.common.files)
        }
        What::Limit(told) => {
            finish(&bench::limit::run(&told.options(), &mut context)?, &told.common.files)
        }
        What::Line(told) => {
            let store = told.history_store.as_deref().map(|word| stored(word, &context.clock));
            let store = store.transpose()?;
            let options = LineOptions {
                login: told.common.access.login(),
                targets: told.targets.clone(),
                items: told.checks.items,
                interval_s: told.checks.interval,
                delay: told.checks.delay,
                seconds: told.checks.seconds,
                pids: told.common.pids.clone(),
                listen: told.checks.listen,
                addresses: told.checks.addresses,
            };
            let report = bench::line::run(&options, store.as_deref(), &mut context)?;
            finish(&report, &told.common.files)
        }
        What::Lb(told) => {
            let found = bench::balancers::run(&told.options()?, &mut context)?;
            if let Some(path) = &told.json {
                found.save(path)?;
            }
            say(&found.text())
        }
        What::Ping(told) => finish(&ping::run(&told, &context)?, &told.files),
        What::Capacity(told) => capacity::run(&told, &mut context),
        What::Crash(told) => crash(&told, &mut context),
        What::Clean(access) => {
            bench::alerts::clean(&access.login())?;
            let removed = bench::clean(&access.login())?;
            say(&format!("{removed} hosts removed\n"))
        }
        What::Picture(told) => {
            let drawing = std::fs::read_to_string(&told.from)
                .with_context(|| format!("cannot read {}", told.from.display()))?;
            std::fs::write(&told.to, bench::picture::png(&drawing)?)
                .with_context(|| format!("cannot write {}", told.to.display()))
        }
    }
}

/// Counts in a history store.
fn stored(word: &str, clock: &SharedClock) -> anyhow::Result<Box<CountStored<'static>>> {
    // Nothing is written, so it does not matter how long things would be kept.
    let driver = stores::named(word, Arc::new(Class(31)), Arc::new(|_, _| 31), clock)?.driver();
    Ok(Box::new(move |items, from, till| {
        let second = |unix: u64| u32::try_from(unix).unwrap_or(u32::MAX);
        let mut items: Vec<ItemId> = items.iter().copied().map(ItemId).collect();
        items.sort_unstable();
        let view = driver.view(&items, Span::new(second(from), second(till)));
        let count = |items| patiently(&|| view.samples_of(items, Kinds::NUMBERS));
        items.chunks(ITEMS_TOGETHER).map(|items| Ok(count(items)?.len() as u64)).sum()
    }))
}

/// A store that is given all it can take may have no time for a question.
fn patiently<T>(ask: &dyn Fn() -> Result<T, history::Error>) -> Result<T, history::Error> {
    for _ in 1..TRIES {
        match ask() {
            Err(error) if error.retry => std::thread::sleep(PAUSE),
            answer => return answer,
        }
    }
    ask()
}

fn crash(told: &Crash, context: &mut Context<'_>) -> anyhow::Result<()> {
    let Some(file) = &told.check else {
        let options =
            TrapperOptions { keep: true, ledger: told.log.clone(), ..told.load.options() };
        return finish(&bench::trapper::run(&options, context)?, &told.load.common.files);
    };
    let options = CheckOptions {
        login: told.load.common.access.login(),
        file: file.clone(),
        keep: told.load.keep,
    };
    let (findings, report) = bench::ledger::check(&options, context)?;
    if let Some(path) = &told.load.common.files.json {
        report.save(path)?;
    }
    say(&format!("{findings}\n"))?;
    if !findings.is_clean() {
        bail!("history does not hold what was acknowledged");
    }
    Ok(())
}

fn finish(report: &Report, files: &Files) -> anyhow::Result<()> {
    if let Some(path) = &files.json {
        report.save(path)?;
    }
    for path in &files.plot {
        report.save_plot(path)?;
    }
    let earlier: Option<serde_json::Value> = match &files.compare {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let wrong = || format!("{} was not written by --json", path.display());
            Some(serde_json::from_str(&text).with_context(wrong)?)
        }
        None => None,
    };
    if let Some(path) = &files.markdown {
        std::fs::write(path, report.markdown(earlier.as_ref())?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    say(&report.text())?;
    if earlier.is_some() {
        say(&format!("\n{}", report.markdown(earlier.as_ref())?))?;
    }
    Ok(())
}

fn say(text: &str) -> anyhow::Result<()> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::args::Rate;
    use super::common::duration;
    use super::*;

    fn parse(line: &str) -> Result<What, clap::Error> {
        let words = line.split_ascii_whitespace();
        let matches = command().try_get_matches_from(words)?;
        Ok(Bench::from_arg_matches(&matches)?.what)
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let What::Trapper(told) = parse("bench trapper --password p").unwrap() else { panic!() };
        let options = told.load.options();
        assert_eq!((options.hosts, options.items, options.batch), (100, 45, 1000));
        assert_eq!((options.connections, options.seconds, options.rate), (8, 20, None));
        assert_eq!(options.login.user, "Admin");
        let What::Agent(told) = parse("bench agent --password p").unwrap() else { panic!() };
        let checks = &told.checks;
        assert_eq!((told.hosts, checks.items, checks.interval), (1000, 20, 1));
        assert_eq!((checks.seconds, checks.delay), (30, Duration::ZERO));
        let What::Active(told) = parse("bench active --password p").unwrap() else { panic!() };
        assert_eq!((told.agents, told.connections, told.rounds), (10_000, 16, 20));
        let What::Limit(told) = parse("bench limit --password p").unwrap() else { panic!() };
        let checks = &told.checks;
        assert_eq!((checks.items, checks.interval, checks.delay.as_secs()), (1, 50, 3));
        let options = told.options();
        assert_eq!((options.plan.start, options.plan.precision), (1000, 5.0));
        assert_eq!((options.watch.readers, options.resume), (0, None));
        let What::Line(told) = parse("bench line --password p").unwrap() else { panic!() };
        assert_eq!((told.checks.items, told.checks.interval, told.targets.len()), (10, 1, 4));
        let What::Steps(told) = parse("bench steps --password p").unwrap() else { panic!() };
        assert_eq!(told.chains, ["jsonpath", "regex", "javascript"]);
        assert_eq!((told.items, told.values, told.rounds), (20, 500_000, 3));
        let What::Alerts(told) = parse("bench alerts --password p").unwrap() else { panic!() };
        let parts = told.options().parts;
        assert_eq!((parts.open, parts.rate, parts.seconds), (100_000, 1_000, 30));
        assert_eq!((parts.messages, parts.grouped, parts.values), (30_000, 100_000, 20_000));
        let What::Config(told) = parse("bench config --password p").unwrap() else { panic!() };
        assert_eq!((told.hosts, told.items), (10_000, 450_000));
    }

    #[test]
    fn arguments() {
        let line = "bench trapper --password p --rate 5000 --pid 1,2 --pid 3 --verify --keep";
        let What::Trapper(told) = parse(line).unwrap() else { panic!() };
        assert_eq!((told.load.rate, told.load.common.pids), (Rate(Some(5000)), vec![1, 2, 3]));
        assert!(told.verify && told.load.keep);
        let What::Agent(told) = parse("bench agent --password p --delay 3s").unwrap() else {
            panic!()
        };
        assert_eq!(told.checks.delay, Duration::from_secs(3));
        for (text, ms) in [("0s", 0), ("250ms", 250), ("2", 2000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
    }

    #[test]
    fn what_is_refused() {
        for line in [
            "bench",
            "bench trapper --password p --rate 0",
            "bench trapper --password p --rate fast",
            "bench trapper --password p --pid x",
            "bench agent --password p --delay soon",
            "bench agent --password p --delay 99999999999999999999s",
            "bench agent --password p --listen here",
            "bench limit --password p --factor much",
            "bench limit --password p --readers some",
            "bench overload --password p --times twice",
            "bench read --password p --readers many",
            "bench line --password p --targets 1,few",
            "bench trapper --password p --log f --change-per-second",
            "bench steps --password p --chains nothing",
            "bench crash --password p",
            "bench crash --password p --log a --check b",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
