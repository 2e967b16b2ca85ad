//! Every parameter once: flag, environment variable, member of `vedette.toml`, default, help.
//!
//! A flag wins over the environment, that over the file, that over the default. The page
//! `docs/parameters.md` is this table; a test holds it to that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Arg, ArgMatches, Command};

/// A parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    /// Flag without `--`; with `_` for `-` the member in the file.
    pub(crate) name: &'static str,
    /// What stands for the value in help texts.
    pub(crate) value: &'static str,
    /// Default; empty = none.
    pub(crate) default: &'static str,
    /// One sentence for people.
    pub(crate) help: &'static str,
}

pub(crate) const fn param(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    help: &'static str,
) -> Param {
    Param { name, value, default, help }
}

/// Parameters of `vedette server`.
pub(crate) const SERVER: &[Param] = &[
    param("data", "DIR", "var", "Folder for configuration and history; created if missing."),
    param("http", "ADDR", "127.0.0.1:8080", "Address of the UI and the API."),
    param(
        "http-tls-cert",
        "FILE",
        "",
        "Certificate (chain) in PEM format; enables HTTPS for the UI and the API.",
    ),
    param("http-tls-key", "FILE", "", "Private key of this certificate in PEM format."),
    param(
        "http-plain",
        "yes|no",
        "no",
        "Allow plain HTTP on an address that other machines can reach (behind a reverse proxy \
         with HTTPS).",
    ),
    param(
        "http-proxies",
        "LIST",
        "",
        "Addresses and networks of reverse proxies in front of the UI and the API. Their header \
         X-Forwarded-For identifies the client for limits and lock-outs.",
    ),
    param(
        "history-service",
        "ADDR",
        "",
        "Address of the history service over gRPC, such as 127.0.0.1:8081, with the certificate \
         of the UI and the API; empty: only HTTP.",
    ),
    param("trapper", "ADDR", "127.0.0.1:10051", "Address for active agents and senders."),
    param(
        "agent",
        "ADDR|off",
        "127.0.0.1:10050",
        "Address of the built-in agent, which monitors this machine; if it is in use, another \
         free port.",
    ),
    param(
        "agent-keys",
        "RULES",
        "",
        "Item keys that the built-in agent allows, as in zabbix_agentd.conf: \
         AllowKey=vfs.file.*[/var/log/*]; DenyKey=vfs.file.*[*]. The first matching rule \
         applies; default: all keys.",
    ),
    param(
        "agent-user",
        "NAME",
        "",
        "User that the built-in agent runs as if the server runs as root; default: vedette-agent \
         if that user exists, otherwise nobody.",
    ),
    param(
        "database",
        "URL|FILE",
        "",
        "Configuration database: postgresql://user:password@host/name, or a file for SQLite; \
         default: config.db in the data folder.",
    ),
    param(
        "new-configuration",
        "yes|no",
        "no",
        "For one start: accept a configuration that does not belong to the history in the data \
         folder. The history folder is renamed, and history starts empty.",
    ),
    param(
        "history",
        "embedded|memory|null",
        "embedded",
        "Where values are kept: on disk, in memory only, or nowhere (for measurements).",
    ),
    param(
        "history-store",
        "STORES",
        "",
        "Stores to which history is copied, such as \
         clickhouse=http://user:password@host:8123/database, separated by spaces. \
         ?types=float,unsigned,text,log and ?days=31- limit a store to a part of it. Use the \
         environment or the file, because flags are visible to all users.",
    ),
    param(
        "history-embedded-days",
        "DAYS",
        "7",
        "With a store: number of whole days of values that also stay in the data folder and are \
         read from there.",
    ),
    param(
        "history-spool-max",
        "SIZE",
        "16G",
        "With a store: maximum size of the values that wait for it on disk; beyond it, new \
         values are refused.",
    ),
    param(
        "engines",
        "ADDR",
        "",
        "Address to which the load balancer's engines connect, such as 0.0.0.0:10061, over TLS with \
         certificates of their own; empty: none.",
    ),
    param(
        "acme-dns-hook",
        "FILE",
        "",
        "Program that sets and removes the TXT records of certificates that the server orders with \
         dns-01 for the load balancer; empty: none.",
    ),
    param(
        "transactions-store",
        "STORE",
        "",
        "Database for the load balancer's records of requests, such as \
         clickhouse=http://user:password@host:8123/database; default: the data folder. Use the \
         environment or the file, because flags are visible to all users.",
    ),
    param(
        "transactions-size",
        "SIZE",
        "20G",
        "Maximum size of the load balancer's records of requests; beyond it, the engine with the \
         most records loses its oldest ones; in a database, the oldest records of all are deleted.",
    ),
    param(
        "transactions-age",
        "TIME",
        "30d",
        "Age at which these records are deleted, counted from their arrival, such as 12h or 30d.",
    ),
    param(
        "admin-password",
        "TEXT",
        "",
        "First password of the user Admin; default: a generated one, printed at the first start. \
         Use the environment, because flags are visible to all users.",
    ),
    param("tls-ca-file", "FILE", "", "Certificate authorities of trusted agents, PEM."),
    param("tls-cert-file", "FILE", "", "Vedette's certificate for connections with agents, PEM."),
    param("tls-key-file", "FILE", "", "Private key of this certificate, PEM."),
    param(
        "stats-allowed",
        "LIST",
        "127.0.0.1,::1",
        "Addresses and networks that may query internal statistics.",
    ),
    param(
        "alert-scripts",
        "DIR",
        "",
        "Folder with the programs of script media types; default: \"alertscripts\" in the data folder.",
    ),
    param(
        "global-scripts",
        "yes|no",
        "no",
        "Let scripts run shell commands on this machine (EnableGlobalScripts), as the user of the \
         server.",
    ),
    param(
        "external-scripts",
        "DIR",
        "",
        "Folder with the programs of external checks; default: \"externalscripts\" in the data \
         folder.",
    ),
    param(
        "ssl-cert-location",
        "DIR",
        "",
        "Folder with the client certificates of HTTP agent items and web scenarios; default: \
         \"ssl/certs\" in the data folder.",
    ),
    param(
        "ssl-key-location",
        "DIR",
        "",
        "Folder with their private keys; default: \"ssl/keys\" in the data folder.",
    ),
    param(
        "ssl-ca-location",
        "DIR",
        "",
        "Folder with certificate authorities that these items trust in addition to the system's, \
         named by hash (openssl rehash).",
    ),
    param(
        "ssh-keys",
        "DIR",
        "",
        "Folder with the key files of SSH checks; default: \"ssh-keys\" in the data folder.",
    ),
    param(
        "ssh-host-keys",
        "POLICY",
        "first",
        "Host keys that SSH checks accept: first = store the first key of a host and accept only \
         that, known = only keys in the file, ignore = any key.",
    ),
    param(
        "ssh-known-hosts",
        "FILE",
        "",
        "File with these keys in the format of OpenSSH's known_hosts; default: \
         \"ssh-known-hosts\" in the data folder.",
    ),
    param(
        "java-gateway",
        "HOST:PORT",
        "",
        "Java gateway for JMX checks (usual port: 10052); default: none.",
    ),
    param(
        "webdriver-url",
        "URL",
        "",
        "WebDriver for browser items, such as http://127.0.0.1:9515; default: none.",
    ),
    param(
        "snmp-traps",
        "ADDR",
        "",
        "Address of the listener for SNMP traps, such as 0.0.0.0:162; default: none.",
    ),
    param("snmp-trap-file", "FILE", "", "File to which another receiver appends SNMP traps."),
    param(
        "export-dir",
        "DIR",
        "",
        "Folder for files of values, trends and events in newline-delimited JSON (ExportDir); \
         created if missing; empty: no files.",
    ),
    param(
        "export-file-size",
        "SIZE",
        "1G",
        "Maximum size of such a file (ExportFileSize). A larger one is renamed to .old and \
         replaces the one before it.",
    ),
    param(
        "export-type",
        "LIST",
        "events,history,trends",
        "What is written to these files (ExportType): any of events, history and trends.",
    ),
    param("log", "LEVEL", "info", "Log level: error, warn, info, debug or trace."),
];

