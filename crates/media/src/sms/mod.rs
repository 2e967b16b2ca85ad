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
    for (sent, part) in parts.iter().enumerate() {
        part_of(&mut modem, part).map_err(|failure| match failure {
            // The receiver has the parts before; another attempt would repeat them.
            Failure::Failed(why) | Failure::Impossible(why) if sent > 0 => {
                Failure::Unknown(format!("part {} of {}: {why}", sent + 1, parts.len()))
            }
            Failure::Cancelled if sent > 0 => Failure::Unknown(String::from(STOPPED)),
            other => other,
        })?;
    }
    Ok(Sent::default())
}

const STOPPED: &str = "the server was stopped while the modem sent";

fn part_of(modem: &mut Modem<'_>, part: &sms::Part) -> Result<()> {
    modem.command(&format!("AT+CMGS={}\r", part.length), Until::Prompt)?;
    modem.say(&format!("{}\u{1a}", part.digits))?;
    let sent = modem.listen(Until::Sent);
    sent.map(drop).map_err(|failure| match failure {
        // The network may have the text.
        Failure::Failed(why) if !why.contains("ERROR") => Failure::Unknown(why),
        Failure::Cancelled => Failure::Unknown(String::from(STOPPED)),
        other => other,
    })
}

#[cfg(test)]
mod tests;
