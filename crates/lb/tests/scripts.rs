//! Scripts of rules through a running engine.

mod heads;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use heads::read_head;
use lb::Engine;
use lb::config::Config;
use serde_json::{Value as Json, json};

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that says its name and the heads that it gets, and sends a few headers.
fn server(name: &'static str) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket that works");
    let address = listener.local_addr().expect("a socket that works");
    let (told, heads) = sync_channel(1_000);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(mut socket) = socket else { return };
            let told = told.clone();
            std::thread::spawn(move || {
                while let Some(head) = read_head(&mut socket) {
                    let _gone = told.send(head);
                    let length = name.len();
                    let response = format!(
                        "HTTP/1.1 200 OK\r\nX-Powered-By: x\r\nCache-Control: max-age=60\r\n\
                         Content-Length: {length}\r\n\r\n{name}"
                    );
                    let _gone = socket.write_all(response.as_bytes());
                }
            });
        }
    });
    (address, heads)
}

struct Bed {
    _engine: Engine,
    address: SocketAddr,
    app: Receiver<String>,
    beta: Receiver<String>,
}

/// A file with a service whose only rule has this script. `more` are members of the service.
fn config(script: &Json, more: &str, pools: [SocketAddr; 2], address: SocketAddr) -> String {
    let [app, beta] = pools;
    format!(
        "threads: 1\nvirtual_services:\n- name: web\n  type: http\n  listen: '{address}'\n  pool: app\n{more}  \
         rules: [{{then: {{script: {script}}}}}]\n\
         pools:\n- {{name: app, servers: [{{name: s, address: '{app}'}}]}}\n\
         - {{name: beta, servers: [{{name: s, address: '{beta}'}}]}}\n"
    )
}

fn script(request: &str, response: &str) -> Json {
    json!({ "request": request, "response": response, "pools": ["beta"], "timeout": "50ms" })
}

impl Bed {
    fn start(request: &str, response: &str, more: &str) -> Self {
        Self::with(&script(request, response), more)
    }

    fn with(script: &Json, more: &str) -> Self {
        let address = stdx::listening::free_address().expect("a free port");
        let ((app, app_heads), (beta, beta_heads)) = (server("app"), server("beta"));
        let text = config(script, more, [app, beta], address);
        let config = Config::parse(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        let engine = Engine::start(&config, &stdx::clock::RealClock::shared());
        Self { _engine: engine.expect("an engine"), address, app: app_heads, beta: beta_heads }
    }

    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).expect("an engine that listens");
        client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        client
    }

    /// Head and body of the response to a request.
    fn ask(&self, line: &str, fields: &str) -> (String, String) {
        ask(&mut self.connect(), line, fields)
    }
}

fn ask(client: &mut TcpStream, line: &str, fields: &str) -> (String, String) {
    let request = format!("{line} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n");
    client.write_all(request.as_bytes()).expect("a socket that works");
    let head = read_head(client).expect("a response");
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
    });
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
    client.read_exact(&mut body).expect("a body");
    (head, String::from_utf8(body).expect("text"))
}

