//! One address: all that a rule wants to know of it, one check after the other.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::discovery::{CheckKind, DiscoveryCheck, DiscoveryRule};
use config::snapshot::{Host, Interface, Item, ItemExtra, ItemType};
use model::{DiscoveryResult, HostId, InterfaceId, SeenAddress, SeenService};
use stdx::queue::Sender;
use tokio::sync::Semaphore;

use crate::checks::check::{Check, Shared};
use crate::checks::reply::CheckReply;
use crate::checks::snmp::Asker;
use crate::engines::Engines;

/// Addresses whose names are looked up at one time: each has a thread meanwhile.
const NAMES_MAX: usize = 16;
/// The resolver may take so long.
const NAME_TIMEOUT: Duration = Duration::from_secs(5);
/// Echo requests to one address, their distance and how long each may take, in milliseconds.
const PING: &str = "icmpping[,3,200,,500";
/// Bytes that are kept of what an agent or a device answers.
const VALUE_BYTES_MAX: usize = 2_048;

/// What the looks share.
pub(super) struct Looker {
    shared: Arc<Shared>,
    engines: Arc<Engines>,
    discovered: Option<Sender<DiscoveryResult>>,
    pub(super) asker: Asker,
    /// Stands for all hosts that are looked for.
    host: Arc<Host>,
    names: Semaphore,
}

impl Looker {
    pub(super) fn new(discovery: super::Discoverer, asker: Asker) -> Self {
        let host = Arc::new(Host::unconfigured(HostId(0)));
        let super::Discoverer { shared, engines, discovered } = discovery;
        Self { shared, engines, discovered, asker, host, names: Semaphore::new(NAMES_MAX) }
    }

    /// Waits until who keeps what was found has room.
    pub(super) async fn tell(&self, result: DiscoveryResult) {
        if let Some(discovered) = &self.discovered {
            // Closed only while the server stops.
            let _ = discovered.send(result).await;
        }
    }

    /// Looks at one address and tells what is there.
    pub(super) async fn look(&self, rule: &DiscoveryRule, ip: IpAddr) {
        let mut services = Vec::new();
        for check in &rule.checks {
            if matches!(check.kind, CheckKind::Ping(_)) {
                services.push(self.check(check, ip, 0).await);
            }
            for port in check.ports.iter().cloned().flatten() {
                services.push(self.check(check, ip, port).await);
            }
        }
        let up = services.iter().any(|service| service.up);
        let dns = if up { self.name_of(ip).await } else { String::new() };
        let at = self.shared.context.now();
        self.tell(DiscoveryResult::Address(SeenAddress { rule: rule.id, ip, dns, at, services }))
            .await;
    }

    async fn name_of(&self, ip: IpAddr) -> String {
        // Closed by nobody: there is always a permit in the end.
        let _room = self.names.acquire().await;
        let asked = tokio::task::spawn_blocking(move || stdx::sys::name_of(ip));
        let name = tokio::time::timeout(NAME_TIMEOUT, asked).await;
        name.ok().and_then(Result::ok).flatten().unwrap_or_default()
    }

    async fn check(&self, check: &DiscoveryCheck, ip: IpAddr, port: u16) -> SeenService {
        let value = match &check.kind {
            CheckKind::Agent(key) => self.ask(ItemType::Agent, key, ip, port).await,
            CheckKind::Snmp(snmp, oid) => {
                let timeout = self.timeout(&item(ItemType::Snmp, oid));
                let address = SocketAddr::new(ip, port);
                value(self.asker.ask(address, snmp, oid, timeout).await)
            }
            CheckKind::Service(name) => {
                self.is_there(&format!("net.tcp.service[{name},,{port}]"), ip).await
            }
            CheckKind::Ping(redirect) => {
                let options = if *redirect { ",allow_redirect]" } else { "]" };
                self.is_there(&format!("{PING}{options}"), ip).await
            }
        };
        let up = value.is_some();
        SeenService { check: check.id, port, up, value: value.unwrap_or_default() }
    }

    /// A simple check that says 1 when something is there.
    async fn is_there(&self, key: &str, ip: IpAddr) -> Option<String> {
        let said = self.ask(ItemType::Simple, key, ip, 0).await;
        said.filter(|said| said == "1").map(|_| String::new())
    }

    async fn ask(&self, kind: ItemType, key: &str, ip: IpAddr, port: u16) -> Option<String> {
        let item = item(kind, key);
        let interface = Interface {
            id: InterfaceId(0),
            kind: 1,
            main: true,
            use_ip: true,
            ip: ip.to_string().into(),
            dns: "".into(),
            port,
            snmp: None,
            ipmi: None,
        };
        let check = Check {
            shared: &self.shared,
            host: &self.host,
            item: &item,
            interface: Some(&interface),
            timeout: self.timeout(&item),
        };
        value(self.engines.check(&check).await)
    }

    fn timeout(&self, item: &Item) -> Duration {
        self.shared.context.timeout(&self.shared.context.snapshots.load(), item)
    }
}

fn item(kind: ItemType, key: &str) -> Item {
    Item::unconfigured(HostId(0), kind, key.into(), ItemExtra::default())
}

/// The value of a check that found something.
fn value(reply: CheckReply) -> Option<String> {
    let CheckReply::Value(mut text) = reply else { return None };
    text.truncate(text.floor_char_boundary(VALUE_BYTES_MAX));
    Some(text)
}
