//! Responses to messages: the token of the address that a mail came to, and what its author wrote.

mod quotation;

use mail_parser::{Message, MessageParser, MimeHeaders as _};

/// Shortest token, characters.
const TOKEN_CHARS_MIN: usize = 32;
/// Longest token: what fits into the local part of an address.
const TOKEN_CHARS_MAX: usize = 64;
/// Longest comment of a problem, characters.
const TEXT_CHARS_MAX: usize = 2_048;
/// Longest address of an author, bytes: media have no longer ones.
const ADDRESS_BYTES_MAX: usize = 4_096;
/// Longest `Message-ID` that is kept, characters.
const ID_CHARS_MAX: usize = 998;

/// Headers with the address that a mail came to, the surest first.
const RECIPIENTS: &[&str] = &["Delivered-To", "X-Original-To", "Envelope-To", "To", "Cc"];

/// What a mail server knows beside the mail.
#[derive(Debug, Clone, Copy, Default)]
pub struct Envelope<'a> {
    /// The address that the mail came to; `None` = the mail says it.
    pub recipient: Option<&'a str>,
    /// The address for bounces, empty for mails that nobody wrote; `None` = the mail says it.
    pub sender: Option<&'a str>,
}

/// A mail that a user wrote as a response to a message; its token is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// What stands behind the plus sign of the address that it came to.
    pub token: String,
    /// Address of its author, without a name.
    pub from: String,
    /// `Message-ID`, by which a mail that comes twice is known; empty = it has none.
    pub message_id: String,
    /// What the author wrote, without quotations, at most 2,048 characters.
    pub text: String,
}

/// Why a mail is no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unused {
    /// It has no headers.
    #[error("the input is no mail")]
    Unreadable,
    /// A program wrote it: a bounce, an absence note, a mailing list.
    #[error("a program wrote the mail: {0}")]
    Automatic(&'static str),
    /// It did not come to an address with a token.
    #[error("the mail did not come to an address with a token")]
    NoToken,
    /// It has no `From` with an address of a plausible length.
    #[error("the mail has no author")]
    NoAuthor,
    /// Nothing is left without the quotations.
    #[error("the mail has no text of its own")]
    NoText,
}

/// Reads a mail.
///
/// # Errors
/// It is no response.
pub fn read(mail: &[u8], envelope: Envelope<'_>) -> Result<Response, Unused> {
    let mail = MessageParser::default().parse(mail).ok_or(Unused::Unreadable)?;
    if mail.headers().is_empty() {
        return Err(Unused::Unreadable);
    }
    if let Some(why) = automatic(&mail, envelope) {
        return Err(Unused::Automatic(why));
    }
    let token = token(&mail, envelope).ok_or(Unused::NoToken)?;
    let author = mail.from().and_then(|from| from.first());
    let from = author.and_then(|author| author.address());
    let from = from.filter(|from| from.len() <= ADDRESS_BYTES_MAX).ok_or(Unused::NoAuthor)?;
    let body = mail.body_text(0).unwrap_or_default();
    let text = shortened(&quotation::own(&body));
    if text.is_empty() {
        return Err(Unused::NoText);
    }
    let message_id = mail.message_id().unwrap_or_default();
    Ok(Response {
        token,
        from: from.to_owned(),
        message_id: message_id.chars().take(ID_CHARS_MAX).collect(),
        text,
    })
}

fn headers<'m>(mail: &'m Message<'_>, wanted: &str) -> impl Iterator<Item = &'m str> {
    mail.headers_raw()
        .filter(move |(name, _)| name.eq_ignore_ascii_case(wanted))
        .map(|(_, value)| value.trim())
}

/// Why nobody wrote the mail.
fn automatic(mail: &Message<'_>, envelope: Envelope<'_>) -> Option<&'static str> {
    let has = |name: &str, means: &dyn Fn(&str) -> bool| {
        headers(mail, name).any(|value| means(&value.to_ascii_lowercase()))
    };
    let is_report = mail
        .content_type()
        .is_some_and(|kind| kind.ctype() == "multipart" && kind.subtype() == Some("report"));
    let author = mail.from().and_then(|from| from.first()).and_then(|from| from.address());
    let author = author.unwrap_or_default().to_ascii_lowercase();
    let is_empty = |value: &str| matches!(value.trim(), "" | "<>");
    [
        ("no sender", envelope.sender.map_or_else(|| has("Return-Path", &is_empty), is_empty)),
        ("Auto-Submitted", has("Auto-Submitted", &|value| !value.starts_with("no"))),
        (
            "Precedence",
            has("Precedence", &|value| {
                ["bulk", "junk", "list", "auto_reply"].iter().any(|word| value.starts_with(word))
            }),
        ),
        ("List-Id", has("List-Id", &|_| true)),
        ("X-Autoreply", has("X-Autoreply", &|_| true) || has("X-Autorespond", &|_| true)),
        ("a report", is_report),
        (
            "the author",
            ["mailer-daemon@", "postmaster@"].iter().any(|name| author.starts_with(name)),
        ),
    ]
    .into_iter()
    .find_map(|(why, is)| is.then_some(why))
}

fn token(mail: &Message<'_>, envelope: Envelope<'_>) -> Option<String> {
    if let Some(recipient) = envelope.recipient {
        return token_of(recipient);
    }
    RECIPIENTS.iter().flat_map(|name| headers(mail, name)).find_map(token_of)
}

/// What stands between a plus sign and an at sign, if it looks like a token.
fn token_of(addresses: &str) -> Option<String> {
    let is_token = |text: &&str| {
        (TOKEN_CHARS_MIN..=TOKEN_CHARS_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphabetic() || (b'2'..=b'7').contains(&byte))
    };
    let tokens = addresses.split('+').skip(1).filter_map(|rest| rest.split('@').next());
    tokens.into_iter().find(is_token).map(str::to_ascii_lowercase)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_owned(),
        Some(_) => text.chars().take(TEXT_CHARS_MAX - 1).chain(Some('…')).collect(),
    }
}

#[cfg(test)]
mod tests;