#[test]
fn a_script_chooses_the_pool_and_changes_the_request() {
    let bed = Bed::start(
        "if (request.cookie('beta') === '1') {\n  request.forward('beta');\n  request.path = '/beta' + request.path;\n}\n\
         request.setHeader('X-Client', request.client);\nrequest.removeHeader('Cookie');",
        "",
        "",
    );
    assert_eq!(bed.ask("GET /a?b=c", "Cookie: beta=1\r\nX-Client: forged\r\n").1, "beta");
    let head = bed.beta.recv_timeout(TIMEOUT).expect("a request");
    assert!(head.starts_with("GET /beta/a?b=c HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("X-Client: 127.0.0.1\r\n") && !head.contains("forged"), "{head}");
    assert!(!head.contains("Cookie"), "{head}");
    assert_eq!(bed.ask("GET /a", "").1, "app");
    let head = bed.app.recv_timeout(TIMEOUT).expect("a request");
    assert!(head.starts_with("GET /a HTTP/1.1\r\n"), "{head}");
}

#[test]
fn a_script_responds_redirects_and_refuses() {
    let bed = Bed::start(
        "if (request.path === '/r') return request.redirect('https://' + request.host + '/new', 301);\n\
         if (request.path === '/d') return request.refuse();\n\
         if (request.path === '/t') request.respond({status: 418, headers: {'X-Pot': 'tea', 'Content-Type': 'a/b'}, body: 'ö'});",
        "",
        "",
    );
    let mut client = bed.connect();
    let (head, _) = ask(&mut client, "GET /r", "");
    assert!(
        head.starts_with("HTTP/1.1 301 ") && head.contains("Location: https://a.test/new\r\n"),
        "{head}"
    );
    assert!(ask(&mut client, "GET /d", "").0.starts_with("HTTP/1.1 403 "));
    let (head, body) = ask(&mut client, "GET /t", "");
    assert!(head.contains("X-Pot: tea\r\n") && head.contains("Content-Type: a/b\r\n"), "{head}");
    assert_eq!(body, "ö");
    assert_eq!(ask(&mut client, "GET /", "").1, "app");
}

#[test]
fn a_script_changes_the_response() {
    let bed = Bed::start(
        "request.setHeader('X-Seen', 'yes')",
        "response.removeHeader('X-Powered-By');\n\
         response.setHeader('X-Status', response.status + request.path + request.header('x-seen'));\n\
         response.addHeader('X-Names', response.headerNames().join(' '));",
        "",
    );
    let (head, body) = bed.ask("GET /a", "");
    assert!(!head.contains("X-Powered-By") && head.contains("X-Status: 200/ayes\r\n"), "{head}");
    assert!(head.contains("X-Names: cache-control"), "{head}");
    assert_eq!(body, "app");
}

#[test]
fn a_failure_gets_500_or_changes_nothing() {
    let refuses = Bed::start(
        "if (request.path === '/bad') missing()",
        "if (request.path === '/late') missing()",
        "",
    );
    let mut client = refuses.connect();
    for path in ["/bad", "/late"] {
        let (head, body) = ask(&mut client, &format!("GET {path}"), "");
        assert!(head.starts_with("HTTP/1.1 500 "), "{head}");
        assert!(!body.contains("missing"), "{body}");
    }
    assert_eq!(refuses.ask("GET /", "").1, "app");
    let mut script = script(
        "request.setHeader('X-A', '1'); request.forward('beta'); missing()",
        "response.setHeader('X-B', '1'); missing()",
    );
    script["on_error"] = "continue".into();
    let continues = Bed::with(&script, "");
    let (head, body) = continues.ask("GET /", "");
    assert!(head.starts_with("HTTP/1.1 200 ") && !head.contains("X-B"), "{head}");
    assert_eq!(body, "app");
    assert!(!continues.app.recv_timeout(TIMEOUT).expect("a request").contains("X-A"));
}

#[test]
fn an_endless_script_does_not_keep_others_waiting() {
    let bed = Bed::start(
        "if (request.path === '/hang') while (1) {}\nif (request.path === '/big') 'x'.repeat(1e9);",
        "",
        "",
    );
    let mut waiting: Vec<_> = (0..20)
        .map(|at| {
            let mut client = bed.connect();
            let path = if at % 2 == 0 { "/hang" } else { "/big" };
            let request = format!("GET {path} HTTP/1.1\r\nHost: a.test\r\n\r\n");
            client.write_all(request.as_bytes()).expect("a socket that works");
            client
        })
        .collect();
    assert_eq!(bed.ask("GET /", "").1, "app");
    for client in &mut waiting {
        assert!(read_head(client).expect("a response").starts_with("HTTP/1.1 500 "));
    }
    assert_eq!(bed.ask("GET /", "").1, "app");
}

#[test]
fn stored_responses_belong_to_what_the_script_sent() {
    let bed = Bed::start(
        "request.setHeader('X-Language', request.parameter('l') || request.cookie('l') || 'en')",
        "response.setHeader('X-Own', request.header('X-Language'))",
        "  cache: {size: 1M, status_header: true, key_headers: []}\n",
    );
    let stored = |head: &str| head.contains("Cache-Status: vedette; hit");
    let (first, _) = bed.ask("GET /a", "X-Language: de\r\n");
    let (second, _) = bed.ask("GET /a", "");
    assert!(!stored(&first) && stored(&second), "{first}{second}");
    assert!(second.contains("X-Own: en\r\n"), "{second}");
    assert!(!stored(&bed.ask("GET /a?l=fr", "").0));
    let sent: Vec<_> = bed.app.try_iter().collect();
    assert_eq!(sent.len(), 2, "{sent:?}");
}

#[test]
fn a_script_that_is_no_javascript_is_refused() {
    let local: SocketAddr = "127.0.0.1:1".parse().expect("an address");
    let text = |request: &str, pool: &str| {
        let script = json!({ "request": request, "pools": [pool] });
        config(&script, "", [local, local], local)
    };
    let check = |text: &str| {
        let config = Config::parse(text).expect("a valid file");
        lb::check(&config).err().map(|problem| problem.to_string()).unwrap_or_default()
    };
    let problem = check(&text("if (1) {\n  request.refuse(;\n}", "beta"));
    assert!(
        problem.contains(
            "virtual service 'web': rule 1: 'script.request': line 2, column 18: SyntaxError"
        ),
        "{problem}"
    );
    let problem = check(&text("return", "missing"));
    assert!(problem.contains("pool 'missing' does not exist"), "{problem}");
    assert_eq!(check(&text("return", "beta")), "");
}
