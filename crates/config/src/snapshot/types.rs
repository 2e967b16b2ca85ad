//! What a snapshot holds of each object: only what monitoring needs, texts shared.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use eval::expr::Expression;
use eval::macros::{MacroDef, MacroNodes};
use eval::regex::{GlobalExpression, GlobalKind, GlobalRegexes};
use jiff::tz::TimeZone;
use model::{FunctionId, GroupId, HostId, InterfaceId, ItemId, Severity, TriggerId};
pub use objects::MonitoredBy;

use super::source::{Ipmi, Snmp};
use super::{CowMap, Item, ItemType, Retention};

/// A host. What a value's item is found with comes first: one line of the processor's cache.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Host {
    pub id: HostId,
    /// Items and discovery rules, sorted by key.
    pub items: Box<[Arc<Item>]>,
    /// Status "monitored" (0).
    pub monitored: bool,
    /// Whether it is worked on.
    pub maintenance: HostMaintenance,
    /// What collects its values.
    pub monitored_by: MonitoredBy,
    /// How connections to and from the host's agent are protected.
    pub tls: Tls,
    /// Technical name, as agents and senders say it.
    pub host: Arc<str>,
    /// Visible name.
    pub name: Arc<str>,
    /// Host groups, for permissions of aggregate functions.
    pub groups: Box<[GroupId]>,
    /// Names of those groups, for `[group="..."]`.
    pub group_names: Box<[Arc<str>]>,
    /// Host tags, template tags included.
    pub tags: Box<[(Arc<str>, Arc<str>)]>,
    pub interfaces: Box<[Interface]>,
    /// Templates in the order in which macros are looked up.
    pub templates: Box<[HostId]>,
    /// Fields of the inventory that have a value, by the API's names; `None` = switched off.
    pub inventory: Option<Box<[InventoryField]>>,
}

/// Whether a host is in maintenance now. The numbers are those of `zabbix[host,,maintenance]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum HostMaintenance {
    /// It is not.
    #[default]
    None = 0,
    /// It is; values come as ever.
    Data = 1,
    /// It is, and has no values meanwhile.
    NoData = 2,
}

/// Name in the API, value.
pub type InventoryField = (Arc<str>, Arc<str>);

impl Host {
    /// A host that is nowhere configured, with nothing on it.
    pub fn unconfigured(id: HostId) -> Self {
        Self {
            id,
            host: "".into(),
            name: "".into(),
            monitored: true,
            maintenance: HostMaintenance::None,
            monitored_by: MonitoredBy::Server,
            groups: Box::default(),
            group_names: Box::default(),
            tags: Box::default(),
            interfaces: Box::default(),
            items: Box::default(),
            tls: Tls::default(),
            templates: Box::default(),
            inventory: None,
        }
    }

    /// Its values are wanted: it is monitored, and no maintenance keeps them away.
    pub fn collects(&self) -> bool {
        self.monitored && self.maintenance != HostMaintenance::NoData
    }

    /// The server itself collects its values, not a proxy.
    pub fn is_of_server(&self) -> bool {
        self.monitored_by == MonitoredBy::Server
    }

    /// The server collects values of this item of the host now. A proxy never has values of
    /// calculated items, or of internal items on the host.
    pub fn collects_itself(&self, item: &Item) -> bool {
        let of_server = self.is_of_server()
            || item.kind == ItemType::Calculated
            || (item.kind == ItemType::Internal && item.key.starts_with("zabbix[host,"));
        self.collects() && of_server
    }

    /// The item with this key (macros resolved).
    pub fn item(&self, key: &str) -> Option<&Arc<Item>> {
        let at = self.items.binary_search_by(|item| (*item.key).cmp(key)).ok()?;
        self.items.get(at)
    }

    /// The interface with this id.
    pub fn interface(&self, id: InterfaceId) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.id == id)
    }
}

/// A connection without protection.
pub const NO_TLS: u8 = 1;

/// Protection of connections. The numbers are the wire's: 1 none, 2 PSK, 4 certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(C)]
pub struct Tls {
    /// For connections to the agent: one of the numbers.
    pub connect: u8,
    /// For connections from the agent: a bit mask.
    pub accept: u8,
    /// Required issuer of the peer's certificate; empty = any.
    pub issuer: Arc<str>,
    /// Required subject of the peer's certificate; empty = any.
    pub subject: Arc<str>,
    /// Identity that the host names in a handshake with a pre-shared key.
    pub psk_identity: Arc<str>,
    /// PSK as hexadecimal digits.
    pub psk: Arc<str>,
}

