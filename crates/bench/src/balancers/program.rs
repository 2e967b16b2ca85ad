//! The balancers as programs: which are installed, and one that runs for one measurement.

use std::fs::File;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use stdx::clock::Clock;

use super::row::{Records, Row, Via, Workers};
use super::settings::{LOG, Plan};

/// Until a balancer must listen.
const START_MAX: Duration = Duration::from_secs(10);
/// Characters of what a balancer says, from the end.
const SAID_CHARS: usize = 600;
/// Where a balancer's messages go.
const SAID: &str = "messages";

/// A program to measure, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Begins with `vedette`, `haproxy` or `nginx`, which says how it is configured.
    pub name: String,
    /// The program: a path, or a name to be found in PATH.
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vedette,
    Haproxy,
    Nginx,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        let kinds =
            [("vedette", Self::Vedette), ("haproxy", Self::Haproxy), ("nginx", Self::Nginx)];
        kinds.into_iter().find(|(word, _)| name.starts_with(word)).map(|(_, kind)| kind)
    }
}

/// Whether nginx forwards TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stream {
    BuiltIn,
    Module(PathBuf),
    Missing,
}

/// An installed balancer.
#[derive(Debug)]
pub(crate) struct Balancer {
    pub(crate) name: String,
    /// As it says itself.
    pub(crate) version: String,
    kind: Kind,
    path: PathBuf,
    stream: Stream,
}

impl Balancer {
    /// Asks the program for its version; `None` if there is no such program.
    pub(crate) fn find(named: &Named) -> anyhow::Result<Option<Self>> {
        let (name, path) = (named.name.clone(), named.path.clone());
        let Some(kind) = Kind::of(&name) else {
            bail!("--balancer {name}: the name must begin with vedette, haproxy or nginx");
        };
        let flag = match kind {
            Kind::Vedette => "--version",
            Kind::Haproxy => "-v",
            Kind::Nginx => "-V",
        };
        let output = match Command::new(&path).arg(flag).stdin(Stdio::null()).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            output => output.with_context(|| format!("cannot run {}", path.display()))?,
        };
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let stream = stream_of(&said, &|module| module.exists());
        Ok(Some(Self { version: version_of(&said), stream, name, kind, path }))
    }

    /// Why a row cannot be measured with it.
    pub(crate) fn obstacle(&self, row: &Row) -> Option<&'static str> {
        let missing = self.kind == Kind::Nginx && self.stream == Stream::Missing;
        if self.kind != Kind::Vedette && row.changes.is_some() {
            return Some("it is measured without the process that reads its configuration again");
        }
        if self.kind == Kind::Nginx && matches!(row.workers, Workers::Threads(2..)) {
            return Some("its workers are processes");
        }
        match row.via {
            Via::Udp if self.kind == Kind::Haproxy => Some("it does not forward UDP"),
            Via::Tcp | Via::Udp if missing => {
                Some("its module for TCP and UDP (stream) is not installed")
            }
            _ => None,
        }
    }

    fn write(&self, plan: &Plan<'_>) -> anyhow::Result<PathBuf> {
        let text = match (self.kind, &self.stream) {
            (Kind::Vedette, _) => plan.vedette(),
            (Kind::Haproxy, _) => plan.haproxy(),
            (Kind::Nginx, Stream::Module(module)) => plan.nginx(Some(module)),
            (Kind::Nginx, _) => plan.nginx(None),
        };
        let file = plan.folder.join("configuration");
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    fn spawn(&self, file: &Path, row: &Row, place: &Place<'_>) -> anyhow::Result<Child> {
        let folder = place.folder;
        let append = |name: &str| File::options().create(true).append(true).open(folder.join(name));
        let messages = append(SAID)?;
        let output = match (self.kind, row.records) {
            (Kind::Haproxy, Records::Each) => append(LOG)?,
            _ => messages.try_clone()?,
        };
        let mut command = self.command(file, folder);
        command.stdin(Stdio::null()).stdout(output).stderr(messages);
        // A process keeps to the core of the thread that started it.
        let child = std::thread::scope(|scope| {
            let start = || {
                if row.workers == Workers::One {
                    stdx::sys::pin_thread(place.core)?;
                }
                command.spawn()
            };
            scope.spawn(start).join()
        });
        let child = child.map_err(|_| anyhow::anyhow!("BUG: starting a program has panicked"))?;
        child.with_context(|| format!("cannot start {}", self.path.display()))
    }

    fn command(&self, file: &Path, folder: &Path) -> Command {
        let mut command = Command::new(&self.path);
        match self.kind {
            Kind::Vedette => command.args(["engine", "--log", "error", "--config"]).arg(file),
            Kind::Haproxy => command.args(["-db", "-f"]).arg(file),
            Kind::Nginx => command.args(["-e", "stderr", "-p"]).arg(folder).arg("-c").arg(file),
        };
        command
    }
}

/// The first word of a program's answer that looks like a version.
fn version_of(said: &str) -> String {
    let number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let words = said.split(|c: char| c.is_whitespace() || c == '/' || c == '-');
    words.into_iter().find(|word| number(word)).unwrap_or("unknown version").to_owned()
}

