//! SNMP traps: received by a listener of our own or read from a file that another receiver
//! writes, and given to the items of the interfaces whose address sent them.
//!
//! Devices that know the community of an interface, or for version 3 the keys of its user, may send
//! traps in its name: nothing else needs to be set.

mod deliver;
mod file;
mod receive;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use collect::counters::timed;
use tokio::net::UdpSocket;
use tokio::sync::watch;

use crate::shared::Shared;
use deliver::Desk;
use receive::Receiver;

/// Octets of the largest datagram.
const ROOM: usize = wire::snmp::DATAGRAM_BYTES_MAX;
/// Between two looks at the file.
const LOOK: std::time::Duration = std::time::Duration::from_secs(1);

/// Receives traps until told to stop.
pub(crate) async fn listen(
    shared: Arc<Shared>,
    socket: UdpSocket,
    mut stop: watch::Receiver<bool>,
) {
    let (mut desk, mut receiver) = (Desk::new(Arc::clone(&shared)), Receiver::default());
    let mut room = vec![0; ROOM];
    loop {
        let received = tokio::select! {
            received = socket.recv_from(&mut room) => received,
            _ = stop.changed() => return,
        };
        let (len, from) = match received {
            Ok(received) => received,
            Err(error) => {
                tracing::warn!("cannot receive SNMP traps: {error}");
                tokio::time::sleep(LOOK).await;
                continue;
            }
        };
        let bytes = room.get(..len).unwrap_or_default();
        let address = plain(from.ip());
        let context = &shared.context;
        let work = async {
            let places = desk.places(&address.to_string());
            match receiver.receive(bytes, (address, from.port()), &places, context.now()) {
                Ok(trap) => {
                    if let Some(answer) = trap.answer {
                        // Who informs repeats it when the answer is lost.
                        let _ = socket.send_to(&answer, from).await;
                    }
                    desk.deliver(&address.to_string(), &trap.text, context.now()).await;
                }
                Err(why) => tracing::debug!("a datagram from {from} is not a trap for us: {why}"),
            }
        };
        timed(&*context.clock, &context.counters.traps, 0, work).await;
    }
}

/// Reads the file of another receiver until told to stop.
pub(crate) async fn read(shared: Arc<Shared>, path: PathBuf, mut stop: watch::Receiver<bool>) {
    let start = shared.context.positions.trap_file();
    let (mut desk, mut file) = (Desk::new(Arc::clone(&shared)), file::TrapFile::new(path, start));
    // Traps that could not be kept yet; nothing more is read meanwhile.
    let mut waiting: VecDeque<file::FileTrap> = VecDeque::new();
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = look.tick() => {}
            _ = stop.changed() => return,
        }
        if waiting.is_empty() {
            let read = tokio::task::spawn_blocking(move || {
                let traps = file.read();
                (file, traps)
            });
            let Ok((back, traps)) = read.await else { return };
            file = back;
            waiting.extend(traps);
        }
        while let Some(trap) = waiting.front() {
            let context = &shared.context;
            let work = desk.deliver(&trap.address, &trap.text, context.now());
            if !timed(&*context.clock, &context.counters.traps, 0, work).await {
                // Tried again at the next look: the file still has it.
                break;
            }
            shared.context.positions.set_trap_file(trap.end);
            waiting.pop_front();
        }
        if waiting.is_empty()
            && let Some(position) = file.position()
        {
            shared.context.positions.set_trap_file(position);
        }
    }
}

/// An IPv4 address that came through a socket of IPv6.
fn plain(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}
