//! Where people and programs ask: HTTP for the UI and the API, gRPC for the history service.

use std::net::SocketAddr;
use std::sync::Arc;

use ::api::HttpConfig;
use tokio::net::TcpListener;

use super::api::Service;
use super::base::Base;
use super::{Part, Running};
use crate::listen::{bind, web_config};
use crate::params::Values;

/// Addresses that are taken, and nobody served yet.
pub(crate) struct Bound {
    http: TcpListener,
    grpc: Option<TcpListener>,
    config: HttpConfig,
}

impl Bound {
    /// Takes the addresses that the parameters give.
    pub(crate) fn take(values: &Values) -> anyhow::Result<Self> {
        let config = web_config(values)?;
        let secured = config.tls.is_some();
        let http = bind(values, "http", secured)?;
        let grpc = match values.get("history-service") {
            "" => None,
            _ => Some(bind(values, "history-service", secured)?),
        };
        Ok(Self { http, grpc, config })
    }

    /// Address of the UI, and whether it is HTTPS.
    pub(crate) fn address(&self) -> std::io::Result<(SocketAddr, bool)> {
        Ok((self.http.local_addr()?, self.config.tls.is_some()))
    }

    /// Serves. At the end, browsers hold their live streams open; they are cut.
    pub(crate) fn start(
        self,
        base: &Base<'_>,
        service: &Service,
        running: &mut Running,
    ) -> anyhow::Result<()> {
        let Service { api, gate } = service.clone();
        if let Some(listener) = self.grpc {
            let (most, clock) = (grpc::CONNECTIONS_MAX, Arc::clone(&base.clock));
            let tls = self.config.tls.as_ref();
            let listening = ::api::Listening::new(listener, tls, grpc::ALPN, most, clock)?;
            let server = grpc::Server::new(gate.clone(), grpc::Config::default());
            let serve = listening.run(move |stream, peer, _seat| {
                let server = server.clone();
                async move { server.connection(stream, peer).await }
            });
            running.add("gRPC", Part::task("gRPC", serve));
        }
        let serve = async move {
            let never = std::future::pending();
            let reason = match ::api::serve(api, gate, self.config, self.http, never).await {
                Ok(()) => String::from("the HTTP server ended"),
                Err(error) => format!("the HTTP server ended: {error}"),
            };
            stdx::thread::failed("HTTP", &reason);
        };
        running.add("HTTP", Part::task("HTTP", serve));
        Ok(())
    }
}
