//! Load balancers side by side: CPU time of `vedette engine`, HAProxy and nginx for the same requests.
//!
//! Each balancer has one thread on one core; clients and two servers, threads of this program, share
//! another one. The balancers take turns within each row, so that whatever else slows the machine
//! down meets all of them. The figure is the balancer's CPU time per request: it hardly depends on how
//! many requests the clients manage.

mod answer;
mod certificate;
mod change;
mod http2;
mod load;
mod program;
mod row;
mod server;
mod settings;
mod table;
mod tls;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;
use stdx::clock::Clock;

pub use self::program::Named;
pub use self::row::row_names;
pub use self::table::Comparison;

use self::load::{Load, Outcome};
use self::program::{Balancer, Place, Running, said};
use self::row::Row;
use self::server::Servers;
use self::table::{Column, Measured};
use crate::Context;
use crate::proc::Meter;

/// Open files beyond the connections of a row: of servers, programs and their output.
const FILES_MORE: u64 = 2_000;

/// Parameters of `vedette bench lb`.
#[derive(Debug, Clone)]
pub struct BalancersOptions {
    /// How long each run is measured.
    pub time: Duration,
    /// Runs of each balancer in each row; at least 1.
    pub repeat: usize,
    /// Parts of names of rows; empty: all rows.
    pub rows: Vec<String>,
    /// The columns of the table, the first of which the others are compared with. One that is not
    /// installed is left out.
    pub balancers: Vec<Named>,
}

/// The core of the balancer and that of clients and servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cores {
    balancer: usize,
    others: usize,
}

impl Cores {
    fn choose(allowed: &[usize]) -> anyhow::Result<Self> {
        match *allowed {
            [balancer, others, ..] => Ok(Self { balancer, others }),
            _ => bail!(
                "this needs two cores, one for the balancer and one for clients and servers, but only \
                 {} may be used",
                allowed.len()
            ),
        }
    }
}

/// Measures all rows, and says on the way what is done. Ctrl-C ends it, and the balancers with it.
pub fn run(options: &BalancersOptions, context: &mut Context<'_>) -> anyhow::Result<Comparison> {
    let rows = row::chosen(&options.rows)?;
    let cores = Cores::choose(&stdx::sys::cores_allowed()?)?;
    // The balancers inherit it.
    let open_files =
        stdx::sys::raise_open_files_limit().context("cannot raise the limit of open files")?;
    let mut notes = Vec::new();
    let balancers = installed(&options.balancers, &mut notes)?;
    notes.iter().for_each(|note| context.say(note));
    let bench = Bench {
        cores,
        servers: Servers::start(cores.others)?,
        folder: tempfile::Builder::new().prefix("vedette-lb-").tempdir()?,
        stop: stop_on_signals()?,
        time: options.time,
    };
    let mut measured = Vec::new();
    for row in rows {
        let needed = row.open_files() + FILES_MORE;
        if needed > open_files {
            notes.push(format!(
                "{} is left out: {needed} open files are needed, the limit is {open_files}.",
                row.label
            ));
            continue;
        }
        for balancer in &balancers {
            if let Some(obstacle) = balancer.obstacle(row) {
                notes.push(format!("{}, {}: {obstacle}.", balancer.name, row.label));
            }
        }
        measured.push(bench.measure(row, &balancers, options.repeat, context)?);
    }
    let settings = json!({
        "seconds": options.time.as_secs_f64(), "repeat": options.repeat,
        "core_of_balancer": cores.balancer, "core_of_others": cores.others,
    });
    let columns = balancers.into_iter().map(|one| Column { name: one.name, version: one.version });
    Ok(Comparison { settings, columns: columns.collect(), rows: measured, notes })
}

