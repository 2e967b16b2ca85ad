//! What scripts may ask of the world, provided by the caller.

use std::time::Duration;

/// A request of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCall {
    /// `GET`, `POST`, or any word.
    pub method: String,
    /// Where to; as the script wrote it.
    pub url: String,
    /// Names and values in the script's order; a name may stand twice.
    pub headers: Vec<(String, String)>,
    /// `None` = a request without a body.
    pub body: Option<Vec<u8>>,
    /// Address of a proxy; `None` = none.
    pub proxy: Option<String>,
    /// How the script proves who it is.
    pub auth: HttpAuth,
    /// What is left of the script's time.
    pub timeout: Duration,
}

/// How a request proves who sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HttpAuth {
    /// Not at all.
    #[default]
    None,
    /// Name and password, in base64.
    Basic(String, String),
    /// Name and password; the answer to what the server asks.
    Digest(String, String),
    /// Name (also as `DOMAIN\name`) and password; NTLM of version 2.
    Ntlm(String, String),
    /// A ticket of Kerberos.
    Negotiate,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpAnswer {
    /// 200 and so on.
    pub status: u16,
    /// Names as they came.
    pub headers: Vec<(String, String)>,
    /// Unpacked content.
    pub body: Vec<u8>,
}

/// The world as scripts see it. Scripts that are run without one reach nothing, and their sleep
/// only uses up their time.
pub trait Outside: Send + Sync {
    /// Sends a request and waits for the answer, no longer than its timeout.
    fn http(&self, call: &HttpCall) -> Result<HttpAnswer, String>;

    /// Lets time pass.
    fn sleep(&self, time: Duration);

    /// Address of the WebDriver for scripts that lead a browser; `None` = they get no `Browser`.
    fn webdriver(&self) -> Option<&str> {
        None
    }
}
