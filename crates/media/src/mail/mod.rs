//! E-mail over SMTP.
//!
//! One message is one transaction: a server that refuses one recipient gets the message for none, so that another
//! attempt sends it to nobody twice.

mod address;
mod compose;
mod connection;
mod dialog;
mod encode;
pub mod response;

use std::cell::Cell;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use collect::tls::public;
use model::Outgoing;
use openssl::ssl::{self, SslContext};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;
use wire::smtp::{Offers, stuffed};

use crate::attempt::{Cancel, Failure, Log, Result, Sent, Tools, os_error};
use crate::settings::{Login, Mail, Security, Verify};
use address::Address;
use compose::Cover;
use connection::first_of;
use dialog::{Dialog, Stage, Stream};

/// Time for a polite end after the server has accepted or refused the message.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// Sends one message within the time of an attempt.
pub(crate) async fn send(
    tools: &Tools,
    mail: &Mail,
    message: &Outgoing,
    log: &mut Log,
) -> Result<Sent> {
    let from = Address::parse(&mail.from).map_err(Failure::Impossible)?;
    let to = address::recipients(&message.sendto).map_err(Failure::Impossible)?;
    let (stage, answered) = (Cell::new(Stage::Connect), Cell::new(None));
    let letter = Letter { tools, mail, from: &from, to: &to, stage: &stage };
    let timed_out = tokio::select! {
        biased;
        result = letter.deliver(message, log, &answered) => return result,
        () = tokio::time::sleep(tools.attempt_max) => true,
        () = ended(tools, &stage) => false,
    };
    if let Some(result) = answered.take() {
        return result;
    }
    match (stage.get(), timed_out) {
        (Stage::Connect, true) => Err(letter.unreachable("connection timed out")),
        (stage, true) => {
            Err(stage.broken(&format!("timed out after {} s", tools.attempt_max.as_secs())))
        }
        (Stage::End, false) => Err(Stage::End.broken("the server was stopped")),
        (_, false) => Err(Failure::Cancelled),
    }
}

/// Returns when the server stops; a server that may accept the mail at any moment gets more time.
async fn ended(tools: &Tools, stage: &Cell<Stage>) {
    tools.cancelled(Cancel::Safe).await;
    if stage.get() == Stage::End {
        tools.cancelled(Cancel::All).await;
    }
}

struct Letter<'a> {
    tools: &'a Tools,
    mail: &'a Mail,
    from: &'a Address,
    to: &'a [Address],
    /// Where the dialogue is, for those who end it.
    stage: &'a Cell<Stage>,
}

