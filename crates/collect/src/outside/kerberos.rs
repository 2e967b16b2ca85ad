//! Requests of scripts with a ticket of Kerberos (`HTTPAUTH_NEGOTIATE`, RFC 4559).

use eval::script::{HttpAnswer, HttpCall};
use stdx::kerberos::{Proof, TicketError};
use wire::http::Url;
use wire::http_auth::negotiate;

use super::{BAD_URL, Exchange, Leg, REDIRECTS_MAX, asked, said};

/// Answers of a server that wants to hear more; Kerberos alone needs none.
const MORE_MAX: usize = 4;

impl Exchange<'_> {
    /// Follows redirects itself: each request needs a ticket of its own, and only the server that
    /// the script named gets one.
    pub(super) fn kerberos(&self) -> Result<HttpAnswer, String> {
        let call: &HttpCall = self.call;
        let first = Url::parse(&call.url).map_err(|_| BAD_URL.to_owned())?;
        let (mut url, mut leg) = (first.clone(), Leg::of(call));
        let mut answer = self.with_ticket(&leg, &url)?;
        for _ in 0..REDIRECTS_MAX {
            let moved = matches!(answer.status, 301..=303 | 307 | 308);
            let location = answer
                .headers
                .iter()
                .find(|(name, _)| moved && name.eq_ignore_ascii_case("location"));
            let Some((_, location)) = location else { break };
            url = url.join(location).map_err(|_| BAD_URL.to_owned())?;
            leg.url = url.to_string();
            if answer.status <= 303 {
                leg.body = None;
                leg.method = if leg.method == "POST" { "GET" } else { leg.method };
            }
            leg.at_home = url.same_origin(&first);
            answer = match leg.at_home {
                true => self.with_ticket(&leg, &url)?,
                false => self.send_leg(&leg, None).map_err(|error| said(&error))?,
            };
        }
        Ok(answer)
    }

    fn with_ticket(&self, leg: &Leg<'_>, url: &Url) -> Result<HttpAnswer, String> {
        let send = |proof: Option<&str>| self.send_leg(leg, proof).map_err(|error| said(&error));
        let begun = self.wait(self.tickets.begin(&format!("HTTP@{}", url.host)))?;
        let mut proof = match begun {
            Ok(proof) => proof,
            Err(why) => {
                // There are pages for everybody.
                let answer = send(None)?;
                return if answer.status == 401 { Err(why.to_string()) } else { Ok(answer) };
            }
        };
        let mut answer = send(Some(&negotiate::header(&proof.token)))?;
        for _ in 0..MORE_MAX {
            let heard = if proof.more { negotiate::token(asked(&answer)) } else { None };
            let Some(heard) = heard else { break };
            proof = self.wait(self.tickets.go_on(proof, heard))?.map_err(|why| why.to_string())?;
            if proof.token.is_empty() {
                break;
            }
            // The agent keeps the connection on which the server's word came.
            answer = send(Some(&negotiate::header(&proof.token)))?;
        }
        Ok(answer)
    }

    /// Waits for a ticket, no longer than the script has time.
    fn wait(
        &self,
        work: impl Future<Output = Result<Proof, TicketError>>,
    ) -> Result<Result<Proof, TicketError>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| format!("cannot wait for a ticket: {error}"))?;
        let left = self.end.saturating_sub(self.clock.monotonic());
        let waited = runtime.block_on(async { tokio::time::timeout(left, work).await });
        waited.map_err(|_| {
            String::from(
                "Timeout was reached: Kerberos has no ticket yet, its key distribution center may \
                 not answer",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use eval::script::HttpAuth;
    use stdx::clock::RealClock;
    use stdx::kerberos::{Counting, Open, Talk, Tickets};

    use super::super::tests::{exchange_with, proof};
    use super::*;

    fn none(service: &str) -> Result<Box<dyn Talk>, TicketError> {
        let (service, why) = (service.to_owned(), String::from("Cannot contact any KDC"));
        Err(TicketError::NoTicket { service, why })
    }

    const CLOSED: (&str, &str) = ("401 Unauthorized", "WWW-Authenticate: Negotiate\r\n");
    const TWO: (&str, &str) = ("401 Unauthorized", "WWW-Authenticate: Negotiate dHdv\r\n");
    const OTHER: (&str, &str) = ("401 Unauthorized", "WWW-Authenticate: Negotiate eA==\r\n");
    const OK: (&str, &str) = ("200 OK", "");
    const ONE: &str = "Negotiate b25l";
    const THREE: &str = "Negotiate dGhyZWU=";

    #[test]
    fn a_script_s_requests_have_tickets() {
        for (answers, status, proofs) in [
            (&[OK][..], 200, &[ONE][..]),
            (&[CLOSED], 401, &[ONE]),
            (&[TWO, OK], 200, &[ONE, THREE]),
            (&[("302 Found", "Location: /b?c\r\n"), OK], 200, &[ONE, ONE]),
            (&[("302 Found", ""), OK], 302, &[ONE]),
        ] {
            let answers = answers[..proofs.len()].to_vec().leak();
            let tickets = Tickets::with(RealClock::shared(), Counting::open);
            let (answer, seen) = exchange_with(tickets, HttpAuth::Negotiate, answers);
            assert_eq!(answer.unwrap().status, status, "{answers:?}");
            let told: Vec<_> = seen.iter().map(|request| proof(request)).collect();
            assert_eq!(told, proofs, "{answers:?}");
            assert!(seen[0].starts_with("POST /a/b?c=d ") && seen[0].ends_with("text"));
            if status == 200 && answers[0].0.starts_with("302") {
                assert!(seen[1].starts_with("GET /b?c ") && !seen[1].ends_with("text"));
            }
        }
    }

    #[test]
    fn who_is_at_fault() {
        let with = |open: Open, answer: (&'static str, &'static str)| {
            let tickets = Tickets::with(RealClock::shared(), open);
            exchange_with(tickets, HttpAuth::Negotiate, vec![answer].leak()).0
        };
        let error = with(none, CLOSED).unwrap_err();
        assert!(error.starts_with("no Kerberos ticket for HTTP@127.0.0.1: Cannot"), "{error}");
        let error = with(Counting::open, OTHER).unwrap_err();
        assert!(error.contains("rejects the Kerberos ticket: Clock skew"), "{error}");
        // A page for everybody.
        assert_eq!(with(none, OK).unwrap().status, 200);
    }
}
