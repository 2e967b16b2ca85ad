//! SNMP devices that answer requests of versions 1 and 2c, cheaply: a thread takes what has come
//! to all addresses with few system calls, and naps a moment when that is nothing.
//!
//! A device has every object: its value is the running number of the answer. Below
//! [`TABLE`] it has a table of one column, to be walked.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use stdx::datagrams::Outbox;
use stdx::sys::datagrams::{BATCH_MAX, Inbox, receive_buffer};
use wire::snmp::ber::Writer;
use wire::snmp::{
    ErrorStatus, Message, Notification, Oid, OidRef, Pdu, PduKind, Value, notification,
};

use crate::fake_agent::{plus, with_port};

/// Column of the table that is walked; `.1` to `.rows` are below.
pub(crate) const TABLE: &str = "1.3.6.1.4.1.99999.1";
/// What follows the table.
const BEHIND: &str = "1.3.6.1.4.1.99999.2.0";
/// Requests are small.
const REQUEST_BYTES_MAX: usize = 2048;
/// Room for requests that came and are not read.
const RECEIVE_BYTES: usize = 16 << 20;
/// Pause of a thread that found nothing to do; how late answers may be.
const NAP: Duration = Duration::from_micros(500);
/// Values in one answer.
const VALUES_MAX: usize = 1000;

#[derive(Default)]
struct Counts {
    values: AtomicU64,
    requests: AtomicU64,
    broken: AtomicU64,
    ignored: AtomicU64,
    silent: AtomicBool,
    stop: AtomicBool,
}

/// Running devices; they end when this is dropped.
pub(crate) struct FakeDevices {
    addresses: Vec<SocketAddr>,
    counts: Arc<Counts>,
    thread: Option<JoinHandle<()>>,
}

impl FakeDevices {
    /// `count` consecutive addresses from `first` on, all with one port; port 0 = any. A walk of
    /// their table brings `rows` values.
    pub(crate) fn start(first: SocketAddr, count: usize, rows: u32) -> anyhow::Result<Self> {
        let first = with_port(first, count, |at| UdpSocket::bind(at)?.local_addr())?;
        let mut sockets = Vec::new();
        let (mut addresses, mut port) = (Vec::new(), first.port());
        for number in 0..count.max(1) {
            let address = SocketAddr::new(plus(first.ip(), number)?, port);
            let socket = UdpSocket::bind(address);
            let socket = socket.with_context(|| format!("cannot listen on {address}"))?;
            socket.set_nonblocking(true)?;
            receive_buffer(socket.as_fd(), RECEIVE_BYTES)?;
            port = socket.local_addr()?.port();
            addresses.push(socket.local_addr()?);
            sockets.push(socket);
        }
        let counts = Arc::new(Counts::default());
        let device = Device {
            counts: Arc::clone(&counts),
            table: Oid::parse(TABLE)?,
            behind: Oid::parse(BEHIND)?,
            rows,
        };
        let builder = std::thread::Builder::new().name("fake devices".to_owned());
        let thread = builder.spawn(move || device.serve(&sockets))?;
        Ok(Self { addresses, counts, thread: Some(thread) })
    }

    /// Where the devices listen.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Values given and walks ended so far.
    pub(crate) fn answered(&self) -> u64 {
        self.counts.values.load(Ordering::Relaxed)
    }

    /// Requests answered so far.
    pub(crate) fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// From now on they say nothing, or answer again.
    pub(crate) fn silence(&self, silent: bool) {
        self.counts.silent.store(silent, Ordering::Relaxed);
    }

    /// Requests left unanswered so far.
    pub(crate) fn ignored(&self) -> u64 {
        self.counts.ignored.load(Ordering::Relaxed)
    }

    /// Datagrams that were no request.
    pub(crate) fn broken(&self) -> u64 {
        self.counts.broken.load(Ordering::Relaxed)
    }
}

