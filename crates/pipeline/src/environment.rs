//! What evaluation needs of the configuration in a form of its own: time zone, global regular
//! expressions, user macros. Made anew only when that part of the configuration changed.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{GlobalRegexp, Macros, UserMacro};
use eval::macros::{MacroDef, MacroKind, MacroNodes, MacroScope};
use eval::regex::{GlobalExpression, GlobalKind, GlobalRegexes};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use jiff::tz::TimeZone;
use model::HostId;

/// Time zone, regular expressions and macros.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) tz: TimeZone,
    pub(crate) globals: GlobalRegexes,
    macros: Arc<Macros>,
    table: OnceCell<MacroTable>,
    regexps: Arc<BTreeMap<String, Vec<GlobalRegexp>>>,
    timezone: String,
}

impl Environment {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        Self {
            tz: time_zone(&snapshot.settings.timezone),
            globals: globals(&snapshot.regexps),
            macros: Arc::clone(&snapshot.macros),
            table: OnceCell::new(),
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
            self.globals = globals(&self.regexps);
        }
        if !Arc::ptr_eq(&self.macros, &snapshot.macros) {
            self.macros = Arc::clone(&snapshot.macros);
            self.table = OnceCell::new();
        }
    }

    /// User macros as these hosts see them.
    pub(crate) fn scope<'a>(&'a self, hosts: &'a [HostId]) -> MacroScope<'a> {
        MacroScope { nodes: self.table.get_or_init(|| MacroTable::new(&self.macros)), hosts }
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

fn globals(regexps: &BTreeMap<String, Vec<GlobalRegexp>>) -> GlobalRegexes {
    let expression = |e: &GlobalRegexp| GlobalExpression {
        kind: match e.kind {
            0 => GlobalKind::Included,
            1 => GlobalKind::AnyIncluded(e.delimiter),
            2 => GlobalKind::NotIncluded,
            3 => GlobalKind::True,
            _ => GlobalKind::False,
        },
        expression: e.expression.clone(),
        case_sensitive: e.case_sensitive,
    };
    let all = regexps.iter();
    all.map(|(name, list)| (name.clone(), list.iter().map(expression).collect())).collect()
}

/// The snapshot's macros, parsed.
#[derive(Debug)]
struct MacroTable {
    global: Vec<MacroDef>,
    of_host: HashMap<HostId, Vec<MacroDef>, FixedState>,
    templates_of: HashMap<HostId, Vec<HostId>, FixedState>,
}

impl MacroTable {
    fn new(macros: &Macros) -> Self {
        let of_host = macros.of_host.iter();
        let templates_of = macros.templates_of.iter();
        Self {
            global: definitions(&macros.global),
            of_host: of_host.map(|(id, list)| (*id, definitions(list))).collect(),
            templates_of: templates_of.map(|(id, list)| (*id, list.clone())).collect(),
        }
    }
}

/// What cannot be parsed was refused by the API; it cannot be named either.
fn definitions(macros: &[UserMacro]) -> Vec<MacroDef> {
    let definition = |m: &UserMacro| {
        let kind = match m.kind {
            1 => MacroKind::Secret,
            2 => MacroKind::Vault,
            _ => MacroKind::Text,
        };
        Some(MacroDef { kind, ..MacroDef::text(&m.name, &m.value).ok()? })
    };
    macros.iter().filter_map(definition).collect()
}

impl MacroNodes for MacroTable {
    fn macros(&self, node: HostId) -> &[MacroDef] {
        self.of_host.get(&node).map_or(&[], Vec::as_slice)
    }
    fn templates(&self, node: HostId) -> &[HostId] {
        self.templates_of.get(&node).map_or(&[], Vec::as_slice)
    }
    fn global(&self) -> &[MacroDef] {
        &self.global
    }
}
