//! Encryption of connections: PSK and certificates, as server (trapper) and client (passive
//! checks).
//!
//! The trap in OpenSSL: a server context with certificate *and* PSK, met by a client with the
//! default TLS 1.3 suites, silently falls to the certificate, because the PSK is bound to SHA-256
//! and the server prefers a suite with SHA-384. So all contexts here allow only suites with
//! SHA-256, and a peer counts as PSK-authenticated only if the handshake really used the PSK.

mod name;
mod psk;
pub mod public;

use std::path::PathBuf;
use std::pin::Pin;

use config::snapshot::{Host, Tls};
use openssl::error::ErrorStack;
use openssl::ex_data::Index;
use openssl::ssl::{
    Ssl, SslContext, SslContextBuilder, SslFiletype, SslMethod, SslOptions, SslRef,
    SslSessionCacheMode, SslVerifyMode, SslVersion,
};
use openssl::x509::store::X509Lookup;
use openssl::x509::verify::X509VerifyFlags;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

pub(crate) use name::name_text;
use psk::Psk;
pub(crate) use psk::PskTable;

/// Unencrypted. The numbers are the API's and the wire's.
pub const NONE: u8 = 1;
/// Pre-shared key.
pub const PSK: u8 = 2;
/// Certificate.
pub const CERT: u8 = 4;

const SUITES_TLS13: &str = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
const CIPHERS_TLS12: &str = "kECDHEPSK+CHACHA20:kECDHEPSK+AES128:kPSK+AES128:EECDH+AESGCM:\
                             EECDH+CHACHA20:EECDH+AES128:RSA+AES128";

/// `TLSCAFile`, `TLSCRLFile`, `TLSCertFile`, `TLSKeyFile`: PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsConfig {
    /// Authorities whose certificates are believed.
    pub ca_file: Option<PathBuf>,
    /// Revoked certificates.
    pub crl_file: Option<PathBuf>,
    /// Certificate of this server, intermediate ones after it.
    pub cert_file: Option<PathBuf>,
    /// Private key of this server.
    pub key_file: Option<PathBuf>,
}

/// Why a connection cannot be protected.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of [`TlsConfig`] cannot be used.
    #[error("cannot use {what} \"{path}\": {error}")]
    File {
        /// Which one.
        what: &'static str,
        /// Where it is.
        path: String,
        /// What OpenSSL says.
        error: ErrorStack,
    },
    /// Only one of certificate and key is given.
    #[error(
        "a certificate requires its key and a CA file: set TLSCAFile, TLSCertFile and TLSKeyFile"
    )]
    Incomplete,
    /// OpenSSL refuses something.
    #[error("TLS: {0}")]
    OpenSsl(#[from] ErrorStack),
    /// The handshake failed.
    #[error("TLS handshake failed: {0}")]
    Handshake(String),
    /// The peer showed neither a PSK nor a certificate.
    #[error("the peer presented neither a PSK nor a certificate")]
    NobodyKnown,
    /// A PSK was wanted but the handshake did without.
    #[error("the handshake did not use the PSK")]
    PskNotUsed,
    /// The PSK is not a valid key.
    #[error("the PSK must have 32 to 512 hexadecimal digits")]
    BadPsk,
    /// The host wants certificates and the server has none.
    #[error("the host requires a certificate, but the server has none: set TLSCertFile")]
    NoCertificate,
    /// The peer's certificate is of somebody else.
    #[error("the peer's certificate has {what} \"{found}\", but \"{wanted}\" is required")]
    WrongName {
        /// Issuer or subject.
        what: &'static str,
        /// In the certificate.
        found: String,
        /// In the rule.
        wanted: String,
    },
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// 1 none, 2 PSK, 4 certificate.
    pub kind: u8,
    /// With PSK.
    pub psk_identity: String,
    /// With a certificate.
    pub issuer: String,
    /// With a certificate.
    pub subject: String,
}

impl Identity {
    /// A peer on an unencrypted connection.
    pub fn unencrypted() -> Self {
        Self {
            kind: NONE,
            psk_identity: String::new(),
            issuer: String::new(),
            subject: String::new(),
        }
    }

