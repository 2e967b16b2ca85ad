//! One method call: its user, and what it may use.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use config::audit::Author;
use config::db::{Reader, Row, Value};
use config::{Config, Edit};
use objects::UserType;

use crate::answer::{Answer, Hold, separate};
use crate::effect::Effect;
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

impl Method {
    /// One that needs no session.
    pub(crate) const fn open(name: &'static str, run: Handler) -> Self {
        Self { name, lowest: None, run }
    }

    /// One that every user may call, as far as the role allows it.
    pub(crate) const fn user(name: &'static str, run: Handler) -> Self {
        Self { name, lowest: Some(UserType::User), run }
    }

    /// One of administrators.
    pub(crate) const fn admin(name: &'static str, run: Handler) -> Self {
        Self { name, lowest: Some(UserType::Admin), run }
    }

    /// One of super administrators.
    pub(crate) const fn super_admin(name: &'static str, run: Handler) -> Self {
        Self { name, lowest: Some(UserType::SuperAdmin), run }
    }
}

/// The user of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// `userid`.
    pub id: u64,
    /// Login name.
    pub username: String,
    /// Role.
    pub roleid: u64,
    /// The type of the role.
    pub kind: UserType,
    /// The role's rules (API form: `api.access`, `api.mode`, `api`, `actions`, …).
    pub rules: Json,
    /// User groups.
    pub groups: Vec<u64>,
    /// Digest of the session or the token that the call came with.
    pub(crate) credential: String,
}

impl User {
    /// The user Admin of an initial database, for what the server does by itself.
    pub(crate) fn system() -> Self {
        Self {
            id: 1,
            username: "Admin".to_owned(),
            roleid: 3,
            kind: UserType::SuperAdmin,
            rules: Json::Null,
            groups: Vec::new(),
            credential: String::new(),
        }
    }
}

/// Whether the client of a request has closed its connection, so that its result is not read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gone(Arc<AtomicBool>);

impl Gone {
    /// The connection is closed.
    pub(crate) fn leave(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Set once the connection is closed.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// An error once the connection is closed.
    pub(crate) fn check(&self) -> ApiResult<()> {
        if self.is_gone() {
            return Err(ApiError::application("The client has closed the connection."));
        }
        Ok(())
    }
}

/// A transaction that several methods take part in.
pub(crate) trait Transaction {
    /// Runs `work` within it; `false` = it is in use further up, nothing was done.
    fn with(&self, work: &mut dyn FnMut(&mut Edit<'_>)) -> bool;
    /// Keeps the effect until the commit.
    fn after_commit(&self, effect: Effect);
    /// Who checks what must be unique among objects.
    fn uniqueness(&self) -> Uniqueness;
}

/// Who checks what must be unique among objects that the methods of a transaction change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uniqueness {
    /// Each method.
    EachChange,
    /// The caller, after all changes: the order of these means nothing, so that two objects can exchange their values.
    AllChanges,
}

/// The transaction of [`Call::together`], with the effects that wait for its commit.
struct Together<'e, 'c> {
    edit: RefCell<&'e mut Edit<'c>>,
    effects: &'e RefCell<Vec<Effect>>,
    uniqueness: Uniqueness,
}

impl Transaction for Together<'_, '_> {
    fn with(&self, work: &mut dyn FnMut(&mut Edit<'_>)) -> bool {
        let Ok(mut edit) = self.edit.try_borrow_mut() else { return false };
        work(&mut edit);
        true
    }

    fn after_commit(&self, effect: Effect) {
        self.effects.borrow_mut().push(effect);
    }

    fn uniqueness(&self) -> Uniqueness {
        self.uniqueness
    }
}

/// Whether a call has changed the configuration; shared by the calls that are made for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written(Rc<Cell<bool>>);

/// A call in progress.
pub struct Call<'a> {
    /// The API's parts.
    pub(crate) api: &'a Api,
    /// The user; not used by methods without a session.
    pub(crate) user: Option<Arc<User>>,
    /// Address of the client.
    pub(crate) peer: std::net::IpAddr,
    /// Whether the client has closed its connection.
    pub(crate) gone: Gone,
    /// A bearer header came along.
    pub(crate) has_header: bool,
    /// An `auth` member came along.
    pub(crate) has_auth: bool,
    /// What this call has changed.
    pub(crate) written: Written,
    /// The transaction that this call is a part of; all of it is kept, or nothing.
    pub(crate) transaction: Option<&'a dyn Transaction>,
    /// Where a method may write its result itself, piece by piece; then it returns null. It is the
    /// first that takes it; methods that are called for parts of a result find none.
    pub(crate) answer: Cell<Option<&'a Answer>>,
    /// The same answer, also while another method writes to it: it accounts for the memory of the call.
    pub(crate) memory: Option<&'a Answer>,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("user", &self.user)
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

impl<'a> Call<'a> {
    /// Runs `work` without the answer: what it gives is a part of the result or of a condition.
    pub(crate) fn inside<T>(&self, work: impl FnOnce() -> T) -> T {
        let answer = self.answer.take();
        let result = work();
        self.answer.set(answer);
        result
    }

