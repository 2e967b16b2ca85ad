//! One order: account, challenges, certificate (RFC 8555, 7.1).

use std::sync::Arc;
use std::time::Duration;

use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, ChallengeStatus, ChallengeType, Error,
    Identifier, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};
use stdx::clock::SharedClock;
use tokio::time::Instant;

use super::hook::{self, Action, Record};
use super::http::{Client, Signs};
use super::issued::Issued;
use super::schedule::Window;
use super::store::{self, Check, Responder, Store};
use super::wanted::{Authority, Wanted};
use crate::config::Challenge;

/// Time for a whole order.
const ORDER_MAX: Duration = Duration::from_secs(1_800);
/// Time that the authority may take for its checks, and for the certificate.
const POLLING: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(500))
    .backoff(1.5)
    .timeout(Duration::from_secs(120));
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// What an order needs beside the certificate.
#[derive(Clone)]
pub(super) struct Office {
    pub(super) store: Arc<dyn Store>,
    pub(super) responder: Arc<dyn Responder>,
    pub(super) clock: SharedClock,
}

/// When an order ends at the latest.
#[derive(Debug, Clone, Copy)]
struct Limit(Instant);

impl Limit {
    async fn hold<T>(self, step: impl Future<Output = Step<T>>) -> Step<T> {
        let late = |_| Err(format!("the order took longer than {} s", ORDER_MAX.as_secs()));
        tokio::time::timeout_at(self.0, step).await.unwrap_or_else(late)
    }
}

/// An order whose host names the authority has not confirmed.
struct Begun {
    order: Order,
    checks: Vec<Check>,
    records: Vec<Record>,
}

/// No check passes any more when this is dropped.
struct Posted<'r>(&'r dyn Responder);

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// Why there is no certificate.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) text: String,
    /// Seconds that the authority wants no such request.
    pub(super) retry_after_s: Option<u64>,
    /// Requests for other certificates would fail, too.
    pub(super) is_down: bool,
}

/// When the authority suggests to renew.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suggestion {
    pub(super) window: Window,
    /// Seconds until the next request for it.
    pub(super) after_s: u64,
}

/// The result of a step, or what went wrong.
type Step<T> = Result<T, String>;

fn during<T>(what: &str, result: Result<T, Error>) -> Step<T> {
    result.map_err(|error| match error {
        // The prefix "API error" says nothing to a user.
        Error::Api(problem) => {
            let shown = problem.to_string();
            format!("{what}: {}", shown.strip_prefix("API error: ").unwrap_or(&shown))
        }
        Error::Json(error) => format!("{what}: the response is not one of ACME: {error}"),
        error => format!("{what}: {error}"),
    })
}

impl Office {
    /// Orders a certificate. `old` is the one that it replaces, for authorities that suggest times of renewal.
    pub(super) async fn order(
        &self,
        wanted: &Wanted,
        old: Option<&Issued>,
    ) -> Result<Issued, Failure> {
        let client = self.client(&wanted.authority);
        let client =
            client.map_err(|text| Failure { text, retry_after_s: None, is_down: false })?;
        let signs = client.signs();
        let result = self.attempt(client, wanted, old).await;
        result.map_err(|text| failure(text, &signs))
    }

    /// When the authority suggests to renew (RFC 9773, 4.2); `None`: it makes no suggestions.
    pub(super) async fn suggestion(
        &self,
        authority: &Authority,
        issued: &Issued,
    ) -> Step<Option<Suggestion>> {
        let Some(identifier) = issued.identifier() else { return Ok(None) };
        let Some(stored) = self.stored(authority)? else { return Ok(None) };
        let account = self.restore(self.client(authority)?, authority, stored.credentials).await?;
        let asked = account.renewal_info(&identifier).await;
        if matches!(asked, Err(Error::Unsupported(_))) {
            return Ok(None);
        }
        let (info, after) = during("cannot read the suggested time of renewal", asked)?;
        let second = |time: i64| u64::try_from(time).unwrap_or(0);
        let window = info.suggested_window;
        let window = Window {
            start_s: second(window.start.unix_timestamp()),
            end_s: second(window.end.unix_timestamp()),
        };
        Ok(Some(Suggestion { window, after_s: after.as_secs() }))
    }

    fn client(&self, authority: &Authority) -> Step<Client> {
        Client::new(authority.ca.as_ref(), &self.clock)
    }

    async fn attempt(&self, client: Client, wanted: &Wanted, old: Option<&Issued>) -> Step<Issued> {
        let limit = Limit(Instant::now() + ORDER_MAX);
        let Begun { mut order, checks, records } =
            limit.hold(self.begin(client, wanted, old)).await?;
        let proven = limit.hold(self.prove(&mut order, wanted, checks, &records)).await;
        // Also when the time is up: records that remain would be there for ever.
        self.withdraw(&wanted.authority, &records).await;
        proven?;
        limit.hold(self.fetch(order, wanted)).await
    }

