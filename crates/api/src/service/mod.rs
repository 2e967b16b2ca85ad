//! The history service: values that other programs write and read, with the rights of a user.
//!
//! It allows what the JSON-RPC methods allow (a role that may not call `history.push` may not write
//! here either), but writing needs the right to change the host, not only to see it.

mod read;
mod rights;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::Item;
use history::service::{Asker, Pages, Service};
use model::ItemId;
use objects::UserType;
use wire::history_service::{Failure, ReadRequest, Reason, WriteReply, WriteRequest};

use crate::call::User;
use crate::permission::check_method;
use crate::{Api, session};

pub(crate) use rights::{Allowed, Rights};
pub use write::SentValue;

impl Service for Api {
    fn known(&self, asker: &Asker) -> Result<(), Failure> {
        authenticate(self, asker).map(drop)
    }

    fn write(&self, asker: &Asker, request: WriteRequest) -> WriteReply {
        let sequence = request.sequence;
        let failed = |failure| WriteReply { failure: Some(failure), ..WriteReply::default() };
        WriteReply { sequence, ..write::write(self, asker, request).unwrap_or_else(failed) }
    }

    fn read(&self, asker: &Asker, request: ReadRequest) -> Result<Box<dyn Pages>, Failure> {
        read::read(self, asker, request)
    }
}

/// The configuration database is in trouble, which the caller's values must not suffer from.
fn no_config() -> Failure {
    Reason::NotRead.with("The configuration cannot be read now. See the server's log.")
}

fn authenticate(api: &Api, asker: &Asker) -> Result<User, Failure> {
    session::authenticate(api, asker.token.as_deref()).map_err(|error| match error.code {
        // Only the database makes internal errors here.
        -32603 => no_config(),
        // Expired.
        -32500 => Reason::NotSignedIn.with(error.data),
        _ => {
            Reason::NotSignedIn.with("There is no API token with the call, or none that is valid.")
        }
    })
}

/// The caller's user, if the role allows the method.
fn sign_in(api: &Api, asker: &Asker, method: &str) -> Result<User, Failure> {
    let user = authenticate(api, asker)?;
    check_method(&user, method, UserType::User, method)
        .map_err(|error| Reason::Denied.with(error.data))?;
    Ok(user)
}

fn no_item() -> Failure {
    Reason::NoItem.with("There is no such item, or you have no right to it.")
}

/// The item that a message names.
fn find<'s>(
    snapshot: &'s Snapshot,
    itemid: u64,
    host: &str,
    key: &str,
) -> Result<&'s Arc<Item>, Failure> {
    let found = match (itemid, host, key) {
        (0, "", _) | (0, _, "") => {
            return Err(Reason::Invalid.with("Give the itemid, or host and key."));
        }
        (0, host, key) => snapshot.host_by_name(host).and_then(|host| host.item(key)),
        (id, "", "") => snapshot.items.get(&ItemId(id)),
        _ => return Err(Reason::Invalid.with("Give the itemid, or host and key; not both.")),
    };
    found.ok_or_else(no_item)
}