impl Default for Tls {
    fn default() -> Self {
        let empty: Arc<str> = Arc::from("");
        Self {
            connect: NO_TLS,
            accept: NO_TLS,
            issuer: Arc::clone(&empty),
            subject: Arc::clone(&empty),
            psk_identity: Arc::clone(&empty),
            psk: empty,
        }
    }
}

/// An interface of a host, macros resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub id: InterfaceId,
    /// 1 agent, 2 SNMP, 3 IPMI, 4 JMX.
    pub kind: u8,
    /// The default interface of its kind.
    pub main: bool,
    /// Connect by address instead of by name.
    pub use_ip: bool,
    /// Address.
    pub ip: Arc<str>,
    /// Name.
    pub dns: Arc<str>,
    /// 0 if a macro of it is not set.
    pub port: u16,
    /// How to speak SNMP with it; `None` for other kinds.
    pub snmp: Option<Arc<Snmp>>,
    /// IPMI credentials; `None` for other kinds.
    pub ipmi: Option<Arc<Ipmi>>,
}

/// A trigger of a host.
#[derive(Debug, Clone)]
pub struct Trigger {
    pub id: TriggerId,
    /// Name with macros unresolved.
    pub description: Arc<str>,
    /// Event name with macros unresolved; empty = the description.
    pub event_name: Arc<str>,
    /// Operational data with macros unresolved.
    pub opdata: Arc<str>,
    /// Problem expression; operands are [`Function`]s.
    pub expression: Arc<Expression>,
    /// What ends its problems.
    pub recovery: TriggerRecovery,
    /// Function calls of both expressions.
    pub functions: Box<[Function]>,
    /// Severity of its problems.
    pub priority: Severity,
    /// Trigger, all its items and their hosts are switched on.
    pub enabled: bool,
    /// Each evaluation to "problem" opens another problem.
    pub multiple: bool,
    /// Triggers that silence this one while in problem state.
    pub depends_on: Box<[TriggerId]>,
    /// Tags with macros unresolved.
    pub tags: Box<[(Arc<str>, Arc<str>)]>,
    /// Why it cannot be evaluated (bad expression after macro resolution).
    pub invalid: Option<Box<str>>,
}

/// What ends the problems of a trigger.
#[derive(Debug, Clone)]
pub enum TriggerRecovery {
    /// Its problem expression is false.
    Expression,
    /// This expression is true while the problem expression is false.
    RecoveryExpression(Arc<Expression>),
    /// Nothing but people.
    None,
}

impl Trigger {
    /// Its problem expression and, if it has one, its recovery expression.
    pub fn expressions(&self) -> impl Iterator<Item = &Arc<Expression>> {
        let recovery = match &self.recovery {
            TriggerRecovery::RecoveryExpression(expression) => Some(expression),
            TriggerRecovery::Expression | TriggerRecovery::None => None,
        };
        std::iter::once(&self.expression).chain(recovery)
    }

    /// Functions in the order in which the problem expression names them: what the digit of
    /// `{ITEM.VALUE2}` counts.
    pub fn problem_functions(&self) -> Vec<&Function> {
        self.in_order(&self.expression.function_ids())
    }

    /// Functions of the recovery expression, in its order.
    pub fn recovery_functions(&self) -> Vec<&Function> {
        match &self.recovery {
            TriggerRecovery::RecoveryExpression(expression) => {
                self.in_order(&expression.function_ids())
            }
            TriggerRecovery::Expression | TriggerRecovery::None => Vec::new(),
        }
    }

    /// Functions of both expressions, those of the problem expression first.
    pub fn ordered_functions(&self) -> Vec<&Function> {
        let ids: Vec<_> = self.expressions().flat_map(|each| each.function_ids()).collect();
        self.in_order(&ids)
    }

    fn in_order(&self, ids: &[(u64, Range<usize>)]) -> Vec<&Function> {
        let mut ordered: Vec<&Function> = Vec::with_capacity(self.functions.len());
        for (id, _) in ids {
            let named = self.functions.iter().find(|function| function.id.0 == *id);
            ordered.extend(named.filter(|f| !ordered.iter().any(|known| known.id == f.id)));
        }
        ordered
    }
}

