//! What evaluation needs of the configuration in a form of its own: time zone, global regular
//! expressions, user macros. Created again only when that part of the configuration changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{GlobalRegexp, Macros, global_regexes};
use eval::macros::MacroScope;
use eval::regex::GlobalRegexes;
use jiff::tz::TimeZone;
use model::HostId;

/// Time zone, regular expressions and macros.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) tz: TimeZone,
    pub(crate) globals: GlobalRegexes,
    macros: Arc<Macros>,
    regexps: Arc<BTreeMap<String, Vec<GlobalRegexp>>>,
    timezone: String,
}

impl Environment {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        Self {
            tz: time_zone(&snapshot.settings.timezone),
            globals: global_regexes(&snapshot.regexps),
            macros: Arc::clone(&snapshot.macros),
            regexps: Arc::clone(&snapshot.regexps),
            timezone: snapshot.settings.timezone.clone(),
        }
    }

    pub(crate) fn update(&mut self, snapshot: &Snapshot) {
        if self.timezone != snapshot.settings.timezone {
            self.timezone.clone_from(&snapshot.settings.timezone);
            self.tz = time_zone(&self.timezone);
        }
        if !Arc::ptr_eq(&self.regexps, &snapshot.regexps) {
            self.regexps = Arc::clone(&snapshot.regexps);
            self.globals = global_regexes(&self.regexps);
        }
        self.macros = Arc::clone(&snapshot.macros);
    }

    /// User macros as these hosts see them.
    pub(crate) fn scope<'a>(&'a self, hosts: &'a [HostId]) -> MacroScope<'a> {
        MacroScope { nodes: &*self.macros, hosts }
    }
}

fn time_zone(name: &str) -> TimeZone {
    match name {
        "" | "system" => TimeZone::system(),
        name => TimeZone::get(name).unwrap_or_else(|error| {
            tracing::warn!(%error, name, "unknown time zone in the settings; using the machine's");
            TimeZone::system()
        }),
    }
}
