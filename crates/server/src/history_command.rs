//! `vedette history`: copies history between the data folder and stores, and compares them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use config::Config;
use history::copy::{self, Place, Plan, Side, Totals};
use history::spool::{self, Spools};
use history::{Day, Error, Fault, Kind, Options};
use model::{ItemId, shard_of};
use stdx::clock::{RealClock, SharedClock};

use crate::params::{self, Values};
use crate::{folder, run, store};

/// How often one hears how far it is.
const TELL_EVERY: Duration = Duration::from_secs(2);
/// First words of the file that says where an interrupted copy goes on.
const TITLE: &str = "vedette history copy 1";

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
            "Copy values and trends from one side to another. Rows that are there already stay as \
             they are, so it may be run again; interrupted, it goes on where it was. {SIDES}"
        ))
        .args([side("from", "Where from"), side("to", "Where to"), days.clone()])
        .arg(flag("no-verify", "Do not read again what was written"))
        .arg(flag("restart", "Begin anew, wherever an earlier run was interrupted"));
    let check = Command::new("check")
        .about("Compare two sides; fails when they differ")
        .long_about(format!(
            "Compare two sides, row by row and bit by bit, and tell what differs. {SIDES}"
        ))
        .args([side("from", "The first side"), side("to", "The second side"), days]);
    Command::new("history")
        .about("Copy history between the data folder and stores, and compare them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(params::add(copy, places()))
        .subcommand(params::add(check, places()))
}

/// Copies or compares.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((what, matches)) = matches.subcommand() else { bail!("see vedette history --help") };
    let values = Values::read(matches, params::SERVER)?;
    let data = values.path("data").context("parameter data: a folder is needed")?;
    if !data.is_dir() {
        bail!("there is no folder {}: name the server's with --data", data.display());
    }
    run::log(values.get("log"))?;
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let (from, to) = (word("from"), word("to"));
    if from == to {
        bail!("both sides are {from}: name two");
    }
    // Held until the end: two programs would destroy the history.
    let _lock = [from, to].contains(&"embedded").then(|| folder::lock(&data)).transpose()?;
    let clock = RealClock::shared();
    let config = Arc::new(Config::open(run::config_location(&values, &data))?);
    let bench = Bench { values: &values, data: &data, config: &config, clock: &clock };
    let plan = bench.plan(matches.get_one::<u32>("days").copied());
    let write = what == "copy";
    let ((first, from), (second, to)) = (bench.side(from, write)?, bench.side(to, write)?);
    if first == second {
        bail!("both sides are {first}: name two");
    }
    if what == "check" {
        return bench.check((&first, &from), (&second, &to), &plan);
    }
    let file = bench.stores().join(format!("copy-{first}-{second}.place"));
    let (anew, verify) = (matches.get_flag("restart"), !matches.get_flag("no-verify"));
    bench.copy((&first, &from), (&second, to), (&plan, &file, anew, verify))
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

    /// A side and its name. Before a copy, a store hears what was deleted while it was not named.
    fn side(&self, word: &str, write: bool) -> anyhow::Result<(String, Side)> {
        if word == "embedded" {
            return Ok((word.to_owned(), self.embedded()?));
        }
        let word = match word {
            "store" => self.values.get("history-store").split_whitespace().next().context(
                "the parameter history-store names no store: name one, or give the side in full",
            )?,
            word => word,
        };
        let store = store::of_config(word, self.config, self.clock)?;
        if write {
            spool::clear_owed(&self.stores(), store.as_ref())?;
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
        (plan, file, anew, verify): (&Plan, &PathBuf, bool, bool),
    ) -> anyhow::Result<()> {
        let start = if anew { Place::START } else { read_place(file)? };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        say(&format!("copying {} items from {first} to {second}", plan.items()))?;
        if start != Place::START {
            say(&format!("going on after {:.1} %", plan.share(&start) * 100.0))?;
        }
        let mut tell = self.teller(plan);
        let totals = copy::copy(from, &mut to, (plan, start, verify), &mut |place, totals| {
            // What a step wrote is safe when it ends.
            let text = format!("{TITLE}\n{}\n", place.to_text());
            stdx::file::replace(file, text.as_bytes()).map_err(|cause| Error {
                fault: Fault::Storage,
                retry: false,
                message: format!("cannot write {}: {cause}", file.display()),
            })?;
            tell(place, totals)
        });
        let totals = totals.context("interrupted; run the same again to go on")?;
        std::fs::remove_file(file).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        let deleted = spool::owed(&self.stores(), second)?;
        if deleted > 0 {
            bail!("{deleted} items were deleted meanwhile: run the same again with --restart");
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

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// Where an earlier run was interrupted.
fn read_place(file: &Path) -> anyhow::Result<Place> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Place::START),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let place = text.strip_prefix(TITLE).and_then(Place::from_text);
    place.with_context(|| format!("{} is damaged: begin anew with --restart", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_is_found_and_a_damaged_file_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("copy-a-b.place");
        assert_eq!(read_place(&file).unwrap(), Place::START);
        let place = Place { day: Day(20_000), after: Some((Kind::Text, ItemId(7))) };
        std::fs::write(&file, format!("{TITLE}\n{}\n", place.to_text())).unwrap();
        assert_eq!(read_place(&file).unwrap(), place);
        for text in ["", "x", TITLE, "vedette history copy 1\n1 2", "vedette history copy 2\n1 2 3"]
        {
            std::fs::write(&file, text).unwrap();
            let error = read_place(&file).unwrap_err().to_string();
            assert!(error.contains("--restart"), "{text}: {error}");
        }
    }
}
