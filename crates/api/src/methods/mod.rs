//! The methods, a file per object. Each file has its field table, its methods and nothing that
//! other objects need: what is shared lives beside this folder.

pub(crate) mod apiinfo;
pub(crate) mod group;
pub(crate) mod history;
pub(crate) mod login;

use crate::call::Method;

/// All methods.
pub(crate) const ALL: &[&[Method]] =
    &[apiinfo::METHODS, group::METHODS, history::METHODS, login::METHODS];
