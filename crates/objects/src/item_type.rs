//! Item types.

use crate::InterfaceType;

/// How an item gets its values. The numbers are the API's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ItemType {
    /// Passive agent check.
    Agent = 0,
    /// Trapper: somebody sends.
    Trapper = 2,
    /// Simple check.
    Simple = 3,
    /// `zabbix[...]`.
    Internal = 5,
    AgentActive = 7,
    /// Value of a web scenario.
    Web = 9,
    /// External script.
    External = 10,
    /// Database monitor.
    Database = 11,
    Ipmi = 12,
    Ssh = 13,
    Telnet = 14,
    /// Calculated from other items.
    Calculated = 15,
    Jmx = 16,
    SnmpTrap = 17,
    /// Part of a master item's value.
    Dependent = 18,
    HttpAgent = 19,
    /// SNMP agent.
    Snmp = 20,
    Script = 21,
    Browser = 22,
}

/// Which host interface an item needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfaceNeed {
    None,
    /// Any that the host has, or none: the item may name another address.
    Any,
    /// One of this type.
    Of(InterfaceType),
}

/// Who starts the work for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The server's pollers, at the item's interval.
    Poller,
    /// Something else in the server or an agent, at the item's interval.
    Interval,
    /// The arrival of a value; the item has no interval.
    Arrival,
}

/// What is known of an item type.
#[derive(Debug)]
pub struct ItemTypeInfo {
    kind: ItemType,
    /// The API's number as text.
    pub number: &'static str,
    /// Its name in exports; empty = it is not exported.
    pub word: &'static str,
    /// As people call it.
    pub label: &'static str,
    /// The interface that its items need.
    pub interface: InterfaceNeed,
    start: Start,
    has_timeout: bool,
    /// Fields that its items must have.
    pub required: &'static [&'static str],
    /// Fields of their own that its items may have.
    pub optional: &'static [&'static str],
}

macro_rules! catalog {
    ($($kind:ident $number:literal $word:literal $label:literal, $interface:expr, $start:ident,
       $timeout:literal, $required:expr, $optional:expr;)*) => {
        const CATALOG: &[ItemTypeInfo] = &[$(ItemTypeInfo {
            kind: ItemType::$kind,
            number: stringify!($number),
            word: $word,
            label: $label,
            interface: $interface,
            start: Start::$start,
            has_timeout: $timeout,
            required: $required,
            optional: $optional,
        }),*];
        $(const _: () = assert!(ItemType::$kind as u8 == $number, "the numbers agree");)*
    };
}

const AGENT: InterfaceNeed = InterfaceNeed::Of(InterfaceType::Agent);
const SNMP: InterfaceNeed = InterfaceNeed::Of(InterfaceType::Snmp);
const IPMI: InterfaceNeed = InterfaceNeed::Of(InterfaceType::Ipmi);
const JMX: InterfaceNeed = InterfaceNeed::Of(InterfaceType::Jmx);
const ANY: InterfaceNeed = InterfaceNeed::Any;
const NONE: InterfaceNeed = InterfaceNeed::None;

/// What HTTP agent items may have beside the URL.
const HTTP: &[&str] = &[
    "query_fields",
    "headers",
    "posts",
    "http_proxy",
    "ssl_cert_file",
    "ssl_key_file",
    "ssl_key_password",
    "status_codes",
    "follow_redirects",
    "post_type",
    "retrieve_mode",
    "request_method",
    "output_format",
    "verify_peer",
    "verify_host",
    "allow_traps",
    "authtype",
];

