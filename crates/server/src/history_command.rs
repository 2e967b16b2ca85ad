//! `vedette history`: copies history between the data folder and stores, and compares them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use config::Config;
use history::copy::{self, Place, Plan, Progress, Side, Totals};
use history::spool::{self, Spools};
use history::{Day, Error, Fault, Kind, Options};
use model::{ItemId, shard_of};
use stdx::clock::{RealClock, SharedClock};

use crate::params::{self, Values};
use crate::parts::{base, history as store};
use crate::{folder, logging, verify_command};

/// How often one hears how far it is.
const TELL_EVERY: Duration = Duration::from_secs(2);

const SIDES: &str = "\
    A side is \"embedded\" (the history in the data folder; the server must be stopped), \"store\" (the \
    first one of the parameter history-store, whose password then stands in no list of processes), or \
    a store as in that parameter: clickhouse=http://user:password@host:8123/database. Items are those \
    of the configuration.";

/// The command's help and arguments.
pub(crate) fn command() -> Command {
    let side = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("SIDE").required(true).help(help)
    };
    let days = Arg::new("days")
        .long("days")
        .value_name("DAYS")
        .value_parser(clap::value_parser!(u32).range(1..))
        .help("Only so many whole days before today, and today [default: all that items keep]");
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let places =
        || params::PLACES.iter().chain(&["history-store"]).map(|name| params::server(name));
    let copy = Command::new("copy")
        .about("Copy values and trends from one side to another")
        .long_about(format!(
            "Copy values and trends from one side to another. Existing rows are not changed, so the \
             command may be repeated; an interrupted run is resumed. {SIDES}"
        ))
        .args([side("from", "Source"), side("to", "Target"), days.clone()])
        .arg(flag("no-verify", "Do not read the copied rows again"))
        .arg(flag("restart", "Start over instead of resuming an interrupted run"));
    let check = Command::new("check")
        .about("Compare two sides; exit code 1 if they differ")
        .long_about(format!(
            "Compare two sides, row by row and bit by bit, and report differences. {SIDES}"
        ))
        .args([side("from", "The first side"), side("to", "The second side"), days]);
    let verify = Command::new("verify")
        .about("Check the history files of a stopped server; exit code 1 if a file is damaged")
        .long_about(
            "Read every file of the embedded history, check all checksums and compare the files with \
             the manifests. Prints what is damaged or missing and which values are lost. Exit status: 0 = \
             everything is whole, or was repaired; 1 = damage was found. The server must be stopped.",
        )
        .arg(flag("repair", "Rebuild damaged files from their whole blocks and record what is lost"));
    Command::new("history")
        .about("Check history, copy it between the data folder and stores, and compare them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(params::add(copy, places()))
        .subcommand(params::add(check, places()))
        .subcommand(params::add(verify, places()))
}

/// Copies or compares.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((what, matches)) = matches.subcommand() else { bail!("see vedette history --help") };
    if what == "verify" {
        return verify_command::run(matches);
    }
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let (from, to) = (word("from"), word("to"));
    if from == to {
        bail!("source and target are the same; specify two different stores");
    }
    let values = Values::read(matches, params::SERVER)?;
    let data = data_folder(&values)?;
    // Held until the end: two programs would destroy the history.
    let _lock = [from, to].contains(&"embedded").then(|| folder::lock(&data)).transpose()?;
    let clock = RealClock::shared();
    let config = Arc::new(Config::open(base::config_location(&values, &data))?);
    let bench = Bench { values: &values, data: &data, config: &config, clock: &clock };
    let plan = bench.plan(matches.get_one::<u32>("days").copied());
    let write = what == "copy";
    let (from, to) = (bench.named(from)?, bench.named(to)?);
    let sides = (from, to);
    let ((first, from), (second, to)) = (bench.side(from, write)?, bench.side(to, write)?);
    if first == second {
        bail!("source and target are both {first}; specify two different stores");
    }
    if what == "check" {
        return bench.check((&first, &from), (&second, &to), &plan);
    }
    let file = bench.stores().join(format!("copy-{first}-{second}.place"));
    let verify = !matches.get_flag("no-verify");
    let mut start = Progress::start(&plan, digest(sides, verify));
    if !matches.get_flag("restart")
        && let Some(earlier) = read_progress(&file)?
    {
        match start.go_on(earlier) {
            Some(place) => start = place,
            None => say("the earlier run had other days or settings; starting over")?,
        }
    }
    bench.copy((&first, &from), (&second, to), (&plan, &file, start, verify))
}

