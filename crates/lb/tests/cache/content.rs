//! Whole and broken content, and its codings.

use std::io::{Read, Write};
use std::net::SocketAddr;

use super::heads::read_head;
use super::{FRESH, body, connect, get, server, start};

#[test]
fn incomplete_and_large_responses_are_not_stored() {
    let (app, heads) = server(|head, number| match head.split(' ').nth(1) {
        Some("/short") => {
            format!("HTTP/1.1 200 OK\r\n{FRESH}Content-Length: 9\r\n\r\n{number}!close")
        }
        Some("/large") => numbered_with(&number.to_string(), 70_000),
        Some("/chunks") => {
            let chunk = format!("9\r\n{number}!close");
            format!("HTTP/1.1 200 OK\r\n{FRESH}Transfer-Encoding: chunked\r\n\r\n{chunk}")
        }
        _ => format!("HTTP/1.0 200 OK\r\n{FRESH}\r\n{number}!close"),
    });
    let (engine, service) = start(app, ", max_object: 64K", "");
    for path in ["/short", "/large", "/chunks", "/until-close"] {
        for _ in 0..2 {
            get_bytes(service, path);
        }
        let asked = heads.try_iter().filter(|head| head.starts_with(&format!("GET {path} ")));
        assert_eq!(asked.count(), 2, "{path}");
    }
    engine.stop();
}

fn numbered_with(number: &str, length: usize) -> String {
    let body = number.repeat(length);
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{FRESH}Content-Length: {length}\r\n\r\n{body}")
}

/// What arrives, also of a response that breaks off.
fn get_bytes(service: SocketAddr, path: &str) -> Vec<u8> {
    let mut client = connect(service);
    let request = format!("GET {path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).expect("an open connection");
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = client.read(&mut piece) {
        all.extend_from_slice(&piece[..length]);
    }
    all
}

#[test]
fn content_in_chunks_is_stored_with_its_length() {
    let (app, heads) = server(|_, number| {
        let chunks = format!("2\r\n{number}a\r\n3\r\nbcd\r\n0\r\nX-T: 1\r\n\r\n");
        format!(
            "HTTP/1.1 200 OK\r\n{FRESH}Trailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
        )
    });
    let (engine, service) = start(app, "", "");
    let _first = get_bytes(service, "/a");
    let (_, head, again) = get(service, "/a", "");
    assert_eq!(again, "1abcd");
    assert!(head.contains("Content-Length: 5\r\n") && !head.contains("Trailer"), "{head}");
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

#[test]
fn large_content_is_the_same_from_the_store() {
    let (app, heads) = server(|_, number| numbered_with(&format!("{number}0123456789"), 180_000));
    let (engine, service) = start(app, ", max_object: 2M", ", compression: {algorithms: [gzip]}");
    let first = body(service, "/a", "");
    assert_eq!(first.len(), 11 * 180_000);
    assert!(body(service, "/a", "") == first, "it differs");
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

#[test]
fn stored_responses_are_compressed_for_each_client() {
    let (app, heads) = server(|_, _| {
        let body = "0123456789".repeat(20_000);
        let length = body.len();
        let head = "Content-Type: text/plain\r\n";
        format!("HTTP/1.1 200 OK\r\n{FRESH}{head}Content-Length: {length}\r\n\r\n{body}")
    });
    let (engine, service) = start(app, "", ", compression: {algorithms: [gzip]}");
    for _ in 0..2 {
        let coded = get_coded(service);
        let mut plain = String::new();
        flate2::read::GzDecoder::new(&coded[..]).read_to_string(&mut plain).expect("gzip");
        assert!(plain == "0123456789".repeat(20_000), "it differs");
        assert!(body(service, "/a", "") == plain, "it differs");
    }
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

/// Content in chunks of a response in gzip.
fn get_coded(service: SocketAddr) -> Vec<u8> {
    use proxying::http1::{Body, Framing, Piece};
    let mut client = connect(service);
    let request =
        "GET /a HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";
    client.write_all(request.as_bytes()).expect("an open connection");
    let head = read_head(&mut client).expect("a response");
    assert!(
        head.contains("Content-Encoding: gzip\r\n") && head.contains("ETag: W/\"one\"\r\n"),
        "{head}"
    );
    let (mut rest, mut content) = (Vec::new(), Vec::new());
    client.read_to_end(&mut rest).expect("the whole response");
    let (mut chunks, mut body) = (&rest[..], Body::new(Framing::Chunked));
    loop {
        let (length, piece) = body.next(chunks).expect("valid chunks");
        match piece {
            Piece::Data(data) => content.extend_from_slice(data),
            Piece::End => return content,
            Piece::More => assert!(length > 0, "the chunks end"),
        }
        chunks = &chunks[length..];
    }
}

/// The head of the response to a request with these lines.
fn head_of(service: SocketAddr, lines: &str) -> String {
    let mut client = connect(service);
    let request = format!("{lines}Host: a.test\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).expect("an open connection");
    read_head(&mut client).expect("a response")
}

#[test]
fn responses_without_content_have_the_head_of_coded_ones() {
    let (app, _heads) = server(|head, _| {
        let stored = !head.contains(" /passed ");
        let fields = if stored { FRESH } else { "Cache-Control: no-store\r\nETag: \"one\"\r\n" };
        if head.contains("If-None-Match: ") {
            return format!("HTTP/1.1 304 Not Modified\r\n{fields}\r\n");
        }
        let media_type = if head.contains(" /png ") { "image/png" } else { "text/plain" };
        let body = if head.starts_with("HEAD ") { String::new() } else { "x".repeat(9_000) };
        format!(
            "HTTP/1.1 200 OK\r\n{fields}Content-Type: {media_type}\r\nAccept-Ranges: bytes\r\n\
             Content-Length: 9000\r\n\r\n{body}"
        )
    });
    let (engine, service) = start(app, "", ", compression: {algorithms: [gzip]}");
    const GZIP: &str = "Accept-Encoding: gzip\r\n";
    let has = |head: &str, expected: &[&str], other: &[&str]| {
        assert!(expected.iter().all(|one| head.contains(&format!("{one}\r\n"))), "{head}");
        assert!(!other.iter().any(|one| head.contains(one)), "{head}");
    };
    let (weak, vary) = ("ETag: W/\"one\"", "Vary: Accept-Encoding");
    for path in ["/passed", "/stored", "/png"] {
        // Of these, the cache has what follows.
        assert_eq!(body(service, path, "").len(), 9_000);
        let ask = |method: &str, more: &str| {
            head_of(service, &format!("{method} {path} HTTP/1.1\r\n{more}"))
        };
        let known = ask("GET", &format!("{GZIP}If-None-Match: W/\"one\"\r\n"));
        assert!(known.starts_with("HTTP/1.1 304 "), "{known}");
        if path == "/png" {
            has(&known, &["ETag: \"one\""], &["Vary"]);
            continue;
        }
        has(&known, &[weak, vary], &["Content-Encoding", "Content-Length"]);
        let strong = ask("GET", &format!("{GZIP}If-None-Match: \"one\"\r\n"));
        has(&strong, &["ETag: \"one\"", vary], &[]);
        let head = ask("HEAD", GZIP);
        has(
            &head,
            &[weak, vary, "Content-Encoding: gzip"],
            &["Content-Length", "Accept-Ranges", "Transfer-Encoding"],
        );
        let plain = ask("HEAD", "");
        has(&plain, &["ETag: \"one\"", vary, "Content-Length: 9000", "Accept-Ranges: bytes"], &[]);
    }
    engine.stop();
}
