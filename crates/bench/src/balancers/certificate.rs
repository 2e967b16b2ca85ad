//! A self-signed certificate of loopback for the rows with TLS.

use std::path::Path;

use anyhow::Context as _;
use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use openssl::x509::extension::SubjectAlternativeName;
use openssl::x509::{X509, X509NameBuilder};

use super::row::Key;
use super::settings::{CERTIFICATE, KEY, PEM};

/// Longer than any measurement.
const DAYS: u32 = 30;
const RSA_BITS: u32 = 2048;
/// Version 3, as X.509 counts.
const VERSION: i32 = 2;

/// Writes certificate and key into `folder`.
pub(crate) fn write(folder: &Path, key: Key) -> anyhow::Result<()> {
    let key = match key {
        Key::Ec => {
            let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
            PKey::from_ec_key(EcKey::generate(&curve)?)?
        }
        Key::Rsa => PKey::from_rsa(Rsa::generate(RSA_BITS)?)?,
    };
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_text("CN", "localhost")?;
    let name = name.build();
    let mut serial = BigNum::new()?;
    serial.rand(64, MsbOption::MAYBE_ZERO, false)?;
    let mut builder = X509::builder()?;
    builder.set_version(VERSION)?;
    builder.set_serial_number(&*serial.to_asn1_integer()?)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_pubkey(&key)?;
    builder.set_not_before(&*Asn1Time::days_from_now(0)?)?;
    builder.set_not_after(&*Asn1Time::days_from_now(DAYS)?)?;
    let names = SubjectAlternativeName::new()
        .dns("localhost")
        .ip("127.0.0.1")
        .build(&builder.x509v3_context(None, None))?;
    builder.append_extension(names)?;
    builder.sign(&key, MessageDigest::sha256())?;
    let (certificate, key) = (builder.build().to_pem()?, key.private_key_to_pem_pkcs8()?);
    let both = [certificate.as_slice(), key.as_slice()].concat();
    for (file, text) in [(CERTIFICATE, certificate), (KEY, key), (PEM, both)] {
        let path = folder.join(file);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
