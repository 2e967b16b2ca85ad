//! One transaction, as the engine knows it when it ends.

use std::net::IpAddr;

/// A request with its response, or a connection that was passed on as it is.
#[derive(Debug, Clone, Copy)]
pub struct Transaction<'t> {
    /// When the first byte of the request was there: Unix time in microseconds.
    pub began_us: u64,
    pub target: Target<'t>,
    pub client: Client<'t>,
    pub request: Request<'t>,
    pub response: Response,
    pub timings: Timings,
    pub course: Course<'t>,
}

impl Transaction<'_> {
    /// Who made the error; `None`: there was none.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        match self.course.end {
            End::ClientClosed | End::ClientTimeout => Some(Fault::Client),
            End::NoServer | End::ServerClosed | End::ServerTimeout | End::ServerInvalid => {
                Some(Fault::Server)
            }
            End::Stopped | End::Displaced | End::ScriptFailed => Some(Fault::Balancer),
            End::Complete | End::Local => match self.response.status {
                500.. if self.response.server_status >= 500 => Some(Fault::Server),
                500.. => Some(Fault::Balancer),
                400.. => Some(Fault::Client),
                _ => None,
            },
        }
    }
}

/// Where it went. Names are those of the configuration; empty = it went nowhere.
#[derive(Debug, Clone, Copy)]
pub struct Target<'t> {
    pub engine: &'t str,
    pub service: &'t str,
    pub pool: &'t str,
    pub server: &'t str,
}

/// Where it came from.
#[derive(Debug, Clone, Copy)]
pub struct Client<'t> {
    pub address: IpAddr,
    pub port: u16,
    /// Version of TLS, as in `TLSv1.3`; empty without TLS.
    pub tls: &'t str,
    /// Name of the authenticated user; empty: no user was authenticated.
    pub user: &'t [u8],
}

/// What was asked, as the client sent it. Empty for a connection that was passed on.
#[derive(Debug, Clone, Copy)]
pub struct Request<'t> {
    pub protocol: Protocol,
    /// Number of the stream in its HTTP/2 connection; 0 = there are no streams.
    pub stream: u32,
    pub method: &'t [u8],
    pub host: &'t [u8],
    pub path: &'t [u8],
    /// Without the question mark.
    pub query: &'t [u8],
    pub user_agent: &'t [u8],
    pub referer: &'t [u8],
    /// Bytes from the client, heads included, before any encryption.
    pub bytes: u64,
}

/// What was answered.
#[derive(Debug, Clone, Copy)]
pub struct Response {
    /// Status that the client got; 0 = none.
    pub status: u16,
    /// Status that the server sent; 0 = none.
    pub server_status: u16,
    /// Bytes to the client, heads included, before any encryption.
    pub bytes: u64,
}

/// Parts of the time, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timings {
    /// Round trip to the client, as the kernel estimates it.
    pub client_rtt_us: u64,
    /// From the choice of a server to an established connection; 0 = an existing one was used.
    pub connect_us: u64,
    /// From the request passed on to the first byte of the response.
    pub response_us: u64,
    /// From the first byte of the response to its last.
    pub transfer_us: u64,
    /// From the first byte of the request to the last of the response.
    pub total_us: u64,
}

/// How it went.
#[derive(Debug, Clone, Copy)]
pub struct Course<'t> {
    pub end: End,
    /// Servers asked; 0 = none.
    pub tries: u8,
    /// The connection to the server had carried another request before.
    pub reused: bool,
    /// Numbers of the rules that applied, from 1, with commas between.
    pub rules: &'t str,
    pub cached: Cached,
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant = $number,)* }

        impl $name {
            /// The word that records are searched by.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// What the client spoke.
    Protocol {
        Http10 = 0 "HTTP/1.0",
        Http11 = 1 "HTTP/1.1",
        Http2 = 2 "HTTP/2",
        WebSocket = 3 "WebSocket",
        Tcp = 4 "TCP",
        Udp = 5 "UDP",
        Http3 = 6 "HTTP/3",
    }
}

words! {
    /// Who ended it, and how.
    End {
        /// The response was written in full.
        Complete = 0 "complete",
        /// The balancer answered by itself: a rule, or an error of the client.
        Local = 1 "local",
        /// The client closed the connection before the end.
        ClientClosed = 2 "client closed",
        /// The client sent or read nothing for too long.
        ClientTimeout = 3 "client timeout",
        /// No server could be reached or was available.
        NoServer = 4 "no server",
        /// The server closed the connection before the end of its response.
        ServerClosed = 5 "server closed",
        /// The server sent nothing for too long.
        ServerTimeout = 6 "server timeout",
        /// The server's response was not understood.
        ServerInvalid = 7 "server invalid",
        /// The engine was stopped.
        Stopped = 8 "stopped",
        /// The UDP session made room for another one, because of a limit.
        Displaced = 9 "displaced",
        /// A script of a rule failed, and the client got an error.
        ScriptFailed = 10 "script failed",
    }
}

words! {
    /// What the cache of the service did.
    Cached {
        /// There is none, or the request did not come to it.
        Unused = 0 "",
        /// The stored response was fresh.
        Hit = 1 "hit",
        /// No stored response could be used.
        Miss = 2 "miss",
        /// The server confirmed the stored response.
        Revalidated = 3 "revalidated",
        /// A stored response stood in for a server that failed.
        Stale = 4 "stale",
        /// The cache has no part in requests like this one.
        Passed = 5 "passed",
    }
}

words! {
    /// Who made an error.
    Fault {
        Client = 0 "client",
        Server = 1 "server",
        /// The engine.
        Balancer = 2 "balancer",
    }
}
