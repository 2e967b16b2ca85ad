//! Where people and programs ask: addresses, the certificate, proxies in front.

use anyhow::{Context, bail};
use api::{HttpConfig, Proxies};
use tokio::net::TcpListener;

use crate::params::Values;

/// How browsers and programs are answered.
pub(crate) fn web_config(values: &Values) -> anyhow::Result<HttpConfig> {
    let tls = match (values.path("http-tls-cert"), values.path("http-tls-key")) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        _ => bail!("give both --http-tls-cert and --http-tls-key, or neither"),
    };
    let proxies = Proxies::parse(values.get("http-proxies")).context("parameter http-proxies")?;
    Ok(HttpConfig { tls, proxies, ..HttpConfig::default() })
}

/// Listens on the address of a parameter: without a certificate only where nobody else can reach it.
pub(crate) fn bind(values: &Values, name: &str, secured: bool) -> anyhow::Result<TcpListener> {
    let address = values.address(name)?;
    if !address.ip().is_loopback() && !secured && !values.yes("http-plain")? {
        bail!(
            "--{name} {address} can be reached by others: give --http-tls-cert and --http-tls-key, \
             or --http-plain yes if a proxy in front speaks HTTPS"
        );
    }
    stdx::listening::listen(address)
        .and_then(TcpListener::from_std)
        .with_context(|| format!("cannot listen on {address} (parameter {name})"))
}
