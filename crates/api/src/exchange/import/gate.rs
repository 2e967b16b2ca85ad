//! Who may import what. The source is not read before this is known.

use objects::UserType;

use super::{Import, Rules, owners::Owner};
use crate::call::User;
use crate::error::{ApiError, ApiResult};
use crate::permission::{self, Need};
use crate::write::Target;

/// A kind of objects that the option `rules` names.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Lowest type of users that may import it; `None` = all may.
    lowest: Option<UserType>,
    /// As the refusal names it.
    words: &'static str,
}

impl Kind {
    /// `groups` is the name of 6.0 for both kinds of groups.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || (name == "groups" && self.name.ends_with("_groups"))
    }
}

const fn kind(name: &'static str, lowest: UserType, words: &'static str) -> Kind {
    Kind { name, lowest: Some(lowest), words }
}

/// All kinds, also those that are taken and not imported.
pub(super) const KINDS: &[Kind] = &[
    kind("host_groups", UserType::SuperAdmin, "host groups"),
    kind("template_groups", UserType::SuperAdmin, "template groups"),
    kind("images", UserType::SuperAdmin, "images"),
    kind("mediaTypes", UserType::SuperAdmin, "media types"),
    kind("hosts", UserType::Admin, "hosts"),
    kind("templates", UserType::Admin, "templates"),
    kind("templateDashboards", UserType::Admin, "template dashboards"),
    kind("templateLinkage", UserType::Admin, "template links"),
    kind("valueMaps", UserType::Admin, "value maps"),
    kind("items", UserType::Admin, "items"),
    kind("discoveryRules", UserType::Admin, "discovery rules"),
    kind("triggers", UserType::Admin, "triggers"),
    kind("graphs", UserType::Admin, "graphs"),
    kind("httptests", UserType::Admin, "web scenarios"),
    Kind { name: "maps", lowest: None, words: "maps" },
];

/// Refuses kinds that this type of user may not import; the first in the order of the rules counts.
pub(super) fn check_types(user: &User, rules: &Rules) -> ApiResult<()> {
    let refused = rules
        .names()
        .flat_map(|name| KINDS.iter().filter(move |kind| kind.is_called(name)))
        .find(|kind| rules.of(kind.name).any() && kind.lowest.is_some_and(|t| user.kind < t));
    match refused {
        Some(kind) => {
            Err(ApiError::application(format!("No permissions to import {}.", kind.words)))
        }
        None => Ok(()),
    }
}

impl Import<'_, '_> {
    /// Refuses what the user's role denies by the method's name.
    pub(super) fn may(&self, method: &str) -> ApiResult<()> {
        permission::check_not_denied(self.call.user(), method)
    }

    /// Some rule changes hosts or what belongs to them.
    pub(super) fn writes_hosts(&self) -> bool {
        const OTHERS: &[&str] =
            &["host_groups", "template_groups", "images", "mediaTypes", "maps", "templates"];
        let mut kinds = KINDS.iter().filter(|kind| !OTHERS.contains(&kind.name));
        kinds.any(|kind| kind.name != "templateDashboards" && self.rules.of(kind.name).any())
    }

    /// Everything that follows writes to these, in part without methods that look at rights.
    pub(super) fn require_owners(&self, owners: &[Owner<'_>]) -> ApiResult<()> {
        let ids: Vec<u64> = owners.iter().map(|owner| owner.id).collect();
        let write = |edit: &mut config::Edit<'_>| {
            self.call.require(edit, Target::HostOrTemplate, Need::Write, &ids)
        };
        self.call.write(write)
    }
}
