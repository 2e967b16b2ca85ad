//! `vedette bench capacity`: measures this machine with a server made for it, and leaves the
//! figures where the page Capacity finds them.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bench::agents::{AgentOptions, Asked};
use bench::report::Report;
use bench::trapper::TrapperOptions;
use bench::{Context, Login, Order};

use crate::args::Capacity;
use crate::say;
use model::measured::{FILE, Measured};
use stdx::listening::free_address;

/// Until the scratch server must listen.
const START_MAX: Duration = Duration::from_secs(30);
/// 4,500 items in requests of 1,000 values over 8 connections, as `bench trapper` does.
const TRAPPER: (usize, usize, usize, usize) = (100, 45, 1000, 8);
/// 50,000 checks a second are asked for: more than two cores answer.
const AGENTS: (usize, usize) = (500, 100);

/// Measures and saves.
pub(crate) fn run(told: &Capacity, context: &mut Context<'_>) -> anyhow::Result<()> {
    if !told.data.join("config.db").exists() && !told.data.join("lock").exists() {
        bail!(
            "{} is not the data folder of a server: give it with --data, or start the server once",
            told.data.display()
        );
    }
    let server = Scratch::start(context)?;
    let values = bench::trapper::run(&server.trapper_load(told.seconds), context)?;
    let checks = bench::agents::run(&server.agent_load(told.seconds), context)?;
    let found = Measured {
        at: context.clock.unix_s(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cores: stdx::machine::cores(),
        values_per_s: figure(&values, "values_per_s")?,
        values_cpu_s: figure(&values, "server_cpu_s_per_million")?,
        checks_per_s: figure(&checks, "checks_per_s")?,
        checks_cpu_s: figure(&checks, "server_cpu_s_per_million")?,
    };
    save(&found, &told.data.join(FILE))?;
    say(&values.text())?;
    say(&checks.text())?;
    say(&format!(
        "This machine takes {:.0} values/s and makes {:.0} checks/s. The page Capacity shows it.\n",
        found.values_per_s, found.checks_per_s
    ))
}

/// Keeps it for the server that runs on the folder, which reads it when it is next asked.
fn save(found: &Measured, path: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(found)? + "\n";
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The program `vedette`, which is installed beside this one.
fn server() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?.canonicalize()?.with_file_name("vedette"))
}

/// For the user Admin of the server to measure.
fn password() -> anyhow::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn figure(report: &Report, name: &str) -> anyhow::Result<f64> {
    report
        .get(name)
        .and_then(serde_json::Value::as_f64)
        .with_context(|| format!("{name} was not measured"))
}

/// A server on an empty folder, killed and removed at the end.
struct Scratch {
    child: Child,
    folder: PathBuf,
    http: SocketAddr,
    trapper: SocketAddr,
    password: String,
}

impl Scratch {
    fn start(context: &mut Context<'_>) -> anyhow::Result<Self> {
        let name = format!("vedette-capacity-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let (http, trapper) = (free_address()?, free_address()?);
        let password = password()?;
        let mut command = Command::new(server()?);
        // Parameters of the server in use are not for this one.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("VEDETTE_")) {
                command.env_remove(name);
            }
        }
        let child = command
            .args(["server", "--config", "/dev/null", "--agent", "off", "--log", "error", "--data"])
            .arg(&folder)
            .args(["--http", &http.to_string(), "--trapper", &trapper.to_string()])
            .env("VEDETTE_ADMIN_PASSWORD", &password)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start a server to measure")?;
        let mut scratch = Self { child, folder, http, trapper, password };
        scratch.wait(context)?;
        Ok(scratch)
    }

    fn wait(&mut self, context: &Context<'_>) -> anyhow::Result<()> {
        let start = context.clock.monotonic();
        while TcpStream::connect(self.http).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server to measure ended at once: {status}");
            }
            if context.clock.monotonic() - start > START_MAX {
                bail!("the server to measure does not listen after {} s", START_MAX.as_secs());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn login(&self) -> Login {
        let url = format!("http://{}/api_jsonrpc.php", self.http);
        Login { url, user: "Admin".to_owned(), password: self.password.clone() }
    }

    fn trapper_load(&self, seconds: u64) -> TrapperOptions {
        let (hosts, items, batch, connections) = TRAPPER;
        TrapperOptions {
            server: self.trapper.to_string(),
            login: self.login(),
            hosts,
            items,
            order: Order::InTurn,
            batch,
            connections,
            seconds,
            rate: None,
            pids: vec![self.child.id()],
            verify: false,
            keep: false,
            ledger: None,
            change_per_second: false,
            trigger_every: 0,
        }
    }

    fn agent_load(&self, seconds: u64) -> AgentOptions {
        let (hosts, items) = AGENTS;
        AgentOptions {
            asked: Asked::Agents,
            login: self.login(),
            hosts,
            items,
            interval_s: 1,
            delay: Duration::ZERO,
            warm: bench::agents::WARM_DEFAULT,
            seconds,
            pids: vec![self.child.id()],
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            addresses: 8,
            keep: false,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What it holds is worth nothing, so it need not end in order.
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
