//! Health monitors of pools.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::syntax::PATH;
use crate::{DnsMonitor, Time, UdpMonitor, is_path};

/// Monitors of a pool.
pub(crate) const MONITORS_MAX: usize = 16;

/// Parameters of a script.
const PARAMETERS_MAX: usize = 32;

/// What a monitor checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthKind {
    /// A connection is established.
    Tcp,
    /// A request is served as expected.
    Http,
    /// A datagram is responded to as expected.
    Udp,
    /// A query of DNS is responded to.
    Dns,
    /// A mail server greets with 220 and accepts EHLO (RFC 5321).
    Smtp,
    /// The address replies to an echo request (ping).
    Icmp,
    /// A program of the engine's machine ends with exit status 0.
    Script,
}

impl HealthKind {
    /// Its word in the configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Http => "http",
            Self::Udp => "udp",
            Self::Dns => "dns",
            Self::Smtp => "smtp",
            Self::Icmp => "icmp",
            Self::Script => "script",
        }
    }
}

/// What a monitor of type `script` runs: with the server's address and port as its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptMonitor {
    /// Name of a file in the engine's folder of such programs.
    pub program: String,
    /// Parameters: `user` is the environment variable `MONITOR_USER` of the program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

impl ScriptMonitor {
    fn check(&self) -> Result<(), String> {
        let name = &self.program;
        let is_name = name != "." && name != ".." && !name.contains(['/', '\0']);
        if name.is_empty() || !is_name {
            return Err(format!(
                "'health.script.program': '{name}' is not a file name; write the name of a program in the \
                 engine's folder, without a path"
            ));
        }
        if self.parameters.len() > PARAMETERS_MAX {
            return Err(format!(
                "'health.script.parameters' has more than {PARAMETERS_MAX} members"
            ));
        }
        let is_word = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if let Some(name) = self.parameters.keys().find(|name| !is_word(name)) {
            return Err(format!(
                "'health.script.parameters': '{name}' is not a name; use letters, digits and '_'"
            ));
        }
        match self.parameters.iter().find(|(_, value)| value.contains('\0')) {
            Some((name, _)) => Err(format!("'health.script.parameters.{name}' has a zero byte")),
            None => Ok(()),
        }
    }

    /// Environment variables of the program, with their values.
    pub fn environment(&self) -> impl Iterator<Item = (String, &str)> {
        let variable = |name: &str| format!("MONITOR_{}", name.to_ascii_uppercase());
        self.parameters.iter().map(move |(name, value)| (variable(name), value.as_str()))
    }
}

/// A health monitor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Name in states and logs, unique in the pool; default: the type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What is checked.
    #[serde(rename = "type")]
    pub kind: HealthKind,
    /// Target of the request.
    #[serde(default = "root")]
    pub path: String,
    /// Expected status.
    #[serde(default = "ok")]
    pub status: u16,
    /// Text that the first 16 KiB of the response contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What type `udp` sends and expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpMonitor>,
    /// What type `dns` queries and expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<DnsMonitor>,
    /// What type `script` runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptMonitor>,
    /// Time between two checks.
    #[serde(default = "five_seconds")]
    pub interval: Time,
    /// Time of one check.
    #[serde(default = "two_seconds")]
    pub timeout: Time,
    /// Successes until the server is used.
    #[serde(default = "two")]
    pub up: u16,
    /// Failures until the server is no longer used.
    #[serde(default = "three")]
    pub down: u16,
}

fn root() -> String {
    "/".to_owned()
}
fn ok() -> u16 {
    200
}
fn two() -> u16 {
    2
}
fn three() -> u16 {
    3
}
fn five_seconds() -> Time {
    Time(Duration::from_secs(5))
}
fn two_seconds() -> Time {
    Time(Duration::from_secs(2))
}

impl Health {
    /// A monitor of this type with the defaults.
    #[must_use]
    pub fn new(kind: HealthKind) -> Self {
        Self {
            name: String::new(),
            kind,
            path: root(),
            status: ok(),
            body: None,
            udp: None,
            dns: None,
            script: None,
            interval: five_seconds(),
            timeout: two_seconds(),
            up: two(),
            down: three(),
        }
    }

    /// Checks what the monitor's type needs.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        if !is_path(&self.path) {
            return Err(format!("'health.path': '{}' is not a path; {PATH}", self.path));
        }
        let needs = [
            (HealthKind::Udp, self.udp.is_some()),
            (HealthKind::Dns, self.dns.is_some()),
            (HealthKind::Script, self.script.is_some()),
        ];
        if let Some((kind, _)) = needs.iter().find(|(kind, given)| (*kind == self.kind) != *given) {
            let word = kind.word();
            return Err(format!("'health.{word}' is for monitors of type {word}, which need it"));
        }
        self.udp.as_ref().map_or(Ok(()), UdpMonitor::check)?;
        self.dns.as_ref().map_or(Ok(()), DnsMonitor::check)?;
        self.script.as_ref().map_or(Ok(()), ScriptMonitor::check)
    }
}

/// The monitors of a pool: in a file one, or a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Monitors(pub Vec<Health>);

impl Monitors {
    /// Whether servers are not checked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The monitors with their names: the given ones, else the type, with a number if needed.
    pub(crate) fn named(&self) -> Vec<Health> {
        let mut taken: HashSet<String> = self.0.iter().map(|one| one.name.clone()).collect();
        let mut all = self.0.clone();
        for health in all.iter_mut().filter(|health| health.name.is_empty()) {
            let word = health.kind.word();
            let mut names = (1..).map(|n| match n {
                1 => word.to_owned(),
                n => format!("{word} {n}"),
            });
            health.name = names.find(|name| taken.insert(name.clone())).unwrap_or_default();
        }
        all
    }
}

