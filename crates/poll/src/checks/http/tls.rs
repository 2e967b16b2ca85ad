//! TLS towards web servers: what is believed, who we are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::ssl::{Ssl, SslContext, SslFiletype, SslMethod, SslMode, SslVerifyMode, SslVersion};
use openssl::x509::X509;
use openssl::x509::store::X509Lookup;
use stdx::clock::SharedClock;
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use super::failure::Failure;
use crate::settings::WebFiles;

/// How long files are believed: a renewed certificate counts after it.
const FRESH: Duration = Duration::from_secs(60);
/// Contexts kept at one time: more than anybody has client certificates.
const CONTEXTS_MAX: usize = 256;
/// OpenSSL's numbers of a certificate for somebody else: by name, by address.
const WRONG_NAME: [i32; 2] = [62, 64];

/// What a request wants of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct TlsWish<'a> {
    /// Check who signed the server's certificate.
    pub(crate) verify_peer: bool,
    /// Check that the certificate names the server.
    pub(crate) verify_host: bool,
    /// File of our certificate; empty = none.
    pub(crate) cert_file: &'a str,
    /// File of its key; empty = the certificate's.
    pub(crate) key_file: &'a str,
    pub(crate) key_password: &'a str,
}

/// Contexts by the certificate that they show.
pub(super) struct Contexts {
    files: WebFiles,
    clock: SharedClock,
    known: RefCell<HashMap<[String; 3], (SslContext, Duration)>>,
}

impl Contexts {
    pub(super) fn new(files: WebFiles, clock: SharedClock) -> Self {
        Self { files, clock, known: RefCell::default() }
    }

    /// Protects a connection to `host`.
    pub(super) async fn protect(
        &self,
        stream: TcpStream,
        host: &str,
        wish: &TlsWish<'_>,
    ) -> Result<Box<SslStream<TcpStream>>, Failure> {
        let ssl = self.session(host, wish)?;
        let mut stream = SslStream::new(ssl, stream).map_err(|e| failed(&e))?;
        match Pin::new(&mut stream).connect().await {
            Ok(()) => Ok(Box::new(stream)),
            Err(error) => Err(explain(&error, stream.ssl().verify_result().as_raw(), host)),
        }
    }

    fn session(&self, host: &str, wish: &TlsWish<'_>) -> Result<Ssl, Failure> {
        let context = self.context(wish)?;
        let mut ssl = Ssl::new(&context).map_err(|e| failed(&e))?;
        let address = host.parse::<std::net::IpAddr>().ok();
        if address.is_none() {
            ssl.set_hostname(host).map_err(|e| failed(&e))?;
        }
        if wish.verify_host {
            let param = ssl.param_mut();
            match address {
                Some(address) => param.set_ip(address),
                None => param.set_host(host),
            }
            .map_err(|e| failed(&e))?;
        }
        let (peer, name) = (wish.verify_peer, wish.verify_host);
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

    fn context(&self, wish: &TlsWish<'_>) -> Result<SslContext, Failure> {
        let key = [wish.cert_file, wish.key_file, wish.key_password].map(str::to_owned);
        let now = self.clock.monotonic();
        let mut known = self.known.borrow_mut();
        if let Some((context, until)) = known.get(&key)
            && now < *until
        {
            return Ok(context.clone());
        }
        let context = self.make(wish)?;
        if known.len() >= CONTEXTS_MAX {
            known.clear();
        }
        known.insert(key, (context.clone(), now + FRESH));
        Ok(context)
    }

    fn make(&self, wish: &TlsWish<'_>) -> Result<SslContext, Failure> {
        let mut context = SslContext::builder(SslMethod::tls_client()).map_err(|e| failed(&e))?;
        if let Some(folder) = &self.files.authorities {
            let store = context.cert_store_mut();
            let lookup = store.add_lookup(X509Lookup::hash_dir()).map_err(|e| failed(&e))?;
            let folder = folder.to_string_lossy();
            lookup.add_dir(&folder, SslFiletype::PEM).map_err(|e| failed(&e))?;
        }
        // After the operator's folder: of two authorities with one name the first counts.
        let usual = context.set_default_verify_paths();
        usual.map_err(|e| failed(&e))?;
        context.set_min_proto_version(Some(SslVersion::TLS1_2)).map_err(|e| failed(&e))?;
        context.set_alpn_protos(b"\x08http/1.1").map_err(|e| failed(&e))?;
        // An idle connection costs no buffers.
        context.set_mode(SslMode::RELEASE_BUFFERS);
        if wish.cert_file.is_empty() {
            return Ok(context.build());
        }
        let cert = place(&self.files.certificates, wish.cert_file)?;
        let chain = X509::stack_from_pem(&read("certificate", &cert)?);
        let mut chain = chain.map_err(|e| unusable("certificate", &cert, &e))?.into_iter();
        let Some(own) = chain.next() else {
            return Err(Failure::Tls(format!("there is no certificate in \"{}\"", cert.display())));
        };
        context.set_certificate(&own).map_err(|e| unusable("certificate", &cert, &e))?;
        for other in chain {
            context.add_extra_chain_cert(other).map_err(|e| unusable("certificate", &cert, &e))?;
        }
        let key = match wish.key_file {
            "" => cert,
            file => place(&self.files.keys, file)?,
        };
        let pem = read("private key", &key)?;
        let password = wish.key_password.as_bytes();
        let loaded = PKey::private_key_from_pem_passphrase(&pem, password);
        let loaded = loaded.map_err(|e| unusable("private key", &key, &e))?;
        context.set_private_key(&loaded).map_err(|e| unusable("private key", &key, &e))?;
        context.check_private_key().map_err(|e| unusable("private key", &key, &e))?;
        Ok(context.build())
    }
}

/// A file of the configuration within the operator's folder, never outside.
fn place(folder: &Path, file: &str) -> Result<PathBuf, Failure> {
    if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Failure::Tls(format!(
            "cannot use the file \"{file}\": it must be in \"{}\"",
            folder.display()
        )));
    }
    Ok(folder.join(file))
}

