//! All parameters of `zabbix_agentd.conf`: what each sets, and its row in the manual.

use std::net::IpAddr;
use std::time::Duration;

use collect::tls;
use config::snapshot::Tls;
use wire::peers::PeerList;

use super::draft::Draft;
use super::lines::Line;
use crate::commands::{CommandError, SystemRun};
use crate::config::Detail;

/// A name of the file, with its row in the manual.
pub(super) struct Parameter {
    name: &'static str,
    default: &'static str,
    about: &'static str,
    kind: Kind,
}

/// What a value does.
enum Kind {
    Sets(fn(&mut Draft, &str) -> Result<(), String>),
    /// Nothing: the agent works without it. The line is a warning.
    NoEffect,
    /// Values would be missing: any value but the default is an error.
    Refused,
    /// Read with the lines.
    Include,
}

use Kind::{Include, NoEffect, Refused, Sets};

const fn parameter(
    name: &'static str,
    default: &'static str,
    about: &'static str,
    kind: Kind,
) -> Parameter {
    Parameter { name, default, about, kind }
}

/// All parameters of 7.0 on Unix, in alphabetical order.
static PARAMETERS: &[Parameter] = &[
    parameter(
        "Alias",
        "",
        "Other name of a key: `name:key`, or `name[*]:key[*]` for any parameters. Can be repeated.",
        Sets(|draft, text| draft.keys().aliases.add(text).map_err(|error| error.to_string())),
    ),
    parameter(
        "AllowKey",
        "",
        "Allows item keys that match a pattern with `*`. Of all `AllowKey` and `DenyKey` the first match applies.",
        Sets(|draft, text| draft.rules().add(true, text).map_err(|error| error.to_string())),
    ),
    parameter(
        "AllowRoot",
        "0",
        "1: an agent that root starts stays root. 0: it becomes `User`.",
        Sets(|draft, text| flag(text).map(|yes| draft.allow_root = yes)),
    ),
    parameter(
        "BufferSend",
        "5",
        "Longest time that a value of an active check waits for others: 1 to 3600 s.",
        Sets(|draft, text| {
            seconds(text, 1, 3600).map(|time| draft.agent.active.buffer_send = time)
        }),
    ),
    parameter(
        "BufferSize",
        "1000",
        "Values of active checks that are kept while a server is unavailable: 2 to 65535. Half of them are sent at once.",
        Sets(|draft, text| {
            count(text, 2, 65_535).map(|n| draft.agent.active.buffer_values_max = n)
        }),
    ),
    parameter(
        "DebugLevel",
        "3",
        "0 to 2: errors. 3: errors, warnings and information. 4 and 5: more for the search of faults.",
        Sets(|draft, text| {
            let levels = ["error", "error", "error", "info", "debug", "trace"];
            count(text, 0, levels.len() - 1).map(|level| draft.log = levels[level])
        }),
    ),
    parameter(
        "DenyKey",
        "`system.run[*]` after all rules",
        "Denies item keys that match a pattern with `*`.",
        Sets(|draft, text| draft.rules().add(false, text).map_err(|error| error.to_string())),
    ),
    parameter(
        "EnableRemoteCommands",
        "0",
        "Deprecated. 1 is `AllowKey=system.run[*]`, 0 is `DenyKey=system.run[*]`.",
        Sets(|draft, text| {
            let allow = flag(text)?;
            draft.rules().add(allow, "system.run[*]").map_err(|error| error.to_string())
        }),
    ),
    parameter(
        "HeartbeatFrequency",
        "60",
        "How often the agent sends a heartbeat to each server of active checks: 1 to 3600 s; 0: never.",
        Sets(|draft, text| seconds(text, 0, 3600).map(|time| draft.agent.active.heartbeat = time)),
    ),
    parameter(
        "HostInterface",
        "",
        "Address or name at which an autoregistered host is polled, up to 255 bytes.",
        Sets(|draft, text| {
            draft.agent.active.interface = Detail::Text(text.to_owned());
            Ok(())
        }),
    ),
    parameter(
        "HostInterfaceItem",
        "",
        "Item key whose value is used as `HostInterface`, read for each request.",
        Sets(|draft, text| key(text).map(|key| draft.interface_item = key)),
    ),
    parameter(
        "HostMetadata",
        "",
        "Text for autoregistration, up to 2034 bytes.",
        Sets(|draft, text| {
            draft.agent.active.metadata = Detail::Text(text.to_owned());
            Ok(())
        }),
    ),
    parameter(
        "HostMetadataItem",
        "",
        "Item key whose value is used as `HostMetadata`, read for each request.",
        Sets(|draft, text| key(text).map(|key| draft.metadata_item = key)),
    ),
    parameter(
        "Hostname",
        "value of `HostnameItem`",
        "Technical name of the host on the server. A list with commas: active checks of several hosts.",
        Sets(|draft, text| list(text, host_name).map(|names| draft.agent.hostnames = names)),
    ),
    parameter(
        "HostnameItem",
        "`system.hostname`",
        "Item key whose value at the start is used as `Hostname`.",
        Sets(|draft, text| key(text).map(|key| draft.hostname_item = key)),
    ),
    parameter(
        "Include",
        "",
        "A file, all files of a folder, or files such as `/etc/zabbix/zabbix_agentd.d/*.conf`. Can be repeated.",
        Include,
    ),
    parameter("ListenBacklog", "", "The backlog has up to 4096 connections.", NoEffect),
    parameter(
        "ListenIP",
        "all addresses",
        "Addresses on which the agent listens, separated by commas.",
        Sets(|draft, text| list(text, ip).map(|addresses| draft.listen.addresses = addresses)),
    ),
    parameter(
        "ListenPort",
        "10050",
        "Port on which the agent listens: 1024 to 32767.",
        Sets(|draft, text| {
            let port = number(text, 1024, 32_767)?;
            draft.listen.port = u16::try_from(port).map_err(|error| error.to_string())?;
            Ok(())
        }),
    ),
    parameter("LoadModule", "", "Modules for the agent are not supported.", Refused),
    parameter("LoadModulePath", "", "Modules for the agent are not supported.", NoEffect),
    parameter(
        "LogFile",
        "",
        "Log lines go to standard error, which systemd stores in the journal.",
        NoEffect,
    ),
    parameter("LogFileSize", "", "As `LogFile`.", NoEffect),
    parameter(
        "LogRemoteCommands",
        "0",
        "1: commands of `system.run` are logged.",
        Sets(|draft, text| {
            let logged = flag(text)?;
            draft.keys().commands.system_run =
                if logged { SystemRun::Logged } else { SystemRun::On };
            Ok(())
        }),
    ),
    parameter("LogType", "", "As `LogFile`.", NoEffect),
    parameter("MaxLinesPerSecond", "", "The agent does not follow log files.", NoEffect),
    parameter(
        "PidFile",
        "",
        "The agent stays in the foreground, where systemd knows its process.",
        NoEffect,
    ),
    parameter(
        "RefreshActiveChecks",
        "5",
        "How often the list of active checks is requested: 1 to 86400 s.",
        Sets(|draft, text| seconds(text, 1, 86_400).map(|time| draft.agent.active.refresh = time)),
    ),
    parameter(
        "Server",
        "",
        "Required, unless `StartAgents` is 0. Addresses, networks and DNS names that may query the agent, separated by commas.",
        Sets(|draft, text| {
            let list = PeerList::parse(text).map_err(|error| error.to_string())?;
            draft.agent.allowed = list;
            Ok(())
        }),
    ),
    parameter(
        "ServerActive",
        "",
        "Servers and proxies for active checks, separated by commas: `name`, `address:port`, `[IPv6]:port`; nodes of a cluster are separated by `;`.",
        Sets(|draft, text| {
            super::clusters::parse(text).map(|all| draft.agent.active.servers = all)
        }),
    ),
    parameter(
        "SourceIP",
        "",
        "Local address of connections to servers.",
        Sets(|draft, text| ip(text).map(|address| draft.agent.active.source = Some(address))),
    ),
    parameter(
        "StartAgents",
        "",
        "0: the agent does not listen. Other values have no effect: up to 100 connections are served at once.",
        Sets(|draft, text| number(text, 0, 100).map(|count| draft.listen.is_on = count > 0)),
    ),
    parameter(
        "Timeout",
        "3",
        "Time limit of a check whose item has none, of a connection, and of an exchange with a server: 1 to 30 s.",
        Sets(|draft, text| seconds(text, 1, 30).map(|time| draft.agent.timeout = time)),
    ),
    parameter(
        "TLSAccept",
        "`unencrypted`",
        "Kinds of connections that are accepted, separated by commas: `unencrypted`, `psk`, `cert`.",
        Sets(|draft, text| {
            let kinds = text.split(',').map(tls_kind).collect::<Result<Vec<u8>, _>>()?;
            draft.tls().rule.accept = kinds.into_iter().fold(0, |all, kind| all | kind);
            Ok(())
        }),
    ),
    parameter(
        "TLSCAFile",
        "",
        "PEM file with certificates of authorities.",
        Sets(|draft, text| {
            draft.tls().files.ca_file = file(text);
            Ok(())
        }),
    ),
    parameter(
        "TLSCertFile",
        "",
        "PEM file with the certificate of the agent, followed by intermediate ones.",
        Sets(|draft, text| {
            draft.tls().files.cert_file = file(text);
            Ok(())
        }),
    ),
    parameter("TLSCipherAll", "", CIPHERS, NoEffect),
    parameter("TLSCipherAll13", "", CIPHERS, NoEffect),
    parameter("TLSCipherCert", "", CIPHERS, NoEffect),
    parameter("TLSCipherCert13", "", CIPHERS, NoEffect),
    parameter("TLSCipherPSK", "", CIPHERS, NoEffect),
    parameter("TLSCipherPSK13", "", CIPHERS, NoEffect),
    parameter(
        "TLSConnect",
        "`unencrypted`",
        "How the agent connects to servers: `unencrypted`, `psk` or `cert`.",
        Sets(|draft, text| tls_kind(text).map(|kind| draft.tls().rule.connect = kind)),
    ),
    parameter(
        "TLSCRLFile",
        "",
        "PEM file with lists of revoked certificates.",
        Sets(|draft, text| {
            draft.tls().files.crl_file = file(text);
            Ok(())
        }),
    ),
    parameter(
        "TLSKeyFile",
        "",
        "PEM file with the private key of the agent.",
        Sets(|draft, text| {
            draft.tls().files.key_file = file(text);
            Ok(())
        }),
    ),
    parameter(
        "TLSPSKFile",
        "",
        "File with the PSK: 32 to 512 hexadecimal digits.",
        Sets(|draft, text| {
            draft.psk_file = file(text);
            Ok(())
        }),
    ),
    parameter(
        "TLSPSKIdentity",
        "",
        "Identity of the PSK.",
        Sets(|draft, text| {
            draft.tls().rule = Tls { psk_identity: text.into(), ..draft.tls().rule.clone() };
            Ok(())
        }),
    ),
    parameter(
        "TLSServerCertIssuer",
        "",
        "Required issuer of certificates of servers and proxies, such as `CN=CA,O=Example`.",
        Sets(|draft, text| {
            draft.tls().rule.issuer = text.into();
            Ok(())
        }),
    ),
    parameter(
        "TLSServerCertSubject",
        "",
        "Required subject of certificates of servers and proxies.",
        Sets(|draft, text| {
            draft.tls().rule.subject = text.into();
            Ok(())
        }),
    ),
    parameter(
        "UnsafeUserParameters",
        "0",
        "1: parameters of `UserParameter` may have all signs, also those that a shell executes.",
        Sets(|draft, text| flag(text).map(|yes| draft.keys().commands.is_unsafe = yes)),
    ),
    parameter(
        "User",
        "`zabbix`",
        "User that the agent becomes if root starts it, with the groups of that user in `/etc/group`.",
        Sets(|draft, text| {
            text.clone_into(&mut draft.user);
            Ok(())
        }),
    ),
    parameter(
        "UserParameter",
        "",
        "Key whose value is the output of a command: `key,command`, or `key[*],command` with `$1` to `$9`. Can be repeated.",
        Sets(|draft, text| {
            let name = text.split([',', '[']).next().unwrap_or_default();
            if crate::keys::exists(name) {
                return Err(CommandError::Exists(name.to_owned()).to_string());
            }
            draft.keys().commands.add(text).map_err(|error| error.to_string())
        }),
    ),
    parameter(
        "UserParameterDir",
        "the agent's own",
        "Working folder of commands of `UserParameter`.",
        Sets(|draft, text| {
            draft.keys().commands.folder = file(text);
            Ok(())
        }),
    ),
];

