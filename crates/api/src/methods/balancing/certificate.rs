//! Certificates of virtual services with their private keys, which no method returns.

use balancing::AcmeOrder;
use config::Edit;
use config::db::Row;
use config::engines::pem;
use config::table;
use serde_json::Value as Json;

use super::members::{self, Member, check_authorities, optional, typed};
use super::{Use, refuse_used};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Document, Id, Int, Name, Text};
use crate::object::{Field, FieldKind, Object, field, missing};
use crate::params;
use crate::plain::{self, Draft, Plain, Spec, Unique};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("certificate.get", plain::get::<Certificate>),
    Method::super_admin("certificate.create", plain::create::<Certificate>),
    Method::super_admin("certificate.update", plain::update::<Certificate>),
    Method::super_admin("certificate.delete", plain::delete::<Certificate>),
];

const TIME: FieldKind = Int(0, i64::MAX);

const FIELDS: &[Field] = &[
    field("certificateid", Id, ReadOnly, "Id of the certificate."),
    field("name", Name(128), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
    field(
        "certificate",
        Name(65_535),
        Optional,
        "PEM text: the certificate, then its chain; required for new ones without `acme`.",
    ),
    field(
        "private_key",
        Name(16_384),
        WriteOnly,
        "PEM text of its key; required for new ones without `acme`.",
    ),
    field(
        "acme",
        Document,
        Optional,
        "What the server orders from an authority: `{domains, challenge, directory, ca, contact, \
         terms_agreed}`; `{}`: the certificate is given.",
    ),
    field(
        "order_state",
        Text(0),
        ReadOnly,
        "`\"waiting\"`, `\"ordering\"`, `\"issued\"` or `\"failed\"`; `\"\"`: it is not ordered.",
    ),
    field("error", Text(0), ReadOnly, "Why the last order failed, or why none begins."),
    field("next_attempt", TIME, ReadOnly, "Unix time of the next order; 0 = none."),
    field("subject", Text(0), ReadOnly, "Subject, such as `CN=www.example.com`."),
    field("issuer", Text(0), ReadOnly, "Issuer."),
    field("names", Document, ReadOnly, "DNS names and addresses that it is for."),
    field("algorithm", Text(0), ReadOnly, "Algorithm of the key, such as `ECDSA P-256`."),
    field("fingerprint", Text(64), ReadOnly, "SHA-256 in hexadecimal digits."),
    field("valid_from", TIME, ReadOnly, "Unix time from which it is valid."),
    field("valid_until", TIME, ReadOnly, "Unix time of its end."),
];

/// The states of orders are written as state.
const SOURCE: &str = "(SELECT c.*, \
                      CASE WHEN c.acme = '{}' THEN '' ELSE COALESCE(s.phase, 'waiting') END AS order_state, \
                      CASE WHEN c.acme = '{}' THEN '' ELSE COALESCE(s.error, '') END AS error, \
                      CASE WHEN c.acme = '{}' THEN 0 ELSE COALESCE(s.next_attempt, 0) END AS next_attempt \
                      FROM certificates c \
                      LEFT JOIN certificate_states s ON s.certificateid = c.certificateid)";

pub(crate) static CERTIFICATE: Object = Object {
    name: "certificate",
    table: SOURCE,
    key: "certificateid",
    keys: "certificateids",
    fields: FIELDS,
    strict: true,
    sort: &["certificateid", "name", "valid_until"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Certificate \"{name}\" already exists.",
    }),
    ..Spec::new(
        &CERTIFICATE,
        &table::CERTIFICATES,
        &[
            ("certificateids", "t.certificateid IN ({ids})"),
            (
                "virtualserviceids",
                "t.certificateid IN (SELECT certificateid FROM virtualservice_certificates \
                 WHERE virtualserviceid IN ({ids}))",
            ),
        ],
    )
};

#[derive(Default)]
struct Certificate;

impl Plain for Certificate {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)?;
        if draft.id == 0 && !is_ordered(draft, None) {
            for member in ["certificate", "private_key"] {
                if !draft.gives(member) {
                    return Err(missing(&draft.path, member));
                }
            }
        }
        if draft.gives("private_key") {
            let (_, written) = pem::key(&draft.text("private_key", None))
                .map_err(|error| ApiError::at(&format!("{}/private_key", draft.path), error))?;
            draft.set("private_key", written);
        }
        if draft.gives("certificate") {
            read(draft)
                .map_err(|error| ApiError::at(&format!("{}/certificate", draft.path), error))?;
        }
        Ok(())
    }

    fn write(
        &self,
        call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if is_ordered(draft, before) {
            for member in ["certificate", "private_key"] {
                if draft.gives(member) {
                    let path = format!("{}/{member}", draft.path);
                    return Err(ApiError::at(&path, ORDERED));
                }
            }
            let old = before.map(|row| row.text("acme"));
            if old != Some(&*draft.text("acme", before)) {
                draft.set("requested_at", call.now());
            }
            return Ok(());
        }
        if draft.text("certificate", before).is_empty() {
            return Err(missing(&draft.path, "certificate"));
        }
        if !draft.gives("certificate") && !draft.gives("private_key") {
            return Ok(());
        }
        let pair = || {
            let chain = pem::service_chain(&draft.text("certificate", before))?;
            pem::check_pair(&chain, &pem::key(&draft.text("private_key", before))?.0)
        };
        pair().map_err(|error| ApiError::at(&draft.path, error))
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[Use {
            kind: "virtual service",
            name: "SELECT s.name FROM virtualservice_certificates c JOIN virtualservices s \
                   ON s.virtualserviceid = c.virtualserviceid WHERE c.certificateid = ? \
                   ORDER BY s.name",
        }];
        refuse_used(edit, rows, "Certificate", "certificateid", USES)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

const ORDERED: &str =
    "the certificate is ordered from an authority; give {} as acme to give it yourself";

const MEMBERS: &[Member] = &[("acme", order)];

/// What is ordered, with all defaults: equal orders have equal texts.
fn order(value: &Json, path: &str) -> ApiResult<String> {
    let text = optional::<AcmeOrder>(value, path)?;
    if text == NOTHING {
        return Ok(text);
    }
    let order: AcmeOrder = typed(value, path)?;
    order.check().map_err(|problem| ApiError::at(path, problem))?;
    check_authorities(order.ca.as_ref(), &format!("{path}/ca"))?;
    Ok(serde_json::json!(order).to_string())
}

/// The column `acme` of a certificate that is given.
const NOTHING: &str = "{}";

fn is_ordered(draft: &Draft<'_>, before: Option<&Row>) -> bool {
    !matches!(&*draft.text("acme", before), "" | NOTHING)
}

/// Orders certificates now, also if they are not due.
pub(super) fn renew(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let now = call.now();
    call.write(|edit| {
        for row in plain::rows(&SPEC, edit, &ids)? {
            if row.text("acme") == NOTHING {
                return Err(ApiError::params(format!(
                    "Certificate \"{}\" is not ordered from an authority.",
                    row.text("name")
                )));
            }
        }
        edit.update_many(&table::CERTIFICATES, &ids, &[("requested_at", now.into())])?;
        Ok(CERTIFICATE.result(&ids))
    })
}

/// Sets the columns that the text of the certificate determines.
fn read(draft: &mut Draft<'_>) -> Result<(), &'static str> {
    let chain = pem::service_chain(&draft.text("certificate", None))?;
    for (column, value) in pem::facts(&chain)?.columns() {
        draft.set(column, value);
    }
    Ok(())
}