fn read(what: &str, file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        Failure::Tls(format!("could not load the {what} from \"{}\": {error}", file.display()))
    })
}

fn unusable(what: &str, file: &Path, error: &ErrorStack) -> Failure {
    let why = error.errors().iter().find_map(openssl::error::Error::reason);
    let why = why.unwrap_or("wrong format or password");
    Failure::Tls(format!("could not use the {what} in \"{}\": {why}", file.display()))
}

fn failed(error: &ErrorStack) -> Failure {
    Failure::Tls(format!("TLS connect error: {error}"))
}

/// What is wrong with the server's certificate, or with the handshake.
fn explain(error: &openssl::ssl::Error, verified: i32, host: &str) -> Failure {
    if let Some(error) = error.io_error() {
        return Failure::broken("Recv", error);
    }
    let refused = error.ssl_error().and_then(|stack| {
        let reasons = stack.errors().iter().filter_map(openssl::error::Error::reason);
        reasons.into_iter().find(|reason| reason.contains("verify failed"))
    });
    if refused.is_some() && WRONG_NAME.contains(&verified) {
        return Failure::Tls(format!(
            "SSL: no alternative certificate subject name matches target host name '{host}'"
        ));
    }
    if refused.is_some() {
        let why = verify_text(verified);
        return Failure::Tls(format!("SSL certificate problem: {why}"));
    }
    let reasons = error.ssl_error().map(|stack| {
        let texts = stack.errors().iter().map(|one| one.reason().unwrap_or("unknown").to_owned());
        texts.collect::<Vec<_>>().join(", ")
    });
    match reasons {
        Some(text) => Failure::Tls(format!("TLS connect error: {text}")),
        None => Failure::Tls("TLS connect error: unexpected end of the handshake".to_owned()),
    }
}

/// OpenSSL's words for the results that occur.
fn verify_text(code: i32) -> String {
    let text = match code {
        2 | 20 => "unable to get local issuer certificate",
        7 => "certificate signature failure",
        9 => "certificate is not yet valid",
        10 => "certificate has expired",
        18 => "self-signed certificate",
        19 => "self-signed certificate in certificate chain",
        21 => "unable to verify the first certificate",
        23 => "certificate revoked",
        26 => "unsuitable certificate purpose",
        code => return format!("verification failed with code {code}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_in_their_folder() {
        let folder = Path::new("folder");
        let good = place(folder, "a/b.pem").unwrap();
        assert_eq!(good, Path::new("folder/a/b.pem"));
        for file in ["../a", "/a", "a/../../b", "./a"] {
            let error = place(folder, file).unwrap_err().to_string();
            assert!(error.contains("it must be in \"folder\""), "{error}");
        }
    }
}
