//! Configuration of each balancer for one load: one listener, two servers in turn, one thread, open
//! connections to servers, no health checks, and no record of requests unless the load wants one.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::change::HEADER;
use super::row::{Records, Row, Via, Workers};

/// Chain and key of TLS in one file, for HAProxy.
pub(crate) const PEM: &str = "both.pem";
/// The certificate.
pub(crate) const CERTIFICATE: &str = "certificate.pem";
/// Its key.
pub(crate) const KEY: &str = "key.pem";
/// The access log.
pub(crate) const LOG: &str = "access.log";
/// Clients that may be connected beyond those of the row.
const CLIENTS_MORE: usize = 1000;
/// Requests on a connection that nginx would otherwise close after 1,000.
const REQUESTS_MAX: usize = 1_000_000_000;

/// What a balancer is to do.
pub(crate) struct Plan<'a> {
    pub(crate) row: &'a Row,
    /// An address for each virtual service.
    pub(crate) listen: &'a [SocketAddr],
    pub(crate) servers: &'a [SocketAddr],
    /// Number of the newest change.
    pub(crate) change: u64,
    /// For certificate, log and whatever the balancer writes.
    pub(crate) folder: &'a Path,
}

impl Plan<'_> {
    fn threads(&self) -> usize {
        match self.row.workers {
            Workers::One | Workers::Processes(_) => 1,
            Workers::Threads(threads) => threads,
        }
    }

    fn clients_max(&self) -> usize {
        self.row.clients + CLIENTS_MORE
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The file of `vedette engine`.
    pub(crate) fn vedette(&self) -> String {
        let servers: Vec<_> = self
            .servers
            .iter()
            .enumerate()
            .map(|(n, at)| json!({ "name": format!("s{n}"), "address": at.to_string() }))
            .collect();
        let kind = match self.row.via {
            Via::Http | Via::Tls(_) | Via::Http2 => "http",
            Via::Tcp => "tcp",
            Via::Udp => "udp",
        };
        let services = self.listen.iter().enumerate().map(|(n, listen)| {
            let mut service = json!({
                "name": format!("bench{n}"), "type": kind, "listen": listen.to_string(),
                "pool": "servers",
            });
            if self.row.via.key().is_some() {
                service["tls"] = json!({ "certificates": ["bench"], "min_version": "1.3" });
                if self.row.via == Via::Http2 {
                    service["tls"]["alpn"] = json!(["h2"]);
                }
            }
            if self.row.changes.is_some() {
                service["rules"] = json!([{
                    "then": { "set_response_header": { HEADER: self.change.to_string() } },
                }]);
            }
            service
        });
        let mut file = json!({
            "threads": self.threads(),
            "virtual_services": services.collect::<Vec<_>>(),
            "pools": [{ "name": "servers", "servers": servers }],
        });
        let unused = self.row.changes.map_or(0, |changes| changes.pools);
        if let Some(pools) = file["pools"].as_array_mut() {
            pools.extend(
                (0..unused).map(|n| json!({ "name": format!("p{n}"), "servers": servers })),
            );
        }
        if self.row.via.key().is_some() {
            let (cert, key) = (self.path(CERTIFICATE), self.path(KEY));
            file["certificates"] = json!([{ "name": "bench", "cert": cert, "key": key }]);
        }
        if self.row.records == Records::Each {
            file["transactions"] = json!({ "folder": self.path("transactions") });
        }
        file.to_string()
    }

    /// `haproxy.cfg`. HAProxy writes its log to the standard output.
    pub(crate) fn haproxy(&self) -> String {
        let mode = if self.row.via == Via::Tcp { "tcp" } else { "http\n    http-reuse always" };
        let alpn = if self.row.via == Via::Http2 { " alpn h2" } else { "" };
        let tls = self.row.via.key().map_or_else(String::new, |_| {
            format!(" ssl crt {} ssl-min-ver TLSv1.3{alpn}", self.path(PEM).display())
        });
        let (global, log) = match self.row.records {
            Records::Each => {
                ("    log stdout format raw local0\n", "    log global\n    option httplog\n")
            }
            Records::Off => ("", ""),
        };
        let mut text = format!(
            "global\n    nbthread {}\n    maxconn {}\n    no strict-limits\n{global}\
             defaults\n    timeout connect 5s\n    timeout client 60s\n    timeout server 60s\n\
             listen bench\n    mode {mode}\n    balance roundrobin\n{log}",
            self.threads(),
            self.clients_max(),
        );
        for listen in self.listen {
            let _infallible = writeln!(text, "    bind {listen}{tls}");
        }
        for (n, server) in self.servers.iter().enumerate() {
            let _infallible = writeln!(text, "    server s{n} {server}");
        }
        text
    }

    /// `nginx.conf`; `stream` is the module for TCP and UDP where it is a file of its own.
    pub(crate) fn nginx(&self, stream: Option<&Path>) -> String {
        let folder = self.folder.display();
        let module = match stream {
            Some(module) if self.row.via.is_opaque() => {
                format!("load_module {};\n", module.display())
            }
            _ => String::new(),
        };
        let servers: String =
            self.servers.iter().map(|server| format!("server {server}; ")).collect();
        let mut text = format!(
            "{module}daemon off;\nmaster_process off;\nworker_processes 1;\npid {folder}/pid;\n\
             worker_rlimit_nofile {files};\nevents {{ worker_connections {files}; }}\n",
            files = 2 * self.clients_max() + 64,
        );
        let listens = |options: &str| -> String {
            self.listen.iter().map(|listen| format!("listen {listen}{options}; ")).collect()
        };
        if self.row.via.is_opaque() {
            let datagrams = if self.row.via == Via::Udp { " udp" } else { "" };
            let _infallible = writeln!(
                text,
                "stream {{\n  upstream servers {{ {servers}}}\n  \
                 server {{ {}proxy_pass servers; }}\n}}",
                listens(datagrams)
            );
            return text;
        }
        let log = match self.row.records {
            Records::Each => format!("{folder}/{LOG}"),
            Records::Off => "off".to_owned(),
        };
        let tls = self.row.via.key().map_or_else(String::new, |_| {
            format!(
                "ssl_certificate {folder}/{CERTIFICATE}; ssl_certificate_key {folder}/{KEY}; \
                 ssl_protocols TLSv1.3; ssl_session_tickets on;"
            )
        });
        let options = match (self.row.via, self.row.workers) {
            (Via::Tls(_), _) => " ssl",
            (Via::Http2, _) => " ssl http2",
            (_, Workers::Processes(_)) => " reuseport",
            _ => "",
        };
        // A response that its client takes slowly waits in memory, as in the others, not in a file.
        let _infallible = writeln!(
            text,
            "http {{\n  access_log {log};\n  keepalive_requests {REQUESTS_MAX};\n  \
             client_body_temp_path {folder}/body;\n  proxy_temp_path {folder}/proxy;\n  \
             fastcgi_temp_path {folder}/fastcgi;\n  uwsgi_temp_path {folder}/uwsgi;\n  \
             scgi_temp_path {folder}/scgi;\n  proxy_max_temp_file_size 0;\n  \
             upstream servers {{ {servers}keepalive 512; keepalive_requests {REQUESTS_MAX}; }}\n  \
             server {{\n    {listen}\n    {tls}\n    location / {{\n      \
             proxy_pass http://servers;\n      proxy_http_version 1.1;\n      \
             proxy_set_header Connection \"\";\n    }}\n  }}\n}}",
            listen = listens(options),
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::super::row::ROWS;
    use super::*;

    fn plan<'a>(row: &'static str, servers: &'a [SocketAddr]) -> Plan<'a> {
        let row = ROWS.iter().find(|one| one.name == row).unwrap();
        Plan { row, listen: &LISTEN, servers, change: 0, folder: Path::new("/tmp/x") }
    }

    const LISTEN: [SocketAddr; 1] =
        [SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8000)];

    fn servers() -> Vec<SocketAddr> {
        [9001, 9002].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).to_vec()
    }

    #[test]
    fn each_configuration_names_listener_and_servers() {
        let servers = servers();
        for row in ROWS {
            let plan = plan(row.name, &servers);
            for text in [plan.vedette(), plan.haproxy(), plan.nginx(None)] {
                for address in ["127.0.0.1:8000", "127.0.0.1:9001", "127.0.0.1:9002"] {
                    assert!(text.contains(address), "{text}");
                }
                assert_eq!(text.contains(".pem"), row.via.key().is_some(), "{text}");
            }
        }
    }

    #[test]
    fn records_are_kept_only_in_rows_that_ask_for_them() {
        let servers = servers();
        let (without, with) = (plan("keep-alive-64", &servers), plan("logged-64", &servers));
        let transactions = |text: &str| -> serde_json::Value {
            serde_json::from_str::<serde_json::Value>(text).unwrap()["transactions"].clone()
        };
        assert_eq!(transactions(&without.vedette()), serde_json::Value::Null);
        assert_eq!(transactions(&with.vedette())["folder"], "/tmp/x/transactions");
        assert!(with.haproxy().contains("option httplog") && !without.haproxy().contains("log"));
        assert!(with.nginx(None).contains("access_log /tmp/x/access.log;"));
        assert!(without.nginx(None).contains("access_log off;"));
    }

    #[test]
    fn only_tcp_and_udp_load_the_module_of_nginx() {
        let (servers, module) = (servers(), Path::new("/m/stream.so"));
        let text = |row| plan(row, &servers).nginx(Some(module));
        assert!(text("tcp-64").starts_with("load_module /m/stream.so;\n"));
        assert!(text("udp-64").starts_with("load_module /m/stream.so;\n"));
        assert!(text("udp-64").contains("listen 127.0.0.1:8000 udp;"));
        assert!(!text("keep-alive-64").contains("load_module"));
        assert!(text("tls-64").contains("listen 127.0.0.1:8000 ssl;"));
        assert!(text("http2-8").contains("listen 127.0.0.1:8000 ssl http2;"));
        assert!(text("processes-2").contains("listen 127.0.0.1:8000 reuseport;"));
    }
}
