//! SMS through a GSM modem: AT commands in PDU mode (3GPP TS 27.005), because the text mode of modems differs in its
//! alphabets. A long text has several parts.

mod modem;

use std::sync::atomic::{AtomicU8, Ordering};

use model::Outgoing;
use stdx::sync::lock;
use wire::sms;

use crate::attempt::{Failure, Log, Result, Sent, Tools};
use crate::settings::Sms;
use modem::{Modem, Until};

/// Connects the parts of a text; phones only compare it with texts of the same sender.
static REFERENCE: AtomicU8 = AtomicU8::new(0);

/// Sends one text; blocks.
pub(crate) fn send(tools: &Tools, sms: &Sms, message: &Outgoing, log: &mut Log) -> Result<Sent> {
    let reference = REFERENCE.fetch_add(1, Ordering::Relaxed);
    let parts = sms::parts(&message.sendto, &message.message, reference)
        .map_err(|error| Failure::Impossible(error.to_string()))?;
    let line = tools.modems.line(&sms.modem);
    let _alone = lock(&line);
    let mut modem = Modem::open(&sms.modem, tools, log)?;
    modem.escape()?;
    // Whether it answers at all; what it may say about the escape comes before.
    modem.command("ATE0\r", Until::Ok).or_else(|error| match error {
        Failure::Failed(why) if why.contains("ERROR") => modem.command("ATE0\r", Until::Ok),
        other => Err(other),
    })?;
    modem.command("AT+CMGF=0\r", Until::Ok)?;
    for part in &parts {
        modem.command(&format!("AT+CMGS={}\r", part.length), Until::Prompt)?;
        modem.say(&format!("{}\u{1a}", part.digits))?;
        modem.listen(Until::Sent).map_err(|failure| match failure {
            // The network may have the text.
            Failure::Failed(why) if !why.contains("ERROR") => Failure::Unknown(why),
            Failure::Cancelled => {
                Failure::Unknown(String::from("the server was stopped while the modem sent"))
            }
            other => other,
        })?;
    }
    Ok(Sent::default())
}

#[cfg(test)]
mod tests;
