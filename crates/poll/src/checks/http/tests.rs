use std::net::TcpListener;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use stdx::clock::RealClock;
use stdx::kerberos::Tickets;

use super::testing::server;
use super::*;
use crate::settings::WebFiles;
use collect::resolver::Resolver;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

pub(super) fn call<'a>(url: &'a str, auth: Auth<'a>) -> Call<'a> {
    Call {
        url,
        method: "GET",
        headers: &[],
        body: None,
        agent: None,
        auth,
        proxy: "",
        tls: TlsWish::default(),
        follow: true,
        timeout: Duration::from_secs(60),
    }
}

fn run<R>(work: impl AsyncFnOnce(&Client) -> R) -> R {
    run_with(Tickets::new(RealClock::shared()), work)
}

pub(super) fn run_with<R>(tickets: Tickets, work: impl AsyncFnOnce(&Client) -> R) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let clock = RealClock::shared();
    let resolver = Resolver::new(clock.clone());
    let client = Client::new(clock, resolver, tickets, None, WebFiles::default());
    runtime.block_on(work(&client))
}

fn numbers(requests: &Receiver<(usize, String)>) -> Vec<usize> {
    requests.iter().map(|(number, _)| number).collect()
}

#[test]
fn connections_are_used_again_when_it_is_safe() {
    for (answers, connections) in [
        // A second answer of which the connection ends is no reason to fail.
        (&[OK, OK, OK][..], &[1, 1, 1][..]),
        (&[OK, "|HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", OK], &[1, 1, 2]),
        (&["|HTTP/1.0 200 OK\r\n\r\nok", OK, OK], &[1, 2, 2]),
        // Closed without a word.
        (&["|HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", OK, OK], &[1, 2, 2]),
    ] {
        let (port, requests) = server(answers);
        let url = format!("http://127.0.0.1:{port}/");
        run(async |client| {
            for _ in 0..3 {
                let mut jar = Jar::default();
                let fetched = client.fetch(&call(&url, Auth::None), &mut jar).await.unwrap();
                assert_eq!(fetched.answer.body, b"ok");
            }
        });
        assert_eq!(numbers(&requests), connections);
    }
}

#[test]
fn bytes_behind_an_answer_spoil_the_connection() {
    let (port, requests) = server(&["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokextra", OK]);
    let url = format!("http://127.0.0.1:{port}/");
    run(async |client| {
        let fetched = client.fetch(&call(&url, Auth::None), &mut Jar::default()).await.unwrap();
        assert_eq!(fetched.answer.body, b"ok");
    });
    assert_eq!(requests.recv().unwrap().0, 1);
}

