//! A web server for tests.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};

/// A request as a server sees it.
fn read(connection: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if connection.read_line(&mut text).ok()? == 0 {
            return None;
        }
    }
    let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    connection.read_exact(&mut body).ok()?;
    Some(text + str::from_utf8(&body).unwrap())
}

/// A server that says these answers one after the other; `|` before one closes the connection
/// first. Tells the number of the connection and the request.
pub(crate) fn server(answers: &'static [&'static str]) -> (u16, Receiver<(usize, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, requests) = sync_channel(100);
    std::thread::spawn(move || {
        let mut answers = answers.iter().peekable();
        for number in 1.. {
            if answers.peek().is_none() {
                return;
            }
            let Ok((stream, _)) = listener.accept() else { return };
            let mut connection = BufReader::new(stream);
            while let Some(answer) = answers.peek() {
                let Some(request) = read(&mut connection) else { break };
                seen.send((number, request)).unwrap();
                let closes = answer.starts_with('|');
                let text = answer.trim_start_matches('|').replace("PORT", &port.to_string());
                connection.get_mut().write_all(text.as_bytes()).unwrap();
                answers.next();
                if closes {
                    break;
                }
            }
        }
    });
    (port, requests)
}