const CIPHERS: &str = "The cipher suites are those of the server's connections.";

/// The parameter of that name.
pub(super) fn find(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name == name)
}

impl Parameter {
    pub(super) fn apply(&self, draft: &mut Draft, line: &Line) -> Result<(), String> {
        match self.kind {
            Sets(set) => set(draft, &line.value),
            NoEffect => {
                let (file, number) = (line.place.file.display(), line.place.number);
                let about = self.about.replace('`', "");
                draft.warnings.push(format!(
                    "{file}, line {number}: parameter {} has no effect: {about}",
                    self.name
                ));
                Ok(())
            }
            Refused => Err(self.about.to_owned()),
            Include => Ok(()),
        }
    }
}

/// The table of all parameters in Markdown, for the manual.
pub fn table() -> String {
    let mut table = String::from("| Parameter | Default | |\n| --- | --- | --- |\n");
    for parameter in PARAMETERS {
        let about = match parameter.kind {
            Sets(_) | Include => String::from(parameter.about),
            NoEffect => format!("No effect. {}", parameter.about),
            Refused => format!("An error. {}", parameter.about),
        };
        table += &format!("| `{}` | {} | {about} |\n", parameter.name, parameter.default);
    }
    table
}

fn number(text: &str, min: u64, max: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("\"{text}\" is not a number from {min} to {max}"))
}