catalog! {
    Agent 0 "ZABBIX_PASSIVE" "Agent", AGENT, Poller, true, &[], &[];
    Trapper 2 "TRAP" "Trapper", NONE, Arrival, false, &[], &["trapper_hosts"];
    Simple 3 "SIMPLE" "Simple check", ANY, Poller, true, &[], &["username", "password"];
    Internal 5 "INTERNAL" "Internal", NONE, Poller, false, &[], &[];
    AgentActive 7 "ZABBIX_ACTIVE" "Agent (active)", NONE, Interval, true, &[], &[];
    Web 9 "" "Web scenario", NONE, Poller, false, &[], &[];
    External 10 "EXTERNAL" "External check", ANY, Poller, true, &[], &[];
    Database 11 "ODBC" "Database monitor", NONE, Poller, true, &["params"], &["username", "password"];
    Ipmi 12 "IPMI" "IPMI agent", IPMI, Poller, false, &["ipmi_sensor"], &[];
    Ssh 13 "SSH" "SSH agent", ANY, Poller, true, &["params", "username"], &["password", "authtype"];
    Telnet 14 "TELNET" "Telnet agent", ANY, Poller, true, &["params", "username"], &["password"];
    Calculated 15 "CALCULATED" "Calculated", NONE, Interval, false, &["params"], &[];
    Jmx 16 "JMX" "JMX agent", JMX, Poller, false, &[], &["jmx_endpoint", "username", "password"];
    SnmpTrap 17 "SNMP_TRAP" "SNMP trap", SNMP, Arrival, false, &[], &[];
    Dependent 18 "DEPENDENT" "Dependent item", NONE, Arrival, false, &["master_itemid"], &[];
    HttpAgent 19 "HTTP_AGENT" "HTTP agent", ANY, Poller, true, &["url"], HTTP;
    Snmp 20 "SNMP_AGENT" "SNMP agent", SNMP, Poller, true, &["snmp_oid"], &[];
    Script 21 "SCRIPT" "Script", NONE, Poller, true, &["params"], &["parameters"];
    Browser 22 "BROWSER" "Browser", NONE, Poller, true, &["params"], &["parameters"];
}

/// Places in the catalog by number; 255 = no such type.
const PLACES: [u8; 23] = {
    let mut places = [u8::MAX; 23];
    let mut at = 0;
    while at < CATALOG.len() {
        places[CATALOG[at].kind as usize] = at as u8;
        at += 1;
    }
    places
};

impl From<ItemType> for i64 {
    fn from(kind: ItemType) -> Self {
        kind.number()
    }
}

