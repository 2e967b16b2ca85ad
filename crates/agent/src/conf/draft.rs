//! What parameters are collected in until the file is complete.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use collect::tls;

use super::Settings;
use crate::active::{INTERFACE_BYTES_MAX, METADATA_BYTES_MAX};
use crate::commands::SystemRun;
use crate::config::{AgentConfig, AgentTls, Detail, KeyConfig};
use crate::rules::KeyRules;

/// Item of the host name of 7.0 if the file has none.
const HOSTNAME_ITEM: &str = "system.hostname";
/// User of 7.0 that an agent becomes.
const USER: &str = "zabbix";
/// Largest file with a PSK: 512 digits and a line end.
const PSK_FILE_BYTES_MAX: u64 = 1024;

/// Parameters so far.
pub(super) struct Draft {
    pub(super) agent: AgentConfig,
    pub(super) listen: Listen,
    pub(super) hostname_item: Option<String>,
    pub(super) metadata_item: Option<String>,
    pub(super) interface_item: Option<String>,
    pub(super) psk_file: Option<PathBuf>,
    pub(super) log: &'static str,
    pub(super) user: String,
    pub(super) allow_root: bool,
    pub(super) warnings: Vec<String>,
}

/// Where to listen.
pub(super) struct Listen {
    /// Empty = on all addresses.
    pub(super) addresses: Vec<IpAddr>,
    pub(super) port: u16,
    /// `StartAgents` is not 0.
    pub(super) is_on: bool,
}

impl Default for Draft {
    fn default() -> Self {
        let mut agent = AgentConfig { hostnames: Vec::new(), ..AgentConfig::default() };
        agent.allowed = wire::peers::PeerList::default();
        agent.keys.commands.system_run = SystemRun::On;
        Self {
            agent,
            listen: Listen { addresses: Vec::new(), port: wire::agent::PORT, is_on: true },
            hostname_item: None,
            metadata_item: None,
            interface_item: None,
            psk_file: None,
            log: "info",
            user: String::from(USER),
            allow_root: false,
            warnings: Vec::new(),
        }
    }
}

impl Draft {
    pub(super) fn keys(&mut self) -> &mut KeyConfig {
        &mut self.agent.keys
    }

    pub(super) fn rules(&mut self) -> &mut KeyRules {
        &mut self.agent.keys.rules
    }

    pub(super) fn tls(&mut self) -> &mut AgentTls {
        &mut self.agent.tls
    }

    /// Fits the parameters together.
    pub(super) fn finish(mut self) -> Result<Settings, String> {
        self.agent.keys.rules.check().map_err(|error| error.to_string())?;
        self.agent.listen = self.listen.addresses();
        if self.listen.is_on && self.agent.allowed.is_empty() {
            let without = "or StartAgents=0 for an agent with active checks only";
            return Err(format!("parameter Server is required, {without}"));
        }
        if let Some(file) = &self.psk_file {
            self.agent.tls.rule.psk = read_psk(file)?.into();
        }
        let hostname_item = match (self.agent.hostnames.is_empty(), self.hostname_item.take()) {
            (true, item) => Some(item.unwrap_or_else(|| String::from(HOSTNAME_ITEM))),
            (false, Some(_)) => {
                self.warnings.push(String::from("Hostname is used, HostnameItem has no effect"));
                None
            }
            (false, None) => None,
        };
        let (metadata, interface) = (self.metadata_item.take(), self.interface_item.take());
        let active = &mut self.agent.active;
        for (name, detail, item, bytes_max) in [
            ("HostMetadata", &mut active.metadata, metadata, METADATA_BYTES_MAX),
            ("HostInterface", &mut active.interface, interface, INTERFACE_BYTES_MAX),
        ] {
            match (&*detail, item) {
                (Detail::Text(text), _) if text.len() > bytes_max => {
                    return Err(format!("parameter {name}: longer than {bytes_max} bytes"));
                }
                (Detail::Text(text), Some(_)) if !text.is_empty() => {
                    self.warnings.push(format!("{name} is used, {name}Item has no effect"));
                }
                (_, Some(item)) => *detail = Detail::Item(item),
                (_, None) => {}
            }
        }
        let user = (!self.allow_root).then_some(self.user);
        Ok(Settings {
            agent: self.agent,
            hostname_item,
            log: self.log,
            user,
            warnings: self.warnings,
        })
    }
}

impl Listen {
    fn addresses(&self) -> Vec<SocketAddr> {
        if !self.is_on {
            return Vec::new();
        }
        // The address of IPv6 accepts connections over IPv4, too.
        let has_ipv6 = || std::path::Path::new("/proc/net/if_inet6").exists();
        let any = || match has_ipv6() {
            true => vec![IpAddr::V6(Ipv6Addr::UNSPECIFIED)],
            false => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        };
        let all = if self.addresses.is_empty() { any() } else { self.addresses.clone() };
        all.into_iter().map(|address| SocketAddr::new(address, self.port)).collect()
    }
}

/// The digits of a PSK file.
fn read_psk(path: &std::path::Path) -> Result<String, String> {
    use std::io::Read as _;

    let cannot = |error| format!("parameter TLSPSKFile: cannot read {}: {error}", path.display());
    let file = std::fs::File::open(path).map_err(cannot)?;
    let mut text = String::new();
    file.take(PSK_FILE_BYTES_MAX).read_to_string(&mut text).map_err(cannot)?;
    let digits = text.trim();
    if digits.is_empty() {
        let error = tls::TlsError::BadPsk;
        return Err(format!("parameter TLSPSKFile: {}: {error}", path.display()));
    }
    Ok(digits.to_owned())
}
