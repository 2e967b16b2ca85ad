//! Keys of the hosts that SSH checks go to: the first one of a host is remembered, another one is
//! refused. The file has the form of OpenSSH's `known_hosts`, so that it can be read, written and
//! copied by hand; a change counts with the next check.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::SystemTime;

use russh::keys::{Algorithm, HashAlg, PublicKey};
use stdx::sync::lock;

use crate::settings::HostKeyPolicy;

/// Octets of the file: about 300,000 hosts.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What is known.
#[derive(Debug)]
pub(crate) struct HostKeys {
    policy: HostKeyPolicy,
    file: PathBuf,
    known: Mutex<Known>,
}

/// The file as it was read last.
#[derive(Debug, Default)]
struct Known {
    stamp: Option<(Option<SystemTime>, u64)>,
    keys: HashMap<String, Vec<PublicKey>>,
}

impl HostKeys {
    pub(crate) fn new(policy: HostKeyPolicy, file: PathBuf) -> Self {
        Self { policy, file, known: Mutex::default() }
    }

    /// The algorithms of the keys that are known of a host.
    pub(crate) fn algorithms(&self, host: &str, port: u16) -> Vec<Algorithm> {
        if self.policy == HostKeyPolicy::Ignore {
            return Vec::new();
        }
        let mut known = lock(&self.known);
        match self.refresh(&mut known) {
            Ok(()) => {
                let keys = known.keys.get(&name(host, port)).map_or(&[][..], Vec::as_slice);
                keys.iter().map(PublicKey::algorithm).collect()
            }
            // The check itself says what is wrong.
            Err(_) => Vec::new(),
        }
    }

    /// Whether this is a host's key. The error is the item's.
    pub(crate) fn check(&self, host: &str, port: u16, key: &PublicKey) -> Result<(), String> {
        if self.policy == HostKeyPolicy::Ignore {
            return Ok(());
        }
        let file = self.file.display();
        let mut known = lock(&self.known);
        self.refresh(&mut known)
            .map_err(|error| format!("the keys of hosts in {file} cannot be read: {error}"))?;
        let name = name(host, port);
        let shown = || format!("{} {}", key.algorithm(), key.fingerprint(HashAlg::Sha256));
        match known.keys.get(&name) {
            Some(keys) if keys.iter().any(|one| one.key_data() == key.key_data()) => Ok(()),
            Some(_) => Err(format!(
                "the key of the host has changed ({} now): if the host was reinstalled, remove the \
                 lines of {name} from {file}; if not, somebody may be in between",
                shown()
            )),
            None if self.policy == HostKeyPolicy::Known => Err(format!(
                "the key of the host ({}) is not known: add a line for {name} to {file} \
                 (ssh-keyscan prints it)",
                shown()
            )),
            None => {
                self.remember(&name, key)
                    .map_err(|error| format!("the host's key cannot be kept in {file}: {error}"))?;
                tracing::info!("SSH: stored the host key of {name}: {}", shown());
                known.keys.entry(name).or_default().push(key.clone());
                // What was written is known.
                known.stamp = self.stamp().ok();
                Ok(())
            }
        }
    }

