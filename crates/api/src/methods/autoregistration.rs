//! Autoregistration: over which connections agents may announce themselves.

use config::Edit;
use config::audit::SettingsObject;
use serde_json::json;

use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, WriteOnly};
use crate::object::FieldKind::{Int, Text};
use crate::object::missing;
use crate::owned::tls::{Holder, check, check_identity};
use crate::single::{self, Change, Rule, Setting, Single};

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("autoregistration.get", |call, input| {
        single::get(&AUTOREGISTRATION, call, input)
    }),
    Method::super_admin("autoregistration.update", |call, input| {
        single::update(&AUTOREGISTRATION, call, input).map(|_| json!(true))
    }),
];

pub(crate) static AUTOREGISTRATION: Single = Single {
    object: SettingsObject::Autoregistration,
    settings: &[
        Setting {
            name: "tls_accept",
            stored: "autoreg_tls_accept",
            default: "1",
            rule: Rule::Of(Int(1, 3)),
            access: Optional,
            doc: "1 without encryption, 2 with a pre-shared key, 3 both.",
            named: false,
        },
        Setting {
            name: "tls_psk_identity",
            stored: "autoreg_tls_psk_identity",
            default: "",
            rule: Rule::Of(Text(128)),
            access: WriteOnly,
            doc: "Name of the pre-shared key.",
            named: false,
        },
        Setting {
            name: "tls_psk",
            stored: "autoreg_tls_psk",
            default: "",
            rule: Rule::Of(Text(512)),
            access: WriteOnly,
            doc: "The pre-shared key, hexadecimal.",
            named: false,
        },
    ],
    check: check_keys,
};

/// Bit for a pre-shared key.
const PSK: i64 = 2;

fn check_keys(_call: &Call<'_>, edit: &mut Edit<'_>, change: &mut Change) -> ApiResult<()> {
    for name in ["tls_psk_identity", "tls_psk"] {
        let path = format!("/{name}");
        let (uses_key, given) = (change.number("tls_accept") & PSK != 0, change.gives(name));
        match (uses_key, change.value(name).is_empty()) {
            (false, false) if given => return Err(ApiError::at(&path, "should be empty")),
            (false, _) => change.set(name, ""),
            (true, true) if given => return Err(ApiError::at(&path, "cannot be empty")),
            (true, true) => return Err(missing("/", name)),
            (true, false) => check(name, change.value(name), &path)?,
        }
    }
    if !["tls_psk_identity", "tls_psk"].into_iter().any(|name| change.gives(name)) {
        return Ok(());
    }
    let (identity, key) = (change.value("tls_psk_identity"), change.value("tls_psk"));
    check_identity(edit, identity, key, Holder::Autoregistration, "")
}
