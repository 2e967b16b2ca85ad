//! VIPs and certificates.

use serde_json::{Value as Json, json};

use crate::plan::{Plan, members_of};
use crate::pool::{address, shown_address};
use crate::reader::Reader;
use crate::{Members, Result};

/// The addresses of `vip`, a list of one.
pub(crate) fn addresses(reader: &Reader<'_>) -> Result<Option<(String, String)>> {
    let vips = reader.list("vip")?;
    if vips.len() > 1 {
        let text = "Vedette has one address of each family for a VIP; keep one element";
        return Err(reader.refuse("vip", text));
    }
    let Some(vip) = vips.first() else { return Ok(None) };
    let (mut v4, mut v6) = (String::new(), String::new());
    for name in ["ip_address", "ip6_address"] {
        let Some(ip) = vip.object(name)? else { continue };
        let address = address(&ip)?;
        *(if address.is_ipv4() { &mut v4 } else { &mut v6 }) = address.to_string();
    }
    Ok(Some((v4, v6)).filter(|(v4, v6)| !(v4.is_empty() && v6.is_empty())))
}

pub(crate) fn vip(reader: &Reader<'_>) -> Result<Plan> {
    let name = reader.required("name")?;
    let mut names = Vec::new();
    for info in reader.list("dns_info")? {
        names.push(info.required("fqdn")?);
    }
    let Some((v4, v6)) = addresses(reader)? else {
        return Ok(Plan::Incomplete("the VIP has no address"));
    };
    let Json::Object(vip) = json!({ "name": name, "ipv4": v4, "ipv6": v6, "dns_names": names })
    else {
        return Ok(Plan::Profile);
    };
    Ok(Plan::Objects(vec![vip]))
}

pub(crate) fn show_vip(object: &Json) -> Members {
    let mut vip = json!({ "vip_id": "1" });
    for (column, member) in [("ipv4", "ip_address"), ("ipv6", "ip6_address")] {
        let text = object[column].as_str().unwrap_or_default();
        if !text.is_empty() {
            vip[member] = shown_address(text);
        }
    }
    let names = object["dns_names"].as_array().into_iter().flatten();
    let names: Vec<Json> = names.map(|name| json!({ "fqdn": name })).collect();
    members_of(json!({ "name": object["name"], "vip": [vip], "dns_info": names }))
}

pub(crate) fn certificate(reader: &Reader<'_>) -> Result<Plan> {
    let kinds = &[("SSL_CERTIFICATE_TYPE_VIRTUALSERVICE", ())];
    reader.word("type", kinds)?;
    reader.word("format", &[("SSL_PEM", ())])?;
    let mut out = members_of(json!({ "name": reader.required("name")? }));
    let certificate = reader.object("certificate")?;
    let text = match &certificate {
        Some(certificate) => certificate.text("certificate")?,
        None => None,
    };
    if let Some(text) = text {
        let mut blocks = text.split("-----BEGIN ").skip(1);
        if !blocks.all(|block| block.starts_with("CERTIFICATE-----")) {
            let text = "only certificates are expected; the key belongs into \"key\"";
            return Err(reader.refuse("certificate.certificate", text));
        }
        out.insert("certificate".to_owned(), text.into());
    }
    // Responses of Avi have this text in place of keys.
    if let Some(key) = reader.text("key")?.filter(|key| *key != "<sensitive>") {
        out.insert("private_key".to_owned(), key.into());
    }
    Ok(Plan::Objects(vec![out]))
}

pub(crate) fn show_certificate(object: &Json) -> Members {
    let mut shown = members_of(json!({
        "name": object["name"],
        "type": "SSL_CERTIFICATE_TYPE_VIRTUALSERVICE",
    }));
    // One that is ordered from an authority does not exist at first.
    if object["certificate"] != "" {
        shown.insert("certificate".to_owned(), json!({ "certificate": object["certificate"] }));
    }
    shown
}