    /// Opens an order, with what its checks must find.
    async fn begin(&self, client: Client, wanted: &Wanted, old: Option<&Issued>) -> Step<Begun> {
        let authority = &wanted.authority;
        let account = self.account(client.clone(), authority).await?;
        let names: Vec<Identifier> = wanted.names.iter().cloned().map(Identifier::Dns).collect();
        let mut new = NewOrder::new(&names);
        if let Some(identifier) = old.and_then(Issued::identifier) {
            new = new.replaces(identifier);
        }
        let mut order = match account.new_order(&new).await {
            Err(error) if is_unknown(&error) => {
                let account = self.create(client, authority).await?;
                during("cannot order", account.new_order(&new).await)?
            }
            other => during("cannot order", other)?,
        };
        let (checks, records) = pending(&mut order, wanted).await?;
        Ok(Begun { order, checks, records })
    }

    /// Gets the certificate of an order whose host names are confirmed.
    async fn fetch(&self, mut order: Order, wanted: &Wanted) -> Step<Issued> {
        let (key, request) = signing_request(&wanted.names)?;
        during("cannot finalize the order", order.finalize_csr(&request).await)?;
        let chain = order.poll_certificate(&POLLING).await;
        let chain = during("cannot get the certificate", chain)?;
        let issued = Issued::new(&wanted.authority.directory, format!("{key}{chain}"))
            .map_err(|problem| format!("the authority sent an unusable certificate: {problem}"))?;
        if !issued.serves(wanted) {
            let names = issued.names.join(", ");
            return Err(format!("the authority sent a certificate for other host names: {names}"));
        }
        if issued.validity.remaining_s(self.clock.unix_s()) == 0 {
            return Err("the authority sent a certificate that has expired; check the clock of \
                        this machine"
                .to_owned());
        }
        Ok(issued)
    }

    fn stored(&self, authority: &Authority) -> Step<Option<store::Account>> {
        self.store.account(authority).map_err(|error| format!("{error:#}"))
    }

    /// The account at the authority; a new one if there is none.
    async fn account(&self, client: Client, authority: &Authority) -> Step<Account> {
        let Some(stored) = self.stored(authority)? else {
            return self.create(client, authority).await;
        };
        let account = self.restore(client.clone(), authority, stored.credentials).await?;
        if stored.contact != authority.contact {
            let contact = contact(authority);
            let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
            match account.update_contacts(&contact).await {
                Err(error) if is_unknown(&error) => return self.create(client, authority).await,
                other => during("cannot change the contact", other)?,
            }
            if let Some(stored) = self.stored(authority)? {
                let contact = authority.contact.clone();
                self.keep(&store::Account { contact, ..stored })?;
            }
        }
        Ok(account)
    }

    async fn restore(
        &self,
        client: Client,
        authority: &Authority,
        credentials: AccountCredentials,
    ) -> Step<Account> {
        let builder = Account::builder_with_http(Box::new(client));
        during(&directory_problem(authority), builder.from_credentials(credentials).await)
    }

    async fn create(&self, client: Client, authority: &Authority) -> Step<Account> {
        let mailboxes = contact(authority);
        let mailboxes: Vec<&str> = mailboxes.iter().map(String::as_str).collect();
        let new = NewAccount {
            contact: &mailboxes,
            terms_of_service_agreed: authority.terms_agreed,
            only_return_existing: false,
        };
        let directory = authority.directory.clone();
        let builder = Account::builder_with_http(Box::new(client));
        let created = builder.create(&new, directory.clone(), None).await;
        let (account, credentials) = during(&directory_problem(authority), created)?;
        let contact = authority.contact.clone();
        self.keep(&store::Account { directory, contact, credentials })?;
        tracing::info!("an account at {} is created: {}", authority.directory, account.id());
        Ok(account)
    }

    fn keep(&self, account: &store::Account) -> Step<()> {
        self.store.keep_account(account).map_err(|error| format!("{error:#}"))
    }

    /// Removes records, also those that may not have been set.
    async fn withdraw(&self, authority: &Authority, records: &[Record]) {
        let Some(program) = &authority.dns_hook else { return };
        for record in records {
            if let Err(problem) = hook::call(program, Action::Remove, record).await {
                tracing::warn!("a TXT record may remain: {problem}");
            }
        }
    }

    /// Passes the challenges of all names.
    async fn prove(
        &self,
        order: &mut Order,
        wanted: &Wanted,
        checks: Vec<Check>,
        records: &[Record],
    ) -> Step<()> {
        let posted = Posted(&*self.responder);
        self.responder.post(wanted, checks).await?;
        publish(&wanted.authority, records).await?;
        let status = checked(order, wanted.challenge).await;
        drop(posted);
        if matches!(status, Ok(OrderStatus::Ready)) {
            return Ok(());
        }
        let refused = refusals(order).await;
        if !refused.is_empty() {
            return Err(refused.join("; "));
        }
        let status = during("the host names were not confirmed", status)?;
        Err(format!("the host names were not confirmed: the order is {status:?}"))
    }
}

