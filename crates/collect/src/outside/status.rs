//! A request of which only the status counts.

use std::time::Duration;

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// Requests an address with GET. The certificate is checked with the authorities that the system trusts. A status that is
/// not of success is an error; errors have no address, which may be secret.
pub fn get(url: &str, within: Duration) -> Result<(), String> {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::NativeTls)
        .root_certs(RootCerts::PlatformVerifier);
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(within))
        .max_idle_connections(0)
        .user_agent("Vedette")
        .tls_config(tls.build())
        .build()
        .new_agent();
    let answer = agent.get(url).call().map_err(|error| super::said(&error))?;
    match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("the response has status {}", status.as_u16())),
    }
}
