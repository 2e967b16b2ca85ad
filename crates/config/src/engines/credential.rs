//! Rows of certificates as the types of an engine's configuration.

use std::collections::BTreeMap;

use balancing::{AcmeOrder, Certificate, ExpectedCertificate, Pem};

use super::compile::{Result, typed};
use crate::db::{Reader, Row, query_by_ids};

/// A certificate as engines get it.
#[derive(Debug, Clone)]
pub enum Credential {
    /// With its key.
    Issued(Certificate),
    /// The server has ordered it.
    Expected(ExpectedCertificate),
}

impl Credential {
    /// Name of the certificate.
    pub fn name(&self) -> &str {
        match self {
            Self::Issued(certificate) => &certificate.name,
            Self::Expected(expected) => &expected.name,
        }
    }

    /// The certificate, if it is there.
    pub fn issued(&self) -> Option<&Certificate> {
        match self {
            Self::Issued(certificate) => Some(certificate),
            Self::Expected(_) => None,
        }
    }

    /// What is expected, if it is not there.
    pub fn expected(&self) -> Option<&ExpectedCertificate> {
        match self {
            Self::Issued(_) => None,
            Self::Expected(expected) => Some(expected),
        }
    }
}

/// Certificates by id, those that exist.
pub(super) fn credentials(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> Result<BTreeMap<u64, Credential>> {
    let sql = "SELECT certificateid, name, certificate, private_key, acme FROM certificates \
               WHERE certificateid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    rows.iter().map(|row| Ok((row.id("certificateid"), credential(row)?))).collect()
}

fn credential(row: &Row) -> Result<Credential> {
    let name = row.text("name").to_owned();
    if row.text("certificate").is_empty() {
        let object = format!("certificate '{name}'");
        let order: AcmeOrder = typed(row.text("acme").parse().unwrap_or_default(), &object)?;
        return Ok(Credential::Expected(ExpectedCertificate { name, names: order.names() }));
    }
    Ok(Credential::Issued(Certificate {
        name,
        cert: Pem::Text(row.text("certificate").to_owned()),
        key: Pem::Text(row.text("private_key").to_owned()),
    }))
}
