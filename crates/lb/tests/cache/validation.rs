//! Expired responses, and what clients and changes demand.

use super::{FRESH, STALE, body, get, numbered, send, server, start};

#[test]
fn a_stale_response_is_validated() {
    let (app, heads) = server(|head, number| match head.contains("If-None-Match: \"one\"\r\n") {
        true => {
            let fresh = "Cache-Control: max-age=600\r\nETag: \"one\"\r\nX-New: 1";
            format!("HTTP/1.1 304 Not Modified\r\n{fresh}\r\n\r\n")
        }
        false => numbered(&format!("{STALE}X-Old: 1\r\n"), number),
    });
    let (engine, service) = start(app, ", status_header: true", "");
    assert_eq!(body(service, "/a", ""), "1");
    // The client's own condition is for the stored response.
    let (status, head, second) = get(service, "/a", "If-None-Match: \"other\"\r\n");
    assert_eq!((status, &*second), (200, "1"));
    assert!(head.contains("X-New: 1\r\n") && head.contains("X-Old: 1\r\n"), "{head}");
    assert!(head.contains("Cache-Status: vedette; fwd=stale; fwd-status=304\r\n"), "{head}");
    let (_, head, third) = get(service, "/a", "");
    assert_eq!(third, "1");
    assert!(head.contains("vedette; hit; ttl=") && head.contains("X-New: 1\r\n"), "{head}");
    let heads: Vec<String> = heads.try_iter().collect();
    assert_eq!(heads.len(), 2);
    assert!(!heads[1].contains("other"), "{}", heads[1]);
    engine.stop();
}

