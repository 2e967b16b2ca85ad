//! TLS towards servers that have a certificate of a public authority: web servers, mail servers.

use std::net::IpAddr;
use std::path::Path;

use openssl::error::ErrorStack;
use openssl::ssl::{
    Ssl, SslContext, SslContextBuilder, SslFiletype, SslMethod, SslVerifyMode, SslVersion,
};
use openssl::x509::store::X509Lookup;

/// OpenSSL's numbers of a certificate for somebody else: by name, by address.
pub const WRONG_NAME: [i32; 2] = [62, 64];

/// A client that trusts the system's authorities, and those in a folder.
///
/// # Errors
/// The folder cannot be used.
pub fn client(authorities: Option<&Path>) -> Result<SslContextBuilder, ErrorStack> {
    let mut context = SslContext::builder(SslMethod::tls_client())?;
    if let Some(folder) = authorities {
        let lookup = context.cert_store_mut().add_lookup(X509Lookup::hash_dir())?;
        lookup.add_dir(&folder.to_string_lossy(), SslFiletype::PEM)?;
    }
    // After the operator's folder: of two authorities with one name the first counts.
    context.set_default_verify_paths()?;
    context.set_min_proto_version(Some(SslVersion::TLS1_2))?;
    Ok(context)
}

/// A session with `host`. `peer`: an authority must have signed the certificate; `name`: it must name the host. Each
/// is checked without the other.
///
/// # Errors
/// `host` is neither a name nor an address.
pub fn session(
    context: &SslContext,
    host: &str,
    peer: bool,
    name: bool,
) -> Result<Ssl, ErrorStack> {
    let mut ssl = Ssl::new(context)?;
    let address = host.parse::<IpAddr>().ok();
    if address.is_none() {
        ssl.set_hostname(host)?;
    }
    if name {
        match address {
            Some(address) => ssl.param_mut().set_ip(address),
            None => ssl.param_mut().set_host(host),
        }?;
    }
    let mode = if peer || name { SslVerifyMode::PEER } else { SslVerifyMode::NONE };
    ssl.set_verify_callback(mode, move |good, found| {
        let wanted = match WRONG_NAME.contains(&found.error().as_raw()) {
            true => name,
            false => peer,
        };
        good || !wanted
    });
    Ok(ssl)
}
