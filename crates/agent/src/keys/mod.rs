//! Item keys: a table of names, a module per family.
//!
//! Names, parameters, modes, units and the error texts that operators know follow the documented
//! agent items of Zabbix 7.0; each was compared with what a 7.0.22 agent answers.

mod about;
pub(crate) mod cpu;
pub(crate) mod dev;
mod dir;
mod file;
mod fs;
mod hardware;
mod kernel;
mod memory;
mod net;
mod packages;
mod params;
mod process;
mod socket;
mod system;
mod users;

use std::io::Read;

use eval::key::ItemKey;

use crate::Agent;
use crate::commands::Job;
use crate::config::Detail;
use crate::deadline::Deadline;
pub(crate) use crate::errors::{UNSUPPORTED, system_error};
pub(crate) use params::Params;

/// A value, or why the item is not supported.
pub(crate) type Answer = Result<String, String>;

/// Largest file of `/proc` or `/sys` that is read.
const READ_BYTES_MAX: u64 = 16 << 20;

pub(crate) const ACTIVE_ONLY: &str = "Accessible only as active check.";

pub(crate) struct Key {
    name: &'static str,
    /// Most parameters; 0 = no brackets allowed.
    params_max: usize,
    answer: fn(&Agent, &Params) -> Answer,
}

const fn key(name: &'static str, params_max: usize, answer: fn(&Agent, &Params) -> Answer) -> Key {
    Key { name, params_max, answer }
}

/// Every key that this agent answers.
static KEYS: &[Key] = &[
    key("agent.hostmetadata", 0, about::hostmetadata),
    key("agent.hostname", 0, about::hostname),
    key("agent.ping", 0, about::ping),
    key("agent.variant", 0, about::variant),
    key("agent.version", 0, about::version),
    key("kernel.maxfiles", 0, kernel::maxfiles),
    key("kernel.maxproc", 0, kernel::maxproc),
    key("kernel.openfiles", 0, kernel::openfiles),
    key("net.if.collisions", 1, net::collisions),
    key("net.if.discovery", 0, net::discovery),
    key("net.if.in", 2, net::incoming),
    key("net.if.out", 2, net::outgoing),
    key("net.if.total", 2, net::total),
    key("net.tcp.listen", 1, socket::tcp_listen),
    key("net.tcp.port", 2, socket::tcp_port),
    key("net.udp.listen", 1, socket::udp_listen),
    key("proc.mem", 5, process::mem),
    key("proc.num", 4, process::num),
    key("system.boottime", 0, system::boottime),
    key("system.cpu.discovery", 0, cpu::discovery),
    key("system.cpu.intr", 0, cpu::intr),
    key("system.cpu.load", 2, cpu::load),
    key("system.cpu.num", 1, cpu::num),
    key("system.cpu.switches", 0, cpu::switches),
    key("system.cpu.util", 3, cpu::util),
    key("system.hostname", 2, system::hostname),
    key("system.hw.cpu", 2, hardware::cpu),
    key("system.hw.macaddr", 2, hardware::macaddr),
    key("system.localtime", 1, system::localtime),
    key("system.sw.arch", 0, system::arch),
    key("system.sw.os", 1, system::os),
    key("system.sw.os.get", 0, system::os_get),
    key("system.sw.packages", 3, packages::list),
    key("system.sw.packages.get", 2, packages::get),
    key("system.swap.in", 2, memory::swap_in),
    key("system.swap.out", 2, memory::swap_out),
    key("system.swap.size", 2, memory::swap_size),
    key("system.uname", 0, system::uname),
    key("system.uptime", 0, system::uptime),
    key("system.users.num", 0, users::num),
    key("vfs.dev.discovery", 0, dev::discovery),
    key("vfs.dev.read", 3, dev::read),
    key("vfs.dev.write", 3, dev::write),
    key("vfs.dir.count", 11, dir::count),
    key("vfs.dir.size", 6, dir::size),
    key("vfs.file.cksum", 2, file::cksum),
    key("vfs.file.contents", 2, file::contents),
    key("vfs.file.exists", 3, file::exists),
    key("vfs.file.get", 1, file::get),
    key("vfs.file.md5sum", 1, file::md5sum),
    key("vfs.file.owner", 3, file::owner),
    key("vfs.file.permissions", 1, file::permissions),
    key("vfs.file.regexp", 6, file::regexp),
    key("vfs.file.regmatch", 5, file::regmatch),
    key("vfs.file.size", 2, file::size),
    key("vfs.file.time", 2, file::time),
    key("vfs.fs.discovery", 0, fs::discovery),
    key("vfs.fs.get", 0, fs::get),
    key("vfs.fs.inode", 2, fs::inode),
    key("vfs.fs.size", 2, fs::size),
    key("vm.memory.size", 1, memory::size),
];