impl From<Health> for Monitors {
    fn from(health: Health) -> Self {
        Self(vec![health])
    }
}

impl Serialize for Monitors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Monitors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Monitors;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a health monitor, such as {type: tcp}, or a list of them")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Monitors, E> {
                Ok(Monitors::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Monitors, A::Error> {
                Health::deserialize(MapAccessDeserializer::new(map)).map(Monitors::from)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Monitors, A::Error> {
                let mut monitors = Vec::new();
                while let Some(monitor) = list.next_element()? {
                    monitors.push(monitor);
                }
                Ok(Monitors(monitors))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pool;

    fn pool(members: &str) -> Pool {
        let text =
            format!("{{name: p, servers: [{{name: a, address: '127.0.0.1:1'}}], {members}}}");
        serde_saphyr::from_str(&text).unwrap()
    }

    #[test]
    fn a_pool_has_one_monitor_or_a_list() {
        let one = pool("health: {type: tcp, interval: 1s}");
        assert_eq!((one.health.0.len(), one.monitors_needed()), (1, 1));
        let text = serde_json::to_value(&one.health).unwrap();
        assert_eq!(text["type"], "tcp", "one monitor is written as before");
        assert!(text.get("name").is_none());
        let names = |pool: &Pool| -> Vec<String> {
            pool.monitors().into_iter().map(|one| one.name).collect()
        };
        let several = pool(
            "health: [{type: http}, {type: http, name: 'http 2'}, {type: http}, {type: icmp}], min_monitors: 2",
        );
        assert_eq!(names(&several), ["http", "http 2", "http 3", "icmp"]);
        assert_eq!(several.monitors_needed(), 2);
        assert_eq!(several.check(), Ok(()));
        let again: Monitors =
            serde_json::from_value(serde_json::to_value(&several.health).unwrap()).unwrap();
        assert_eq!(again, several.health);
        assert!(pool("health: []").health.is_empty());
    }

    #[test]
    fn impossible_monitors_are_errors() {
        for (members, part) in [
            ("health: {type: tcp}, min_monitors: 2", "the pool has 1 monitors"),
            ("min_monitors: 1", "the pool has 0 monitors"),
            ("health: [{type: tcp, name: a}, {type: icmp, name: a}]", "the name 'a'"),
            ("health: [{type: udp, name: a}]", "monitor 'a': 'health.udp'"),
            ("health: {type: http, path: x}", "it begins with /"),
        ] {
            let problem = pool(members).check().err().unwrap_or_default();
            assert!(problem.contains(part), "{members}: {problem}");
        }
        let many = vec![Health::new(HealthKind::Tcp); MONITORS_MAX + 1];
        let pool = Pool { health: Monitors(many), ..pool("") };
        assert!(pool.check().unwrap_err().contains("more than 16 monitors"));
    }

    #[test]
    fn monitors_need_what_they_send() {
        let problem = |text: &str| {
            let health: Health = serde_saphyr::from_str(text).unwrap();
            health.check().err().unwrap_or_default()
        };
        for text in [
            "{type: udp, udp: {send: ping}}",
            "{type: dns, dns: {name: example.com}}",
            "{type: dns, dns: {name: '.', type: NS, rcodes: [REFUSED]}}",
            "{type: dns, dns: {name: 1.0.0.127.in-addr.arpa., type: PTR}}",
            "{type: script, script: {program: check.sh, parameters: {user: a}}}",
        ] {
            assert_eq!(problem(text), "", "{text}");
        }
        for (text, part) in [
            ("{type: udp}", "'health.udp'"),
            ("{type: tcp, udp: {send: ping}}", "'health.udp'"),
            ("{type: udp, udp: {send: ''}}", "1 to 1200 bytes"),
            ("{type: dns}", "'health.dns'"),
            ("{type: http, dns: {name: example.com}}", "'health.dns'"),
            ("{type: dns, dns: {name: 'a b'}}", "not a name of DNS"),
            ("{type: dns, dns: {name: 10.0.0.1}}", "not a name of DNS"),
            ("{type: dns, dns: {name: a..b}}", "not a name of DNS"),
            ("{type: dns, dns: {name: example.com, rcodes: []}}", "is empty"),
            ("{type: script}", "'health.script'"),
            ("{type: tcp, script: {program: a}}", "'health.script'"),
            ("{type: script, script: {program: ../a}}", "not a file name"),
            ("{type: script, script: {program: ..}}", "not a file name"),
            ("{type: script, script: {program: ''}}", "not a file name"),
            ("{type: script, script: {program: a, parameters: {'a=b': x}}}", "is not a name"),
        ] {
            assert!(problem(text).contains(part), "{text}: {}", problem(text));
        }
    }

    #[test]
    fn parameters_are_environment_variables_of_their_own() {
        let script: ScriptMonitor =
            serde_saphyr::from_str("{program: a, parameters: {path: /x, Ld_Preload: y}}").unwrap();
        let variables: Vec<_> = script.environment().collect();
        let expected = [("MONITOR_LD_PRELOAD".to_owned(), "y"), ("MONITOR_PATH".to_owned(), "/x")];
        assert_eq!(variables, expected);
    }
}
