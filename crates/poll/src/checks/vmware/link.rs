//! A session with a service: opened when it is needed, kept, and opened again when it has ended.

use std::rc::Rc;
use std::time::Duration;

use config::snapshot::source::Login;
use wire::http::cookies::Jar;
use wire::vmware::property::{Object, Page};
use wire::vmware::request::{self, Wanted};
use wire::vmware::{self, Node, Reference, VmwareError};

use crate::checks::http::{Auth, Call, Client, Failure, TlsWish};

/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Pages of one list: 200,000 objects.
const PAGES_MAX: usize = 1_000;
/// The service's word for a session that has ended.
const NOT_AUTHENTICATED: &str = "NotAuthenticated";

/// Whom to ask, as whom. Never shown: it has a password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Account {
    /// `https://vcenter/sdk`
    pub(super) url: String,
    pub(super) user: String,
    pub(super) password: String,
}

impl Account {
    /// The error is the item's.
    pub(super) fn new(url: &str, login: &Login) -> Result<Self, String> {
        if url.is_empty() {
            return Err("Empty URL.".to_owned());
        }
        if login.username.is_empty() {
            return Err("Empty username.".to_owned());
        }
        if !url.contains("/sdk") {
            return Err("Invalid URL: missing '/sdk'.".to_owned());
        }
        let (user, password) = (login.username.clone(), login.password.clone());
        Ok(Self { url: url.to_owned(), user, password })
    }
}

/// Why a request brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LinkError {
    /// The service cannot be reached; texts are those that people know from the field's servers.
    #[error("{0}")]
    Web(String),
    /// It refuses, or its answer makes no sense.
    #[error(transparent)]
    Service(#[from] VmwareError),
}

impl LinkError {
    fn web(failure: &Failure) -> Self {
        Self::Web(match failure {
            Failure::Resolve { .. } => "Could not resolve hostname".to_owned(),
            Failure::Connect { .. } => "Could not connect to server".to_owned(),
            Failure::Late(_) => "Timeout was reached".to_owned(),
            other => other.to_string(),
        })
    }

    /// The session has ended.
    pub(super) fn is_session(&self) -> bool {
        matches!(self, Self::Service(VmwareError::Fault { kind, .. }) if kind == NOT_AUTHENTICATED)
    }

    /// The service answers, and refuses.
    pub(super) const fn is_refusal(&self) -> bool {
        matches!(self, Self::Service(VmwareError::Fault { .. }))
    }

    /// It refuses one request: others may be answered in the same session.
    pub(super) fn is_small(&self) -> bool {
        self.is_refusal() && !self.is_session()
    }
}

/// A session.
pub(super) struct Link {
    client: Rc<Client>,
    account: Account,
    headers: Vec<(String, String)>,
    jar: Jar,
    service: Option<vmware::Service>,
}

impl Link {
    /// Nothing is sent yet.
    pub(super) fn new(client: Rc<Client>, account: Account) -> Self {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![
            header("Content-Type", request::CONTENT_TYPE),
            header("SOAPAction", request::ACTION),
        ];
        Self { client, account, headers, jar: Jar::default(), service: None }
    }

    /// The service; a session is open afterwards.
    pub(super) async fn open(&mut self) -> Result<vmware::Service, LinkError> {
        if let Some(service) = &self.service {
            return Ok(service.clone());
        }
        self.jar = Jar::default();
        let answer = self.call(&request::service_content()).await?;
        let service = vmware::Service::parse(&answer)?;
        let Account { user, password, .. } = &self.account;
        let login = request::login(&service.session_manager, user, password);
        self.call(&login).await?;
        tracing::debug!("a session with {} is open", self.account.url);
        self.service = Some(service.clone());
        Ok(service)
    }

    /// The session is no more.
    pub(super) fn forget(&mut self) {
        self.service = None;
    }

    /// Ends the session.
    pub(super) async fn close(&mut self) {
        if let Some(service) = self.service.take() {
            // A service that does not hear it ends the session by itself.
            let _ = self.call(&request::logout(&service.session_manager)).await;
        }
    }

    /// Sends a request and reads its answer.
    pub(super) async fn call(&mut self, body: &str) -> Result<Node, LinkError> {
        let call = Call {
            url: &self.account.url,
            method: "POST",
            headers: &self.headers,
            body: Some(body.as_bytes()),
            agent: None,
            auth: Auth::None,
            proxy: "",
            // As the field's servers: most of these services have certificates of their own.
            tls: TlsWish::default(),
            follow: false,
            timeout: REQUEST_TIMEOUT,
        };
        let fetched = self.client.fetch(&call, &mut self.jar).await;
        let fetched = fetched.map_err(|failure| LinkError::web(&failure))?;
        let text = String::from_utf8_lossy(&fetched.answer.body);
        match vmware::answer(&text) {
            Ok(answer) => Ok(answer),
            Err(VmwareError::Invalid(_)) if fetched.answer.status != 200 => {
                let status = fetched.answer.status;
                Err(LinkError::Web(format!("the service answers with HTTP status {status}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Properties of all objects of these types.
    pub(super) async fn all(
        &mut self,
        service: &vmware::Service,
        wanted: &[Wanted<'_>],
    ) -> Result<Vec<Object>, LinkError> {
        let mut kinds: Vec<&str> = wanted.iter().map(|wanted| wanted.kind).collect();
        kinds.dedup();
        let view = request::create_view(&service.view_manager, &service.root_folder, &kinds);
        let view = vmware::returned(&self.call(&view).await?)?;
        let request = request::properties_of_view(&service.property_collector, &view, wanted);
        let objects = self.pages(service, &request).await;
        if objects.is_ok() {
            // One that stays lives no longer than the session.
            let _ = self.call(&request::destroy_view(&view)).await;
        }
        objects
    }

    /// Properties of objects of one type.
    pub(super) async fn some(
        &mut self,
        service: &vmware::Service,
        objects: &[Reference],
        wanted: &Wanted<'_>,
    ) -> Result<Vec<Object>, LinkError> {
        let request = request::properties_of(&service.property_collector, objects, wanted);
        self.pages(service, &request).await
    }

    async fn pages(
        &mut self,
        service: &vmware::Service,
        request: &str,
    ) -> Result<Vec<Object>, LinkError> {
        let mut page = Page::parse(self.call(request).await?);
        let mut objects = std::mem::take(&mut page.objects);
        for _ in 0..PAGES_MAX {
            let Some(token) = &page.token else { return Ok(objects) };
            let more = request::more_properties(&service.property_collector, token);
            page = Page::parse(self.call(&more).await?);
            objects.append(&mut page.objects);
        }
        Err(VmwareError::TooLarge.into())
    }
}
