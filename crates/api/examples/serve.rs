//! The API alone, for work on it and on the UI: nothing is collected, there is no history.
//!
//! `VEDETTE_ADMIN_PASSWORD=… cargo run -p api --example serve -- --http 127.0.0.1:8080 --data DIR`
//!
//! Instead of a folder `--data` takes the address of a PostgreSQL database, `postgresql://…`.

use std::sync::Arc;

use api::{Api, Deps, HttpConfig, ItemState, Live, LiveHub, Probe, hash_password};
use config::Config;
use config::db::{DbResult, Location};
use history::service::{Gate, Limits};
use model::{Available, HostId, InterfaceId, InterfaceState, ItemId, ProblemUpdate, Push};
use stdx::clock::RealClock;
use wire::history_service::{Failure, Reason};

/// A server where nothing runs.
struct Idle;

impl Live for Idle {
    fn item_states(&self, items: &[ItemId]) -> Vec<ItemState> {
        vec![ItemState::default(); items.len()]
    }
    fn interfaces(&self, interfaces: &[InterfaceId]) -> Vec<InterfaceState> {
        vec![InterfaceState::default(); interfaces.len()]
    }
    fn active_checks(&self, hosts: &[HostId]) -> Vec<Available> {
        vec![Available::Unknown; hosts.len()]
    }
    fn push(&self, push: Push) -> Vec<Result<(), Failure>> {
        vec![Err(Reason::NotKept.with("Nothing runs here.")); push.values.len()]
    }
    fn sync(&self) -> Result<(), String> {
        Err("nothing runs here".to_owned())
    }
    fn update_problems(&self, _update: &ProblemUpdate) -> Result<(), String> {
        Err("nothing runs here".to_owned())
    }
    fn end_suppressions(&self, _maintenances: &[u64]) -> Result<(), String> {
        Ok(())
    }
    fn check_now(&self, _items: &[ItemId]) {}
    fn fetch(&self, _probe: Probe) -> Result<String, String> {
        Err("nothing runs here".to_owned())
    }
    fn queue(&self, kind: &str, limit: Option<u64>) -> Result<api::Json, String> {
        if kind == "overview" {
            Ok(api::Json::from(limit))
        } else {
            Err("no such queue".to_owned())
        }
    }
    fn capacity(&self) -> api::Json {
        api::Json::Null
    }
    fn clear_history(&self, _items: &[ItemId]) -> Result<(), String> {
        Ok(())
    }
}

type AnyError = Box<dyn std::error::Error>;

fn arguments() -> Result<(String, String), AnyError> {
    let (mut http, mut data) = ("127.0.0.1:8080".to_owned(), ".".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--http" => http = value,
            "--data" => data = value,
            _ => return Err(format!("{name} is unknown; known are --http, --data").into()),
        }
    }
    Ok((http, data))
}

#[expect(clippy::disallowed_methods, reason = "passwords do not belong among the arguments")]
fn main() -> Result<(), AnyError> {
    let (http, data) = arguments()?;
    let password = std::env::var("VEDETTE_ADMIN_PASSWORD")
        .map_err(|_| "set VEDETTE_ADMIN_PASSWORD to the password that Admin gets")?;
    let location = match Location::parse(&data) {
        Location::Sqlite(folder) => {
            std::fs::create_dir_all(&folder)?;
            Location::Sqlite(folder.join("config.db"))
        }
        postgres @ Location::Postgres(_) => postgres,
    };
    let config = Config::open(location)?;
    let hash = hash_password(&password)?;
    let seeded: DbResult<bool> = config.write(|edit| config::seed(edit, &hash));
    seeded?;
    let limits = transactions::Limits { bytes: u64::MAX, age_us: u64::MAX };
    let archive =
        transactions::Archive::open(&std::env::temp_dir().join("no-transactions"), limits)?;
    let api = Api::new(Deps {
        config: Arc::new(config),
        history: Arc::new(history::Null::default()),
        live: Arc::new(Idle),
        transactions: Arc::new(archive),
        engine_authority: None,
        hub: LiveHub::default(),
        clock: RealClock::shared(),
    });
    // The database blocks, so it is opened before there is a runtime.
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(&http).await?;
        let stop = async { drop(tokio::signal::ctrl_c().await) };
        let api = Arc::new(api);
        let gate = Gate::new(Arc::clone(&api) as _, Limits::default(), Arc::default());
        api::serve(api, gate, HttpConfig::default(), listener, stop).await
    })?;
    Ok(())
}
