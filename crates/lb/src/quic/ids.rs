//! Connection ids that name the thread of their connection: when the address of a client changes, the system may
//! give its datagrams to another thread, which hands them over.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid};

/// Random bytes of an id.
const RANDOM: usize = 8;
/// Bytes of an id.
const LENGTH: usize = RANDOM + 2;

/// Makes the ids of all threads.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    /// Keyed, so that strangers do not see from ids which belong together.
    mask: RandomState,
    threads: u16,
}

impl Ids {
    pub(crate) fn new(threads: usize) -> Self {
        Self { mask: RandomState::new(), threads: u16::try_from(threads).unwrap_or(u16::MAX) }
    }

    /// Those of a thread.
    pub(super) fn of_thread(&self, thread: usize) -> Generator {
        Generator { ids: self.clone(), thread: u16::try_from(thread).unwrap_or(u16::MAX) }
    }

    fn mask(&self, random: &[u8]) -> u16 {
        let hash = self.mask.hash_one(random).to_le_bytes();
        u16::from_le_bytes([hash[0], hash[1]])
    }

    fn thread(&self, id: &[u8]) -> Option<u16> {
        let (random, thread) = id.split_at_checked(RANDOM)?;
        let thread = u16::from_be_bytes(thread.try_into().ok()?) ^ self.mask(random);
        (thread < self.threads).then_some(thread)
    }

    /// The thread that a datagram is for; `None`: the first packet does not tell.
    pub(super) fn owner(&self, datagram: &[u8]) -> Option<usize> {
        // RFC 9000, 17.3: ids of packets with a long header may be the client's.
        let (first, rest) = datagram.split_first()?;
        let short = first & 0x80 == 0;
        self.thread(rest.get(..LENGTH).filter(|_| short)?).map(usize::from)
    }
}

/// Makes the ids of a thread.
#[derive(Debug)]
pub(super) struct Generator {
    ids: Ids,
    thread: u16,
}

impl ConnectionIdGenerator for Generator {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; LENGTH];
        // Without random numbers ids collide, and their connections end.
        if let Err(error) = getrandom::fill(&mut id[..RANDOM]) {
            tracing::error!("no random connection id: {error}");
        }
        let thread = self.thread ^ self.ids.mask(&id[..RANDOM]);
        id[RANDOM..].copy_from_slice(&thread.to_be_bytes());
        ConnectionId::new(&id)
    }

    fn validate(&self, id: &ConnectionId) -> Result<(), InvalidCid> {
        if self.ids.thread(id) == Some(self.thread) { Ok(()) } else { Err(InvalidCid) }
    }

    fn cid_len(&self) -> usize {
        LENGTH
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_thread_and_nothing_else() {
        let ids = Ids::new(4);
        for thread in 0..4 {
            let mut generator = ids.of_thread(thread);
            let (one, two) = (generator.generate_cid(), generator.generate_cid());
            assert_ne!(one[..], two[..]);
            for id in [&one[..], &two[..]] {
                let short = [&[0x40][..], id, &[0; 20]].concat();
                assert_eq!(ids.owner(&short), Some(thread));
                let long = [&[0xc0][..], id, &[0; 20]].concat();
                assert_eq!(ids.owner(&long), None);
            }
            assert!(generator.validate(&one).is_ok());
            assert!(ids.of_thread((thread + 1) % 4).validate(&one).is_err());
        }
        let short = |length| ids.owner(&vec![0x40; length]);
        assert_eq!((short(0), short(1), short(LENGTH)), (None, None, None));
    }
}
