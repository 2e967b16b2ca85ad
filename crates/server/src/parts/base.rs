//! What all parts of the server stand on: parameters, the folder of data, the clock, the configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::api::LiveHub;
use config::Config;
use config::db::Location;
use config::retry::Stop;
use control::authority::Authority;
use stdx::clock::{RealClock, SharedClock};
use transactions::Store;

use super::{Kept, Part, blocking};
use crate::folder::RunningMark;
use crate::params::Values;
use crate::{first_start, pairing};

/// Tells those who follow events and problems in the database. Nothing of it blocks.
#[derive(Clone, Default)]
pub(crate) struct Bells {
    pub(crate) escalator: actions::Bell,
    /// To the thread that keeps the status of services.
    pub(crate) services: services::keeper::Bell,
    pub(crate) exports: exports::Bell,
}

impl Bells {
    /// There are new events, or new updates of problems.
    pub(crate) fn ring(&self) {
        self.services.ring();
        self.escalator.ring();
        self.exports.ring();
    }

    /// The suppression of these problems has changed.
    pub(crate) fn suppression_changed(&self, problems: &[u64]) {
        self.services.problems_changed(problems);
        self.escalator.suppression_changed(problems);
    }
}

/// What is open before the first part that does work.
pub(crate) struct Base<'v> {
    pub(crate) values: &'v Values,
    /// The folder of data.
    pub(crate) data: PathBuf,
    pub(crate) clock: SharedClock,
    pub(crate) config: Arc<Config>,
    /// What the load balancer's engines carried.
    pub(crate) transactions: Arc<dyn Store>,
    /// Fingerprint of the authority of engines; `None`: the server does not listen for them.
    pub(crate) engine_authority: Option<String>,
    /// To browsers.
    pub(crate) hub: LiveHub,
    /// To those who follow events and problems.
    pub(crate) bells: Bells,
    /// Ends the tries of writers while the configuration database is down.
    pub(crate) stop_writers: Stop,
    /// The last run ended without writing everything.
    pub(crate) crashed: bool,
    /// The first start: the password of the user Admin, empty if it was given.
    pub(crate) first: Option<String>,
}

impl<'v> Base<'v> {
    /// Opens the configuration, which has to belong to the history in the folder. The mark says that the
    /// server runs, until the caller clears it.
    pub(crate) fn open(
        values: &'v Values,
        data: &Path,
    ) -> anyhow::Result<(Part<Self>, RunningMark)> {
        let clock = RealClock::shared();
        let (mark, last_run) = RunningMark::set(data)?;
        let location = config_location(values, data);
        let paired = data.join("history");
        pairing::check_log(&location, &paired, last_run.opened)?;
        let renew = values.yes("new-configuration")?;
        pairing::check_state(&location, renew, clock.unix_s())?;
        let config = Arc::new(Config::open(location.clone())?);
        mark.opened()?;
        if values.get("history") == "embedded" {
            pairing::check(&config, &paired, renew, clock.unix_s())?;
        }
        pairing::pair_state(&config, &location)?;
        let first = first_start::seed(&config, values.get("admin-password"))?;
        let transactions = super::transactions::open(values, data, &clock)?;
        let engine_authority = match values.get("engines") {
            "" => None,
            _ => Some(Authority::of(&config, clock.unix())?.fingerprint()?),
        };
        let base = Self {
            values,
            data: data.to_owned(),
            config: Arc::clone(&config),
            transactions,
            engine_authority,
            hub: LiveHub::default(),
            bells: Bells::default(),
            stop_writers: Stop::new(Arc::clone(&clock)),
            clock,
            crashed: last_run.crashed,
            first,
        };
        let end = move || {
            if let Err(error) = config.checkpoint() {
                tracing::warn!(%error, "cannot merge the write-ahead log of the configuration; the next start reads it");
            }
            Kept::All
        };
        Ok((Part::new(base, blocking(end)), mark))
    }
}

/// Where the parameters say that the configuration is.
pub(crate) fn config_location(values: &Values, data: &Path) -> Location {
    match values.get("database") {
        "" => Location::Sqlite(data.join("config.db")),
        text => Location::parse(text),
    }
}