fn count(text: &str, min: usize, max: usize) -> Result<usize, String> {
    let number = number(text, min as u64, max as u64)?;
    usize::try_from(number).map_err(|error| error.to_string())
}

fn seconds(text: &str, min: u64, max: u64) -> Result<Duration, String> {
    number(text, min, max).map(Duration::from_secs)
}

fn flag(text: &str) -> Result<bool, String> {
    number(text, 0, 1).map(|number| number == 1)
}

fn ip(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not an IP address"))
}

/// A path; empty = none.
fn file(text: &str) -> Option<std::path::PathBuf> {
    Some(text).filter(|text| !text.is_empty()).map(std::path::PathBuf::from)
}

/// An item key; empty = none.
fn key(text: &str) -> Result<Option<String>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match eval::key::ItemKey::parse(text) {
        Ok(_) => Ok(Some(text.to_owned())),
        Err(error) => Err(error.to_string()),
    }
}

/// Entries that are separated by commas and differ.
pub(super) fn list<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut seen = Vec::new();
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            if seen.contains(&entry) {
                return Err(format!("\"{entry}\" is listed twice"));
            }
            seen.push(entry);
            parse(entry)
        })
        .collect()
}

fn host_name(text: &str) -> Result<String, String> {
    match wire::agent::active::wrong_name(text) {
        Some(error) => Err(error),
        None if text.len() > 128 => Err(format!("\"{text}\" is longer than 128 characters")),
        None => Ok(text.to_owned()),
    }
}

fn tls_kind(text: &str) -> Result<u8, String> {
    match text.trim() {
        "unencrypted" => Ok(tls::NONE),
        "psk" => Ok(tls::PSK),
        "cert" => Ok(tls::CERT),
        other => Err(format!("\"{other}\" is none of unencrypted, psk and cert")),
    }
}
