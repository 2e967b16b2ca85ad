//! What other threads have for a thread that forwards.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use mio::{Registry, Token, Waker};
use stdx::sync::lock;

use crate::phase::{Left, Phase};
use crate::wheel::Entry;

/// The result of the check of a password.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checked {
    /// Key of what was checked, see [`Checks`](crate::auth::Checks).
    pub(crate) key: [u8; 32],
    pub(crate) passed: bool,
}

/// A datagram that has reached another thread than its connection's.
#[derive(Debug)]
pub(crate) struct Stray {
    /// Where it was sent to.
    pub(crate) listener: SocketAddr,
    pub(crate) from: SocketAddr,
    pub(crate) to: Option<IpAddr>,
    pub(crate) bytes: Vec<u8>,
}

/// What the rest of the program gives to a thread.
#[derive(Debug)]
pub(crate) struct Mailbox {
    /// Sockets of addresses that are new.
    pub(crate) listeners: Mutex<Vec<TcpListener>>,
    /// The same for datagrams.
    pub(crate) datagrams: Mutex<Vec<UdpSocket>>,
    /// Results of checks of passwords.
    pub(crate) checked: Mutex<Vec<Checked>>,
    /// Datagrams of this thread's HTTP/3 connections that others have received.
    pub(crate) strays: Mutex<Vec<Stray>>,
    /// Sessions that have waited for another one.
    resumed: Mutex<Vec<Entry>>,
    pub(crate) waker: Waker,
    /// The configuration is another one.
    pub(crate) changed: AtomicBool,
    /// How far the engine is with its end.
    pub(crate) phase: Mutex<Phase>,
    /// What the thread still has to do, in the phase that it has seen last.
    pub(crate) left: Mutex<(Phase, Left)>,
    /// The engine stops.
    pub(crate) stop: AtomicBool,
}

impl Mailbox {
    /// One whose waker makes events with this token.
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self {
            listeners: Mutex::new(Vec::new()),
            datagrams: Mutex::new(Vec::new()),
            checked: Mutex::new(Vec::new()),
            strays: Mutex::new(Vec::new()),
            resumed: Mutex::new(Vec::new()),
            waker: Waker::new(registry, token)?,
            changed: AtomicBool::new(false),
            phase: Mutex::default(),
            left: Mutex::default(),
            stop: AtomicBool::new(false),
        })
    }

    /// Lets a session of the thread run.
    pub(crate) fn resume(&self, entry: Entry) {
        let mut resumed = lock(&self.resumed);
        resumed.push(entry);
        // The first one has woken the thread for all.
        if resumed.len() == 1
            && let Err(error) = self.waker.wake()
        {
            tracing::error!(
                "cannot wake a thread whose request can go on; it responds late: {error}"
            );
        }
    }

    /// Sessions that can run.
    pub(crate) fn resumed(&self) -> Vec<Entry> {
        std::mem::take(&mut *lock(&self.resumed))
    }
}
