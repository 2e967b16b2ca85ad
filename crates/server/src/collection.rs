//! The parameters of listeners and pollers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use collect::tls::TlsConfig;
use listen::ListenConfig;
use poll::{HostKeyPolicy, PollConfig, WebFiles};

use crate::params::Values;

/// Certificates of agents' connections.
pub(crate) fn tls_config(values: &Values) -> TlsConfig {
    TlsConfig {
        ca_file: values.path("tls-ca-file"),
        crl_file: None,
        cert_file: values.path("tls-cert-file"),
        key_file: values.path("tls-key-file"),
    }
}

pub(crate) fn listen_config(values: &Values) -> anyhow::Result<ListenConfig> {
    Ok(ListenConfig {
        listen: vec![values.address("trapper")?],
        stats_allowed: values.get("stats-allowed").to_owned(),
        snmp_traps: match values.get("snmp-traps") {
            "" => None,
            _ => Some(values.address("snmp-traps")?),
        },
        snmp_trap_file: values.path("snmp-trap-file"),
        ..ListenConfig::default()
    })
}

pub(crate) fn poll_config(values: &Values, data: &Path) -> anyhow::Result<PollConfig> {
    Ok(PollConfig {
        external_scripts: values
            .path("external-scripts")
            .unwrap_or_else(|| data.join("externalscripts")),
        web: WebFiles {
            certificates: values
                .path("ssl-cert-location")
                .unwrap_or_else(|| data.join("ssl/certs")),
            keys: values.path("ssl-key-location").unwrap_or_else(|| data.join("ssl/keys")),
            authorities: values.path("ssl-ca-location"),
        },
        odbc_program: std::env::current_exe().map_or_else(
            |_| PathBuf::from("vedette-odbc"),
            |own| own.with_file_name("vedette-odbc"),
        ),
        java_gateway: values.get("java-gateway").to_owned(),
        ssh_keys: values.path("ssh-keys").unwrap_or_else(|| data.join("ssh-keys")),
        ssh_host_keys: HostKeyPolicy::from_name(values.get("ssh-host-keys"))
            .context("--ssh-host-keys must be first, known or ignore")?,
        ssh_known_hosts: values
            .path("ssh-known-hosts")
            .unwrap_or_else(|| data.join("ssh-known-hosts")),
        ..PollConfig::default()
    })
}