    /// The same call with another answer.
    pub(crate) fn to<'b>(&self, answer: Option<&'b Answer>) -> Call<'b>
    where
        'a: 'b,
    {
        Call {
            api: self.api,
            user: self.user.clone(),
            peer: self.peer,
            gone: self.gone.clone(),
            written: self.written.clone(),
            has_header: self.has_header,
            has_auth: self.has_auth,
            transaction: self.transaction,
            answer: Cell::new(answer),
            memory: self.memory,
        }
    }

    /// Takes a part of the memory of all answers, for what the result is made from.
    pub(crate) fn hold(&self, bytes: usize) -> ApiResult<Hold> {
        self.memory.map_or_else(|| Ok(Hold::default()), |memory| memory.hold(bytes))
    }

    /// The result of a method that lists what is not in the configuration.
    pub(crate) fn list<T>(
        &self,
        rows: impl Iterator<Item = T>,
        write: impl Fn(&mut Vec<u8>, T),
    ) -> ApiResult<Json> {
        let whole = Answer::whole();
        let (answer, is_part) = self.take_answer().map_or((&whole, true), |answer| (answer, false));
        answer.write(|out| out.push(b'['))?;
        for (n, row) in rows.enumerate() {
            answer.write(|out| {
                separate(out, n);
                write(out, row);
            })?;
        }
        answer.write(|out| out.push(b']'))?;
        if !is_part {
            return Ok(Json::Null);
        }
        Ok(serde_json::from_slice(&whole.end()).expect("BUG: JSON of our own"))
    }