    fn stamp(&self) -> io::Result<(Option<SystemTime>, u64)> {
        match fs::metadata(&self.file) {
            Ok(about) => Ok((about.modified().ok(), about.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((None, 0)),
            Err(error) => Err(error),
        }
    }

    fn refresh(&self, known: &mut Known) -> io::Result<()> {
        let stamp = self.stamp()?;
        if known.stamp == Some(stamp) {
            return Ok(());
        }
        if stamp.1 > FILE_BYTES_MAX {
            return Err(io::Error::other("it is too large"));
        }
        let text = if stamp.1 == 0 { String::new() } else { fs::read_to_string(&self.file)? };
        *known = Known { stamp: Some(stamp), keys: parse(&text) };
        Ok(())
    }

    fn remember(&self, name: &str, key: &PublicKey) -> io::Result<()> {
        let text = key.to_openssh().map_err(io::Error::other)?;
        let ends = match fs::read(&self.file) {
            Ok(bytes) => bytes.last().is_none_or(|byte| *byte == b'\n'),
            Err(_) => true,
        };
        let line = format!("{}{name} {text}\n", if ends { "" } else { "\n" });
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()
    }
}

/// A host as the file names it.
fn name(host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    if port == 22 { host } else { format!("[{host}]:{port}") }
}

/// What cannot be read (hashed names, patterns, marks) is passed over.
fn parse(text: &str) -> HashMap<String, Vec<PublicKey>> {
    let mut keys: HashMap<String, Vec<PublicKey>> = HashMap::new();
    for line in text.lines().map(str::trim) {
        let Some((names, key)) = line.split_once([' ', '\t']) else { continue };
        if names.starts_with(['#', '@', '|']) {
            continue;
        }
        let Ok(key) = PublicKey::from_openssh(key.trim()) else { continue };
        for name in names.split(',') {
            keys.entry(name.to_ascii_lowercase()).or_default().push(key.clone());
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "ssh-ed25519 \
                     AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
    const B: &str = "ssh-ed25519 \
                     AAAAC3NzaC1lZDI1NTE5AAAAIB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA";

    fn key(text: &str) -> PublicKey {
        PublicKey::from_openssh(text).unwrap()
    }

    #[test]
    fn the_first_key_is_remembered_and_another_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        let keys = HostKeys::new(HostKeyPolicy::First, file.clone());
        assert_eq!(keys.algorithms("h", 22), []);
        assert_eq!(keys.check("h", 22, &key(A)), Ok(()));
        assert_eq!(keys.check("h", 22, &key(A)), Ok(()));
        assert_eq!(keys.algorithms("H", 22), [Algorithm::Ed25519]);
        let why = keys.check("h", 22, &key(B)).unwrap_err();
        assert!(why.contains("has changed") && why.contains("remove the lines of h"), "{why}");
        assert_eq!(keys.check("h", 2222, &key(B)), Ok(()), "another port, another host");
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, format!("h {A}\n[h]:2222 {B}\n"));
        // Another server with the same file knows them; without the line the new key is taken.
        let again = HostKeys::new(HostKeyPolicy::First, file.clone());
        assert!(again.check("h", 22, &key(B)).is_err());
        fs::write(&file, format!("[h]:2222 {B}")).unwrap();
        assert_eq!(keys.check("h", 22, &key(B)), Ok(()));
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("[h]:2222 {B}\nh {B}\n"));
    }

    #[test]
    fn policies() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known");
        fs::write(&file, format!("# hosts\n|1|x|y {A}\nbad line\nh,10.0.0.1 {A} comment\n"))
            .unwrap();
        let known = HostKeys::new(HostKeyPolicy::Known, file.clone());
        assert_eq!(known.check("10.0.0.1", 22, &key(A)), Ok(()));
        assert!(known.check("h", 22, &key(B)).unwrap_err().contains("has changed"));
        let why = known.check("other", 22, &key(A)).unwrap_err();
        assert!(why.contains("is not known") && why.contains("ssh-keyscan"), "{why}");
        let ignore = HostKeys::new(HostKeyPolicy::Ignore, file);
        assert_eq!(ignore.check("h", 22, &key(B)), Ok(()));
        let nowhere = HostKeys::new(HostKeyPolicy::First, folder.path().join("no/folder"));
        assert!(nowhere.check("h", 22, &key(A)).unwrap_err().contains("cannot be kept"));
        for (name, policy) in [
            ("first", Some(HostKeyPolicy::First)),
            ("known", Some(HostKeyPolicy::Known)),
            ("ignore", Some(HostKeyPolicy::Ignore)),
            ("no", None),
        ] {
            assert_eq!(HostKeyPolicy::from_name(name), policy);
        }
    }
}
