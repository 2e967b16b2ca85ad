//! The way to a web server: names, proxies, TLS.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use wire::http::{Asked, Url};

use super::client::{Client, read_answer};
use super::failure::{Failure, Stage, Track};
use super::pool::Stream;
use super::way::{Proxy, Way};
use crate::checks::dial::is_local;

/// How long an address may take while another is left to try.
const TRY_FOR: Duration = Duration::from_millis(300);
/// Bytes of a proxy's refusal.
const REFUSAL_BYTES_MAX: usize = 1 << 20;

impl Client {
    /// A new connection; `head` takes the headers of the proxy's answer.
    pub(super) async fn connect(
        &self,
        way: &Way<'_>,
        track: &Track,
        head: &mut Vec<u8>,
    ) -> Result<Stream, Failure> {
        let (what, name, port) = match way.proxy {
            Some(proxy) => ("proxy", proxy.host.as_str(), proxy.port),
            None => ("host", way.url.host.as_str(), way.url.port()),
        };
        let begin = self.clock.monotonic();
        track.at(Stage::Resolve);
        let found = self.resolver.find(name).await;
        let found = found.map_err(|_| Failure::Resolve { what, name: name.to_owned() })?;
        track.at(Stage::Connect);
        let stream = match self.dial(&found, port).await {
            Ok(stream) => stream,
            Err(error) if is_local(&error) => return Err(Failure::Local(error.to_string())),
            Err(_) => {
                let ms = self.clock.monotonic().saturating_sub(begin).as_millis();
                return Err(Failure::Connect { name: name.to_owned(), port, ms });
            }
        };
        // Requests are written whole; a delay would only cost.
        let _unsupported = stream.set_nodelay(true);
        let mut stream = Stream::Plain(stream);
        if !way.url.https {
            return Ok(stream);
        }
        if let Some(proxy) = way.proxy {
            tunnel(&mut stream, way.url, proxy, head).await?;
        }
        let Stream::Plain(stream) = stream else { return Ok(stream) };
        Ok(Stream::Tls(self.contexts.protect(stream, &way.url.host, way.tls).await?))
    }

    /// The first of the addresses that answers.
    async fn dial(&self, addresses: &[IpAddr], port: u16) -> std::io::Result<TcpStream> {
        let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
        for (number, ip) in addresses.iter().enumerate() {
            let dialled = self.dial_one(SocketAddr::new(*ip, port));
            let dialled = match number + 1 == addresses.len() {
                true => dialled.await,
                false => tokio::time::timeout(TRY_FOR, dialled)
                    .await
                    .unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())),
            };
            match dialled {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn dial_one(&self, address: SocketAddr) -> std::io::Result<TcpStream> {
        let Some(source) = self.source_ip else { return TcpStream::connect(address).await };
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        if source.is_ipv4() == address.is_ipv4() {
            socket.bind(SocketAddr::new(source, 0))?;
        }
        socket.connect(address).await
    }
}

/// Has the proxy open a way to the server.
async fn tunnel(
    stream: &mut Stream,
    url: &Url,
    proxy: &Proxy,
    head: &mut Vec<u8>,
) -> Result<(), Failure> {
    let place = format!("{}:{}", url.host_shown(), url.port());
    let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
    if let Some(authorization) = &proxy.authorization {
        request += &format!("Proxy-Authorization: {authorization}\r\n");
    }
    request += "Proxy-Connection: Keep-Alive\r\n\r\n";
    let sent = stream.write_all(request.as_bytes()).await;
    sent.map_err(|error| Failure::broken("Send", &error))?;
    let track = Track::default();
    let read = read_answer(stream, Asked::Connect, REFUSAL_BYTES_MAX, &track).await;
    let (answer, _) = read.map_err(|(failure, _)| failure)?;
    head.extend_from_slice(&answer.head);
    match answer.status {
        200..300 => Ok(()),
        status => Err(Failure::Tunnel(status)),
    }
}