/// How nginx was built, by its answer to `-V`.
fn stream_of(said: &str, exists: &dyn Fn(&Path) -> bool) -> Stream {
    let mut words = said.split_ascii_whitespace();
    match words.clone().find(|word| word.starts_with("--with-stream") && !word.contains('_')) {
        Some("--with-stream=dynamic") => {
            let folder = words.find_map(|word| word.strip_prefix("--modules-path="));
            let module = folder.map(|folder| Path::new(folder).join("ngx_stream_module.so"));
            module.filter(|module| exists(module)).map_or(Stream::Missing, Stream::Module)
        }
        Some(_) => Stream::BuiltIn,
        None => Stream::Missing,
    }
}

/// A running balancer; it is killed when this is dropped.
pub(crate) struct Running {
    processes: Vec<Child>,
    /// One for each virtual service.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Running {
    /// Starts it on a core and waits until it listens. `folder` is for this run alone.
    pub(crate) fn start(
        balancer: &Balancer,
        row: &Row,
        place: &Place<'_>,
        clock: &dyn Clock,
    ) -> anyhow::Result<Self> {
        let mut addresses = Vec::new();
        while addresses.len() < row.services {
            let free = stdx::listening::free_address();
            let free = free.context("no port of 127.0.0.1 is free for a balancer")?;
            if !addresses.contains(&free) {
                addresses.push(free);
            }
        }
        let (listen, servers) = (addresses.as_slice(), place.servers);
        let plan = Plan { row, listen, servers, change: 0, folder: place.folder };
        let file = balancer.write(&plan)?;
        let processes = match row.workers {
            Workers::Processes(processes) => processes,
            Workers::One | Workers::Threads(_) => 1,
        };
        let mut running = Self { processes: Vec::new(), addresses };
        for _ in 0..processes {
            let child = balancer.spawn(&file, row, place)?;
            running.processes.push(child);
        }
        running.wait(row.via, place.folder, clock)?;
        Ok(running)
    }

    fn wait(&mut self, via: Via, folder: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let start = clock.monotonic();
        loop {
            for process in &mut self.processes {
                if let Some(status) = process.try_wait()? {
                    bail!("it ended at once ({status}); messages: {}", said(folder));
                }
            }
            let listens = self.addresses.iter().all(|address| match via {
                // Its port cannot be bound once more.
                Via::Udp => UdpSocket::bind(address).is_err(),
                Via::Http | Via::Tls(_) | Via::Http2 | Via::Tcp => {
                    TcpStream::connect(address).is_ok()
                }
            });
            if listens {
                return Ok(());
            }
            if clock.monotonic().saturating_sub(start) > START_MAX {
                let s = START_MAX.as_secs();
                bail!("it does not listen after {s} s; messages: {}", said(folder));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes the configuration with the number of a change and lets the processes read it.
    pub(crate) fn change(
        &self,
        balancer: &Balancer,
        row: &Row,
        place: &Place<'_>,
        change: u64,
    ) -> anyhow::Result<()> {
        use rustix::process::{Pid, Signal, kill_process};
        let (listen, servers) = (self.addresses.as_slice(), place.servers);
        balancer.write(&Plan { row, listen, servers, change, folder: place.folder })?;
        for process in &self.processes {
            let pid = Pid::from_child(process);
            kill_process(pid, Signal::HUP).context("cannot signal the balancer")?;
        }
        Ok(())
    }

    pub(crate) fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(Child::id).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // None of them has children, and what they hold is worth nothing.
        for process in &mut self.processes {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

/// Where a balancer runs.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) servers: &'a [SocketAddr],
    pub(crate) core: usize,
}

/// The end of a balancer's messages.
pub(crate) fn said(folder: &Path) -> String {
    let text = std::fs::read(folder.join(SAID)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let text = text.trim();
    let from = text.char_indices().rev().nth(SAID_CHARS).map_or(0, |(at, _)| at);
    if text.is_empty() { "none".to_owned() } else { text[from..].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (said, version) in [
            ("HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/", "2.6.12"),
            ("nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.22", "1.22.1"),
            ("vedette 0.9.0", "0.9.0"),
            ("", "unknown version"),
        ] {
            assert_eq!(version_of(said), version);
        }
    }

    #[test]
    fn nginx_forwards_tcp_only_with_its_module() {
        let dynamic = "--modules-path=/m --with-stream_ssl_module --with-stream=dynamic";
        let module = Stream::Module(PathBuf::from("/m/ngx_stream_module.so"));
        assert_eq!(stream_of(dynamic, &|_| true), module);
        assert_eq!(stream_of(dynamic, &|_| false), Stream::Missing);
        assert_eq!(stream_of("--with-stream --with-debug", &|_| false), Stream::BuiltIn);
        assert_eq!(stream_of("--with-stream_ssl_module", &|_| true), Stream::Missing);
    }

    #[test]
    fn a_program_that_is_not_there_is_not_installed() {
        let named = |name: &str| Named { name: name.to_owned(), path: "/nonexistent/x".into() };
        assert!(Balancer::find(&named("haproxy-3.4")).unwrap().is_none());
        let error = Balancer::find(&named("envoy")).unwrap_err().to_string();
        assert!(error.contains("envoy") && error.contains("haproxy"), "{error}");
    }
}