/// Sets the records of checks by DNS.
async fn publish(authority: &Authority, records: &[Record]) -> Step<()> {
    for record in records {
        let program = authority.dns_hook.as_deref().ok_or("there is no program for 'dns-01'")?;
        hook::call(program, Action::Add, record).await?;
    }
    Ok(())
}

fn contact(authority: &Authority) -> Vec<String> {
    authority.contact.iter().map(|address| format!("mailto:{address}")).collect()
}

fn directory_problem(authority: &Authority) -> String {
    format!("cannot use the directory {}", authority.directory)
}

/// Whether the authority does not know the account: some test authorities forget all of them.
fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Api(problem) if problem.r#type.as_deref() == Some(NO_ACCOUNT))
}

/// Characters of an error in the log.
const SHOWN_MAX: usize = 1_000;

/// The authority decides a part of the text.
fn failure(text: String, signs: &Signs) -> Failure {
    let safe = |c: char| if c.is_control() { ' ' } else { c };
    let text = text.chars().take(SHOWN_MAX).map(safe).collect();
    Failure { text, retry_after_s: signs.retry_after_s(), is_down: signs.is_down() }
}

/// Lets the authority check all names, and waits for the result.
async fn checked(order: &mut Order, challenge: Challenge) -> Result<OrderStatus, Error> {
    begin_checks(order, challenge).await?;
    order.poll_ready(&POLLING).await
}

fn kind(challenge: Challenge) -> (ChallengeType, &'static str) {
    match challenge {
        Challenge::Http01 => (ChallengeType::Http01, "http-01"),
        Challenge::TlsAlpn01 => (ChallengeType::TlsAlpn01, "tls-alpn-01"),
        Challenge::Dns01 => (ChallengeType::Dns01, "dns-01"),
    }
}

/// What the authority's checks must find.
///
/// Only what was ordered is checked, whatever the authority lists: names reach a program of the user, and each
/// takes memory.
async fn pending(order: &mut Order, wanted: &Wanted) -> Step<(Vec<Check>, Vec<Record>)> {
    let (mut checks, mut records) = (Vec::new(), Vec::new());
    let challenge = wanted.challenge;
    let (kind, word) = kind(challenge);
    let mut seen = 0;
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = during("cannot read an authorization", authorization)?;
        let name = authorization.identifier().to_string().to_ascii_lowercase();
        seen += 1;
        if seen > wanted.names.len() || !wanted.names.contains(&name) {
            return Err(format!("the authority wants to check {name:?}, which was not ordered"));
        }
        if authorization.status != AuthorizationStatus::Pending {
            continue;
        }
        let found = authorization.challenge(kind.clone());
        let found = found.ok_or_else(|| format!("{name}: the authority offers no {word}"))?;
        let text = found.key_authorization();
        match challenge {
            Challenge::Http01 => checks.push(Check::Http {
                token: found.token.clone(),
                authorization: text.as_str().to_owned(),
            }),
            Challenge::TlsAlpn01 => {
                checks.push(Check::Tls { name, digest: text.digest().as_ref().to_vec() });
            }
            Challenge::Dns01 => {
                let host = name.strip_prefix("*.").unwrap_or(&name);
                records.push(Record::of(host, text.dns_value()));
            }
        }
    }
    Ok((checks, records))
}

/// Lets the authority check all names.
async fn begin_checks(order: &mut Order, challenge: Challenge) -> Result<(), Error> {
    let (kind, _) = kind(challenge);
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status != AuthorizationStatus::Pending {
            continue;
        }
        if let Some(mut challenge) = authorization.challenge(kind.clone()) {
            challenge.set_ready().await?;
        }
    }
    Ok(())
}

/// Why the authority does not confirm names.
async fn refusals(order: &mut Order) -> Vec<String> {
    let mut refused = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let name = authorization.identifier().to_string();
        let Ok(state) = authorization.refresh().await else { continue };
        for challenge in &state.challenges {
            if let (ChallengeStatus::Invalid, Some(problem)) = (challenge.status, &challenge.error)
            {
                let shown = problem.to_string();
                let shown = shown.strip_prefix("API error: ").unwrap_or(&shown);
                refused.push(format!("{name} was not confirmed: {shown}"));
            }
        }
    }
    refused
}

/// A new key in PEM format, and the request for its certificate.
fn signing_request(names: &[String]) -> Step<(String, Vec<u8>)> {
    let made = || -> Result<_, rcgen::Error> {
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = DistinguishedName::new();
        let key = KeyPair::generate()?;
        Ok((key.serialize_pem(), params.serialize_request(&key)?.der().to_vec()))
    };
    made().map_err(|error| format!("cannot make the request for a certificate: {error}"))
}