    /// The word for this kind of connection in error texts.
    pub fn kind_text(&self) -> &'static str {
        match self.kind {
            PSK => "psk",
            CERT => "cert",
            _ => "unencrypted",
        }
    }

    fn check_names(&self, tls: &Tls) -> Result<(), TlsError> {
        let pairs =
            [("issuer", &self.issuer, &tls.issuer), ("subject", &self.subject, &tls.subject)];
        for (what, found, wanted) in pairs {
            if !wanted.is_empty() && **found != **wanted {
                let (found, wanted) = (found.clone(), wanted.to_string());
                return Err(TlsError::WrongName { what, found, wanted });
            }
        }
        Ok(())
    }

    /// Whether a rule lets this peer in; `whom` completes the error text (`host "X"`).
    pub fn allowed(&self, tls: &Tls, whom: &str) -> Result<(), String> {
        if tls.accept & self.kind == 0 {
            let kind = self.kind_text();
            return Err(format!("connection of type \"{kind}\" is not allowed for {whom}"));
        }
        match self.kind {
            PSK if self.psk_identity != *tls.psk_identity => {
                Err(format!("the PSK identity of the connection is not the one of {whom}"))
            }
            CERT => self.check_names(tls).map_err(|error| format!("{whom}: {error}")),
            _ => Ok(()),
        }
    }

    /// Whether a host's rule lets this peer in.
    pub fn allowed_for(&self, host: &Host) -> Result<(), String> {
        if self.kind == NONE && host.tls.accept & NONE != 0 {
            return Ok(());
        }
        self.allowed(&host.tls, &format!("host \"{}\"", host.host))
    }
}

/// Contexts for both directions, made once.
pub struct TlsContexts {
    server: SslContext,
    client_psk: SslContext,
    client_cert: Option<SslContext>,
    seen_identity: Index<Ssl, String>,
    own_secret: Index<Ssl, (String, Psk)>,
}

impl TlsContexts {
    /// Contexts of an agent, whose peers all have the PSK of one rule.
    ///
    /// # Errors
    /// The PSK is not a valid key, or a file cannot be used.
    pub fn of_rule(config: &TlsConfig, rule: &Tls) -> Result<Self, TlsError> {
        let own = match &*rule.psk {
            "" => None,
            hex => {
                Some((rule.psk_identity.to_string(), Psk::from_hex(hex).ok_or(TlsError::BadPsk)?))
            }
        };
        Self::new(config, move |identity| {
            own.as_ref().filter(|(name, _)| name == identity).map(|(_, key)| key.clone())
        })
    }

    /// Contexts for both directions; `key_of` returns the PSK of an identity.
    pub(crate) fn new(
        config: &TlsConfig,
        key_of: impl Fn(&str) -> Option<Psk> + Send + Sync + 'static,
    ) -> Result<Self, TlsError> {
        let seen_identity = Ssl::new_ex_index()?;
        let own_secret: Index<Ssl, (String, Psk)> = Ssl::new_ex_index()?;
        let mut server = common(SslMethod::tls_server())?;
        // A PSK of TLS 1.3 comes as a session, and where certificates are asked for OpenSSL refuses
        // sessions without a context.
        server.set_session_id_context(b"vedette")?;
        let has_certificate = certificates(&mut server, config)?;
        server.set_verify(if has_certificate { SslVerifyMode::PEER } else { SslVerifyMode::NONE });
        server.set_psk_server_callback(move |ssl, identity, out| {
            let Some(identity) = identity.and_then(|id| std::str::from_utf8(id).ok()) else {
                return Ok(0);
            };
            let Some(key) = key_of(identity) else { return Ok(0) };
            ssl.set_ex_data(seen_identity, identity.to_owned());
            Ok(key.copy_to(out))
        });
        let mut client_psk = common(SslMethod::tls_client())?;
        client_psk.set_cipher_list("kECDHEPSK+AES128:kPSK+AES128")?;
        client_psk.set_verify(SslVerifyMode::NONE);
        client_psk.set_psk_client_callback(move |ssl, _hint, identity_out, psk_out| {
            let Some((identity, key)) = ssl.ex_data(own_secret) else { return Ok(0) };
            // With its closing NUL.
            let Some(room) = identity_out.get_mut(..=identity.len()) else { return Ok(0) };
            let (text, nul) = room.split_at_mut(identity.len());
            text.copy_from_slice(identity.as_bytes());
            nul.fill(0);
            Ok(key.copy_to(psk_out))
        });
        let client_cert = if has_certificate {
            let mut client = common(SslMethod::tls_client())?;
            certificates(&mut client, config)?;
            client.set_verify(SslVerifyMode::PEER);
            Some(client.build())
        } else {
            None
        };
        let (server, client_psk) = (server.build(), client_psk.build());
        Ok(Self { server, client_psk, client_cert, seen_identity, own_secret })
    }

