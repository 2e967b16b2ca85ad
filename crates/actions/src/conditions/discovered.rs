//! What conditions on events of network discovery and autoregistration are compared with.

use config::db::{DbResult, Reader, Row};
use eval::ranges::{AddressRanges, numbers};
use model::{EventOrigin, NewEvent};
use objects::{ConditionKind as Kind, ConditionOperator as Op, DiscoveryState};

use super::{Condition, Subject};

/// A device, or a service of it.
#[derive(Debug, Default)]
struct Device {
    rule: u64,
    /// Of a service itself alone.
    services: Vec<Service>,
    /// Since when it is up or down, seconds since 1970.
    since: i64,
}

#[derive(Debug)]
struct Service {
    check: u64,
    kind: i64,
    ip: String,
    port: i64,
    value: String,
}

/// The device with its event.
struct DeviceEvent {
    device: Device,
    event: NewEvent,
}

/// An active agent.
struct Agent {
    name: String,
    metadata: String,
}

/// Reads what conditions on the event are compared with.
pub(crate) fn read(connection: &mut dyn Reader, event: &NewEvent) -> DbResult<Box<dyn Subject>> {
    if let EventOrigin::AutoregisteredHost(id) = event.origin {
        let sql = "SELECT host, host_metadata FROM autoreg_hosts WHERE autoreg_hostid = ?";
        let rows = connection.query(sql, &[id.into()])?;
        let text = |name: &str| rows.first().map_or("", |row| row.text(name)).to_owned();
        return Ok(Box::new(Agent { name: text("host"), metadata: text("host_metadata") }));
    }
    Ok(Box::new(DeviceEvent { device: Device::read(connection, event.origin)?, event: *event }))
}

impl Device {
    /// Without a rule and services if it was deleted.
    fn read(connection: &mut dyn Reader, origin: EventOrigin) -> DbResult<Self> {
        let (table, key) = match origin {
            EventOrigin::DiscoveredHost(_) => ("h", "dhostid"),
            _ => ("s", "dserviceid"),
        };
        let rows = connection.query(
            &format!(
                "SELECT h.druleid, s.dcheckid, c.type, s.ip, s.port, s.value, \
                 {table}.status, {table}.lastup, {table}.lastdown \
                 FROM dservices s JOIN dhosts h ON h.dhostid = s.dhostid \
                 JOIN dchecks c ON c.dcheckid = s.dcheckid WHERE {table}.{key} = ? \
                 ORDER BY s.dserviceid"
            ),
            &[origin.object_id().into()],
        )?;
        let Some(first) = rows.first() else { return Ok(Self::default()) };
        let up = DiscoveryState::Up.is(first.int("status"));
        Ok(Self {
            rule: first.id("druleid"),
            services: rows.iter().map(Service::from_row).collect(),
            since: first.int(if up { "lastup" } else { "lastdown" }),
        })
    }
}

impl Service {
    fn from_row(row: &Row) -> Self {
        Self {
            check: row.id("dcheckid"),
            kind: row.int("type"),
            ip: row.text("ip").to_owned(),
            port: row.int("port"),
            value: row.text("value").to_owned(),
        }
    }

    fn is_at(&self, addresses: &AddressRanges) -> bool {
        self.ip.parse().is_ok_and(|ip| addresses.contains(ip))
    }
}

impl Subject for DeviceEvent {
    fn meets(&self, condition: &Condition) -> bool {
        let Self { device, event } = self;
        let is_service = matches!(event.origin, EventOrigin::DiscoveredService(_));
        let service = device.services.first().filter(|_| is_service);
        let of_service = |test: &dyn Fn(&Service) -> bool| service.is_some_and(test);
        match condition.kind {
            Kind::Address => {
                let addresses = AddressRanges::parse(&condition.value);
                let inside =
                    |one: &Service| addresses.as_ref().is_ok_and(|addresses| one.is_at(addresses));
                !device.services.is_empty() && condition.equal(device.services.iter().any(inside))
            }
            Kind::ServiceType => {
                of_service(&|service| condition.equal(service.kind == condition.number()))
            }
            Kind::ServicePort => of_service(&|service| {
                let ranges = numbers(&condition.value, u16::MAX).unwrap_or_default();
                condition.equal(ranges.iter().any(|range| {
                    u16::try_from(service.port).is_ok_and(|port| range.contains(&port))
                }))
            }),
            Kind::DiscoveryState => condition.equal(event.value == condition.number()),
            Kind::Uptime => {
                let age = i64::from(event.at.clock) - device.since;
                let limit = condition.number();
                if condition.operator == Op::AtLeast { age >= limit } else { age <= limit }
            }
            Kind::ReceivedValue => of_service(&|service| condition.compare(&service.value)),
            Kind::DiscoveryRule => condition.is_id(device.rule),
            Kind::DiscoveryCheck => of_service(&|service| condition.is_id(service.check)),
            Kind::DiscoveryObject => event.origin.object().is(condition.number()),
            kind => of_both(kind, condition),
        }
    }
}

impl Subject for Agent {
    fn meets(&self, condition: &Condition) -> bool {
        match condition.kind {
            Kind::AgentName => condition.compare(&self.name),
            Kind::AgentMetadata => condition.compare(&self.metadata),
            kind => of_both(kind, condition),
        }
    }
}

/// Results of both kinds can come through a proxy; there are none that they could have come through.
fn of_both(kind: Kind, condition: &Condition) -> bool {
    kind == Kind::Proxy && condition.operator == Op::NotEquals
}