#[test]
fn a_confirmation_of_another_version_is_used_once() {
    let (app, heads) = server(|head, number| match head.contains("If-None-Match: \"one\"\r\n") {
        true => {
            let other = "Cache-Control: max-age=600\r\nETag: \"two\"\r\n";
            format!("HTTP/1.1 304 Not Modified\r\n{other}\r\n")
        }
        false => numbered(STALE, number),
    });
    let (engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", ""), "1");
    let (status, head, text) = get(service, "/a", "");
    assert_eq!((status, &*text), (200, "1"));
    assert!(head.contains("ETag: \"one\"\r\n"), "{head}");
    assert_eq!(body(service, "/a", ""), "3");
    let last = heads.try_iter().last().expect("a request");
    assert!(!last.contains("If-None-Match"), "{last}");
    engine.stop();
}

#[test]
fn a_confirmation_for_the_client_is_not_one_of_the_store() {
    // The stored response has no validators, and the client has a newer one.
    let (app, _heads) = server(|head, number| match head.contains("If-None-Match: \"new\"\r\n") {
        true => "HTTP/1.1 304 Not Modified\r\nETag: \"new\"\r\n\r\n".to_owned(),
        false => numbered("Cache-Control: max-age=600\r\nAge: 500\r\n", number),
    });
    let (engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", ""), "1");
    let conditions = "Cache-Control: no-cache\r\nIf-None-Match: \"new\"\r\n";
    assert_eq!(get(service, "/a", conditions).0, 304);
    engine.stop();
}

#[test]
fn a_changed_resource_replaces_the_stale_response() {
    let (app, _heads) = server(|_, number| match number {
        1 => numbered(STALE, number),
        _ => numbered("Cache-Control: max-age=600\r\nETag: \"two\"\r\n", number),
    });
    let (engine, service) = start(app, "", "");
    let bodies = [(); 4].map(|()| body(service, "/a", ""));
    assert_eq!(bodies, ["1", "2", "2", "2"]);
    engine.stop();
}

#[test]
fn demands_of_clients_are_met() {
    let (app, _heads) =
        server(|_, number| numbered("Cache-Control: max-age=600\r\nAge: 50\r\n", number));
    let (engine, service) = start(app, "", "");
    assert_eq!(get(service, "/a", "Cache-Control: only-if-cached\r\n").0, 504);
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(body(service, "/a", "Cache-Control: only-if-cached\r\n"), "1");
    assert_eq!(body(service, "/a", "Cache-Control: max-age=40\r\n"), "2");
    assert_eq!(body(service, "/a", "Cache-Control: min-fresh=560\r\n"), "3");
    assert_eq!(body(service, "/a", "Cache-Control: no-cache\r\n"), "4");
    assert_eq!(body(service, "/a", "Pragma: no-cache\r\n"), "5");
    assert_eq!(body(service, "/a", "Cache-Control: max-age=400\r\n"), "5");
    engine.stop();
}

#[test]
fn clients_that_have_the_content_get_304() {
    let modified = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let (app, heads) = server(move |_, number| {
        numbered(&format!("{FRESH}{modified}Content-Type: text/plain\r\n"), number)
    });
    let (engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", ""), "1");
    for condition in
        ["If-None-Match: W/\"one\"\r\n", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"]
    {
        let (status, head, nothing) = get(service, "/a", condition);
        assert_eq!((status, &*nothing), (304, ""));
        assert!(head.contains("ETag: \"one\"\r\n") && head.contains("Age: "), "{head}");
        assert!(!head.contains("Content-"), "{head}");
    }
    assert_eq!(body(service, "/a", "If-None-Match: \"two\"\r\n"), "1");
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

#[test]
fn changes_remove_the_response_and_refused_ones_do_not() {
    let (app, _heads) = server(|head, number| match head {
        _ if head.starts_with("POST /a?refuse") => {
            "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".to_owned()
        }
        _ => numbered(FRESH, number),
    });
    let (engine, service) = start(app, "", "");
    let change = |method: &str, path: &str| {
        send(service, &format!("{method} {path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n"))
            .0
    };
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(body(service, "/a?refuse", ""), "2");
    assert_eq!(change("POST", "/a?refuse"), 403);
    assert_eq!(body(service, "/a?refuse", ""), "2");
    assert_eq!(change("OPTIONS", "/a"), 200);
    assert_eq!(body(service, "/a", ""), "1");
    for method in ["POST", "PUT", "DELETE", "PATCH", "X-UNKNOWN"] {
        let before = body(service, "/a", "");
        assert_eq!(change(method, "/a"), 200);
        assert_ne!(body(service, "/a", ""), before, "{method}");
    }
    engine.stop();
}

#[test]
fn stale_responses_stand_in_for_servers_that_fail() {
    for failure in ["HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n", "", "nonsense\r\n\r\n!close"]
    {
        let (app, _heads) = server(move |_, number| match number {
            1 => numbered(STALE, number),
            _ => failure.to_owned(),
        });
        let (engine, service) = start(app, "", "");
        assert_eq!(body(service, "/a", ""), "1");
        assert_eq!(body(service, "/a", ""), "1", "{failure}");
        let (status, ..) = send(service, "HEAD /a HTTP/1.1\r\nHost: a.test\r\n");
        assert_eq!(status, 200, "HEAD: {failure}");
        let status = get(service, "/a", "Cache-Control: no-cache\r\n").0;
        assert!(status >= 500, "the client demands validation: {status}");
        engine.stop();
    }
}

#[test]
fn a_response_in_place_of_an_error_is_not_called_a_hit() {
    let (app, _heads) = server(|_, number| match number {
        1 => numbered(STALE, number),
        _ => "HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n".to_owned(),
    });
    let (engine, service) = start(app, ", status_header: true", "");
    assert_eq!(body(service, "/a", ""), "1");
    let (_, head, _) = get(service, "/a", "");
    assert!(head.contains("Cache-Status: vedette; fwd=stale; fwd-status=503; ttl=-"), "{head}");
    engine.stop();
}

#[test]
fn errors_of_one_client_leave_the_response_for_others() {
    let (app, _heads) = server(|_, number| match number {
        1 => numbered(FRESH, number),
        2 => "HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n".to_owned(),
        3 => "HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n".to_owned(),
        _ => numbered(FRESH, number),
    });
    let (engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(get(service, "/a", "Cache-Control: no-cache\r\n").0, 429);
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(get(service, "/a", "Cache-Control: no-cache\r\n").0, 404);
    assert_eq!(body(service, "/a", ""), "4", "the resource has gone meanwhile");
    engine.stop();
}

#[test]
fn a_newer_version_that_is_too_large_removes_the_older_one() {
    let large = "x".repeat(5_000);
    let (app, _heads) = server(move |_, number| match number {
        2 => format!(
            "HTTP/1.1 200 OK\r\n{FRESH}Transfer-Encoding: chunked\r\n\r\n1388\r\n{large}\r\n0\r\n\r\n"
        ),
        _ => numbered(FRESH, number),
    });
    let (engine, service) = start(app, ", max_object: 4K", "");
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(get(service, "/a", "Cache-Control: no-cache\r\n").0, 200);
    assert_eq!(body(service, "/a", ""), "3");
    engine.stop();
}