/// The key that shows host metadata.
const METADATA: &str = "agent.hostmetadata";

/// Keys that an agent answers as active checks only.
const ACTIVE_KEYS: &[&str] =
    &["eventlog", "eventlog.count", "log", "log.count", "logrt", "logrt.count"];

/// Names of all keys that this agent answers, in alphabetical order.
pub static KEY_NAMES: std::sync::LazyLock<Vec<&'static str>> =
    std::sync::LazyLock::new(|| KEYS.iter().map(|key| key.name).collect());

/// Whether the agent has a key of that name.
pub(crate) fn exists(name: &str) -> bool {
    KEYS.binary_search_by(|key| key.name.cmp(name)).is_ok()
}

/// Where a request for a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A server: rules apply.
    Server,
    /// The configuration, such as `HostnameItem`: rules do not apply.
    Own,
}

/// What gives the value of a key.
pub(crate) enum Source {
    /// A key of the agent.
    Key(&'static Key, ItemKey),
    /// A user parameter, or `system.run`.
    Command(Job),
}

/// Finds out what gives the value of a key, or why it is not supported.
pub(crate) fn find(agent: &Agent, text: &str, origin: Origin) -> Result<Source, String> {
    let keys = &agent.config().keys;
    let parsed = ItemKey::parse(&keys.aliases.resolve(text))
        .map_err(|_| String::from("Invalid item key format."))?;
    if origin == Origin::Server && !keys.rules.allows(&parsed) {
        return Err(String::from(UNSUPPORTED));
    }
    if let Some(job) = keys.commands.job(&parsed) {
        return job.map(Source::Command);
    }
    let Ok(at) = KEYS.binary_search_by(|key| key.name.cmp(&parsed.name)) else {
        let active = ACTIVE_KEYS.contains(&parsed.name.as_str());
        return Err(String::from(if active { ACTIVE_ONLY } else { UNSUPPORTED }));
    };
    let key = &KEYS[at];
    if key.params_max == 0 && parsed.params.is_some() {
        return Err(String::from("Item does not allow parameters."));
    }
    if parsed.param_count() > key.params_max {
        return Err(String::from("Too many parameters."));
    }
    if let Detail::Item(item) = &agent.config().active.metadata
        && key.name == METADATA
        && origin == Origin::Server
    {
        return find(agent, item, Origin::Own);
    }
    Ok(Source::Key(key, parsed))
}

impl Key {
    /// Its value is in memory.
    pub(crate) fn is_instant(&self) -> bool {
        self.name.starts_with("agent.")
    }

    /// Its value. Blocks: keys read files and query file systems.
    pub(crate) fn value(&self, agent: &Agent, parsed: &ItemKey, deadline: Deadline) -> Answer {
        (self.answer)(agent, &Params::new(parsed, deadline))
    }
}

/// Reads a text of `/proc` or `/sys`, bounded; what is not UTF-8 becomes U+FFFD.
pub(crate) fn read_text(path: &str) -> Result<String, String> {
    let cannot = |error: &std::io::Error| format!("Cannot open {path}: {}", system_error(error));
    let file = std::fs::File::open(path).map_err(|error| cannot(&error))?;
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// A float as agents write it.
pub(crate) fn float(value: f64) -> String {
    format!("{value:.6}")
}

/// `part` of `total` in percent.
#[expect(clippy::cast_precision_loss, reason = "percentages are shown with six decimals")]
pub(crate) fn percent(part: u64, total: u64) -> f64 {
    100.0 * part as f64 / total as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_search() {
        assert!(KEYS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
