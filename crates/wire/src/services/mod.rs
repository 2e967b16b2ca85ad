//! Is that service there? What simple checks say to a service, and what they make of its answer.
//!
//! A [`Talk`] is the whole conversation over a connection: it is told what arrives, tells what to
//! send, and comes to a [`Verdict`]. NTP is one packet each way: [`ntp`].

mod greeting;
mod head;
mod ldap;
pub mod ntp;
mod telnet;

use greeting::Greeting;
use head::Head;
use ldap::Search;
use telnet::Prompt;

/// Bytes that a service may send before it is judged; who talks more is something else.
pub const TALK_BYTES_MAX: usize = 1 << 20;

/// A service that can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// Anything that accepts connections.
    Tcp,
    /// A web server: it accepts connections.
    Http,
    /// A web server behind TLS: it answers a HEAD request.
    Https,
    /// Mail: greets with 220.
    Smtp,
    /// Files: greets with 220.
    Ftp,
    /// Post office: greets with +OK.
    Pop,
    /// News: greets with 200 or 201.
    Nntp,
    /// Mailboxes: greets with * OK.
    Imap,
    /// Secure shell: tells its version.
    Ssh,
    /// Terminal: prompts for a name.
    Telnet,
    /// Directory: answers a search for its root entry.
    Ldap,
    /// Time, over UDP.
    Ntp,
}

impl Service {
    /// By the name that keys use.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "tcp" => Self::Tcp,
            "http" => Self::Http,
            "https" => Self::Https,
            "smtp" => Self::Smtp,
            "ftp" => Self::Ftp,
            "pop" => Self::Pop,
            "nntp" => Self::Nntp,
            "imap" => Self::Imap,
            "ssh" => Self::Ssh,
            "telnet" => Self::Telnet,
            "ldap" => Self::Ldap,
            "ntp" => Self::Ntp,
            _ => return None,
        })
    }

    /// Its port by IANA's list; `None` where there is none by nature.
    pub const fn port(self) -> Option<u16> {
        Some(match self {
            Self::Tcp => return None,
            Self::Http => 80,
            Self::Https => 443,
            Self::Smtp => 25,
            Self::Ftp => 21,
            Self::Pop => 110,
            Self::Nntp => 119,
            Self::Imap => 143,
            Self::Ssh => 22,
            Self::Telnet => 23,
            Self::Ldap => 389,
            Self::Ntp => 123,
        })
    }
}

/// What is known of the service so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet: read on.
    Open,
    /// It works.
    Up,
    /// It does not.
    Down,
}

#[derive(Debug)]
enum Manner {
    /// Connecting says it all.
    Connect,
    Greeting(Greeting),
    Head(Head),
    Telnet(Prompt),
    Ldap(Search),
}

/// A conversation with a service over TCP (or TLS).
#[derive(Debug)]
pub struct Talk {
    manner: Manner,
    out: Vec<u8>,
    seen: usize,
}

impl Talk {
    /// Begins a conversation; `host` and `path` are what a web server is asked for.
    pub fn new(service: Service, host: &str, path: &str) -> Self {
        let mut out = Vec::new();
        let manner = match service {
            Service::Tcp | Service::Http | Service::Ntp => Manner::Connect,
            Service::Smtp | Service::Ftp | Service::Pop => Manner::Greeting(Greeting::new(service)),
            Service::Nntp | Service::Imap | Service::Ssh => {
                Manner::Greeting(Greeting::new(service))
            }
            Service::Https => {
                out = head::request(host, path);
                Manner::Head(Head::default())
            }
            Service::Telnet => Manner::Telnet(Prompt::default()),
            Service::Ldap => {
                out = ldap::SEARCH.to_vec();
                Manner::Ldap(Search::default())
            }
        };
        Self { manner, out, seen: 0 }
    }

    /// A connection is there.
    pub fn connected(&self) -> Verdict {
        if matches!(self.manner, Manner::Connect) { Verdict::Up } else { Verdict::Open }
    }

    /// What to send now; also after a verdict, to part in good manners.
    pub fn take_out(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Bytes have arrived.
    pub fn feed(&mut self, bytes: &[u8]) -> Verdict {
        self.seen = self.seen.saturating_add(bytes.len());
        if self.seen > TALK_BYTES_MAX {
            return Verdict::Down;
        }
        match &mut self.manner {
            Manner::Connect => Verdict::Up,
            Manner::Greeting(greeting) => greeting.feed(bytes, &mut self.out),
            Manner::Head(head) => head.feed(bytes),
            Manner::Telnet(prompt) => prompt.feed(bytes, &mut self.out),
            Manner::Ldap(search) => search.feed(bytes, &mut self.out),
        }
    }

    /// Nothing more came for a while (100 ms): some judge only then, as there is no sign that a
    /// prompt is complete.
    pub fn pause(&mut self) -> Verdict {
        match &self.manner {
            Manner::Telnet(prompt) if prompt.is_there() => Verdict::Up,
            _ => Verdict::Open,
        }
    }

    /// The service has closed the connection.
    pub fn end(&mut self) -> Verdict {
        let verdict = match &mut self.manner {
            // A line need not be complete.
            Manner::Greeting(greeting) => greeting.feed(b"\n", &mut self.out),
            _ => Verdict::Down,
        };
        if verdict == Verdict::Up { Verdict::Up } else { Verdict::Down }
    }
}

#[cfg(test)]
mod tests;
