//! One method call: who asks, and what it may use.

use config::db::{Connection, Row, Value};
use config::{Config, Edit};

use crate::error::ApiResult;
use crate::{Api, ApiError};

/// JSON in and out. Members keep their order.
pub type Json = serde_json::Value;

/// A method's code.
pub type Handler = fn(&Call<'_>, &Json) -> Result<Json, ApiError>;

/// A method: `object.action` in lower case, who may call it, its code.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// As in `host.get`; compared without regard to case.
    pub name: &'static str,
    /// Lowest user type that may call it; `None` = without any session.
    pub lowest: Option<UserType>,
    /// Its code.
    pub run: Handler,
}

/// Type of a role. The numbers are the API's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum UserType {
    /// 1
    User = 1,
    /// 2
    Admin = 2,
    /// 3
    SuperAdmin = 3,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Id.
    pub id: u64,
    /// Login name.
    pub username: String,
    /// Role.
    pub roleid: u64,
    /// Type of the role.
    pub kind: UserType,
    /// The role's rules (API form: `api.access`, `api.mode`, `api`, `actions`, …).
    pub rules: Json,
    /// User groups.
    pub groups: Vec<u64>,
    /// Digest of the session or the token that the call came with.
    pub(crate) credential: String,
}

/// A call in progress.
#[derive(Debug)]
pub struct Call<'a> {
    /// The API's parts.
    pub(crate) api: &'a Api,
    /// Who asks; for methods without a session nobody ever reads it.
    pub(crate) user: Option<User>,
    /// Address of the client.
    pub(crate) peer: std::net::IpAddr,
    /// A bearer header came along.
    pub(crate) has_header: bool,
    /// An `auth` member came along.
    pub(crate) has_auth: bool,
}

impl Call<'_> {
    /// Who asks.
    pub(crate) fn user(&self) -> &User {
        self.user.as_ref().expect("BUG: the dispatcher lets nobody in without a session here")
    }

    /// Unix time.
    pub(crate) fn now(&self) -> u64 {
        self.api.deps.clock.unix_s()
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.api.deps.config
    }

    /// Reads the configuration database.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> ApiResult<T>,
    ) -> ApiResult<T> {
        self.config().read(work)
    }

    /// Rows of one SELECT.
    pub(crate) fn rows(&self, sql: &str, params: &[Value]) -> ApiResult<Vec<Row>> {
        self.read(|connection| Ok(connection.query(sql, params)?))
    }

    /// Changes the configuration: all of `work` or nothing.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        self.config().write(work)
    }

    /// May do everything.
    pub(crate) fn is_super_admin(&self) -> bool {
        self.user().kind == UserType::SuperAdmin
    }
}