/// The folder that the parameters name, and the configuration that belongs to it.
pub(crate) fn data_folder(values: &Values) -> anyhow::Result<PathBuf> {
    let data = values.path("data").context("parameter data: a folder is needed")?;
    if !data.is_dir() {
        bail!(
            "folder {} does not exist; specify the server's data folder with --data",
            data.display()
        );
    }
    logging::log(values.get("log"))?;
    Ok(data)
}

/// What both commands work with.
struct Bench<'a> {
    values: &'a Values,
    data: &'a Path,
    config: &'a Arc<Config>,
    clock: &'a SharedClock,
}

impl Bench<'_> {
    /// All items, and days from the oldest that any of them keeps.
    fn plan(&self, days: Option<u32>) -> Plan {
        let snapshot = self.config.snapshot();
        let items = snapshot.items.values().map(|item| (Kind::of(item.value_type), item.id));
        let keeps = snapshot.items.values().map(|item| item.history_days.max(item.trends_days));
        let days = days.unwrap_or_else(|| keeps.max().unwrap_or(0).into());
        let today = Day::of(u32::try_from(self.clock.unix_s()).unwrap_or(u32::MAX));
        Plan::new(items.collect(), Day(today.0.saturating_sub(days)), today)
    }

    /// A side in full.
    fn named<'w>(&'w self, word: &'w str) -> anyhow::Result<&'w str> {
        match word {
            "store" => self.values.get("history-store").split_whitespace().next().context(
                "the parameter history-store names no store: name one, or give the side in full",
            ),
            word => Ok(word),
        }
    }

    /// A side and its name. Before a copy, a store hears what was deleted while it was not named.
    fn side(&self, word: &str, write: bool) -> anyhow::Result<(String, Side)> {
        if word == "embedded" {
            return Ok((word.to_owned(), self.embedded()?));
        }
        let store = store::of_config(word, self.config, self.clock)?;
        if write {
            spool::before_copy(&self.stores(), store.as_ref())?;
        }
        Ok((store.name(), Side::of_store(store)))
    }

    /// Where the positions of stores are.
    fn stores(&self) -> PathBuf {
        self.data.join("history/stores")
    }

    /// The engines of all shards, opened as the server does.
    fn embedded(&self) -> anyhow::Result<Side> {
        let root = self.data.join("history");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shards = history::shards_below(&root)?.unwrap_or(cores);
        let retention = Arc::new(store::ByItem(Arc::clone(self.config)));
        let options = Options { retention, ..Options::default() };
        let spools = Spools::held(&root.join("stores"))?;
        let (shards, _) = history::open_shards(&root, shards, &options, self.clock, Some(&spools))
            .with_context(|| format!("cannot open the history in {}", root.display()))?;
        let (snapshot, count) = (self.config.snapshot(), shards.len());
        let owner = move |item: ItemId| {
            snapshot.items.get(&item).map_or(0, |item| shard_of(item.host, count))
        };
        Ok(Side::Embedded { shards, owner: Box::new(owner) })
    }

    fn copy(
        &self,
        (first, from): (&str, &Side),
        (second, mut to): (&str, Side),
        (plan, file, start, verify): (&Plan, &PathBuf, Progress, bool),
    ) -> anyhow::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        say(&format!("copying {} items from {first} to {second}", plan.items()))?;
        if start.place != Place::START {
            say(&format!("going on after {:.1} %", plan.share(&start.place) * 100.0))?;
        }
        let mut tell = self.teller(plan);
        let run = (plan, start.place, verify);
        let totals = copy::copy(from, &mut to, run, &mut |place, totals| {
            // What a step wrote is safe when it ends.
            let now = start.and(place, totals);
            stdx::file::replace(file, now.to_text().as_bytes()).map_err(|cause| Error {
                fault: Fault::Storage,
                retry: false,
                message: format!("cannot write {}: {cause}", file.display()),
            })?;
            tell(place, &now.totals)
        });
        let totals = totals.context("interrupted; run the same command again to resume")?;
        let totals = start.and(start.place, &totals).totals;
        std::fs::remove_file(file).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        let deleted = spool::owed(&self.stores(), second)?;
        if deleted > 0 {
            bail!(
                "{deleted} items were deleted meanwhile; run the same command again with --restart"
            );
        }
        let lost = &totals.differences;
        let verified = if verify { ", each read again" } else { "" };
        say(&format!("copied {} values and {} trends{verified}", totals.values, totals.trends))?;
        if lost.is_none() {
            return Ok(());
        }
        tell_examples(&totals)?;
        bail!(
            "{second} does not have {} rows that were written, and has {} with other values",
            lost.only_first,
            lost.other
        )
    }

    fn check(
        &self,
        (first, a): (&str, &Side),
        (second, b): (&str, &Side),
        plan: &Plan,
    ) -> anyhow::Result<()> {
        say(&format!("comparing {} items of {first} and {second}", plan.items()))?;
        let totals = copy::check(a, b, plan, &mut self.teller(plan))?;
        let found = &totals.differences;
        if found.is_none() {
            let Totals { values, trends, .. } = totals;
            return say(&format!("the same: {values} values and {trends} trends"));
        }
        tell_examples(&totals)?;
        bail!(
            "they differ: {} rows only in {first}, {} only in {second}, {} with other values",
            found.only_first,
            found.only_second,
            found.other
        )
    }

    /// Tells now and then how far it is.
    fn teller(&self, plan: &Plan) -> impl FnMut(Place, &Totals) -> Result<(), Error> {
        let mut next = self.clock.monotonic() + TELL_EVERY;
        let (clock, plan) = (Arc::clone(self.clock), plan.clone());
        move |place, totals| {
            if clock.monotonic() >= next {
                next = clock.monotonic() + TELL_EVERY;
                let (percent, values) = (plan.share(&place) * 100.0, totals.values);
                let trends = totals.trends;
                say(&format!("{percent:5.1} %  {values} values, {trends} trends"))
                    .map_err(|_| Error::closed())?;
            }
            Ok(())
        }
    }
}

