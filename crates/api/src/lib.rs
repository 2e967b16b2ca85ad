//! The JSON-RPC API of Zabbix 7.0, its permissions and sessions, and the files of the UI.
//!
//! One request: `http` → `rpc` (envelope, batch) → `session` (the user) → a [`Handler`] of
//! `methods`, found by name → `object` (validation from the object's field table) and `get`
//! (one query per call from the standard options) → `config` / `history` → `answer` (the text in
//! blocks, sent while further rows are read). Handlers block and run on blocking threads.

mod answer;
mod avi;
mod call;
mod directory;
mod effect;
mod error;
mod exchange;
mod expand;
mod formula;
mod found;
mod get;
mod http;
pub mod item_test;
mod links;
mod live;
mod methods;
mod object;
mod out;
mod owned;
mod params;
mod permission;
mod plain;
mod reference;
mod relate;
mod rpc;
mod service;
mod session;
mod single;
mod tags;
mod with;
mod write;

use std::sync::Arc;

use config::Config;
use history::Reader;
use objects::UserType;
use stdx::clock::SharedClock;

pub use call::{Call, Handler, Json, Method, User};
pub use error::ApiError;
pub use exchange::{read_export, write_export};
pub use http::{HttpConfig, Listening, Proxies, ProxiesError, Stream, serve};
pub use item_test::Probe;
pub use live::{Execution, ItemState, Live, LiveHub, LiveNote, Rehearse, ScriptRun};
pub use reference::{openrpc, reference, typescript};
pub use service::SentValue;
pub use session::{generate_password, hash_password};

/// Connections that a server accepts at once.
pub const CONNECTIONS_MAX: usize = http::CONNECTIONS_MAX;

/// Bytes that clients of the API can make a server hold at one time: bodies, responses, imports, searches.
pub const BYTES_MAX: usize =
    http::BYTES_MAX + exchange::BYTES_MAX + methods::transaction::BYTES_MAX;

/// What the API stands on; everything that it shows beside the configuration comes from here.
pub struct Deps {
    /// Configuration.
    pub config: Arc<Config>,
    /// History and trends.
    pub history: Arc<dyn Reader>,
    /// State of running parts.
    pub live: Arc<dyn Live>,
    /// What the load balancer's engines carried.
    pub transactions: Arc<dyn transactions::Store>,
    /// Fingerprint of the authority of engines; `None`: the server does not listen for engines.
    pub engine_authority: Option<String>,
    /// Notes to browsers.
    pub hub: LiveHub,
    /// Time.
    pub clock: SharedClock,
}

/// The API: give it to [`serve`].
pub struct Api {
    pub(crate) deps: Deps,
    pub(crate) sessions: Arc<session::Sessions>,
    pub(crate) imports: exchange::Places,
    pub(crate) with_values: methods::host::WithValues,
    pub(crate) searches: methods::transaction::Searches,
    pub(crate) bad_links: links::Throttle,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// The API over these parts. From now on it follows changes of the configuration, and tells browsers
    /// of them.
    pub fn new(deps: Deps) -> Self {
        let sessions = Arc::new(session::Sessions::default());
        live::follow(&deps, &sessions);
        Self {
            deps,
            sessions,
            imports: exchange::Places::default(),
            with_values: methods::host::WithValues::default(),
            searches: methods::transaction::Searches::default(),
            bad_links: links::Throttle::default(),
        }
    }

    /// Calls a method with a session id or token, as a client at `peer` would. Blocks.
    pub fn call(
        &self,
        method: &str,
        params: &Json,
        secret: &str,
        peer: std::net::IpAddr,
    ) -> Result<Json, ApiError> {
        rpc::call(self, method, params, secret, peer)
    }

    /// Calls a method with all rights, as the user Admin: for what the server does by itself.
    pub fn call_system(&self, method: &str, params: &Json) -> Result<Json, ApiError> {
        rpc::call_system(self, method, params)
    }

    /// Turns graphs and dashboards that an earlier version stored as text into objects. To be called at a
    /// start; does nothing if there are none.
    pub fn convert_stored_objects(&self) -> Result<(), ApiError> {
        let convert = |call: &Call<'_>| exchange::convert_kept(call).map(|()| Json::Null);
        rpc::as_system(self, convert).map(drop)
    }

    /// Is this the session or token of somebody?
    pub fn is_signed_in(&self, secret: &str) -> bool {
        session::authenticate(self, Some(secret)).is_ok()
    }

    /// Is this the session or token of an admin or a super admin?
    pub fn is_admin(&self, secret: &str) -> bool {
        session::authenticate(self, Some(secret)).is_ok_and(|user| user.kind >= UserType::Admin)
    }

    /// Is this the session or token of a super admin?
    pub fn is_super_admin(&self, secret: &str) -> bool {
        session::authenticate(self, Some(secret))
            .is_ok_and(|user| user.kind == UserType::SuperAdmin)
    }

    /// Writes when sessions and tokens were used last, which no request waits for: [`serve`] does it
    /// every few seconds, and who ends the server once more. Blocks.
    pub fn write_accesses(&self) {
        session::write_accesses(self);
    }

    /// Answers one HTTP body; `None` = a notification, which gets an empty body. Blocks.
    pub fn handle(
        &self,
        body: &[u8],
        bearer: Option<&str>,
        peer: std::net::IpAddr,
    ) -> Option<String> {
        let origin = rpc::Origin { peer, gone: call::Gone::default() };
        let answer = answer::Answer::whole();
        // It is an outlet that fails, which a whole answer has none of.
        drop(rpc::handle(self, body, bearer, &origin, &answer));
        let text = String::from_utf8_lossy(&answer.end()).into_owned();
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod testing;
