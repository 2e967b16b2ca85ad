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
    /// for everybody, as with the field's servers. Where that is refused, the reason is told.
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
