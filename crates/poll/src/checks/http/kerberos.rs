//! Proof by a ticket of Kerberos (RFC 4559), as the field's library does it: the first request has
//! the ticket and the body already.

use wire::http::Answer;
use wire::http_auth::negotiate;

use super::client::{Client, Hop};
use super::failure::{Failure, Stage};

/// Answers of a server that wants to hear more; Kerberos alone needs none.
const MORE_MAX: usize = 4;

impl Client {
    /// Asks with a ticket for the host of the URL. Without one it asks as nobody: there are pages
    /// for everybody, as with the field's servers. The error of a refusal has its reason.
    pub(super) async fn kerberos(
        &self,
        hop: &Hop<'_>,
        head: &mut Vec<u8>,
    ) -> Result<Answer, Failure> {
        hop.track.at(Stage::Ticket);
        let begun = self.tickets.begin(&format!("HTTP@{}", hop.url.host)).await;
        let mut proof = match begun {
            Ok(proof) => proof,
            Err(why) => {
                let answer = self.send_once(hop, None, hop.body, head).await?;
                return if answer.status == 401 { Err(why.into()) } else { Ok(answer) };
            }
        };
        let first = negotiate::header(&proof.token);
        let mut sent = self.send(hop, Some(&first), hop.body, head).await?;
        for _ in 0..MORE_MAX {
            let answer = &sent.answer;
            let refused = answer.status == 401 && proof.more;
            let said = refused.then(|| negotiate::token(answer.header("www-authenticate")));
            let Some(heard) = said.flatten() else { break };
            proof = self.tickets.go_on(proof, heard).await?;
            // The next word belongs to this connection.
            if proof.token.is_empty() || !sent.answer.keeps_open {
                break;
            }
            sent = self.send_again(hop, sent, &negotiate::header(&proof.token), head).await?;
        }
        Ok(self.kept(hop, sent, head))
    }
}

#[cfg(test)]
mod tests {
    use stdx::clock::RealClock;
    use stdx::kerberos::{Counting, Talk, TicketError, Tickets};
    use wire::http::cookies::Jar;

    use crate::checks::http::testing::server;
    use crate::checks::http::tests::{call, run_with};
    use crate::checks::http::{Auth, Call, Failure, Fetched};

    /// There is a ticket for one host only.
    fn open(service: &str) -> Result<Box<dyn Talk>, TicketError> {
        if service == "HTTP@127.0.0.1" {
            return Counting::open(service);
        }
        let why = String::from("No Kerberos credentials available");
        Err(TicketError::NoTicket { service: service.to_owned(), why })
    }

    /// What a server saw of a request: the connection's number, the token, the body.
    type Seen = (usize, String, String);

    /// What came of asking a server with these answers, and what it saw.
    fn ask(host: &str, answers: &[&'static str]) -> (Result<Fetched, Failure>, Vec<Seen>) {
        let (port, requests) = server(answers.to_vec().leak());
        let url = format!("http://{host}:{port}/a");
        let tickets = Tickets::with(RealClock::shared(), open);
        let came = run_with(tickets, async |client| {
            let asked = call(&url, Auth::Kerberos);
            let asked = Call { method: "POST", body: Some(b"text"), ..asked };
            client.fetch(&asked, &mut Jar::default()).await
        });
        let seen = requests.iter().map(|(connection, request)| {
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            let token = head.split_once("\r\nAuthorization: Negotiate ");
            let token = token.map_or("", |(_, rest)| rest.lines().next().unwrap());
            (connection, token.to_owned(), body.to_owned())
        });
        (came, seen.collect())
    }

    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const CLOSED: &str =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n";
    const TWO: &str = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\
                       WWW-Authenticate: Negotiate dHdv\r\nContent-Length: 0\r\n\r\n";
    const OTHER: &str =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate b3RoZXI=\r\nContent-Length: 0\r\n\r\n";
    const NEAR: &str = "HTTP/1.1 307 No\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n";
    const ABROAD: &str = "|HTTP/1.1 307 No\r\nLocation: http://localhost:PORT/b\r\n\
                          Content-Length: 0\r\n\r\n";

    /// The tokens in base64: `one` and `three`.
    const ONE: &str = "b25l";
    const THREE: &str = "dGhyZWU=";

    #[test]
    fn tokens_go_to_the_server_of_the_url_alone() {
        for (host, answers, status, tokens) in [
            ("127.0.0.1", &[OK][..], 200, &[(1, ONE)][..]),
            ("127.0.0.1", &[CLOSED], 401, &[(1, ONE)]),
            ("127.0.0.1", &[TWO, OK], 200, &[(1, ONE), (1, THREE)]),
            // The talk is over, whatever the server says.
            ("127.0.0.1", &[TWO, TWO], 401, &[(1, ONE), (1, THREE)]),
            ("127.0.0.1", &[NEAR, OK], 200, &[(1, ONE), (1, ONE)]),
            ("127.0.0.1", &[ABROAD, OK], 200, &[(1, ONE), (2, "")]),
            ("127.0.0.1", &[ABROAD, CLOSED], 401, &[(1, ONE), (2, "")]),
            // A page for everybody.
            ("localhost", &[OK], 200, &[(1, "")]),
        ] {
            let (came, seen) = ask(host, answers);
            assert_eq!(came.unwrap().answer.status, status, "{answers:?}");
            let told: Vec<_> = seen.iter().map(|(n, token, _)| (*n, token.as_str())).collect();
            assert_eq!(told, tokens, "{answers:?}");
            assert!(seen.iter().all(|(_, _, body)| body == "text"), "{seen:?}");
        }
    }

    #[test]
    fn who_is_at_fault() {
        for (host, answer, text) in [
            ("localhost", CLOSED, "no Kerberos ticket for HTTP@localhost: No Kerberos credentials"),
            ("127.0.0.1", OTHER, "HTTP@127.0.0.1 rejects the Kerberos ticket: Clock"),
        ] {
            let failed = ask(host, &[answer]).0.unwrap_err().to_string();
            assert!(failed.starts_with(text), "{failed}");
        }
    }
}