impl Letter<'_> {
    fn unreachable(&self, why: &str) -> Failure {
        let Mail { server, port, .. } = self.mail;
        Failure::Failed(format!(
            "cannot connect to SMTP server \"{server}\": cannot connect to [[{server}]:{port}]: {why}"
        ))
    }

    /// `answered` gets the result before the farewell, which may hang.
    async fn deliver(
        &self,
        message: &Outgoing,
        log: &mut Log,
        answered: &Cell<Option<Result<Sent>>>,
    ) -> Result<Sent> {
        let stream = self.connect().await?;
        let (mut dialog, offers) = self.open(stream, log).await?;
        let result = self.transact(&mut dialog, offers, message).await;
        let result = result.map(|()| Sent::default());
        answered.set(Some(result.clone()));
        if !matches!(result, Err(Failure::Unknown(_))) {
            let farewell = dialog.command(Stage::Farewell, "QUIT");
            let _ignored = tokio::time::timeout(FAREWELL_MAX, farewell).await;
        }
        result
    }

    async fn connect(&self) -> Result<TcpStream> {
        let server = &self.mail.server;
        let addresses = self.tools.resolver.find(server).await.map_err(|why| {
            Failure::Failed(format!(
                "cannot connect to SMTP server \"{server}\": cannot resolve [{server}]: {why}"
            ))
        })?;
        let connect = |address| TcpStream::connect(SocketAddr::new(address, self.mail.port));
        let stream = first_of(&self.tools.clock, &addresses, self.tools.attempt_max, connect).await;
        let stream = stream.map_err(|why| self.unreachable(&why))?;
        let _unset = stream.set_nodelay(true);
        Ok(stream)
    }

    /// From the connection to the login.
    async fn open<'l>(&self, stream: TcpStream, log: &'l mut Log) -> Result<(Dialog<'l>, Offers)> {
        let (stream, early, late): (Box<dyn Stream>, _, _) = match self.mail.security {
            Security::None => (Box::new(stream), false, None),
            Security::StartTls(verify) => (Box::new(stream), false, Some(verify)),
            Security::Tls(verify) => (self.protect(Box::new(stream), verify).await?, true, None),
        };
        let mut dialog = Dialog::new(stream, log);
        self.at(Stage::Welcome);
        dialog.reply(Stage::Welcome).await?.expect(Stage::Welcome, 220)?;
        let mut offers = self.hello(&mut dialog).await?;
        if let Some(verify) = late {
            if !offers.starttls {
                let why = "the SMTP server does not support STARTTLS";
                return Err(Failure::failed(why));
            }
            let stage = self.at(Stage::StartTls);
            dialog.command(stage, "STARTTLS").await?.expect(stage, 220)?;
            let (stream, log) = dialog.into_stream()?;
            dialog = Dialog::new(self.protect(stream, verify).await?, log);
            offers = self.hello(&mut dialog).await?;
        }
        if let Some(account) = &self.mail.login {
            self.at(Stage::Auth);
            login(&mut dialog, offers, early || late.is_some(), account).await?;
        }
        Ok((dialog, offers))
    }

    fn at(&self, stage: Stage) -> Stage {
        self.stage.set(stage);
        stage
    }

    /// Old servers know only HELO.
    async fn hello(&self, dialog: &mut Dialog<'_>) -> Result<Offers> {
        let stage = self.at(Stage::Helo);
        let name = match self.mail.helo.trim() {
            "" => self.from.domain(),
            name => name,
        };
        let reply = dialog.command(stage, &format!("EHLO {name}")).await?;
        if reply.is_positive() {
            return Ok(Offers::parse(&reply.text));
        }
        if reply.code / 100 != 5 {
            return Err(reply.refused(stage));
        }
        dialog.command(stage, &format!("HELO {name}")).await?.expect(stage, 250)?;
        Ok(Offers::default())
    }

    async fn protect(&self, stream: Box<dyn Stream>, verify: Verify) -> Result<Box<dyn Stream>> {
        let server = &self.mail.server;
        let failed = |why: &str| {
            Failure::Failed(format!("cannot use TLS with SMTP server \"{server}\": {why}"))
        };
        let session = || {
            let context: SslContext = public::client(self.tools.authorities.as_deref())?.build();
            public::session(&context, server, verify.peer, verify.host)
        };
        let ssl = session().map_err(|error| failed(&error.to_string()))?;
        let stream = SslStream::new(ssl, stream);
        let mut stream = stream.map_err(|error| failed(&error.to_string()))?;
        match Pin::new(&mut stream).connect().await {
            Ok(()) => Ok(Box::new(stream)),
            Err(error) => Err(failed(&handshake_error(&error, stream.ssl()))),
        }
    }

    async fn transact(
        &self,
        dialog: &mut Dialog<'_>,
        offers: Offers,
        message: &Outgoing,
    ) -> Result<()> {
        let all = || std::iter::once(self.from).chain(self.to);
        let wide = all().find(|address| !address.mailbox().is_ascii());
        if let Some(address) = wide
            && !offers.utf8
        {
            return Err(Failure::Failed(format!(
                "the SMTP server does not support SMTPUTF8, which the address \"{}\" requires",
                address.mailbox()
            )));
        }
        let stage = self.at(Stage::MailFrom);
        let utf8 = if wide.is_some() { " SMTPUTF8" } else { "" };
        let command = format!("MAIL FROM:<{}>{utf8}", self.from.mailbox());
        dialog.command(stage, &command).await?.expect(stage, 250)?;
        for address in self.to {
            let stage = self.at(Stage::RcptTo);
            let reply = dialog.command(stage, &format!("RCPT TO:<{}>", address.mailbox())).await?;
            if !matches!(reply.code, 250 | 251) {
                return Err(reply.refused(stage));
            }
        }
        let stage = self.at(Stage::Data);
        dialog.command(stage, "DATA").await?.expect(stage, 354)?;
        let cover = Cover {
            from: self.from,
            to: self.to,
            html: self.mail.html,
            now: self.tools.clock.unix(),
            instance: &self.tools.instance,
        };
        let text = compose::mail(message, &cover);
        dialog.log.add(|| text.clone());
        let text = stuffed(&text);
        // The server accepts nothing before it has the last line.
        let (start, last) = text.split_at(text.len() - ".\r\n".len());
        dialog.send(stage, start).await?;
        let stage = self.at(Stage::End);
        dialog.send(stage, last).await?;
        let reply = dialog.reply(stage).await?;
        dialog.log.respond(|| reply.text.trim_end().to_owned());
        reply.expect(stage, 250).map(drop)
    }
}

async fn login(
    dialog: &mut Dialog<'_>,
    offers: Offers,
    protected: bool,
    Login { user, password }: &Login,
) -> Result<()> {
    let stage = Stage::Auth;
    let Some(mechanism) = offers.mechanism(protected) else {
        let why = "the SMTP server offers none of the logins PLAIN, LOGIN and CRAM-MD5";
        return Err(Failure::failed(why));
    };
    dialog.log.add(|| format!("> AUTH {mechanism:?}"));
    let mut reply = dialog.secret(stage, &mechanism.command(user, password)).await?;
    let mut step = 0;
    while reply.code == 334 {
        let challenge = reply.text.get(4..).unwrap_or_default().trim_end();
        let Some(response) = mechanism.response(step, challenge, user, password) else {
            return Err(reply.refused(stage));
        };
        reply = dialog.secret(stage, &response).await?;
        step += 1;
    }
    reply.expect(stage, 235).map(drop)
}

fn handshake_error(error: &ssl::Error, ssl: &ssl::SslRef) -> String {
    if let Some(error) = error.io_error() {
        return os_error(error);
    }
    let verified = ssl.verify_result();
    if public::WRONG_NAME.contains(&verified.as_raw()) {
        return String::from("the certificate is for another server");
    }
    if verified.as_raw() != 0 {
        return format!("the certificate is not trusted: {}", verified.error_string());
    }
    error.to_string()
}

#[cfg(test)]
mod tests;