    /// The server's side of a handshake.
    pub async fn accept<S>(&self, stream: S) -> Result<(SslStream<S>, Identity), TlsError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut stream = SslStream::new(Ssl::new(&self.server)?, stream)?;
        Pin::new(&mut stream).accept().await.map_err(|e| TlsError::Handshake(e.to_string()))?;
        let ssl = stream.ssl();
        let identity = if used_psk(ssl) {
            let psk_identity = ssl.ex_data(self.seen_identity).cloned().unwrap_or_default();
            Identity { kind: PSK, psk_identity, ..Identity::unencrypted() }
        } else {
            certificate_identity(ssl)?
        };
        Ok((stream, identity))
    }

    /// The client's side of a handshake, as a host's rule wants it (PSK or certificate).
    pub async fn connect(
        &self,
        stream: TcpStream,
        tls: &Tls,
    ) -> Result<SslStream<TcpStream>, TlsError> {
        let ssl = if tls.connect == PSK {
            let key = Psk::from_hex(&tls.psk).ok_or(TlsError::BadPsk)?;
            let mut ssl = Ssl::new(&self.client_psk)?;
            ssl.set_ex_data(self.own_secret, (tls.psk_identity.to_string(), key));
            ssl
        } else {
            Ssl::new(self.client_cert.as_ref().ok_or(TlsError::NoCertificate)?)?
        };
        let mut stream = SslStream::new(ssl, stream)?;
        Pin::new(&mut stream).connect().await.map_err(|e| TlsError::Handshake(e.to_string()))?;
        if tls.connect == PSK {
            if !used_psk(stream.ssl()) {
                return Err(TlsError::PskNotUsed);
            }
        } else {
            certificate_identity(stream.ssl())?.check_names(tls)?;
        }
        Ok(stream)
    }
}

fn common(method: SslMethod) -> Result<SslContextBuilder, TlsError> {
    let mut builder = SslContext::builder(method)?;
    builder.set_min_proto_version(Some(SslVersion::TLS1_2))?;
    builder.set_ciphersuites(SUITES_TLS13)?;
    builder.set_cipher_list(CIPHERS_TLS12)?;
    // Without resumption, "session reused" can only mean an external PSK.
    builder.set_options(SslOptions::NO_TICKET | SslOptions::NO_RENEGOTIATION);
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_num_tickets(0)?;
    Ok(builder)
}

/// Loads the files; `false` = none are configured.
fn certificates(builder: &mut SslContextBuilder, config: &TlsConfig) -> Result<bool, TlsError> {
    let (ca, cert, key) = match (&config.ca_file, &config.cert_file, &config.key_file) {
        (Some(ca), Some(cert), Some(key)) => (ca, cert, key),
        (_, None, None) => return Ok(false),
        _ => return Err(TlsError::Incomplete),
    };
    let file = |what: &'static str, path: &std::path::Path| {
        let path = path.display().to_string();
        move |error| TlsError::File { what, path, error }
    };
    builder.set_ca_file(ca).map_err(file("CA file", ca))?;
    builder.set_certificate_chain_file(cert).map_err(file("certificate", cert))?;
    builder.set_private_key_file(key, SslFiletype::PEM).map_err(file("private key", key))?;
    builder.check_private_key().map_err(file("private key", key))?;
    if let Some(crl) = &config.crl_file {
        let store = builder.cert_store_mut();
        let path = crl.to_string_lossy();
        let lookup = store.add_lookup(X509Lookup::file())?;
        lookup.load_crl_file(&*path, SslFiletype::PEM).map_err(file("CRL file", crl))?;
        store.set_flags(X509VerifyFlags::CRL_CHECK | X509VerifyFlags::CRL_CHECK_ALL)?;
    }
    Ok(true)
}

fn used_psk(ssl: &SslRef) -> bool {
    if ssl.version2() == Some(SslVersion::TLS1_3) {
        return ssl.session_reused();
    }
    ssl.current_cipher().is_some_and(|cipher| cipher.name().contains("PSK"))
}

fn certificate_identity(ssl: &SslRef) -> Result<Identity, TlsError> {
    let certificate = ssl.peer_certificate().ok_or(TlsError::NobodyKnown)?;
    Ok(Identity {
        kind: CERT,
        psk_identity: String::new(),
        issuer: name_text(certificate.issuer_name()),
        subject: name_text(certificate.subject_name()),
    })
}

#[cfg(test)]
mod tests;
