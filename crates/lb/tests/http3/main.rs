//! HTTP/3 through a running engine. The clients' framing and QPACK are those of the `h3` crate.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attacks;
mod bed;
mod life;
mod moves;
mod order;

use bed::{Bed, ask};

const TLS: &str = ", tls: {certificates: [c], alpn: [h3, h2, http/1.1]}";

#[tokio::test]
async fn requests_are_forwarded_as_those_of_other_versions() {
    let bed = Bed::start(TLS);
    let mut client = bed.connect().await;
    let (response, body) = client.get("/a?b=c").await;
    let text = String::from_utf8(body).unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["x-path"]),
        (200, &"/a?b=c".parse::<http::HeaderValue>().unwrap())
    );
    assert!(text.starts_with("GET /a?b=c HTTP/1.1\r\nHost: www.example.com\r\n"), "{text}");
    assert!(text.contains("\r\nX-Forwarded-Proto: https\r\n"), "{text}");
    assert!(text.contains("\r\nX-Forwarded-For: 127.0.0.1\r\n"), "{text}");
    assert!(!text.contains("chunked"), "a request without content has none: {text}");
    assert!(response.headers().get("alt-svc").is_none());
    let (_, body) = client.ask("POST", "/echo", b"some content").await;
    assert!(body.ends_with(b"some content"));
    bed.engine.stop();
    let why = tokio::time::timeout(bed::TIMEOUT, client.driver).await.unwrap().unwrap();
    assert!(why.contains("H3_NO_ERROR"), "{why}");
}

#[tokio::test]
async fn large_content_flows_in_both_directions() {
    let bed = Bed::start(TLS);
    let mut client = bed.connect().await;
    const SIZE: usize = 5 << 20;
    let (response, body) = client.get(&format!("/size/{SIZE}")).await;
    assert_eq!((response.status().as_u16(), body.len()), (200, SIZE));
    let content: Vec<u8> = (0..SIZE).map(|at| (at % 251).to_le_bytes()[0]).collect();
    let (_, body) = client.ask("PUT", "/echo", &content).await;
    assert!(body.ends_with(&content));
    bed.engine.stop();
}

#[tokio::test]
async fn many_requests_at_once_share_a_connection() {
    let bed = Bed::start(TLS);
    let client = bed.connect().await;
    let tasks: Vec<_> = (0..300)
        .map(|number| {
            let requests = client.requests.clone();
            tokio::spawn(async move { ask(requests, "GET", &format!("/size/{number}"), &[]).await })
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        let (response, body) = tokio::time::timeout(bed::TIMEOUT, task).await.unwrap().unwrap();
        assert_eq!((response.status().as_u16(), body.len()), (200, number));
    }
    bed.engine.stop();
}
