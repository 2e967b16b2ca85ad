//! `vedette history verify`: checks the files of the embedded history of a stopped server.

use std::sync::Arc;

use anyhow::{Context, bail};
use clap::ArgMatches;
use config::Config;
use history::damage::describe;
use history::spool::Spools;
use history::{Driver, Options};
use stdx::clock::RealClock;

use crate::folder;
use crate::history_command::{data_folder, say};
use crate::params::{self, Values};
use crate::parts::{base, history as store};

/// Checks all shards; with `--repair` also repairs them.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let values = Values::read(matches, params::SERVER)?;
    let data = data_folder(&values)?;
    let repair = matches.get_flag("repair");
    let _lock = folder::lock(&data)?;
    let (root, clock) = (data.join("history"), RealClock::shared());
    if !root.is_dir() {
        bail!("there is no history in {}", data.display());
    }
    let (mut files, mut new, mut known) = (0, 0, 0);
    for (folder, found) in history::damage::verify(&root, &clock, repair)? {
        for damage in &found.known {
            say(&format!("known    {folder}/{}", describe(damage)))?;
        }
        for damage in &found.new {
            say(&format!("damaged  {folder}/{}", describe(damage)))?;
        }
        files += found.files;
        new += found.new.len();
        known += found.known.len();
    }
    say(&format!("{files} files read, {new} new findings, {known} already recorded"))?;
    if new == 0 {
        return Ok(());
    }
    if !repair {
        bail!(
            "history is damaged; run the same with --repair to rebuild files and record the loss"
        );
    }
    // What is left to repair is what every start repairs.
    let config = Arc::new(Config::open(base::config_location(&values, &data))?);
    let options = Options { retention: Arc::new(store::ByItem(config)), ..Options::default() };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shards = history::shards_below(&root)?.unwrap_or(cores);
    let spools = Spools::held(&root.join("stores"))?;
    let (drivers, _) = history::open_shards(&root, shards, &options, &clock, Some(&spools))
        .with_context(|| format!("cannot open the history in {}", root.display()))?;
    for mut driver in drivers {
        driver.flush()?;
        driver.close()?;
    }
    say("repaired: whole blocks are kept, damaged files have the ending .damaged")
}
