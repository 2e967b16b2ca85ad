//! The engine's folder: who it is, what it runs, what it recorded.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::ErrorKind;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use openssl::pkey::{PKey, Private};
use openssl::x509::X509;
use serde::{Deserialize, Serialize};

use lb::Beginning;

/// Holds the folder for one process.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    lock: File,
}

/// How the engine and its server recognise each other.
pub(super) struct Identity {
    /// As it enrolled; records have it.
    pub(super) name: String,
    pub(super) key: PKey<Private>,
    pub(super) certificate: X509,
    pub(super) authority: X509,
}

/// The last configuration that worked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) hash: String,
    pub(super) text: String,
}

/// Which VIPs the engine announces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Owns {
    /// Number of the message that named them.
    pub(super) generation: u64,
    pub(super) vips: BTreeSet<IpAddr>,
}

const IDENTITY: &str = "identity.pem";
const CONFIGURATION: &str = "configuration";
const PLACEMENT: &str = "placement";
const RING: &str = "ring";
/// The line before the certificates and the key.
const NAME: &str = "name: ";

impl Folder {
    /// Opens a folder. Beside a process that is about to end, it is [owned](Self::is_owned) later.
    pub(super) fn open(path: &Path, beginning: Beginning) -> anyhow::Result<Self> {
        let problem = || format!("cannot use the folder {}", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(problem)?;
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(path.join("lock")).with_context(problem)?;
        let folder = Self { path: path.to_owned(), lock };
        if !folder.is_owned()? && beginning == Beginning::Alone {
            bail!(
                "the folder {} is in use by another engine; use --takeover to replace that one",
                path.display()
            );
        }
        Ok(folder)
    }

    /// Whether this process has the folder now, or already.
    pub(super) fn is_owned(&self) -> anyhow::Result<bool> {
        match self.lock.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", self.path.display()))
            }
        }
    }

    /// Leaves the folder to the process that follows.
    pub(super) fn release(&self) -> anyhow::Result<()> {
        self.lock.unlock().with_context(|| format!("cannot unlock {}", self.path.display()))
    }

    pub(super) fn transactions(&self) -> PathBuf {
        self.path.join("transactions")
    }

    /// Where OCSP responses are kept.
    pub(super) fn ocsp(&self) -> PathBuf {
        self.path.join("ocsp")
    }

    fn read(&self, name: &str) -> anyhow::Result<Option<String>> {
        let path = self.path.join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(name);
        stdx::file::replace(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    pub(super) fn identity(&self) -> anyhow::Result<Option<Identity>> {
        let Some(text) = self.read(IDENTITY)? else { return Ok(None) };
        let damaged = || {
            let path = self.path.join(IDENTITY);
            format!("{} is damaged: delete it and enrol the engine again", path.display())
        };
        let (name, pem) = text.split_once('\n').with_context(damaged)?;
        let mut certificates =
            X509::stack_from_pem(pem.as_bytes()).with_context(damaged)?.into_iter();
        let (Some(certificate), Some(authority)) = (certificates.next(), certificates.next())
        else {
            bail!(damaged());
        };
        Ok(Some(Identity {
            name: name.strip_prefix(NAME).with_context(damaged)?.to_owned(),
            key: PKey::private_key_from_pem(pem.as_bytes()).with_context(damaged)?,
            certificate,
            authority,
        }))
    }

    pub(super) fn keep_identity(&self, identity: &Identity) -> anyhow::Result<()> {
        let Identity { name, key, certificate, authority } = identity;
        let mut text = format!("{NAME}{name}\n");
        for pem in [certificate.to_pem()?, authority.to_pem()?, key.private_key_to_pem_pkcs8()?] {
            text += &String::from_utf8(pem)?;
        }
        self.write(IDENTITY, &text)
    }

    pub(super) fn configuration(&self) -> anyhow::Result<Option<Stored>> {
        let text = self.read(CONFIGURATION)?;
        let stored = text.as_deref().and_then(|text| text.split_once('\n'));
        Ok(stored.map(|(hash, text)| Stored { hash: hash.to_owned(), text: text.to_owned() }))
    }

    pub(super) fn keep_configuration(&self, hash: &str, text: &str) -> anyhow::Result<()> {
        self.write(CONFIGURATION, &format!("{hash}\n{text}"))
    }

    /// The VIPs that the server has last given to this engine.
    pub(super) fn placement(&self) -> anyhow::Result<Option<Owns>> {
        let Some(text) = self.read(PLACEMENT)? else { return Ok(None) };
        let owns = serde_json::from_str(&text);
        owns.map(Some)
            .with_context(|| format!("{} is damaged", self.path.join(PLACEMENT).display()))
    }

    pub(super) fn keep_placement(&self, owns: &Owns) -> anyhow::Result<()> {
        self.write(PLACEMENT, &serde_json::to_string(owns)?)
    }

    /// The random number of the log of records. It is in the log's folder, so that a new log has a new
    /// number.
    pub(super) fn ring(&self) -> anyhow::Result<u64> {
        let name = format!("transactions/{RING}");
        if let Some(text) = self.read(&name)? {
            return u64::from_str_radix(text.trim(), 16)
                .with_context(|| format!("{name} is damaged: delete the folder transactions"));
        }
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)?;
        let ring = u64::from_le_bytes(bytes);
        self.write(&name, &format!("{ring:016x}\n"))?;
        Ok(ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_what_it_was_given_for_one_process() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("engine");
        let folder = Folder::open(&path, Beginning::Alone).unwrap();
        let second = Folder::open(&path, Beginning::Alone).unwrap_err();
        assert!(second.to_string().contains("in use by another engine"), "{second}");
        let next = Folder::open(&path, Beginning::Takeover).unwrap();
        assert!(!next.is_owned().unwrap());
        assert!(folder.identity().unwrap().is_none());
        assert_eq!(folder.configuration().unwrap(), None);
        folder.keep_configuration("abc", "{\n}").unwrap();
        let stored = Stored { hash: "abc".to_owned(), text: "{\n}".to_owned() };
        assert_eq!(folder.configuration().unwrap(), Some(stored));
        assert_eq!(folder.placement().unwrap(), None);
        let owns = Owns { generation: 7, vips: ["192.0.2.1".parse().unwrap()].into() };
        folder.keep_placement(&owns).unwrap();
        assert_eq!(folder.placement().unwrap(), Some(owns));
        std::fs::write(path.join(PLACEMENT), "{").unwrap();
        assert!(folder.placement().unwrap_err().to_string().contains("placement is damaged"));
        folder.release().unwrap();
        assert!(next.is_owned().unwrap());
        assert!(!folder.is_owned().unwrap());
        std::fs::create_dir(folder.transactions()).unwrap();
        assert_eq!(folder.ring().unwrap(), folder.ring().unwrap());
        std::fs::write(path.join(IDENTITY), "name: x\n-----BEGIN").unwrap();
        let error = folder.identity().err().unwrap();
        assert!(error.to_string().contains("enrol the engine again"), "{error}");
    }
}
