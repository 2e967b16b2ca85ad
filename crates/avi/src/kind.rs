//! Types of objects: their names in addresses, and their counterparts.

/// A type of object of the Avi API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// What clients connect to.
    VirtualService,
    /// Addresses.
    VsVip,
    /// Servers.
    Pool,
    /// Pools by priority and ratio.
    PoolGroup,
    /// How servers are checked.
    HealthMonitor,
    /// A certificate with its key.
    Certificate,
    /// Engines with the same configuration.
    EngineGroup,
    /// How clients stay on a server.
    PersistenceProfile,
    /// HTTP, L4 or TLS, with settings.
    ApplicationProfile,
    /// TCP or UDP, with settings.
    NetworkProfile,
    /// Versions of TLS.
    SslProfile,
    /// Authorities.
    PkiProfile,
    /// Rules.
    HttpPolicySet,
    /// There is one: `admin`.
    Tenant,
    /// There is one: `Default-Cloud`.
    Cloud,
    /// There is one: `global`.
    Vrf,
    /// There is one: `System-Analytics-Profile`.
    AnalyticsProfile,
}

/// The object of the JSON-RPC API that an object of Avi is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vedette {
    /// Name of its methods: `pool` in `pool.get`.
    pub object: &'static str,
    /// Its table in the configuration.
    pub table: &'static str,
    /// Member with its id; with an `s`, the parameter of `get`.
    pub key: &'static str,
    /// Parameters of `get` that select lists of members.
    pub selects: &'static [&'static str],
}

const NAMES: &[(Kind, &str)] = &[
    (Kind::VirtualService, "virtualservice"),
    (Kind::VsVip, "vsvip"),
    (Kind::Pool, "pool"),
    (Kind::PoolGroup, "poolgroup"),
    (Kind::HealthMonitor, "healthmonitor"),
    (Kind::Certificate, "sslkeyandcertificate"),
    (Kind::EngineGroup, "serviceenginegroup"),
    (Kind::PersistenceProfile, "applicationpersistenceprofile"),
    (Kind::ApplicationProfile, "applicationprofile"),
    (Kind::NetworkProfile, "networkprofile"),
    (Kind::SslProfile, "sslprofile"),
    (Kind::PkiProfile, "pkiprofile"),
    (Kind::HttpPolicySet, "httppolicyset"),
    (Kind::Tenant, "tenant"),
    (Kind::Cloud, "cloud"),
    (Kind::Vrf, "vrfcontext"),
    (Kind::AnalyticsProfile, "analyticsprofile"),
];

impl Kind {
    /// The name in addresses, such as `vsvip`.
    #[must_use]
    pub fn word(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// The type with this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }

    /// The counterpart; `None`: the object is a profile, which applies to those that refer to it.
    #[must_use]
    pub fn vedette(self) -> Option<Vedette> {
        let (object, table, key, selects): (_, _, _, &[&str]) = match self {
            Self::VirtualService => {
                ("virtualservice", "virtualservices", "virtualserviceid", &["selectCertificates"])
            }
            Self::VsVip => ("vip", "vips", "vipid", &[]),
            Self::Pool => ("pool", "pools", "poolid", &["selectServers", "selectFurtherMonitors"]),
            Self::PoolGroup => ("poolgroup", "pool_groups", "poolgroupid", &["selectMembers"]),
            Self::HealthMonitor => ("healthmonitor", "healthmonitors", "healthmonitorid", &[]),
            Self::Certificate => ("certificate", "certificates", "certificateid", &[]),
            Self::EngineGroup => ("enginegroup", "enginegroups", "enginegroupid", &[]),
            _ => return None,
        };
        Some(Vedette { object, table, key, selects })
    }

    /// The object of the JSON-RPC API whose methods a user must be allowed to call.
    #[must_use]
    pub fn governed_by(self) -> &'static str {
        match self {
            Self::PersistenceProfile | Self::PkiProfile => "pool",
            other => other.vedette().map_or("virtualservice", |vedette| vedette.object),
        }
    }

    /// The type whose objects the JSON-RPC API calls so.
    #[must_use]
    pub fn of_object(object: &str) -> Option<Self> {
        let mut kinds = NAMES.iter().map(|(kind, _)| *kind);
        kinds.find(|kind| kind.vedette().is_some_and(|vedette| vedette.object == object))
    }

    /// Whether objects of this type may refer to those of another. Such references have no cycles.
    #[must_use]
    pub fn may_refer_to(self, other: Self) -> bool {
        other.rank() < self.rank()
    }

    fn rank(self) -> u8 {
        match self {
            Self::VirtualService => 5,
            Self::HttpPolicySet => 4,
            Self::PoolGroup => 3,
            Self::Pool => 2,
            other => u8::from(!other.is_fixed()),
        }
    }

    /// Only built-in objects of it exist.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::Tenant | Self::Cloud | Self::Vrf | Self::AnalyticsProfile)
    }
}