    /// The answer, if it is this method that may write to it.
    pub(crate) fn take_answer(&self) -> Option<&'a Answer> {
        self.answer.take()
    }
}

impl Call<'_> {
    /// Runs `work` with a call of the same user whose methods all share one transaction: all that
    /// they change is kept, or nothing. Their effects outside the database follow the commit.
    pub(crate) fn together<T>(&self, work: impl FnMut(&Call<'_>) -> ApiResult<T>) -> ApiResult<T> {
        self.within_one(Uniqueness::EachChange, work)
    }

    /// The same; methods that know it leave it to `work` to check what must be unique.
    pub(crate) fn together_unordered<T>(
        &self,
        work: impl FnMut(&Call<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        self.within_one(Uniqueness::AllChanges, work)
    }

    /// Whether this method checks what must be unique.
    pub(crate) fn checks_uniqueness(&self) -> bool {
        self.transaction.is_none_or(|all| all.uniqueness() == Uniqueness::EachChange)
    }

    fn within_one<T>(
        &self,
        uniqueness: Uniqueness,
        mut work: impl FnMut(&Call<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        let effects = RefCell::new(Vec::new());
        let result = self.write_checked(|edit| {
            effects.borrow_mut().clear();
            let shared = Together { edit: RefCell::new(edit), effects: &effects, uniqueness };
            work(&Call { transaction: Some(&shared), ..self.to(None) })
        })?;
        for effect in effects.into_inner() {
            if let Err(error) = self.after_commit(effect) {
                tracing::warn!(%error, "a change was committed, but its follow-up steps failed");
            }
        }
        Ok(result)
    }

    /// Does something outside the database that a rollback could not undo: at once after the
    /// method's own [`Call::write`], and after the commit of the transaction that the call is a
    /// part of.
    pub(crate) fn after_commit(&self, effect: Effect) -> Result<(), String> {
        match self.transaction {
            Some(transaction) => {
                transaction.after_commit(effect);
                Ok(())
            }
            None => effect.run(self.api),
        }
    }

    /// The user of the call.
    pub(crate) fn user(&self) -> &User {
        self.user.as_deref().expect("BUG: the dispatcher lets nobody in without a session here")
    }

    /// Unix time.
    pub(crate) fn now(&self) -> u64 {
        self.api.deps.clock.unix_s()
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.api.deps.config
    }

    /// Reads the configuration database. Outside of changes it fails once the client is gone, in the
    /// middle of a statement too.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&mut dyn Reader) -> ApiResult<T>,
    ) -> ApiResult<T> {
        let Some(transaction) = self.transaction else {
            self.gone.check()?;
            return self.config().read_until(self.gone.flag(), |reader| {
                work(reader).or_else(|error| self.gone.check().and(Err(error)))
            });
        };
        let mut work = Some(work);
        let mut result = None;
        let inside = transaction.with(&mut |edit| {
            result = work.take().map(|work| work(edit));
        });
        match (inside, result, work) {
            (true, Some(result), _) => result,
            // In the middle of a change: what is committed has to do.
            (_, _, Some(work)) => self.config().read(work),
            _ => Err(ApiError::application("BUG: a read within a transaction gave nothing")),
        }
    }

    /// Rows of one SELECT.
    pub(crate) fn rows(&self, sql: &str, params: &[Value]) -> ApiResult<Vec<Row>> {
        self.read(|connection| Ok(connection.query(sql, params)?))
    }

    /// Rows of one SELECT with `{ids}` in its condition.
    pub(crate) fn rows_by_ids(&self, sql: &str, ids: &[u64]) -> ApiResult<Vec<Row>> {
        self.read(|connection| Ok(config::db::query_by_ids(connection, sql, &[], ids)?))
    }

    /// Changes the configuration: all of `work` or nothing.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        let Some(transaction) = self.transaction else {
            self.written.0.set(true);
            return self.config().write_as(self.author(), work);
        };
        let mut work = Some(work);
        let mut result = None;
        transaction.with(&mut |edit| result = work.take().map(|work| work(edit)));
        result.unwrap_or_else(|| {
            Err(ApiError::application("BUG: a change within the change of another method"))
        })
    }

    /// The same in the name of a user without a session, or of the server (id 0): not within another change.
    pub(crate) fn write_named<T>(
        &self,
        userid: u64,
        username: &str,
        work: impl FnOnce(&mut Edit<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        self.written.0.set(true);
        self.config().write_as(self.author_named(userid, username), work)
    }

    /// As [`Call::write`], for `work` that can be repeated: what very many hosts inherit of it is checked before.
    pub(crate) fn write_checked<T>(
        &self,
        work: impl FnMut(&mut Edit<'_>) -> ApiResult<T>,
    ) -> ApiResult<T> {
        if self.transaction.is_some() {
            return self.write(work);
        }
        self.written.0.set(true);
        self.config().write_checked_as(self.author(), work)
    }

    /// Runs a method. When it has changed the configuration, the change is on the disk when this
    /// returns `Ok`. A disk that refuses keeps nothing of the method from being done: it is an error of
    /// the answer alone.
    pub(crate) fn confirmed<T>(&self, method: impl FnOnce(&Self) -> ApiResult<T>) -> ApiResult<T> {
        let result = method(self)?;
        if self.written.0.get() {
            self.config().sync()?;
        }
        Ok(result)
    }

    /// The user as the audit log names who changes something.
    pub(crate) fn author(&self) -> Author {
        self.author_named(self.user().id, &self.user().username)
    }

    /// The same for somebody without a session.
    pub(crate) fn author_named(&self, userid: u64, username: &str) -> Author {
        Author {
            userid,
            username: username.to_owned(),
            ip: self.peer.to_canonical().to_string(),
            at_s: self.now(),
        }
    }

    /// May do everything.
    pub(crate) fn is_super_admin(&self) -> bool {
        self.user().kind == UserType::SuperAdmin
    }
}