/// One function call in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its id: `{id}` in the stored expression.
    pub id: FunctionId,
    pub item: ItemId,
    /// Name, as in `last`.
    pub name: Arc<str>,
    /// Parameters without the item, user macros resolved, as in `#3,"x"`.
    pub parameter: Arc<str>,
}

/// User macros of everything, for resolution at run time.
#[derive(Debug, Clone, Default)]
pub struct Macros {
    /// Global macros.
    pub global: Vec<MacroDef>,
    /// Macros of hosts and templates.
    pub of_host: CowMap<HostId, Vec<MacroDef>>,
    /// Templates linked to hosts and templates, in order of their ids.
    pub templates_of: CowMap<HostId, Vec<HostId>>,
}

impl MacroNodes for Macros {
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

/// One expression of a global regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalRegexp {
    /// The pattern or the text.
    pub expression: String,
    /// 0 contains, 1 contains any of, 2 contains none, 3 matches, 4 does not match.
    pub kind: u8,
    /// Delimiter of kind 1.
    pub delimiter: char,
    /// Upper and lower case differ.
    pub case_sensitive: bool,
}

/// Global regular expressions in the form that functions use.
pub fn global_regexes(regexps: &BTreeMap<String, Vec<GlobalRegexp>>) -> GlobalRegexes {
    let expression = |e: &GlobalRegexp| GlobalExpression {
        kind: GlobalKind::new(e.kind, e.delimiter),
        expression: e.expression.clone(),
        case_sensitive: e.case_sensitive,
    };
    let all = regexps.iter();
    all.map(|(name, list)| (name.clone(), list.iter().map(expression).collect())).collect()
}

/// Settings that the server obeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Time zone for scheduling, IANA name; empty or "system" = the machine's.
    pub timezone: String,
    /// Default timeouts of the item types that have one, with suffix.
    pub timeouts: BTreeMap<ItemType, String>,
    /// Overrides history storage days of all items that keep history.
    pub history_days_global: Option<u16>,
    /// Overrides trends storage days of all items that keep trends.
    pub trends_days_global: Option<u16>,
    /// Which connections agents may announce themselves over.
    pub autoregistration: Tls,
    /// The audit log.
    pub audit: AuditSettings,
    /// Failed sign-ins.
    pub logins: LoginSettings,
    /// How long other data is kept.
    pub retention: Retention,
    /// What passwords must have.
    pub passwords: PasswordSettings,
    /// Links of messages.
    pub links: LinkSettings,
    /// Requests that tell another system that this one works; `None` = there are none.
    pub heartbeat: Option<HeartbeatSettings>,
}

/// What failed sign-ins lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginSettings {
    /// So many from one source block an account for it.
    pub attempts: u32,
    /// Seconds for which it is blocked.
    pub block_s: u64,
}

/// What passwords must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordSettings {
    /// Fewest characters.
    pub length_min: usize,
    /// A bit each: 1 upper and lower case, 2 a digit, 4 a special character, 8 nothing that is easily guessed.
    pub rules: u8,
}

/// Links of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSettings {
    /// Address of the interface, without a slash at its end; empty = messages have no links.
    pub address: String,
    /// Seconds for which they are good.
    pub lifetime_s: u32,
}

/// The dead man's switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatSettings {
    /// What is requested.
    pub url: String,
    /// How often, seconds.
    pub period_s: u64,
}

/// Settings of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditSettings {
    /// There is one.
    pub enabled: bool,
    /// It has what discovery changes, beside the changes of users.
    pub system: bool,
}

impl Settings {
    /// The time zone in which moments are shown; the machine's where the name is unknown.
    pub fn time_zone(&self) -> TimeZone {
        match self.timezone.as_str() {
            "" | "system" => TimeZone::system(),
            name => TimeZone::get(name).unwrap_or_else(|_| TimeZone::system()),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timezone: String::from("system"),
            timeouts: BTreeMap::new(),
            history_days_global: None,
            trends_days_global: None,
            autoregistration: Tls::default(),
            audit: AuditSettings { enabled: true, system: true },
            logins: LoginSettings { attempts: 5, block_s: 30 },
            retention: Retention::default(),
            passwords: PasswordSettings { length_min: 8, rules: 8 },
            links: LinkSettings { address: String::new(), lifetime_s: 86_400 },
            heartbeat: None,
        }
    }
}
