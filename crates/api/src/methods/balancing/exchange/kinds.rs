//! The kinds of objects of a file, and objects of a file by kind and name.

use std::collections::{BTreeMap, BTreeSet};

use balancing::{Authentication, HIDDEN};
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};

/// In the order in which objects can be created: they refer to those of kinds before theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    EngineGroup,
    Vip,
    Certificate,
    HealthMonitor,
    Pool,
    PoolGroup,
    VirtualService,
}

/// How a kind is named.
struct Names {
    /// In the option `rules` and in results.
    list: &'static str,
    /// In methods.
    object: &'static str,
    /// In errors.
    word: &'static str,
    table: &'static str,
    key: &'static str,
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::EngineGroup,
        Self::Vip,
        Self::Certificate,
        Self::HealthMonitor,
        Self::Pool,
        Self::PoolGroup,
        Self::VirtualService,
    ];

    const fn names(self) -> Names {
        let (list, object, word, table, key) = match self {
            Self::EngineGroup => {
                ("engine_groups", "enginegroup", "Engine group", "enginegroups", "enginegroupid")
            }
            Self::Vip => ("vips", "vip", "VIP", "vips", "vipid"),
            Self::Certificate => {
                ("certificates", "certificate", "Certificate", "certificates", "certificateid")
            }
            Self::HealthMonitor => (
                "health_monitors",
                "healthmonitor",
                "Health monitor",
                "healthmonitors",
                "healthmonitorid",
            ),
            Self::Pool => ("pools", "pool", "Pool", "pools", "poolid"),
            Self::PoolGroup => {
                ("pool_groups", "poolgroup", "Pool group", "pool_groups", "poolgroupid")
            }
            Self::VirtualService => (
                "virtual_services",
                "virtualservice",
                "Virtual service",
                "virtualservices",
                "virtualserviceid",
            ),
        };
        Names { list, object, word, table, key }
    }

    pub(super) const fn list(self) -> &'static str {
        self.names().list
    }

    pub(super) const fn object(self) -> &'static str {
        self.names().object
    }

    pub(super) const fn table(self) -> &'static str {
        self.names().table
    }

    pub(super) const fn key(self) -> &'static str {
        self.names().key
    }

    /// The name of a method: `pool.create`.
    pub(super) fn method(self, action: &str) -> String {
        format!("{}.{action}", self.object())
    }

    /// An error about an object of the file.
    pub(super) fn error(self, name: &str, problem: impl std::fmt::Display) -> ApiError {
        ApiError::application(format!("{} \"{name}\": {problem}.", self.names().word))
    }

    /// An error of a method, with the object's name.
    pub(super) fn refused(self, name: &str, error: ApiError) -> ApiError {
        if error.is_of_database() {
            return error;
        }
        ApiError { data: format!("{} \"{name}\": {}", self.names().word, error.data), ..error }
    }
}

/// An object in the form of the file, without its name. Members with their defaults are left out, so that equal
/// objects are equal. Other objects stand by their names.
pub(super) type Entry = Map<String, Json>;

/// Objects by kind and name.
#[derive(Debug, Clone, Default)]
pub(super) struct World(BTreeMap<Kind, BTreeMap<String, Entry>>);

impl World {
    pub(super) fn get(&self, kind: Kind, name: &str) -> Option<&Entry> {
        self.0.get(&kind)?.get(name)
    }

    pub(super) fn all(&self, kind: Kind) -> impl Iterator<Item = (&String, &Entry)> {
        self.0.get(&kind).into_iter().flatten()
    }

    /// Objects of the server that services and pools refer to, and that the file of a lone engine cannot have: engine
    /// groups, VIPs and monitors.
    pub(super) fn referred(&self) -> BTreeSet<(Kind, &str)> {
        let services = self.all(Kind::VirtualService).flat_map(|(_, service)| {
            [(Kind::EngineGroup, text(service, "engine_group")), (Kind::Vip, text(service, "vip"))]
        });
        let monitors = self.all(Kind::Pool).flat_map(|(_, pool)| elements(pool, "monitors"));
        let monitors = monitors.filter_map(Json::as_str).map(|name| (Kind::HealthMonitor, name));
        services.chain(monitors).collect()
    }

    /// Refuses a second object with the name.
    pub(super) fn insert(&mut self, kind: Kind, name: &str, entry: Entry) -> ApiResult<()> {
        match self.0.entry(kind).or_default().insert(name.to_owned(), entry) {
            None => Ok(()),
            Some(_) => Err(kind.error(name, "it stands in the file twice; keep one")),
        }
    }
}

/// Refuses an object with a secret that neither the file nor the server has.
pub(super) fn require_secrets(kind: Kind, name: &str, entry: &Entry) -> ApiResult<()> {
    let missing = |what: &str| {
        let problem = format!(
            "the {what} is not stored, and the file has ****** in its place; write it there"
        );
        Err(kind.error(name, problem))
    };
    if kind == Kind::Certificate
        && !["acme", "private_key"].iter().any(|one| entry.contains_key(*one))
    {
        return missing("private key");
    }
    let policies = entry.get("authentication").cloned().unwrap_or_default();
    let secrets = serde_json::from_value::<Authentication>(policies)
        .map(|mut policies| policies.named_secrets())
        .unwrap_or_default();
    match secrets.into_iter().find(|(_, is_hidden)| *is_hidden) {
        Some((secret, _)) => missing(&secret),
        None => Ok(()),
    }
}

/// A text of an entry; empty if there is none.
pub(super) fn text<'e>(entry: &'e Entry, member: &str) -> &'e str {
    entry.get(member).and_then(Json::as_str).unwrap_or("")
}

/// Elements of a list of an entry.
pub(super) fn elements<'e>(entry: &'e Entry, member: &str) -> &'e [Json] {
    entry.get(member).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// An object as a result shows it, without secrets. `before`: as it was; what differs in secrets alone is marked.
pub(super) fn shown(name: &str, entry: &Entry, before: Option<&Entry>) -> Json {
    const CHANGED: &str = "****** (changed)";
    let mut out = Entry::new();
    out.insert("name".to_owned(), name.into());
    for (member, value) in entry {
        let mut shown = hidden(member, value);
        let old = before.and_then(|before| before.get(member));
        if old.is_some_and(|old| old != value && hidden(member, old) == shown) {
            shown = CHANGED.into();
        }
        out.insert(member.clone(), shown);
    }
    Json::Object(out)
}

fn hidden(member: &str, value: &Json) -> Json {
    match member {
        "private_key" => HIDDEN.into(),
        "authentication" => {
            let policies = serde_json::from_value::<Authentication>(value.clone());
            policies.map_or(Json::Null, |mut policies| {
                policies.hide();
                serde_json::to_value(policies).unwrap_or_default()
            })
        }
        _ => value.clone(),
    }
}
