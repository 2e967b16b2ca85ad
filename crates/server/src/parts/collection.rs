//! Those who ask: checks of all kinds and network discovery, with what they know and a restart must not
//! lose.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use collect::tls::TlsConfig;
use listen::Intake;
use model::DiscoveryResult;
use poll::{HostKeyPolicy, Internals, PollConfig, Pollers, WebFiles};
use stdx::clock::SharedClock;
use stdx::queue::Sender;

use super::base::Base;
use super::evaluation::Evaluation;
use super::remember::{self, Memory};
use super::requests::ItemScripts;
use super::{Kept, Part};
use crate::params::Values;

/// Default timeout of checks.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// What others use of it.
#[derive(Clone)]
pub(crate) struct Collection {
    pub(crate) pollers: poll::Status,
    /// Where values come in that nobody asked for.
    pub(crate) intake: Intake,
}

/// Starts it; `memory` is what earlier runs knew, and keeps what this one knows.
pub(crate) fn start(
    base: &Base<'_>,
    evaluation: &Evaluation,
    memory: Memory,
    internals: Arc<dyn Internals>,
    discovered: Sender<DiscoveryResult>,
) -> anyhow::Result<Part<Collection>> {
    let (values, config) = (base.values, Arc::clone(&base.config));
    let context = collect::Context::new(collect::Parts {
        clock: Arc::clone(&base.clock),
        snapshots: Arc::new(move || config.snapshot()),
        shards: evaluation.shards.values(),
        tls: tls_config(values),
        timeout: CHECK_TIMEOUT,
        remembered: memory.known().collection,
    })?;
    let deps = poll::Deps {
        internals,
        scripts: Arc::new(ItemScripts {
            scripts: Arc::new(pipeline::ScriptRunner::new(Arc::clone(&base.clock))),
            browsers: browsers(values, &base.clock),
        }),
        discovered: Some(discovered),
    };
    let running = Pollers::start(poll_config(values, &base.data)?, Arc::clone(&context), deps)?;
    let pollers = running.status();
    let sources = remember::Sources {
        collection: Arc::clone(&context),
        shards: Arc::clone(&evaluation.shards),
    };
    let (last, ends) = tokio::sync::oneshot::channel();
    let remembering = tokio::spawn(remember::keep(memory, sources, ends));
    let end = async move {
        running.stop().await;
        // Once more, now that nothing changes.
        let _ = last.send(());
        drop(remembering.await);
        Kept::All
    };
    Ok(Part::new(Collection { pollers, intake: Intake::new(context) }, end))
}

/// Certificates of agents' connections.
fn tls_config(values: &Values) -> TlsConfig {
    TlsConfig {
        ca_file: values.path("tls-ca-file"),
        crl_file: None,
        cert_file: values.path("tls-cert-file"),
        key_file: values.path("tls-key-file"),
    }
}

/// Folders of the certificates of HTTP clients.
pub(crate) fn web_files(values: &Values, data: &Path) -> WebFiles {
    WebFiles {
        certificates: values.path("ssl-cert-location").unwrap_or_else(|| data.join("ssl/certs")),
        keys: values.path("ssl-key-location").unwrap_or_else(|| data.join("ssl/keys")),
        authorities: values.path("ssl-ca-location"),
    }
}

fn poll_config(values: &Values, data: &Path) -> anyhow::Result<PollConfig> {
    Ok(PollConfig {
        external_scripts: values
            .path("external-scripts")
            .unwrap_or_else(|| data.join("externalscripts")),
        web: web_files(values, data),
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

/// Runs the scripts of browser items, if there is a WebDriver.
fn browsers(values: &Values, clock: &SharedClock) -> Option<Arc<pipeline::ScriptRunner>> {
    let address = Some(values.get("webdriver-url")).filter(|address| !address.is_empty())?;
    let runner = pipeline::ScriptRunner::with_webdriver(Arc::clone(clock), address.to_owned());
    Some(Arc::new(runner))
}
