//! Which engine checks items of which type, in one table.

use std::sync::Arc;

use collect::counters::Process;
use config::snapshot::{Item, ItemType};
use futures_util::future::LocalBoxFuture;

use crate::checks::check::{Check, Shared};
use crate::checks::host_keys::HostKeys;
use crate::checks::icmp::Pinger;
use crate::checks::odbc::Helpers;
use crate::checks::reply::CheckReply;
use crate::checks::simple::Simple;
use crate::checks::{
    agent, external, http, ipmi, jmx, odbc, script, simple, snmp, ssh, statistics, telnet, web,
};
use crate::internal;
use crate::schedule::{Group, Waits};
use crate::sides::{Internals, Scripts};

/// Who checks items of one type.
pub(crate) struct Engine {
    kind: ItemType,
    /// The name under which its time is counted.
    pub(crate) process: Process,
    /// What an item waits for when it is due.
    waits: fn(&Item) -> Waits,
    check: for<'a> fn(&'a Engines, &'a Check<'a>) -> LocalBoxFuture<'a, CheckReply>,
}

static ENGINES: [Engine; 14] = [
    Engine {
        kind: ItemType::Agent,
        process: Process::Poller,
        waits: |_| Waits::Interface,
        check: |_, check| Box::pin(agent::check(check)),
    },
    Engine {
        kind: ItemType::Snmp,
        process: Process::Snmp,
        waits: |_| Waits::Interface,
        check: |_, check| Box::pin(snmp::check_once(check)),
    },
    Engine {
        kind: ItemType::Simple,
        process: Process::Poller,
        waits: simple::waits,
        check: |own, check| Box::pin(own.simple.check(check)),
    },
    Engine {
        kind: ItemType::Internal,
        process: Process::Internal,
        waits: statistics::waits,
        check: |own, check| Box::pin(internal::check(&*own.internals, check)),
    },
    Engine {
        kind: ItemType::HttpAgent,
        process: Process::HttpAgent,
        waits: |_| Waits::Group(Group::Http),
        check: |_, check| Box::pin(http::check(check)),
    },
    Engine {
        kind: ItemType::Web,
        process: Process::Http,
        waits: web::waits,
        check: |_, check| Box::pin(web::check(check)),
    },
    Engine {
        kind: ItemType::External,
        process: Process::Poller,
        waits: |_| Waits::Group(Group::External),
        check: |_, check| Box::pin(external::check(check)),
    },
    Engine {
        kind: ItemType::Ssh,
        process: Process::Poller,
        waits: |_| Waits::Group(Group::Ssh),
        check: |own, check| Box::pin(ssh::check(&own.host_keys, check)),
    },
    Engine {
        kind: ItemType::Telnet,
        process: Process::Poller,
        waits: |_| Waits::Group(Group::Telnet),
        check: |_, check| Box::pin(telnet::check(check)),
    },
    Engine {
        kind: ItemType::Database,
        process: Process::Odbc,
        waits: |_| Waits::Group(Group::Database),
        check: |own, check| Box::pin(odbc::check(&own.odbc, check)),
    },
    Engine {
        kind: ItemType::Jmx,
        process: Process::Java,
        waits: |_| Waits::Interface,
        check: |_, check| Box::pin(jmx::check(check)),
    },
    Engine {
        kind: ItemType::Ipmi,
        process: Process::Ipmi,
        waits: |_| Waits::Interface,
        check: |_, check| Box::pin(ipmi::check_once(check)),
    },
    Engine {
        kind: ItemType::Script,
        process: Process::Poller,
        waits: |_| Waits::Group(Group::Script),
        check: |own, check| Box::pin(script::check(&*own.scripts, check)),
    },
    Engine {
        kind: ItemType::Browser,
        process: Process::Browser,
        waits: |_| Waits::Group(Group::Browser),
        check: |own, check| Box::pin(script::browse(&*own.scripts, check)),
    },
];

async fn not_checked() -> CheckReply {
    CheckReply::NotSupported(String::from("Items of this type are not checked by this server."))
}

/// The engine of a type; `None` = items of the type are not checked.
pub(crate) fn engine(kind: ItemType) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.kind == kind)
}

/// What an item waits for when it is due.
pub(crate) fn waits(item: &Item) -> Waits {
    engine(item.kind).map_or(Waits::Interface, |engine| (engine.waits)(item))
}

/// What engines keep from check to check.
pub(crate) struct Engines {
    pub(crate) simple: Simple,
    odbc: Helpers,
    pub(crate) host_keys: Arc<HostKeys>,
    scripts: Arc<dyn Scripts>,
    pub(crate) internals: Arc<dyn Internals>,
}

impl Engines {
    /// Engines that have checked nothing yet. Call it within the server's runtime.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        scripts: Arc<dyn Scripts>,
        internals: Arc<dyn Internals>,
    ) -> Self {
        let config = &shared.config;
        let runtime = tokio::runtime::Handle::current();
        Self {
            simple: Simple::new(shared),
            odbc: Helpers::new(config.odbc_program.clone(), runtime),
            host_keys: Arc::new(HostKeys::new(
                config.ssh_host_keys,
                config.ssh_known_hosts.clone(),
            )),
            scripts,
            internals,
        }
    }

    pub(crate) fn pinger(&self) -> &Pinger {
        &self.simple.pinger
    }

    /// Checks once.
    pub(crate) async fn check(&self, check: &Check<'_>) -> CheckReply {
        match engine(check.item.kind) {
            Some(engine) => (engine.check)(self, check).await,
            None => not_checked().await,
        }
    }
}
