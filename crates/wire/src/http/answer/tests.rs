use super::*;

const MAX: usize = 1000;

/// The answer in fragments of several sizes: always the same.
fn read(text: &[u8], asked: Asked) -> Result<(Answer, usize), HttpError> {
    let whole = read_in(text, asked, text.len().max(1));
    for size in [1, 2, 7] {
        assert_eq!(read_in(text, asked, size), whole, "in fragments of {size}");
    }
    whole
}

fn read_in(text: &[u8], asked: Asked, size: usize) -> Result<(Answer, usize), HttpError> {
    let mut decoder = Decoder::new(asked, MAX);
    let mut consumed = 0;
    for fragment in text.chunks(size) {
        match decoder.feed(fragment)? {
            Progress::More => consumed += fragment.len(),
            Progress::Done(count) => return Ok((decoder.finish(), consumed + count)),
        }
    }
    decoder.end()?;
    Ok((decoder.finish(), consumed))
}

fn text(answer: &Answer) -> (u16, &str, bool) {
    (answer.status, str::from_utf8(&answer.body).unwrap(), answer.keeps_open)
}

#[test]
fn answers() {
    for (said, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", (200, "ok", true)),
        ("HTTP/1.1 200\r\ncontent-length:2\r\nConnection: Close\r\n\r\nok", (200, "ok", false)),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", (200, "ok", false)),
        ("HTTP/1.0 200 OK\nConnection: keep-alive\nContent-Length: 2\n\nok", (200, "ok", true)),
        ("HTTP/1.1 404 No\r\n\r\nuntil the end", (404, "until the end", false)),
        ("HTTP/1.1 204 X\r\nA: b\r\n\r\n", (204, "", true)),
        (
            "HTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            (200, "", true),
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n\
             5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\nX-T: 1\r\n\r\n",
            (200, "hello, world", true),
        ),
    ] {
        let (answer, consumed) = read(said.as_bytes(), Asked::Other).unwrap();
        assert_eq!((text(&answer), consumed), (expected, said.len()), "{said}");
    }
    let twice = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n";
    assert_eq!(read(twice.as_bytes(), Asked::Other).unwrap().1, 40);
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    for asked in [Asked::Head, Asked::Connect] {
        let (answer, _) = read(head.as_bytes(), asked).unwrap();
        assert_eq!((answer.status, answer.body.len(), answer.keeps_open), (200, 0, true));
    }
    let refused = "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno";
    assert_eq!(text(&read(refused.as_bytes(), Asked::Connect).unwrap().0), (407, "no", true));
}

#[test]
fn the_head_is_kept_as_it_came() {
    let head =
        "HTTP/1.1 103 E\r\nA: 0\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\nx-a:d \r\nX-E:\r\n\r\n";
    let (answer, _) = read(format!("{head}body").as_bytes(), Asked::Other).unwrap();
    assert_eq!(str::from_utf8(&answer.head).unwrap(), head);
    assert_eq!(answer.header("X-A").collect::<Vec<_>>(), ["b", "d"]);
    assert_eq!(answer.header("a").count(), 0);
    assert_eq!(answer.header("x-e").collect::<Vec<_>>(), [""]);
    // Trailers stand behind the empty line.
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let whole = format!("{chunked}0\r\nX-T: 1\r\n\r\n");
    let (answer, _) = read(whole.as_bytes(), Asked::Other).unwrap();
    assert_eq!(str::from_utf8(&answer.head).unwrap(), format!("{chunked}X-T: 1\r\n"));
}

#[test]
fn what_is_wrong_has_a_name() {
    let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(LINE_BYTES_MAX));
    let ok = "HTTP/1.1 200 OK\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (said, error) in [
        (String::new(), HttpError::Empty),
        ("SSH-2.0\r\n".into(), HttpError::NotHttp),
        ("SSH".into(), HttpError::NotHttp),
        ("HTTP/1.1 2".into(), HttpError::Cut),
        ("HTTP/1.1 abc OK\r\n".into(), HttpError::Version),
        ("HTTP/1.1 099 OK\r\n".into(), HttpError::Version),
        ("HTTP/2 200 OK\r\n".into(), HttpError::Version),
        (format!("{ok}no header\r\n"), HttpError::NoColon),
        (format!("{ok}a: \0\r\n"), HttpError::Nul),
        (format!("{ok}Content-Length: x\r\n\r\n"), HttpError::Length),
        (format!("{ok}Content-Length: +1\r\n\r\n"), HttpError::Length),
        (format!("{ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), HttpError::Length),
        (format!("{ok}Content-Length: 100\r\n\r\nonly this"), HttpError::Missing(91)),
        (format!("{ok}Content-Length: 1001\r\n\r\n"), HttpError::TooLarge(MAX)),
        (format!("{ok}\r\n{}", "x".repeat(MAX + 1)), HttpError::TooLarge(MAX)),
        (format!("{chunked}zz\r\n"), HttpError::ChunkDigit(b'z')),
        (format!("{chunked}\r\n"), HttpError::Chunk),
        (format!("{chunked}11111111111111111\r\n"), HttpError::Chunk),
        (format!("{chunked}1\r\nab\r\n"), HttpError::Chunk),
        (format!("{chunked}5\r\nab"), HttpError::Cut),
        (format!("{ok}A: b\r\n"), HttpError::Cut),
        (long, HttpError::LargeHead(0)),
        (ok.replace("200", "100").replace('\n', "\n\r\n").repeat(33), HttpError::LargeHead(0)),
        (
            format!("{ok}{}", format!("A: {}\r\n", "x".repeat(1000)).repeat(310)),
            HttpError::LargeHead(0),
        ),
    ] {
        let found = read_in(said.as_bytes(), Asked::Other, said.len().max(1)).unwrap_err();
        let found = match found {
            HttpError::LargeHead(_) => HttpError::LargeHead(0),
            found => found,
        };
        assert_eq!(found, error, "{:.60}", said);
    }
}
