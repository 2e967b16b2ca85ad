//! What the server stores of its objects beside what engines need. The server writes it when it exports objects,
//! and reads it when it imports them. Engines have no use for it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AcmeOrder, Announce, Health, VirtualService};

/// Objects by name. One that is not listed keeps what the server has stored of it.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// Groups of engines with the same configuration.
    pub engine_groups: Vec<EngineGroupNotes>,
    /// Addresses that virtual services share.
    pub vips: Vec<VipNotes>,
    /// Certificates of the file, and those that the server orders.
    pub certificates: Vec<CertificateNotes>,
    /// Health monitors of the file's pools, and others.
    pub health_monitors: Vec<MonitorNotes>,
    /// Pools of the file.
    pub pools: Vec<PoolNotes>,
    /// Pool groups of the file.
    pub pool_groups: Vec<PoolGroupNotes>,
    /// Virtual services of the file.
    pub virtual_services: Vec<ServiceNotes>,
    /// Disabled virtual services, which no engine serves.
    pub disabled_services: Vec<VirtualService>,
}

/// What a name is listed by.
pub trait Named {
    /// Name of the object.
    fn name(&self) -> &str;
    /// Text for readers; empty: none.
    fn description(&self) -> &str;
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

macro_rules! notes {
    ($($(#[$doc:meta])* $kind:ident { $($(#[$attribute:meta])* $member:ident: $of:ty,)* })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct $kind {
            /// Name of the object.
            pub name: String,
            /// Text for readers; empty: none.
            #[serde(default, skip_serializing_if = "String::is_empty")]
            pub description: String,
            $(#[serde(default)] $(#[$attribute])* pub $member: $of,)*
        }

        impl Named for $kind {
            fn name(&self) -> &str {
                &self.name
            }

            fn description(&self) -> &str {
                &self.description
            }
        }
    )+};
}

notes! {
    /// An engine group.
    EngineGroupNotes {
        /// 0: active/active, 1: N+M, 2: active/standby.
        #[serde(skip_serializing_if = "is_zero")]
        ha_mode: u32,
        /// 0: distributed, 1: compact.
        #[serde(skip_serializing_if = "is_zero")]
        placement: u32,
        /// Engines that announce a VIP; 0: all.
        #[serde(skip_serializing_if = "is_zero")]
        engines_per_vip: u32,
        /// Engines whose room stays free.
        #[serde(skip_serializing_if = "is_zero")]
        spare_engines: u32,
        /// VIPs of an engine at most; 0: no limit.
        #[serde(skip_serializing_if = "is_zero")]
        vips_per_engine: u32,
        /// 1: VIPs return to engines that return.
        #[serde(skip_serializing_if = "is_zero")]
        rebalance: u32,
        /// Seconds after which an engine without connection has failed; default: 3.
        #[serde(skip_serializing_if = "Option::is_none")]
        failover_after: Option<u32>,
        /// How engines announce VIPs; default: as the file of each engine says.
        #[serde(skip_serializing_if = "Option::is_none")]
        announce: Option<Announce>,
    }
    /// A VIP.
    VipNotes {
        /// IPv4 address; default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        ipv4: Option<Ipv4Addr>,
        /// IPv6 address; default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        ipv6: Option<Ipv6Addr>,
        /// Names that users give it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        dns_names: Vec<String>,
    }
    /// A certificate.
    CertificateNotes {
        /// What the server orders from an authority; default: the file has the certificate.
        #[serde(skip_serializing_if = "Option::is_none")]
        acme: Option<AcmeOrder>,
    }
    /// A health monitor. Settings of one that a pool has are with the pool.
    MonitorNotes {
        /// Settings of a monitor that no pool of the file has.
        #[serde(skip_serializing_if = "Option::is_none")]
        health: Option<Health>,
        /// Which problems of monitored hosts count; default: engines make the monitor's checks.
        #[serde(skip_serializing_if = "Option::is_none")]
        trigger_filter: Option<Map<String, Value>>,
    }
    /// A pool.
    PoolNotes {
        /// Names of all monitors in their order; default: those of the pool alone.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        monitors: Vec<String>,
        /// What a maintenance of a monitored host does to its server; default: nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        host_maintenance: Option<String>,
        /// Monitored hosts by name of the server.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        hosts: BTreeMap<String, String>,
    }
    /// A pool group.
    PoolGroupNotes {}
    /// A virtual service.
    ServiceNotes {
        /// Name of its engine group; default: that which the server has stored.
        #[serde(skip_serializing_if = "Option::is_none")]
        engine_group: Option<String>,
        /// Name of its VIP; default: the one with the service's addresses.
        #[serde(skip_serializing_if = "Option::is_none")]
        vip: Option<String>,
        /// Tags for readers.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tags: Vec<Tag>,
    }
}

/// A tag of a virtual service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    /// Name of the tag.
    pub tag: String,
    /// Value of the tag.
    #[serde(default)]
    pub value: String,
}

/// What is listed under a name.
pub fn named<'n, T: Named>(list: &'n [T], name: &str) -> Option<&'n T> {
    list.iter().find(|one| one.name() == name)
}

#[cfg(test)]
mod tests {
    use crate::Config;

    const FILE: &str = "
virtual_services:
  - {name: web, type: http, listen: '0.0.0.0:80', pool: app, rules: [{then: {}}]}
pools:
  - name: app
    servers: [{name: a, address: '10.0.0.1:80'}]
    health: [{name: one, type: tcp, interval: 5s}, {name: two, type: http, path: /x}]
controller:
  vips: [{name: v, ipv4: 0.0.0.0}]
  health_monitors: [{name: one, description: first}, {name: spare, health: {type: icmp, up: 2}}]
  pools: [{name: app, hosts: {a: host-a}}]
  virtual_services: [{name: web, vip: v, tags: [{tag: t}]}]
  disabled_services:
    - {name: off, type: tcp, listen: '0.0.0.0:81', pool: app, timeouts: {connect: 5s}}
";

    #[test]
    fn files_of_the_server_are_written_without_defaults() {
        let config = Config::parse(FILE).unwrap();
        let written = config.render().unwrap();
        for default in ["interval", "timeouts", "retries", "up:", "status"] {
            assert!(!written.contains(default), "{default}: {written}");
        }
        let again = Config::parse(&written).unwrap();
        assert_eq!(again.shortened().unwrap(), config.shortened().unwrap());
        let controller = again.controller.unwrap();
        assert_eq!(controller.pools[0].hosts["a"], "host-a");
        assert_eq!(controller.disabled_services[0].name, "off");
        let empty = Config::default().render().unwrap();
        assert!(Config::parse(&empty).unwrap().virtual_services.is_empty());
        let misspelt = FILE.replace("vips:", "vip:");
        assert!(Config::parse(&misspelt).unwrap_err().contains("unknown field `vip`"));
    }
}