impl Drop for FakeDevices {
    fn drop(&mut self) {
        self.counts.stop.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// What has come, which may be nothing.
fn receive(inbox: &mut Inbox, socket: &UdpSocket) -> usize {
    inbox.receive(socket.as_fd()).unwrap_or(0)
}

struct Device {
    counts: Arc<Counts>,
    table: Oid,
    behind: Oid,
    rows: u32,
}

/// Names and values of an answer.
type Row = (Oid, u64);

impl Device {
    fn serve(&self, sockets: &[UdpSocket]) {
        let (mut inbox, mut out) = (Inbox::new(BATCH_MAX, REQUEST_BYTES_MAX), Outbox::default());
        let (mut writer, mut rows) = (Writer::new(), Vec::new());
        while !self.counts.stop.load(Ordering::Relaxed) {
            let mut found = 0;
            for socket in sockets {
                let count = receive(&mut inbox, socket);
                found += count;
                if self.counts.silent.load(Ordering::Relaxed) {
                    self.counts.ignored.fetch_add(count as u64, Ordering::Relaxed);
                    continue;
                }
                for datagram in inbox.datagrams() {
                    writer.clear();
                    if self.answer(datagram.bytes, &mut rows, &mut writer).is_some() {
                        out.push(datagram.from, writer.bytes(), 0);
                    } else {
                        self.counts.broken.fetch_add(1, Ordering::Relaxed);
                    }
                }
                while !out.is_empty() {
                    // Who asked may have gone.
                    out.send(socket.as_fd(), |_, _| {});
                }
            }
            if found == 0 {
                std::thread::sleep(NAP);
            }
        }
    }

    fn answer(&self, datagram: &[u8], rows: &mut Vec<Row>, w: &mut Writer) -> Option<()> {
        let message = Message::parse(datagram).ok()?;
        let pdu = message.pdu().ok()?;
        let number = self.counts.requests.fetch_add(1, Ordering::Relaxed);
        rows.clear();
        let done = match pdu.kind {
            PduKind::Get => {
                for one in pdu.varbinds.take(VALUES_MAX) {
                    rows.push((one.ok()?.0.to_oid(), number));
                }
                rows.len()
            }
            PduKind::GetNext => self.walk(&pdu, 1, rows)?,
            PduKind::GetBulk => self.walk(&pdu, pdu.error_index, rows)?,
            _ => return None,
        };
        let varbinds: Vec<(OidRef<'_>, Value<'_>)> =
            rows.iter().map(|(oid, n)| (oid.borrow(), Value::Counter64(*n))).collect();
        let answer = Notification {
            kind: PduKind::Response,
            request_id: pdu.request_id,
            error_status: ErrorStatus::NO_ERROR,
            error_index: 0,
            varbinds: &varbinds,
        };
        notification(w, message.version, message.community, &answer);
        self.counts.values.fetch_add(done as u64, Ordering::Relaxed);
        Some(())
    }

    /// The next rows of the table; returns how many walks end with that.
    fn walk(&self, pdu: &Pdu<'_>, repetitions: i32, rows: &mut Vec<Row>) -> Option<usize> {
        let (asked, _) = { pdu.varbinds }.next()?.ok()?;
        let within = asked.is_within(self.table.borrow());
        let last = match asked.index_below(self.table.borrow()) {
            Some(index) => index.parse().ok()?,
            None if within => 0,
            None => self.rows,
        };
        let max = u32::try_from(repetitions).ok()?.min(VALUES_MAX as u32);
        let till = self.rows.min(last.saturating_add(max));
        for row in last + 1..=till {
            rows.push((Oid::parse(&format!("{TABLE}.{row}")).ok()?, u64::from(row)));
        }
        let ends = till - last < max;
        if ends {
            rows.push((self.behind.clone(), 0));
        }
        Some(usize::from(ends && within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::snmp::{Request, Version, request};

    fn ask(socket: &UdpSocket, kind: PduKind, oid: &str, repetitions: i32) -> Vec<String> {
        let oids = [Oid::parse(oid).unwrap()];
        let asked = Request {
            kind,
            request_id: 5,
            non_repeaters: 0,
            max_repetitions: repetitions,
            oids: &oids,
        };
        let mut w = Writer::new();
        request(&mut w, Version::V2c, b"public", &asked);
        socket.send(w.bytes()).unwrap();
        let mut room = [0; 2000];
        let len = socket.recv(&mut room).unwrap();
        let pdu = Message::parse(&room[..len]).unwrap().pdu().unwrap();
        assert_eq!((pdu.kind, pdu.request_id), (PduKind::Response, 5));
        pdu.varbinds.map(|one| one.unwrap().0.to_string()).collect()
    }

    #[test]
    fn devices_answer_and_are_walked() {
        let first = "127.0.0.1:0".parse().unwrap();
        let devices = FakeDevices::start(first, 2, 5).unwrap();
        assert_eq!(devices.addresses().len(), 2);
        for (asked, address) in devices.addresses().iter().enumerate() {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(address).unwrap();
            assert_eq!(ask(&socket, PduKind::Get, "1.3.6.1", 0), [".1.3.6.1"]);
            let rows = ask(&socket, PduKind::GetBulk, TABLE, 4);
            assert_eq!((rows.len(), &*rows[3]), (4, ".1.3.6.1.4.1.99999.1.4"));
            let rows = ask(&socket, PduKind::GetBulk, &rows[3], 4);
            assert_eq!(rows, [".1.3.6.1.4.1.99999.1.5", ".1.3.6.1.4.1.99999.2.0"]);
            let values = (asked as u64 + 1) * 2;
            assert_eq!((devices.answered(), devices.broken()), (values, 0));
        }
        assert_eq!((devices.requests(), devices.ignored()), (6, 0));
        devices.silence(true);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"hello?", devices.addresses()[1]).unwrap();
        while devices.ignored() == 0 {
            std::thread::sleep(NAP);
        }
        devices.silence(false);
        socket.connect(devices.addresses()[1]).unwrap();
        assert_eq!(ask(&socket, PduKind::Get, "1.3.6.1", 0), [".1.3.6.1"]);
        assert_eq!((devices.ignored(), devices.broken()), (1, 0));
    }
}
