//! An LDAP server for tests, whose results are given.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

/// An entry: its DN, and its attributes with one value each.
pub(crate) type Entry = (&'static str, &'static [(&'static str, &'static str)]);

/// Gives the result code of a bind as a DN with a password.
pub(crate) type Bind = fn(&str, &str) -> u8;
/// Gives the entries and the result code of a search below a base DN.
pub(crate) type Search = fn(&str) -> (&'static [Entry], u8);

/// Serves LDAP at a free port until the process ends.
pub(crate) struct Simulator {
    pub(crate) port: u16,
    /// DNs of all binds.
    pub(crate) binds: Arc<Mutex<Vec<String>>>,
}

impl Simulator {
    pub(crate) fn start(bind: Bind, search: Search) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let binds = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&binds);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let noted = Arc::clone(&noted);
                std::thread::spawn(move || serve(client.unwrap(), bind, search, &noted));
            }
        });
        Self { port, binds }
    }
}

fn serve(mut client: TcpStream, bind: Bind, search: Search, noted: &Mutex<Vec<String>>) {
    while let Some((_, message)) = element(&mut client) {
        let mut message = message.as_slice();
        let (_, id) = element(&mut message).unwrap();
        let (kind, body) = element(&mut message).unwrap();
        let mut body = body.as_slice();
        let mut text = || String::from_utf8(element(&mut body).unwrap().1).unwrap();
        let mut send = |operation: Vec<u8>| {
            let message = [encoded(0x02, &id), operation].concat();
            client.write_all(&encoded(0x30, &message)).unwrap();
        };
        match kind {
            0x60 => {
                let (_version, dn, password) = (text(), text(), text());
                let code = bind(&dn, &password);
                lock(noted).push(dn);
                send(result(0x61, code));
            }
            0x63 => {
                let (entries, code) = search(&text());
                entries.iter().for_each(|entry| send(entry_of(entry)));
                send(result(0x65, code));
            }
            _ => return,
        }
    }
}

/// The tag and the content of the next element of BER.
fn element(from: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let [tag, first] = bytes::<2>(from)?;
    let length = match first {
        0..=0x7F => usize::from(first),
        0x81 => usize::from(bytes::<1>(from)?[0]),
        0x82 => usize::from(u16::from_be_bytes(bytes(from)?)),
        _ => return None,
    };
    let mut content = vec![0; length];
    from.read_exact(&mut content).ok()?;
    Some((tag, content))
}

fn bytes<const N: usize>(from: &mut impl Read) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn encoded(tag: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x82, high, low], content].concat()
}

fn result(tag: u8, code: u8) -> Vec<u8> {
    encoded(tag, &[0x0A, 1, code, 0x04, 0, 0x04, 0])
}

fn entry_of((dn, attributes): &Entry) -> Vec<u8> {
    let attribute = |(name, value): &(&str, &str)| {
        let values = encoded(0x31, &encoded(0x04, value.as_bytes()));
        encoded(0x30, &[encoded(0x04, name.as_bytes()), values].concat())
    };
    let attributes: Vec<u8> = attributes.iter().flat_map(attribute).collect();
    encoded(0x64, &[encoded(0x04, dn.as_bytes()), encoded(0x30, &attributes)].concat())
}
