//! The methods, a file or folder per object. Each has its field table, its methods and nothing
//! that other objects need: what is shared lives beside this folder.

pub(crate) mod apiinfo;
pub(crate) mod group;
pub(crate) mod host;
pub(crate) mod hostinterface;
pub(crate) mod login;
pub(crate) mod role;
pub(crate) mod template;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod usergroup;
pub(crate) mod usermacro;
pub(crate) mod valuemap;

use crate::call::Method;

/// All methods.
pub(crate) const ALL: &[&[Method]] = &[
    apiinfo::METHODS,
    group::METHODS,
    host::METHODS,
    hostinterface::METHODS,
    login::METHODS,
    role::METHODS,
    template::METHODS,
    token::METHODS,
    user::METHODS,
    usergroup::METHODS,
    usermacro::METHODS,
    valuemap::METHODS,
];
