//! Certificates of virtual services with their private keys, which no method returns.

use config::Edit;
use config::db::Row;

use super::{Use, pem, refuse_used};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Document, Id, Int, Name, Text};
use crate::object::{Field, FieldKind, Object, field, missing};
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
    field("certificate", Name(65_535), Required, "PEM text: the certificate, then its chain."),
    field("private_key", Name(16_384), WriteOnly, "PEM text of its key; required for new ones."),
    field("subject", Text(0), ReadOnly, "Subject, such as `CN=www.example.com`."),
    field("issuer", Text(0), ReadOnly, "Issuer."),
    field("names", Document, ReadOnly, "DNS names and addresses that it is for."),
    field("algorithm", Text(0), ReadOnly, "Algorithm of the key, such as `ECDSA P-256`."),
    field("fingerprint", Text(64), ReadOnly, "SHA-256 in hexadecimal digits."),
    field("valid_from", TIME, ReadOnly, "Unix time from which it is valid."),
    field("valid_until", TIME, ReadOnly, "Unix time of its end."),
];

pub(crate) static CERTIFICATE: Object = Object {
    name: "certificate",
    table: "certificates",
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
        "certificates",
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
        if draft.id == 0 && !draft.gives("private_key") {
            return Err(missing(&draft.path, "private_key"));
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
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
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

/// Sets the columns that the text of the certificate determines.
fn read(draft: &mut Draft<'_>) -> Result<(), &'static str> {
    let chain = pem::service_chain(&draft.text("certificate", None))?;
    let facts = pem::facts(&chain)?;
    draft.set("certificate", pem::written(&chain)?);
    draft.set("subject", facts.subject);
    draft.set("issuer", facts.issuer);
    draft.set("names", serde_json::Value::from(facts.names).to_string());
    draft.set("algorithm", facts.algorithm);
    draft.set("fingerprint", facts.fingerprint);
    draft.set("valid_from", facts.valid_from);
    draft.set("valid_until", facts.valid_until);
    Ok(())
}
