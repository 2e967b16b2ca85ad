//! One check of an item that is no agent's, by the item's type.

use std::sync::Arc;
use std::time::Duration;

use config::snapshot::{Host, Interface, Item, ItemType};

use super::agent::{self, AgentReply};
use super::{external, http, ipmi, jmx, odbc, script, simple, snmp, ssh, telnet, web};
use crate::status::Shared;

/// What to check, and how long it may take.
#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) host: &'a Arc<Host>,
    pub(crate) item: &'a Item,
    /// The interface that the item names.
    pub(crate) interface: Option<&'a Interface>,
    pub(crate) timeout: Duration,
}

/// Checks once.
pub(crate) async fn run(check: &Check<'_>) -> AgentReply {
    match check.item.kind {
        ItemType::Agent => match check.interface {
            Some(interface) => {
                let (shared, host, key) = (check.shared, check.host, &check.item.key);
                agent::get_once(shared, host, interface, key, check.timeout).await
            }
            None => AgentReply::ConfigError(String::from("The item has no interface to check.")),
        },
        ItemType::Simple => simple::check(check).await,
        ItemType::External => external::check(check).await,
        ItemType::HttpAgent => http::check(check).await,
        ItemType::Web => web::check(check).await,
        ItemType::Ssh => ssh::check(check).await,
        ItemType::Telnet => telnet::check(check).await,
        ItemType::Database => odbc::check(check).await,
        ItemType::Jmx => jmx::check(check).await,
        ItemType::Script => script::check(check).await,
        ItemType::Ipmi => ipmi::check_once(check).await,
        ItemType::Browser => script::browse(check).await,
        ItemType::Snmp => snmp::check_once(check).await,
        _ => AgentReply::NotSupported(String::from(
            "Items of this type are not checked by this server.",
        )),
    }
}