impl ItemType {
    /// All types, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        CATALOG.iter().map(|info| info.kind)
    }

    /// The order in which forms offer them. Items of web scenarios come with their scenario.
    pub const OFFERED: [Self; CATALOG.len() - 1] = [
        Self::Agent,
        Self::AgentActive,
        Self::Trapper,
        Self::Dependent,
        Self::Calculated,
        Self::Internal,
        Self::Simple,
        Self::HttpAgent,
        Self::Snmp,
        Self::SnmpTrap,
        Self::External,
        Self::Database,
        Self::Ipmi,
        Self::Ssh,
        Self::Telnet,
        Self::Jmx,
        Self::Script,
        Self::Browser,
    ];

    /// The API's numbers of the types that items can be created with, in ascending order.
    pub const NUMBERS: [i64; Self::OFFERED.len()] = {
        let mut numbers = [0; Self::OFFERED.len()];
        let (mut from, mut to) = (0, 0);
        while from < CATALOG.len() {
            if !matches!(CATALOG[from].kind, Self::Web) {
                numbers[to] = CATALOG[from].kind.number();
                to += 1;
            }
            from += 1;
        }
        numbers
    };

    /// Words of exports with the numbers that they stand for.
    pub const WORDS: [(&'static str, &'static str); CATALOG.len()] = {
        // The last one is what Zabbix 5.2 called scripts. Web scenarios have no word.
        let mut words = [("ITEM_TYPE_SCRIPT", "21"); CATALOG.len()];
        let (mut from, mut to) = (0, 0);
        while from < CATALOG.len() {
            if !CATALOG[from].word.is_empty() {
                words[to] = (CATALOG[from].word, CATALOG[from].number);
                to += 1;
            }
            from += 1;
        }
        words
    };

    /// What is known of it.
    pub const fn info(self) -> &'static ItemTypeInfo {
        &CATALOG[PLACES[self as usize] as usize]
    }

    /// From the API's number.
    pub const fn from_api(number: u8) -> Option<Self> {
        if number as usize >= PLACES.len() {
            return None;
        }
        match PLACES[number as usize] {
            u8::MAX => None,
            place => Some(CATALOG[place as usize].kind),
        }
    }

    /// From a number of the database.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::from_api(u8::try_from(number).ok()?)
    }

    /// The API's number.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// Whether `number` is the number of this type.
    pub const fn is(self, number: i64) -> bool {
        self as i64 == number
    }

    /// Items of some types have a field of this name, others have not.
    pub fn is_of_some_types(field: &str) -> bool {
        const WITH_CONDITIONS: [&str; 2] = ["publickey", "privatekey"];
        let named =
            |info: &ItemTypeInfo| info.required.contains(&field) || info.optional.contains(&field);
        WITH_CONDITIONS.contains(&field) || CATALOG.iter().any(named)
    }

    /// The server asks for its values at intervals.
    pub const fn is_polled(self) -> bool {
        matches!(self.info().start, Start::Poller)
    }

    /// The server can get a value of it at once when a user asks: not what others send or bring.
    pub const fn is_checked_on_demand(self) -> bool {
        (self.is_polled() && !matches!(self, Self::Web)) || matches!(self, Self::Calculated)
    }

    /// Items of this type with any key but some of active agents have an update interval.
    pub const fn is_at_intervals(self) -> bool {
        !matches!(self.info().start, Start::Arrival)
    }

    /// Its items have an update interval. An active agent's item with this key has none all the same:
    /// the agent subscribes.
    pub fn has_interval(self, key: &str) -> bool {
        let subscribes = self == Self::AgentActive && key.starts_with("mqtt.get");
        self.is_at_intervals() && !subscribes
    }

    /// The interface that its items need.
    pub const fn interface(self) -> InterfaceNeed {
        self.info().interface
    }

    /// An item of this type with this key (and, of SNMP agents, this OID) has a timeout of its own.
    pub fn has_timeout(self, key: &str, snmp_oid: &str) -> bool {
        self.info().has_timeout
            && match self {
                Self::Simple => !key.starts_with("icmpping") && !key.starts_with("vmware."),
                Self::Snmp => snmp_oid.starts_with("get[") || snmp_oid.starts_with("walk["),
                _ => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_number() {
        for kind in ItemType::all() {
            assert_eq!(ItemType::from_number(kind.number()), Some(kind));
            assert_eq!(kind.info().number, kind.number().to_string());
        }
        for number in [-1, 1, 4, 6, 8, 23, 255, 256] {
            assert_eq!(ItemType::from_number(number), None, "{number}");
        }
    }

    #[test]
    fn items_are_created_with_offered_types() {
        let mut offered = ItemType::OFFERED.map(ItemType::number);
        offered.sort_unstable();
        assert_eq!(offered, ItemType::NUMBERS);
    }

    #[test]
    fn words_are_unique() {
        let words: std::collections::BTreeSet<&str> =
            ItemType::WORDS.iter().map(|(word, _)| *word).collect();
        assert_eq!(words.len(), ItemType::WORDS.len());
        assert!(!words.contains(""));
    }

    #[test]
    fn no_field_is_required_and_optional() {
        for info in CATALOG {
            assert!(info.required.iter().all(|name| !info.optional.contains(name)), "{info:?}");
        }
    }
    #[test]
    fn each_type_that_users_create_is_offered_once() {
        let mut offered = ItemType::OFFERED;
        offered.sort_unstable();
        // Items of web scenarios come with the scenario.
        let created = CATALOG.iter().map(|info| info.kind).filter(|kind| *kind != ItemType::Web);
        assert_eq!(offered.to_vec(), created.collect::<Vec<_>>());
    }
}
