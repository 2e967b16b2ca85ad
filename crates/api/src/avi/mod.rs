//! The API of Avi for its clients: a thin layer over the methods of the JSON-RPC API, with their permissions,
//! validation and audit. The crate `avi` translates objects; this module finds, stores and returns them.

mod change;
mod fixed;
mod references;
mod session;
mod show;
mod vips;
mod world;

use avi::{Kind, Members, Refused};
use serde_json::{Value as Json, json};

use crate::call::Call;
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::rpc::{self, Origin};
use crate::{Api, User};
use world::World;

pub(crate) use change::forget_deleted;
pub(crate) use session::{Credential, cookie_of, cookies, login, logout};

/// Bytes of one object as JSON text, and of a request.
const OBJECT_BYTES_MAX: usize = 1 << 20;

/// Methods of HTTP that the API has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A request, as far as this API reads it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) verb: Verb,
    /// Without `/api/`.
    pub(crate) path: String,
    /// Decoded.
    pub(crate) query: Vec<(String, String)>,
    /// Host and port that the client used.
    pub(crate) host: String,
    pub(crate) credential: Credential,
    /// `X-CSRFToken`
    pub(crate) csrf: Option<String>,
    /// `X-Avi-Tenant` or `X-Avi-Tenant-UUID`
    pub(crate) tenant: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Present, and not explicitly false; clients send some of them without a value.
    fn has(&self, name: &str) -> bool {
        self.query(name).is_some_and(|value| !matches!(value, "false" | "False" | "0"))
    }

    fn members(&self) -> AviResult<Members> {
        if self.body.len() > OBJECT_BYTES_MAX {
            return Err(refuse(400, "The object is larger than 1 MiB."));
        }
        match serde_json::from_slice(&self.body) {
            Ok(Json::Object(members)) => Ok(members),
            _ => Err(refuse(400, "the body must be a JSON object")),
        }
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// `None`: no body.
    pub(crate) body: Option<Json>,
    /// Session to store in cookies; empty: the client forgets its session.
    pub(crate) session: Option<String>,
}

impl Reply {
    fn of(status: u16, body: Json) -> Self {
        Self { status, body: Some(body), session: None }
    }
}

/// Why a request fails.
#[derive(Debug)]
enum Failure {
    Api(ApiError),
    Refused(Refused),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

type AviResult<T> = Result<T, Failure>;

fn refuse(status: u16, text: impl Into<String>) -> Failure {
    Failure::Refused(Refused { status, text: text.into() })
}

impl Failure {
    fn reply(self) -> Reply {
        let (status, text) = match self {
            Self::Refused(refused) => (refused.status, refused.text),
            Self::Api(error) => (status_of(&error), error.data),
        };
        Reply::of(status, json!({ "error": text }))
    }
}

/// The status of HTTP for an error of the JSON-RPC API.
fn status_of(error: &ApiError) -> u16 {
    let text = error.data.as_str();
    match error.code {
        _ if text == NO_OBJECT => 404,
        _ if text.starts_with("No permissions") => 403,
        _ if text.contains("because it is used by") => 412,
        _ if text.ends_with("already exists.") => 409,
        _ if error.is_of_database() => 503,
        -32603 => 500,
        _ => 400,
    }
}

/// Responds to a request. Blocks.
pub(crate) fn handle(api: &Api, request: &Request, origin: &Origin) -> Reply {
    respond(api, request, origin).unwrap_or_else(Failure::reply)
}

fn respond(api: &Api, request: &Request, origin: &Origin) -> AviResult<Reply> {
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    if let Some(reply) = fixed::open(request.verb, &parts) {
        return Ok(reply);
    }
    let user = session::user(api, request, origin)?;
    fixed::check_tenant(request)?;
    if let Some(reply) = fixed::known(request.verb, &parts) {
        return Ok(reply);
    }
    let (kind, uuid) = match parts[..] {
        [word] => (Kind::named(word), None),
        [word, uuid] => (Kind::named(word), Some(uuid)),
        _ => (None, None),
    };
    let kind = kind.ok_or_else(|| {
        refuse(
            404,
            format!("Vedette has no objects at /api/{}; docs/avi.md lists them", request.path),
        )
    })?;
    match (request.verb, uuid) {
        (Verb::Get, None) => read(api, user, origin, |world| show::list(world, kind, request)),
        (Verb::Get, Some(uuid)) => {
            read(api, user, origin, |world| show::one(world, kind, uuid, request))
        }
        (Verb::Post, None) => change(api, user, origin, |world| {
            let members = request.members()?;
            let uuid = change::create(world, kind, members)?;
            let mut reply = show::one(world, kind, &uuid, request)?;
            reply.status = 201;
            Ok(reply)
        }),
        (Verb::Put, Some(uuid)) => change(api, user, origin, |world| {
            let members = request.members()?;
            change::replace(world, kind, uuid, members)?;
            show::one(world, kind, uuid, request)
        }),
        (Verb::Patch, Some(uuid)) => change(api, user, origin, |world| {
            let members = request.members()?;
            change::patch(world, kind, uuid, members)?;
            show::one(world, kind, uuid, request)
        }),
        (Verb::Delete, Some(uuid)) => change(api, user, origin, |world| {
            change::delete(world, kind, uuid)?;
            Ok(Reply { status: 204, body: None, session: None })
        }),
        _ => Err(refuse(
            405,
            "Method not allowed: POST needs /api/TYPE, PUT, PATCH and DELETE /api/TYPE/UUID",
        )),
    }
}

fn read(
    api: &Api,
    user: User,
    origin: &Origin,
    work: impl Fn(&World<'_, '_>) -> AviResult<Reply>,
) -> AviResult<Reply> {
    run(api, user, origin, |call| work(&World::new(call)))
}

/// All that `work` changes is kept, or nothing.
fn change(
    api: &Api,
    user: User,
    origin: &Origin,
    work: impl Fn(&World<'_, '_>) -> AviResult<Reply>,
) -> AviResult<Reply> {
    run(api, user, origin, |call| {
        refusing(|refused| {
            call.together(|call| {
                *refused = None;
                refused_by(work(&World::new(call)), refused)
            })
        })
    })
}

fn run(
    api: &Api,
    user: User,
    origin: &Origin,
    work: impl FnOnce(&Call<'_>) -> AviResult<Reply>,
) -> AviResult<Reply> {
    refusing(|refused| rpc::run_as(api, Some(user), origin, |call| refused_by(work(call), refused)))
}

/// Runs `work`, whose errors are those of the JSON-RPC API, which undo what was changed. One that stands for a
/// refusal becomes the refusal again.
fn refusing<T>(work: impl FnOnce(&mut Option<Refused>) -> ApiResult<T>) -> AviResult<T> {
    let mut refused = None;
    let done = work(&mut refused);
    done.map_err(|error| refused.map_or(Failure::Api(error), Failure::Refused))
}

/// Keeps a refusal in `refused`, and an error of the JSON-RPC API stands for it.
fn refused_by<T>(done: AviResult<T>, refused: &mut Option<Refused>) -> ApiResult<T> {
    done.map_err(|failure| match failure {
        Failure::Api(error) => error,
        Failure::Refused(why) => {
            let error = ApiError::params(why.text.clone());
            *refused = Some(why);
            error
        }
    })
}

#[cfg(test)]
mod tests;