#[test]
fn redirects_take_cookies_along_and_leave_secrets_at_home() {
    let answers: &[&str] = &[
        "HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: s=1; Path=/\r\nContent-Length: 0\r\n\r\n",
        "|HTTP/1.1 307 Found\r\nLocation: http://localhost:PORT/c\r\nContent-Length: 0\r\n\r\n",
        OK,
    ];
    let (port, requests) = server(answers.to_vec().leak());
    let url = format!("http://127.0.0.1:{port}/a");
    let headers: Vec<_> = [("X-A", "b"), ("Authorization", "own"), ("Content-Type", "a/b")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let fetched = run(async |client| {
        let call = Call {
            method: "POST",
            body: Some(b"text"),
            headers: &headers,
            ..call(&url, Auth::Basic("u", "p"))
        };
        client.fetch(&call, &mut Jar::default()).await.unwrap()
    });
    assert_eq!((fetched.answer.status, fetched.head.len() > 150), (200, true));
    let seen: Vec<String> = requests.iter().map(|(_, request)| request).collect();
    assert!(seen[0].starts_with("POST /a ") && seen[0].ends_with("\r\n\r\ntext"), "{}", seen[0]);
    // What the configuration says of a header beats the rest.
    assert!(seen[0].contains("\r\nAuthorization: own\r\n"), "{}", seen[0]);
    assert!(seen[1].starts_with("GET /b ") && seen[1].ends_with("\r\n\r\n"), "{}", seen[1]);
    assert!(seen[1].contains("\r\nCookie: s=1\r\n"), "{}", seen[1]);
    assert!(seen[2].starts_with("GET /c ") && seen[2].contains("X-A: b"), "{}", seen[2]);
    assert!(!seen[2].contains("uthorization") && !seen[2].contains("Cookie"), "{}", seen[2]);
}

#[test]
fn proofs_of_identity() {
    let digest = "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n\
                  Content-Length: 0\r\n\r\n";
    let ntlm = "HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM TlRMTVNTUAACAAAAAAAAADAAAAAHgoigASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA\r\n\
                Content-Length: 0\r\n\r\n";
    let refused = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n";
    for (auth, answers, words) in [
        (Auth::Basic("u", "p"), vec![OK], vec!["Basic dTpw"]),
        (Auth::Digest("u", "p"), vec![digest, OK], vec!["", "Digest username=\"u\", realm=\"r\""]),
        (Auth::Digest("u", "p"), vec![refused], vec![""]),
        (Auth::Digest("u", "p"), vec![OK, OK], vec!["", ""]),
        (Auth::Ntlm("u", "p"), vec![ntlm, OK], vec!["NTLM TlRMTVNTUAAB", "NTLM TlRMTVNTUAAD"]),
        (Auth::Ntlm("u", "p"), vec![refused], vec!["NTLM TlRMTVNTUAAB"]),
    ] {
        let (port, requests) = server(answers.leak());
        let url = format!("http://127.0.0.1:{port}/a?b");
        run(async |client| {
            let call = Call { method: "POST", body: Some(b"text"), ..call(&url, auth) };
            client.fetch(&call, &mut Jar::default()).await.unwrap()
        });
        let seen: Vec<(usize, String)> = requests.iter().collect();
        assert_eq!(seen.len(), words.len(), "{auth:?}");
        for ((connection, request), word) in seen.iter().zip(&words) {
            assert_eq!(*connection, 1);
            let proof = request.split_once("\r\nAuthorization: ").map_or("", |(_, rest)| rest);
            assert!(proof.starts_with(word) && proof.is_empty() == word.is_empty(), "{request}");
        }
    }
}

#[test]
fn proxies_are_asked_for_the_whole_url() {
    let (port, requests) = server(&[
        "|HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok",
        "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n",
    ]);
    let proxy = format!("http://u:p@127.0.0.1:{port}");
    run(async |client| {
        let plain = Call { proxy: &proxy, ..call("http://some.where/a?b", Auth::None) };
        assert_eq!(client.fetch(&plain, &mut Jar::default()).await.unwrap().answer.body, b"ok");
        let tunnel = Call { proxy: &proxy, ..call("https://some.where/a", Auth::None) };
        let error = client.fetch(&tunnel, &mut Jar::default()).await.unwrap_err();
        assert_eq!(error, Failure::Tunnel(407));
    });
    let seen: Vec<String> = requests.iter().map(|(_, request)| request).collect();
    assert!(seen[0].starts_with("GET http://some.where/a?b HTTP/1.1\r\nHost: some.where\r\n"));
    assert!(seen[1].starts_with("CONNECT some.where:443 HTTP/1.1\r\n"));
    for request in &seen {
        assert!(request.contains("Proxy-Authorization: Basic dTpw\r\n"), "{request}");
    }
}

#[test]
fn what_goes_wrong_has_a_text() {
    let moved = "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n";
    let closed = stdx::listening::free_address().unwrap().port();
    for (answers, url, auth, text) in [
        (vec![moved; 11], "http://127.0.0.1:PORT/", Auth::None, "Maximum (10) redirects followed"),
        (vec!["|"], "http://127.0.0.1:PORT/", Auth::None, "Empty reply from server"),
        (
            vec!["|HTTP/1.1 302 Found\r\nLocation: ftp://x/\r\n\r\n"],
            "http://127.0.0.1:PORT/",
            Auth::None,
            "Protocol \"ftp\" disabled (in redirect)",
        ),
        (vec![], "http://", Auth::None, "URL rejected: No host part in the URL"),
        (
            vec![],
            "http://127.0.0.1:CLOSED/",
            Auth::None,
            "Failed to connect to 127.0.0.1 port CLOSED after",
        ),
        (vec![], "http://nothing.invalid/", Auth::None, "Could not resolve host: nothing.invalid"),
    ] {
        let (port, _requests) = server(answers.leak());
        let filled = |text: &str| {
            text.replace("PORT", &port.to_string()).replace("CLOSED", &closed.to_string())
        };
        let url = filled(url);
        let failed = run(async |client| client.fetch(&call(&url, auth), &mut Jar::default()).await);
        let failed = failed.unwrap_err().to_string();
        assert!(failed.starts_with(&filled(text)), "{failed}");
    }
}

#[test]
fn a_server_that_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let limit = Duration::from_millis(50);
    let failed = run(async |client| {
        let call = Call { timeout: limit, ..call(&url, Auth::None) };
        client.fetch(&call, &mut Jar::default()).await.unwrap_err()
    });
    let text = failed.to_string();
    assert!(text.starts_with("Operation timed out after "), "{text}");
    assert!(text.ends_with(" milliseconds with 0 bytes received"), "{text}");
}

