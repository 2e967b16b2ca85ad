//! Where people and programs ask: addresses and the certificate.

use std::path::PathBuf;

use anyhow::{Context, bail};
use tokio::net::TcpListener;

use crate::params::Values;

/// Certificate and key of what browsers and programs ask.
pub(crate) fn web_certificate(values: &Values) -> anyhow::Result<Option<(PathBuf, PathBuf)>> {
    match (values.path("http-tls-cert"), values.path("http-tls-key")) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        _ => bail!("give both --http-tls-cert and --http-tls-key, or neither"),
    }
}

/// Listens on the address of a parameter: without a certificate only where nobody else can reach it.
pub(crate) async fn bind(
    values: &Values,
    name: &str,
    secured: bool,
) -> anyhow::Result<TcpListener> {
    let address = values.address(name)?;
    if !address.ip().is_loopback() && !secured && !values.yes("http-plain")? {
        bail!(
            "--{name} {address} can be reached by others: give --http-tls-cert and --http-tls-key, \
             or --http-plain yes if a proxy in front speaks HTTPS"
        );
    }
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address} (parameter {name})"))
}
