//! Which PSK belongs to which identity: read from the snapshot, renewed by differences.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use config::Snapshot;
use config::snapshot::Tls;
use model::HostId;
use stdx::sync::lock;

use crate::snapshots::Snapshots;

/// A key that never shows in logs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Psk(Vec<u8>);

impl std::fmt::Debug for Psk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Psk(…)")
    }
}

impl Psk {
    /// From hexadecimal digits, 16 to 256 bytes.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        if !text.len().is_multiple_of(2) || !(32..=512).contains(&text.len()) {
            return None;
        }
        let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        };
        text.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>().map(Self)
    }

    /// Copies the key to where OpenSSL wants it; 0 = does not fit.
    pub(crate) fn copy_to(&self, out: &mut [u8]) -> usize {
        match out.get_mut(..self.0.len()) {
            Some(room) => {
                room.copy_from_slice(&self.0);
                self.0.len()
            }
            None => 0,
        }
    }
}

#[derive(Default)]
struct Index {
    snapshot: Arc<Snapshot>,
    keys: HashMap<Arc<str>, Vec<(HostId, Arc<str>)>>,
}

/// Identities of all hosts and of autoregistration.
pub(crate) struct PskTable {
    snapshots: Arc<dyn Snapshots>,
    // Once per handshake, and a handshake costs a thousand times more.
    index: Mutex<Index>,
}

impl PskTable {
    pub(crate) fn new(snapshots: Arc<dyn Snapshots>) -> Self {
        Self { snapshots, index: Mutex::default() }
    }

    /// The key of an identity. One identity with two keys is a mistake: nobody gets in with it.
    pub(crate) fn key(&self, identity: &str) -> Option<Psk> {
        let mut index = lock(&self.index);
        index.renew(self.snapshots.load());
        let auto = &index.snapshot.settings.autoregistration;
        let mut keys = index.keys.get(identity).into_iter().flatten().map(|(_, key)| &**key);
        let auto_key = (&*auto.psk_identity == identity).then_some(&*auto.psk);
        let first = keys.next().or(auto_key)?;
        if keys.chain(auto_key).any(|key| !key.eq_ignore_ascii_case(first)) {
            tracing::warn!(
                "PSK identity \"{identity}\" has several keys: use a separate identity for each key"
            );
            return None;
        }
        Psk::from_hex(first)
    }
}

impl Index {
    fn renew(&mut self, snapshot: Arc<Snapshot>) {
        if Arc::ptr_eq(&self.snapshot, &snapshot) {
            return;
        }
        let before = std::mem::replace(&mut self.snapshot, snapshot);
        let keys = &mut self.keys;
        self.snapshot.hosts.changes(&before.hosts, |id, old, new| {
            if let Some(old) = old {
                remove(keys, *id, &old.tls);
            }
            if let Some(new) = new
                && !new.tls.psk_identity.is_empty()
            {
                let row = (*id, Arc::clone(&new.tls.psk));
                keys.entry(Arc::clone(&new.tls.psk_identity)).or_default().push(row);
            }
        });
    }
}

fn remove(keys: &mut HashMap<Arc<str>, Vec<(HostId, Arc<str>)>>, host: HostId, tls: &Tls) {
    if let Some(rows) = keys.get_mut(&tls.psk_identity) {
        rows.retain(|(id, _)| *id != host);
        if rows.is_empty() {
            keys.remove(&tls.psk_identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_16_to_256_bytes_of_hexadecimal_digits() {
        let hex = "00ff".repeat(8);
        assert_eq!(Psk::from_hex(&hex).unwrap().0, [0, 255].repeat(8));
        for bad in ["", "00", &hex[1..], &"zz".repeat(16), &"00".repeat(257)] {
            assert_eq!(Psk::from_hex(bad), None, "{bad}");
        }
        let psk = Psk::from_hex(&hex).unwrap();
        assert_eq!((psk.copy_to(&mut [0; 64]), psk.copy_to(&mut [0; 15])), (16, 0));
        assert_eq!(format!("{psk:?}"), "Psk(…)");
    }
}