#[test]
fn ranges_of_status_codes() {
    for (ranges, taken, refused) in [
        ("", &[100, 200, 599][..], &[][..]),
        ("200", &[200], &[201, 404]),
        (" 200 , 404 ", &[200, 404], &[201]),
        ("400-500", &[400, 499, 500], &[399, 501]),
        ("300-200", &[], &[200, 250, 300]),
        ("200-", &[200], &[404]),
        ("x", &[], &[200]),
        ("x,200", &[200], &[404]),
    ] {
        assert!(taken.iter().all(|code| accepts(ranges, *code)), "{ranges}");
        assert!(!refused.iter().any(|code| accepts(ranges, *code)), "{ranges}");
    }
}

fn fetched(head: &str, body: &str) -> Fetched {
    let mut decoder = wire::http::Decoder::new(wire::http::Asked::Other, 1000);
    decoder.feed(format!("{head}\r\n{body}").as_bytes()).unwrap();
    decoder.end().unwrap();
    let answer = decoder.finish();
    Fetched { head: answer.head.clone(), answer, bytes: body.len(), spent: Duration::ZERO }
}

#[test]
fn modes_and_formats_of_what_an_item_takes_from_an_answer() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    for (mode, format, body, expected) in [
        (0, 0, "{}", "{}".to_owned()),
        (1, 0, "{}", format!("{head}\r\n")),
        (2, 0, "{}", format!("{head}\r\n{{}}")),
        (0, 1, "{\"a\":1}", "{\"body\":{\"a\":1}}".to_owned()),
        (0, 1, "text", "{\"body\":\"text\"}".to_owned()),
        (0, 1, "", "{}".to_owned()),
        (
            2,
            1,
            "[]",
            "{\"header\":{\"HTTP/1.1 200 OK\":\"\",\"Content-Type\":\"application/json\"},\
             \"body\":[]}"
                .to_owned(),
        ),
    ] {
        let http = Http { retrieve_mode: mode, output_format: format, ..Http::default() };
        assert_eq!(wanted(&http, fetched(head, body)), expected, "{mode} {format}");
    }
    let http = Http { status_codes: "404".to_owned(), ..Http::default() };
    let refused = reply(&http, fetched(head, "{}"));
    let text = "Response code \"200\" did not match any of the required status codes \"404\"\n{}";
    assert_eq!(refused, CheckReply::NotSupported(text.to_owned()));
}

#[test]
fn the_type_of_the_body_is_sent() {
    let own = vec![("content-type".to_owned(), "text/x".to_owned())];
    for (post_type, given, expected) in [
        (0, vec![], None),
        (2, vec![], Some("application/json")),
        (3, vec![], Some("application/xml")),
        (2, own, Some("text/x")),
    ] {
        let http = Http { post_type, headers: given, ..Http::default() };
        let told = headers(&http);
        assert_eq!(told.first().map(|(_, value)| value.as_str()), expected);
        assert!(told.len() < 2);
    }
}