impl Param {
    /// Name of the environment variable.
    pub(crate) fn env(&self) -> String {
        format!("VEDETTE_{}", self.name.to_ascii_uppercase().replace('-', "_"))
    }

    /// Member in the file.
    pub(crate) fn member(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// Parameters of the server that say where its configuration is, for commands that work on it.
pub(crate) const PLACES: &[&str] = &["data", "database"];

/// The server's parameter of that name.
pub(crate) fn server(name: &str) -> &'static Param {
    SERVER.iter().find(|param| param.name == name).unwrap_or_else(|| panic!("BUG: no {name}"))
}

/// Adds the parameters to a command.
pub(crate) fn add<'a>(command: Command, params: impl IntoIterator<Item = &'a Param>) -> Command {
    let command = command.arg(
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .env("VEDETTE_CONFIG")
            .help("Read parameters from this file [default: vedette.toml, if it exists]"),
    );
    params.into_iter().fold(command, |command, param| {
        let mut help = param.help.to_owned();
        if !param.default.is_empty() {
            help += &format!(" [default: {}]", param.default);
        }
        command.arg(
            Arg::new(param.name)
                .long(param.name)
                .value_name(param.value)
                .env(param.env())
                .hide_env_values(true)
                .help(help),
        )
    })
}

/// File with parameters that is read without being named.
const FILE: &str = "vedette.toml";

