//! The keys: how many parameters they have, and what the second one names.

use eval::key::ItemKey;

/// What the second parameter names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Nothing: the whole service.
    Service,
    /// A hypervisor, by its UUID.
    Host,
    /// A virtual machine, by its UUID.
    Machine,
    /// A datastore, by its UUID, or by its name.
    Datastore,
    /// A cluster by its id, or by its name.
    Cluster,
    /// A datacenter, by its id.
    Datacenter,
    /// A resource pool, by its id.
    Pool,
}

impl Scope {
    /// The type of the objects.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Service => "Folder",
            Self::Host => "HostSystem",
            Self::Machine => "VirtualMachine",
            Self::Datastore => "Datastore",
            Self::Cluster => "ClusterComputeResource",
            Self::Datacenter => "Datacenter",
            Self::Pool => "ResourcePool",
        }
    }

    /// What an item hears whose object is not there.
    pub(super) const fn unknown(self) -> &'static str {
        match self {
            Self::Service => "Unknown service.",
            Self::Host => "Unknown hypervisor uuid.",
            Self::Machine => "Unknown virtual machine uuid.",
            Self::Datastore => "Unknown datastore uuid.",
            Self::Cluster => "Unknown cluster id.",
            Self::Datacenter => "Unknown datacenter id.",
            Self::Pool => "Unknown resource pool id.",
        }
    }
}

