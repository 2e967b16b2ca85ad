//! How connections with nodes are protected: `sslmode` and `sslrootcert`, the words that addresses of
//! databases have for it.

use std::path::Path;

use openssl::error::ErrorStack;
use openssl::ssl::{SslConnector, SslConnectorBuilder, SslMethod, SslVerifyMode};
use openssl::x509::store::X509StoreBuilder;
use openssl::x509::{X509, X509StoreContextRef, X509VerifyResult};
use scylla::client::session::OpenSsl010Config;

use history::Error;

/// `X509_V_ERR_IP_ADDRESS_MISMATCH` of OpenSSL: the certificate is not for the address of the node.
const OF_ANOTHER_ADDRESS: i32 = 64;

/// What is checked of who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Nothing,
    /// Who signed the certificate.
    Authority,
    /// That, and that it is for the address of the node.
    All,
}

/// What the address says of TLS.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    /// `None` = not told; outside, `Some(None)` = no TLS.
    mode: Option<Option<Check>>,
    /// A file of authorities; only these are believed.
    authorities: Option<String>,
}

impl Tls {
    pub(crate) fn set_mode(&mut self, mode: &str) -> Result<(), Error> {
        self.mode = Some(match mode {
            "disable" => None,
            "require" => Some(Check::Nothing),
            "verify-ca" => Some(Check::Authority),
            "verify-full" => Some(Check::All),
            _ => {
                return Err(Error::config(
                    "the sslmode of a Cassandra store is one of disable, require, verify-ca, \
                     verify-full",
                ));
            }
        });
        Ok(())
    }

    pub(crate) fn set_authorities(&mut self, file: String) {
        self.authorities = Some(file);
    }

    /// What connections are made with; `None` = they are not encrypted. Reads the file.
    pub(crate) fn context(&self) -> Result<Option<OpenSsl010Config>, Error> {
        let default = self.authorities.is_some().then_some(Check::All);
        let check = match (self.mode.unwrap_or(default), &self.authorities) {
            (Some(Check::Authority), None) => {
                return Err(Error::config(
                    "sslmode=verify-ca of a Cassandra store wants sslrootcert, the file of your \
                     own authority: of the system's ones anybody gets a certificate",
                ));
            }
            (None | Some(Check::Nothing), Some(_)) => {
                return Err(Error::config(
                    "sslrootcert of a Cassandra store is for sslmode=verify-full and verify-ca",
                ));
            }
            (None, None) => return Ok(None),
            (Some(check), _) => check,
        };
        let odd = |cause| Error::config(format!("TLS cannot be set up: {cause}"));
        let mut builder = SslConnector::builder(SslMethod::tls()).map_err(odd)?;
        if let Some(file) = &self.authorities {
            believe_only(&mut builder, Path::new(file))?;
        }
        match check {
            Check::Nothing => builder.set_verify(SslVerifyMode::NONE),
            Check::Authority => builder.set_verify_callback(SslVerifyMode::PEER, at_any_address),
            Check::All => builder.set_verify(SslVerifyMode::PEER),
        }
        Ok(Some(OpenSsl010Config::new(builder)))
    }
}

/// Everything has to be right but the address.
fn at_any_address(is_right: bool, context: &mut X509StoreContextRef) -> bool {
    if !is_right && context.error().as_raw() == OF_ANOTHER_ADDRESS {
        context.set_error(X509VerifyResult::OK);
        return true;
    }
    is_right
}

fn believe_only(builder: &mut SslConnectorBuilder, file: &Path) -> Result<(), Error> {
    let cannot = |cause: &dyn std::fmt::Display| {
        Error::config(format!(
            "cannot read certificates of authorities from {file:?}: {cause}; sslrootcert of a \
             Cassandra store names a file in PEM form"
        ))
    };
    let pem = std::fs::read(file).map_err(|cause| cannot(&cause))?;
    let certificates = X509::stack_from_pem(&pem).map_err(|cause| cannot(&cause))?;
    if certificates.is_empty() {
        return Err(cannot(&"there are none"));
    }
    let store = || -> Result<_, ErrorStack> {
        let mut store = X509StoreBuilder::new()?;
        certificates.into_iter().try_for_each(|certificate| store.add_cert(certificate))?;
        Ok(store.build())
    };
    builder.set_cert_store(store().map_err(|cause| cannot(&cause))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn what_would_check_nothing_by_mistake_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("empty.pem"), "nothing\n").unwrap();
        let context = |mode: &str, file: &str| {
            let mut tls = Tls::default();
            if !mode.is_empty() {
                tls.set_mode(mode)?;
            }
            if !file.is_empty() {
                tls.set_authorities(path(file));
            }
            tls.context()
        };
        for (mode, is_on) in
            [("", false), ("disable", false), ("require", true), ("verify-full", true)]
        {
            assert_eq!(context(mode, "").unwrap().is_some(), is_on, "{mode}");
        }
        for (mode, file, said) in [
            ("on", "", "is one of disable"),
            ("verify-ca", "", "wants sslrootcert"),
            ("disable", "empty.pem", "is for sslmode"),
            ("require", "empty.pem", "is for sslmode"),
            ("", "missing.pem", "cannot read certificates"),
            ("verify-ca", "empty.pem", "there are none"),
            ("verify-full", "empty.pem", "there are none"),
        ] {
            let error = context(mode, file).err().unwrap();
            assert!(error.fault == Fault::Config && error.message.contains(said), "{error}");
        }
    }
}
