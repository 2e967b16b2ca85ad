//! A session over a socket: requests are repeated, late and foreign packets are passed over.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::timeout;
use wire::ipmi::{Answer, Login, Opening, PACKET_BYTES_MAX, Progress, Request, Session, Ticket};

use super::Failure;
use crate::checks::dial;

/// How often a packet is sent.
const TRIES: usize = 4;
/// How long its answer may take.
const WAIT: Duration = Duration::from_secs(1);
/// Pause before a device that is busy is asked again.
const BUSY_PAUSE: Duration = Duration::from_millis(200);
/// Completion code: the device is busy.
const BUSY: u8 = 0xC0;

#[derive(Debug)]
pub(super) struct Link {
    socket: UdpSocket,
    login: Login,
    session: Option<Session>,
}

impl Link {
    /// A socket; nothing is sent yet. `source` = the address to send from.
    pub(super) async fn new(
        address: SocketAddr,
        source: Option<std::net::IpAddr>,
        login: Login,
    ) -> Result<Self, Failure> {
        let local = |error: std::io::Error| Failure::Local(dial::os_error(&error));
        let any = match address {
            SocketAddr::V4(_) => SocketAddr::from(([0, 0, 0, 0], 0)),
            SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
        };
        let from = source.filter(|ip| ip.is_ipv4() == address.is_ipv4());
        let from = from.map_or(any, |ip| SocketAddr::new(ip, 0));
        let socket = UdpSocket::bind(from).await.map_err(local)?;
        socket.connect(address).await.map_err(refused)?;
        Ok(Self { socket, login, session: None })
    }

    pub(super) const fn is_open(&self) -> bool {
        self.session.is_some()
    }

    /// Opens a session; one that is open ends.
    pub(super) async fn open(&mut self) -> Result<(), Failure> {
        self.close();
        let mut random = [0; 20];
        getrandom::fill(&mut random).map_err(|error| Failure::Local(error.to_string()))?;
        let said = |why: wire::ipmi::OpenError| Failure::Refused(why.to_string());
        let mut opening = Opening::new(self.login.clone(), random).map_err(said)?;
        // Each answer leads one step further, and there are few.
        const STEPS_MAX: usize = 24;
        for _ in 0..STEPS_MAX {
            match self.step(&mut opening).await? {
                Progress::Open(session) => {
                    tracing::debug!("an IPMI session is open: {}", session.protected_by());
                    self.session = Some(*session);
                    return Ok(());
                }
                Progress::Next | Progress::Ignored => {}
            }
        }
        Err(Failure::Invalid)
    }

    /// Sends the packet of a step until it is answered.
    async fn step(&self, opening: &mut Opening) -> Result<Progress, Failure> {
        let said = |why: wire::ipmi::OpenError| Failure::Refused(why.to_string());
        for _ in 0..TRIES {
            let packet = opening.packet().map_err(said)?;
            self.send(&packet).await?;
            let answered = timeout(WAIT, async {
                loop {
                    let mut bytes = [0; PACKET_BYTES_MAX];
                    let count = self.socket.recv(&mut bytes).await.map_err(refused)?;
                    match opening.feed(&bytes[..count]).map_err(said)? {
                        Progress::Ignored => {}
                        progress => return Ok(progress),
                    }
                }
            });
            if let Ok(answered) = answered.await {
                return answered;
            }
        }
        Err(Failure::Silent)
    }

    async fn send(&self, packet: &[u8]) -> Result<(), Failure> {
        self.socket.send(packet).await.map(drop).map_err(refused)
    }

    /// Asks within the session.
    pub(super) async fn ask(&mut self, request: &Request<'_>) -> Result<Answer, Failure> {
        let closed = || Failure::Refused("the session has ended".to_owned());
        let mut tickets: Vec<Ticket> = Vec::with_capacity(TRIES);
        for _ in 0..TRIES {
            let session = self.session.as_mut().ok_or_else(closed)?;
            let made = session.request(request);
            let (packet, ticket) = made.map_err(|why| Failure::Refused(why.to_string()))?;
            tickets.push(ticket);
            self.send(&packet).await?;
            let session = self.session.as_ref().ok_or_else(closed)?;
            match timeout(WAIT, self.receive(session, &tickets)).await {
                Ok(Ok(Answer { code: BUSY, .. })) => tokio::time::sleep(BUSY_PAUSE).await,
                Ok(answer) => return answer,
                Err(_) => {}
            }
        }
        // Devices forget sessions: the next request opens another one.
        self.session = None;
        Err(Failure::Silent)
    }

    /// The answer to any repetition of a request.
    async fn receive(&self, session: &Session, tickets: &[Ticket]) -> Result<Answer, Failure> {
        loop {
            let mut bytes = [0; PACKET_BYTES_MAX];
            let count = self.socket.recv(&mut bytes).await.map_err(refused)?;
            // What is damaged or forged is as good as not there.
            let answer = |ticket: &Ticket| session.answer(&bytes[..count], *ticket).ok().flatten();
            if let Some(answer) = tickets.iter().find_map(answer) {
                return Ok(answer);
            }
        }
    }

    /// Asks; what is refused is a failure.
    pub(super) async fn data(&mut self, request: &Request<'_>) -> Result<Vec<u8>, Failure> {
        match self.ask(request).await? {
            Answer { code: 0, data } => Ok(data),
            Answer { code, .. } => Err(Failure::Code(code)),
        }
    }

    /// Tells the device, which has few sessions to give, that this one has ended.
    pub(super) fn close(&mut self) {
        if let Some(mut session) = self.session.take()
            && let Ok(packet) = session.close()
        {
            // A device that does not hear it ends the session by itself.
            let _ = self.socket.try_send(&packet);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

fn refused(error: std::io::Error) -> Failure {
    Failure::Refused(dial::os_error(&error))
}
