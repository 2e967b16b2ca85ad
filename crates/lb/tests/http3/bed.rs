//! An engine with HTTP/3 before a server, and clients of an independent implementation.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use http::{Request, Response};
use lb::Engine;
use lb::config::Config;
use rustls::pki_types::CertificateDer;

/// Longest wait for anything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const NAME: &str = "www.example.com";

/// An engine and what it needs.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) service: SocketAddr,
    folder: PathBuf,
    _kept: tempfile::TempDir,
    certificate: CertificateDer<'static>,
    server: SocketAddr,
}

impl Bed {
    /// `more`: further members of the service.
    pub(crate) fn start(more: &str) -> Self {
        Self::with_threads(1, more)
    }

    pub(crate) fn with_threads(threads: usize, more: &str) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().to_owned();
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new([NAME.to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
        let service = stdx::listening::free_address().unwrap();
        let server = serve();
        let config = Self::config(&folder, (service, server), threads, more);
        let engine = Engine::start(&config, &stdx::clock::RealClock::shared()).unwrap();
        let certificate = certificate.der().clone();
        Self { engine, service, folder, _kept: kept, certificate, server }
    }

    fn config(
        folder: &Path,
        (service, server): (SocketAddr, SocketAddr),
        threads: usize,
        more: &str,
    ) -> Config {
        let folder = folder.display();
        let text = format!(
            "threads: {threads}
certificates:
  - {{name: c, cert: '{folder}/cert.pem', key: '{folder}/key.pem'}}
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app{more}}}
pools:
  - {{name: app, servers: [{{name: s, address: '{server}'}}]}}
"
        );
        Config::parse(&text).unwrap()
    }

    /// Applies a configuration with other members of the service.
    pub(crate) fn apply(&mut self, more: &str) {
        let config = Self::config(&self.folder, (self.service, self.server), 1, more);
        self.engine.apply(&config).unwrap();
    }

    /// A client's connection of QUIC, without HTTP/3.
    pub(crate) async fn quic(&self) -> (quinn::Endpoint, quinn::Connection) {
        self.try_quic().await.unwrap()
    }

    async fn try_quic(
        &self,
    ) -> Result<(quinn::Endpoint, quinn::Connection), quinn::ConnectionError> {
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        let connecting = endpoint.connect_with(self.client(), self.service, NAME).unwrap();
        let connection = tokio::time::timeout(TIMEOUT, connecting).await.unwrap()?;
        Ok((endpoint, connection))
    }

    /// Waits until connections are accepted: the engine's threads take over a configuration one after the other.
    pub(crate) async fn until_accepted(&self) {
        let accepted = async { while self.try_quic().await.is_err() {} };
        tokio::time::timeout(TIMEOUT, accepted).await.unwrap();
    }

    pub(crate) fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    pub(crate) fn roots(&self) -> rustls::RootCertStore {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        roots
    }

    pub(crate) fn client(&self) -> quinn::ClientConfig {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots())
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let tls = quinn::crypto::rustls::QuicClientConfig::try_from(tls).unwrap();
        quinn::ClientConfig::new(Arc::new(tls))
    }

    /// A client of HTTP/3.
    pub(crate) async fn connect(&self) -> Client {
        let (endpoint, connection) = self.quic().await;
        let quic = h3_quinn::Connection::new(connection.clone());
        let (mut driver, requests) = h3::client::new(quic).await.unwrap();
        let driver = tokio::spawn(async move {
            std::future::poll_fn(|cx| driver.poll_close(cx)).await.to_string()
        });
        Client { endpoint, connection, requests, driver }
    }
}

/// A connection of HTTP/3.
pub(crate) struct Client {
    pub(crate) endpoint: quinn::Endpoint,
    pub(crate) connection: quinn::Connection,
    pub(crate) requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    /// Ends with the connection: why.
    pub(crate) driver: tokio::task::JoinHandle<String>,
}

impl Client {
    pub(crate) async fn get(&mut self, path: &str) -> (Response<()>, Vec<u8>) {
        self.ask("GET", path, &[]).await
    }

    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        content: &[u8],
    ) -> (Response<()>, Vec<u8>) {
        let requests = self.requests.clone();
        tokio::time::timeout(TIMEOUT, ask(requests, method, path, content)).await.unwrap()
    }
}

pub(crate) async fn ask(
    mut requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    method: &str,
    path: &str,
    content: &[u8],
) -> (Response<()>, Vec<u8>) {
    let request =
        Request::builder().method(method).uri(format!("https://{NAME}{path}")).body(()).unwrap();
    let mut stream = requests.send_request(request).await.unwrap();
    if !content.is_empty() {
        stream.send_data(Bytes::copy_from_slice(content)).await.unwrap();
    }
    stream.finish().await.unwrap();
    let response = stream.recv_response().await.unwrap();
    let mut body = Vec::new();
    while let Some(mut data) = stream.recv_data().await.unwrap() {
        while data.has_remaining() {
            let length = data.chunk().len();
            body.extend_from_slice(data.chunk());
            data.advance(length);
        }
    }
    (response, body)
}

/// A server of HTTP/1.1: `/size/N` gives N bytes, others get the request's
/// head and content.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&socket));
        }
    });
    address
}

fn answer(socket: &TcpStream) {
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    let mut socket = socket.try_clone().unwrap();
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(reader.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let mut content = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        if reader.read_exact(&mut content).is_err() {
            return;
        }
        if head.contains("chunked") {
            let mut line = String::new();
            while line != "0\r\n" {
                line.clear();
                reader.read_line(&mut line).unwrap();
                let length = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut chunk = vec![0; length + 2];
                reader.read_exact(&mut chunk).unwrap();
                content.extend_from_slice(&chunk[..length]);
            }
        }
        let body = match path.strip_prefix("/size/") {
            Some(size) => vec![b'x'; size.parse().unwrap()],
            None => [head.as_bytes(), &content].concat(),
        };
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nX-Path: {path}\r\n\r\n", body.len());
        if socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(&body)).is_err() {
            return;
        }
    }
}