/// Keys by what they are about: those with exactly the parameters of the scope, and others with
/// the fewest and the most parameters.
type Family =
    (Scope, &'static str, &'static [&'static str], &'static [(&'static str, usize, usize)]);

const FAMILIES: &[Family] = &[
    (
        Scope::Host,
        "vmware.hv.",
        &[
            "alarms.get",
            "cluster.name",
            "connectionstate",
            "cpu.usage",
            "cpu.usage.perf",
            "cpu.utilization",
            "datacenter.name",
            "datastore.discovery",
            "datastore.list",
            "diskinfo.get",
            "fullname",
            "hw.cpu.freq",
            "hw.cpu.model",
            "hw.cpu.num",
            "hw.cpu.threads",
            "hw.memory",
            "hw.model",
            "hw.sensors.get",
            "hw.serialnumber",
            "hw.uuid",
            "hw.vendor",
            "maintenance",
            "memory.size.ballooned",
            "memory.used",
            "net.if.discovery",
            "sensor.health.state",
            "sensors.get",
            "status",
            "uptime",
            "version",
            "vm.num",
        ],
        &[
            ("datastore.multipath", 2, 4),
            ("datastore.read", 3, 4),
            ("datastore.size", 3, 4),
            ("datastore.write", 3, 4),
            ("network.in", 2, 3),
            ("network.linkspeed", 3, 3),
            ("network.out", 2, 3),
            ("perfcounter", 3, 4),
            ("power", 2, 3),
            ("property", 3, 3),
        ],
    ),
    (
        Scope::Machine,
        "vmware.vm.",
        &[
            "alarms.get",
            "cluster.name",
            "consolidationneeded",
            "cpu.latency",
            "cpu.num",
            "cpu.ready",
            "cpu.usage",
            "cpu.usage.perf",
            "datacenter.name",
            "guest.memory.size.swapped",
            "guest.osuptime",
            "hv.name",
            "memory.size",
            "memory.size.ballooned",
            "memory.size.compressed",
            "memory.size.consumed",
            "memory.size.private",
            "memory.size.shared",
            "memory.size.swapped",
            "memory.size.usage.guest",
            "memory.size.usage.host",
            "memory.usage",
            "net.if.discovery",
            "powerstate",
            "snapshot.get",
            "state",
            "storage.committed",
            "storage.uncommitted",
            "storage.unshared",
            "uptime",
            "vfs.dev.discovery",
            "vfs.fs.discovery",
        ],
        &[
            ("attribute", 3, 3),
            ("cpu.readiness", 2, 3),
            ("cpu.swapwait", 2, 3),
            ("net.if.in", 3, 4),
            ("net.if.out", 3, 4),
            ("net.if.usage", 2, 3),
            ("perfcounter", 3, 4),
            ("property", 3, 3),
            ("storage.readoio", 3, 3),
            ("storage.totalreadlatency", 3, 3),
            ("storage.totalwritelatency", 3, 3),
            ("storage.writeoio", 3, 3),
            ("tools", 3, 3),
            ("vfs.dev.read", 3, 4),
            ("vfs.dev.write", 3, 4),
            ("vfs.fs.size", 3, 4),
        ],
    ),
    (
        Scope::Datastore,
        "vmware.datastore.",
        &["alarms.get", "hv.list"],
        &[
            ("perfcounter", 3, 4),
            ("property", 3, 3),
            ("read", 2, 3),
            ("size", 2, 3),
            ("write", 2, 3),
        ],
    ),
    (Scope::Cluster, "vmware.cluster.", &["alarms.get", "status"], &[("property", 3, 3)]),
    (Scope::Cluster, "vmware.cl.", &[], &[("perfcounter", 3, 4)]),
    (Scope::Datacenter, "vmware.dc.", &["alarms.get"], &[]),
    (Scope::Pool, "vmware.rp.", &["cpu.usage"], &[("memory", 2, 3)]),
];

/// Keys about the service.
const SERVICE: &[(&str, usize)] = &[
    ("alarms.get", 1),
    ("cluster.discovery", 1),
    ("datastore.discovery", 1),
    ("dc.discovery", 1),
    ("dvswitch.discovery", 1),
    ("eventlog", 3),
    ("fullname", 1),
    ("hv.discovery", 1),
    ("version", 1),
    ("vm.discovery", 1),
];

/// A parsed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ask {
    /// What it is about.
    pub(super) scope: Scope,
    /// The name behind `vmware.` and the family's part: `cpu.usage`.
    pub(super) what: &'static str,
    /// `https://vcenter/sdk`
    pub(super) url: String,
    /// Second parameter: which object.
    pub(super) object: String,
    /// Third and fourth parameter; `None` = not given.
    pub(super) more: [Option<String>; 2],
}

impl Ask {
    /// Takes a key apart. The error is for people: an unknown key, or parameters that are too
    /// many, too few or empty.
    pub(super) fn parse(key: &ItemKey) -> Result<Self, String> {
        let (scope, what, min, max) = find(&key.name)?;
        let count = key.param_count();
        if !(min..=max).contains(&count) {
            return Err("Invalid number of parameters.".to_owned());
        }
        let param = |number| key.param(number).unwrap_or_default();
        let ask = Self {
            scope,
            what,
            url: param(0),
            object: if scope == Scope::Service { String::new() } else { param(1) },
            more: match scope {
                Scope::Service => [key.param(1), key.param(2)],
                _ => [key.param(2), key.param(3)],
            },
        };
        let named = matches!(scope, Scope::Host | Scope::Machine);
        if named && ask.object.is_empty() {
            return Err("Invalid second parameter.".to_owned());
        }
        Ok(ask)
    }

    /// Third parameter; an empty one where there is none.
    pub(super) fn third(&self) -> &str {
        self.more[0].as_deref().unwrap_or_default()
    }

    /// Fourth parameter; an empty one where there is none.
    pub(super) fn fourth(&self) -> &str {
        self.more[1].as_deref().unwrap_or_default()
    }

    pub(super) fn is_eventlog(&self) -> bool {
        self.scope == Scope::Service && self.what == "eventlog"
    }
}

/// Scope, name, and the fewest and the most parameters of a key.
fn find(name: &str) -> Result<(Scope, &'static str, usize, usize), String> {
    let rest = name.strip_prefix("vmware.").unwrap_or(name);
    if let Some((what, max)) = SERVICE.iter().find(|(what, _)| *what == rest) {
        return Ok((Scope::Service, what, 1, *max));
    }
    for (scope, prefix, plain, others) in FAMILIES {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        if let Some(what) = plain.iter().find(|what| **what == rest) {
            return Ok((*scope, what, 2, 2));
        }
        if let Some((what, min, max)) = others.iter().find(|(what, ..)| *what == rest) {
            return Ok((*scope, what, *min, *max));
        }
    }
    let known = ["vmware.dvswitch.fetchports.get"];
    if known.contains(&name) || name.ends_with(".tags.get") {
        return Err(format!("This server does not collect what {name} asks for."));
    }
    Err("Unsupported item key.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_their_parameters() {
        let many = "Invalid number of parameters.";
        for (key, expected) in [
            ("vmware.fullname[u]", Ok((Scope::Service, "fullname", "", None))),
            ("vmware.fullname", Err(many)),
            ("vmware.fullname[u,x]", Err(many)),
            ("vmware.hv.discovery[u]", Ok((Scope::Service, "hv.discovery", "", None))),
            ("vmware.hv.discovery[u,x]", Err(many)),
            ("vmware.eventlog[u,skip]", Ok((Scope::Service, "eventlog", "", Some("skip")))),
            ("vmware.hv.status[u,h]", Ok((Scope::Host, "status", "h", None))),
            ("vmware.hv.status[u]", Err(many)),
            ("vmware.hv.status[u,]", Err("Invalid second parameter.")),
            ("vmware.hv.network.in[u,h,bps]", Ok((Scope::Host, "network.in", "h", Some("bps")))),
            ("vmware.hv.network.linkspeed[u,h]", Err(many)),
            ("vmware.vm.cpu.ready[u,v,x]", Err(many)),
            ("vmware.vm.tools[u,v,status]", Ok((Scope::Machine, "tools", "v", Some("status")))),
            ("vmware.datastore.size[u,d]", Ok((Scope::Datastore, "size", "d", None))),
            ("vmware.cluster.status[u,c]", Ok((Scope::Cluster, "status", "c", None))),
            ("vmware.rp.discovery[u]", Err("Unsupported item key.")),
            ("vmware.vm.hv.maintenance[u,v]", Err("Unsupported item key.")),
        ] {
            let parsed = Ask::parse(&ItemKey::parse(key).unwrap());
            let shown = parsed
                .as_ref()
                .map(|ask| (ask.scope, ask.what, ask.object.as_str(), ask.more[0].as_deref()));
            assert_eq!(shown.map_err(String::as_str), expected, "{key}");
        }
    }
}