fn tell_examples(totals: &Totals) -> anyhow::Result<()> {
    totals.differences.examples.iter().try_for_each(|line| say(line))
}

pub(crate) fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// How far an earlier run came that was interrupted.
fn read_progress(file: &Path) -> anyhow::Result<Option<Progress>> {
    let text = match std::fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let progress = Progress::from_text(&text).with_context(|| {
        format!("{} is damaged or has another version; start over with --restart", file.display())
    })?;
    Ok(Some(progress))
}

/// Of what decides which rows a copy passes, besides the days. A file has no more of it: settings
/// may hold a password.
fn digest((from, to): (&str, &str), verify: bool) -> u64 {
    let settings = |side: &str| side.split_once('?').map(|(_, settings)| settings.to_owned());
    let mut hasher = DefaultHasher::new();
    (settings(from), settings(to), verify).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_is_found_and_a_damaged_file_reported() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("copy-a-b.place");
        assert_eq!(read_progress(&file).unwrap(), None);
        let progress = Progress::start(&Plan::new(Vec::new(), Day(1), Day(2)), 3);
        std::fs::write(&file, progress.to_text()).unwrap();
        assert_eq!(read_progress(&file).unwrap(), Some(progress));
        for bytes in [&b""[..], b"x", b"\xff", b"vedette history copy 1\n1 2 3\n"] {
            std::fs::write(&file, bytes).unwrap();
            let error = read_progress(&file).unwrap_err().to_string();
            assert!(error.contains("--restart"), "{bytes:?}: {error}");
        }
    }

    #[test]
    fn copies_of_other_rows_are_recognized() {
        let store = "mysql=mysql://u:p@h/d?types=float";
        let all = [
            digest(("embedded", "mysql=mysql://u:p@h/d"), true),
            digest(("embedded", "mysql=mysql://u:p@h/d"), false),
            digest(("embedded", store), true),
            digest((store, "embedded"), true),
        ];
        let different: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(different.len(), all.len());
        // A new password changes nothing.
        assert_eq!(digest(("embedded", "mysql=mysql://u:q@h/d"), true), all[0]);
    }

    #[test]
    fn no_message_repeats_a_password() {
        let dir = tempfile::tempdir().unwrap();
        let (data, store) = (dir.path().to_str().unwrap(), "mysql=mysql://u:secret@h/d");
        let words = ["history", "check", "--data", data, "--from", store, "--to", store];
        let error = run(&command().get_matches_from(words)).unwrap_err();
        assert!(
            !format!("{error:#}").contains("secret") && error.to_string().contains("specify two")
        );
    }
}