/// The values in force.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    all: BTreeMap<&'static str, String>,
    file: Option<PathBuf>,
}

impl Values {
    /// Flags and environment from clap; what is not given is empty.
    pub(crate) fn given(matches: &ArgMatches, params: &[Param]) -> Self {
        let given = |name| matches.get_one::<String>(name).cloned().unwrap_or_default();
        let all = params.iter().map(|param| (param.name, given(param.name))).collect();
        Self { all, file: None }
    }

    /// Flags and environment from clap, then the file, then the defaults.
    pub(crate) fn read(matches: &ArgMatches, params: &[Param]) -> anyhow::Result<Self> {
        let default = || Some(PathBuf::from(FILE)).filter(|path| path.exists());
        let path = named_file(matches).or_else(default);
        let file = match &path {
            Some(path) => read_file(path, params)?,
            None => BTreeMap::new(),
        };
        let values = params.iter().map(|param| {
            // A command may take fewer flags than the file has members.
            let flag = matches.try_get_one::<String>(param.name).ok().flatten();
            let value = flag
                .cloned()
                .or_else(|| file.get(param.name).cloned())
                .unwrap_or_else(|| param.default.to_owned());
            (param.name, value)
        });
        Ok(Self { all: values.collect(), file: path })
    }

    /// The value of a parameter; empty = not given.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.all.get(name).unwrap_or_else(|| panic!("BUG: no parameter {name}"))
    }

    /// The file that values were read from.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The value of a parameter that names a file.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.get(name)).filter(|text| !text.is_empty()).map(PathBuf::from)
    }

    /// The value of a yes/no parameter.
    pub(crate) fn yes(&self, name: &str) -> anyhow::Result<bool> {
        match self.get(name) {
            "yes" | "true" | "1" => Ok(true),
            "no" | "false" | "0" | "" => Ok(false),
            other => bail!("parameter {name}: \"{other}\" is neither yes nor no"),
        }
    }

    /// The value of an address parameter.
    pub(crate) fn address(&self, name: &str) -> anyhow::Result<std::net::SocketAddr> {
        use std::net::ToSocketAddrs;
        let text = self.get(name);
        text.to_socket_addrs().ok().and_then(|mut found| found.next()).with_context(|| {
            format!("parameter {name}: \"{text}\" is not a valid address, such as 127.0.0.1:8080")
        })
    }
}

/// The file that `--config` or the environment names.
pub(crate) fn named_file(matches: &ArgMatches) -> Option<PathBuf> {
    matches.get_one::<String>("config").map(PathBuf::from)
}

fn read_file(path: &Path, params: &[Param]) -> anyhow::Result<BTreeMap<&'static str, String>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let table: toml::Table = text.parse().with_context(|| format!("{shown} is not valid TOML"))?;
    let mut values = BTreeMap::new();
    for (member, value) in table {
        let Some(param) = params.iter().find(|param| param.member() == member) else {
            let known: Vec<String> = params.iter().map(Param::member).collect();
            bail!("{shown}: unknown parameter {member}; known are {}", known.join(", "));
        };
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Boolean(true) => "yes".to_owned(),
            toml::Value::Boolean(false) => "no".to_owned(),
            toml::Value::Integer(n) => n.to_string(),
            _ => bail!("{shown}: {member} must be a text, a number, true or false"),
        };
        values.insert(param.name, value);
    }
    Ok(values)
}

/// The page `docs/parameters.md`.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "# Parameters\n\n\
         This page is generated from the program (`vedette parameters` prints it).\n\
         Flags take precedence over the environment, then the file `vedette.toml` (in the working \
         folder, or `--config FILE`), then the default.\n",
    );
    for (title, params) in
        [("vedette server", SERVER), ("vedette agent", crate::roles::agent::PARAMS)]
    {
        page += &format!(
            "\n## {title}\n\n| flag | environment | vedette.toml | default | |\n\
             | --- | --- | --- | --- | --- |\n"
        );
        for param in params {
            let default = match param.default {
                "" => String::new(),
                text => format!("`{text}`"),
            };
            page += &format!(
                "| `--{} {}` | `{}` | `{}` | {default} | {} |\n",
                param.name,
                param.value.replace('|', "\\|"),
                param.env(),
                param.member(),
                param.help.replace('|', "\\|"),
            );
        }
    }
    page
}

/// A number with K, M, G or T.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (digits, power) = match text.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) => (digits, "KMGT".find(text.get(digits.len()..)?)? + 1),
        None => (text, 0),
    };
    let unit = 1024_u64.checked_pow(u32::try_from(power).ok()?)?;
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests;