fn installed(all: &[Named], notes: &mut Vec<String>) -> anyhow::Result<Vec<Balancer>> {
    let mut found = Vec::new();
    for named in all {
        match Balancer::find(named)? {
            Some(balancer) => found.push(balancer),
            None => notes.push(format!(
                "{} is left out: there is no program {}.",
                named.name,
                named.path.display()
            )),
        }
    }
    if found.is_empty() {
        bail!("none of the balancers is installed: {}", notes.join(" "));
    }
    Ok(found)
}

/// Becomes true on Ctrl-C and SIGTERM.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let stop = Arc::<AtomicBool>::default();
    let seen = Arc::clone(&stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        });
        seen.store(true, Ordering::Relaxed);
    })?;
    Ok(stop)
}

/// What all runs share.
struct Bench {
    cores: Cores,
    servers: Servers,
    folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    time: Duration,
}

impl Bench {
    fn measure(
        &self,
        row: &'static Row,
        balancers: &[Balancer],
        repeat: usize,
        context: &mut Context<'_>,
    ) -> anyhow::Result<Measured> {
        let mut runs = vec![Vec::new(); balancers.len()];
        for turn in 1..=repeat.max(1) {
            for (balancer, runs) in balancers.iter().zip(&mut runs) {
                if balancer.obstacle(row).is_some() {
                    continue;
                }
                let folder = self.folder.path().join("run");
                let outcome =
                    self.run(row, balancer, &folder, &*context.clock).with_context(|| {
                        format!("{} {}, {}", balancer.name, balancer.version, row.label)
                    })?;
                context.say(&format!(
                    "{}, {turn} of {repeat}, {}: {:.0} requests/s, {:.2} CPU s/s",
                    row.label,
                    balancer.name,
                    outcome.requests as f64 / outcome.seconds,
                    outcome.cpu_s / outcome.seconds
                ));
                runs.push(outcome);
            }
        }
        Ok(Measured { row, runs })
    }

    /// One run of one balancer, in a folder that exists only meanwhile.
    fn run(
        &self,
        row: &Row,
        balancer: &Balancer,
        folder: &Path,
        clock: &dyn Clock,
    ) -> anyhow::Result<Outcome> {
        std::fs::create_dir(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        if let Some(key) = row.via.key() {
            certificate::write(folder, key)?;
        }
        let place = Place { folder, servers: &self.servers.addresses, core: self.cores.balancer };
        let running = Running::start(balancer, row, &place, clock)?;
        let meter = Meter::new(&running.pids())?;
        let load = Load { row, to: &running.addresses, time: self.time, stop: &self.stop };
        let outcome = std::thread::scope(|scope| {
            let drive = || {
                stdx::sys::pin_thread(self.cores.others)?;
                match row.changes {
                    None => load::drive(&load, &meter, clock),
                    Some(changes) => {
                        let change = |number| running.change(balancer, row, &place, number);
                        change::drive(&load, changes, &change, &meter, clock)
                    }
                }
            };
            scope.spawn(drive).join()
        });
        let outcome = outcome.map_err(|_| anyhow::anyhow!("BUG: the clients have panicked"))?;
        if self.stop.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        let outcome = outcome.with_context(|| format!("messages: {}", said(folder)))?;
        drop(running);
        std::fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cores_are_needed() {
        assert_eq!(Cores::choose(&[2, 5, 6]).unwrap(), Cores { balancer: 2, others: 5 });
        for few in [&[][..], &[3]] {
            let error = Cores::choose(few).unwrap_err().to_string();
            assert!(error.contains("two cores"), "{error}");
        }
    }

    #[test]
    fn what_is_not_installed_is_named_and_left_out() {
        let named = |name: &str| Named { name: name.to_owned(), path: "/nonexistent/x".into() };
        let mut notes = Vec::new();
        let error = installed(&[named("haproxy")], &mut notes).unwrap_err().to_string();
        assert_eq!(notes, ["haproxy is left out: there is no program /nonexistent/x."]);
        assert!(error.contains("haproxy"), "{error}");
    }
}
