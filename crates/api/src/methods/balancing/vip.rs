//! VIPs: addresses that virtual services share.

use config::table;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use config::Edit;
use config::db::{Row, Value};
use serde_json::Value as Json;

use super::members::{self, Member};
use super::{Use, refuse_used};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Name, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("vip.get", plain::get::<Vip>),
    Method::super_admin("vip.create", plain::create::<Vip>),
    Method::super_admin("vip.update", plain::update::<Vip>),
    Method::super_admin("vip.delete", plain::delete::<Vip>),
];

const FIELDS: &[Field] = &[
    field("vipid", Id, ReadOnly, "Id of the VIP."),
    field("name", Name(128), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
    field("ipv4", Text(15), Optional, "IPv4 address; `0.0.0.0`: all of the engine's machine."),
    field("ipv6", Text(45), Optional, "IPv6 address; `::`: all of the engine's machine."),
    field("dns_names", Document, Optional, "Names that users give it; for readers alone."),
];

pub(crate) static VIP: Object = Object {
    name: "vip",
    table: "vips",
    key: "vipid",
    keys: "vipids",
    fields: FIELDS,
    strict: true,
    sort: &["vipid", "name"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "VIP \"{name}\" already exists.",
    }),
    ..Spec::new(&VIP, &table::VIPS, &[("vipids", "t.vipid IN ({ids})")])
};

const MEMBERS: &[Member] = &[("dns_names", dns_names)];

fn dns_names(value: &Json, path: &str) -> ApiResult<String> {
    let text = members::list::<String>(value, path)?;
    let names = value.as_array().into_iter().flatten().enumerate();
    for (n, name) in names {
        if !name.as_str().is_some_and(balancing::is_host_name) {
            return Err(ApiError::at(&format!("{path}/{}", n + 1), "a host name is expected"));
        }
    }
    Ok(text)
}

#[derive(Default)]
struct Vip;

impl Plain for Vip {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)?;
        address::<Ipv4Addr>(draft, "ipv4", "an IPv4 address is expected")?;
        address::<Ipv6Addr>(draft, "ipv6", "an IPv6 address is expected")?;
        // Such an address is one of IPv4, which the VIP has in the other column.
        let mapped =
            draft.text("ipv6", None).parse().ok().and_then(|ip: Ipv6Addr| ip.to_ipv4_mapped());
        match mapped {
            Some(ip) => Err(ApiError::at(
                &format!("{}/ipv6", draft.path),
                format_args!("an IPv6 address is expected; set \"ipv4\" to {ip}"),
            )),
            None => Ok(()),
        }
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        let given = ["ipv4", "ipv6"].map(|column| draft.text(column, before));
        if given.iter().all(String::is_empty) {
            let text = "the VIP has no address; set \"ipv4\" or \"ipv6\"";
            return Err(ApiError::at(&draft.path, text));
        }
        if !call.checks_uniqueness() {
            return Ok(());
        }
        for (column, address) in ["ipv4", "ipv6"].iter().zip(given) {
            let sql = format!("SELECT name FROM vips WHERE {column} = ? AND vipid <> ?");
            let rows = edit.query(&sql, &[address.as_str().into(), Value::from(draft.id)])?;
            if let (Some(row), false) = (rows.first(), address.is_empty()) {
                let text = format!("{address} belongs to VIP \"{}\"", row.text("name"));
                return Err(ApiError::at(&format!("{}/{column}", draft.path), text));
            }
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[Use {
            kind: "virtual service",
            name: "SELECT name FROM virtualservices WHERE vipid = ? ORDER BY name",
        }];
        refuse_used(edit, rows, "VIP", "vipid", USES)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// Brings an address to its shortest form, so that equal ones are equal texts.
fn address<T: FromStr + ToString>(
    draft: &mut Draft<'_>,
    column: &'static str,
    error: &str,
) -> ApiResult<()> {
    let text = draft.text(column, None);
    if !text.is_empty() {
        let path = format!("{}/{column}", draft.path);
        let address: T = text.parse().map_err(|_| ApiError::at(&path, error))?;
        draft.set(column, address.to_string());
    }
    Ok(())
}
