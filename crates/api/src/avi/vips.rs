//! The VIPs and the engine group of services that name none.

use avi::{Kind, Members, Plan};
use serde_json::{Value as Json, json};

use super::change::reconcile;
use super::world::{World, has, id_of};
use super::{AviResult, refuse};

/// Name of the engine group of services that name none, if there is no group yet.
const ENGINE_GROUP: &str = "Default-Group";

/// Name of the VIP of services without addresses.
const ALL_ADDRESSES: &str = "All addresses";

/// VIPs of one service that others use or that an administrator made.
const NAMES_MAX: usize = 100;

/// The oldest engine group.
pub(super) fn oldest_group(world: &World<'_, '_>) -> AviResult<Option<u64>> {
    let rows = world.call.rows("SELECT MIN(enginegroupid) AS id FROM enginegroups", &[])?;
    Ok(rows.first().map(|row| row.id("id")).filter(|id| *id != 0))
}

/// The group of services that name none: the oldest one.
pub(super) fn engine_group(world: &World<'_, '_>) -> AviResult<u64> {
    let Some(vedette) = Kind::EngineGroup.vedette() else { return Ok(0) };
    if let Some(id) = oldest_group(world)? {
        return Ok(id);
    }
    let part = Members::from_iter([("name".to_owned(), ENGINE_GROUP.into())]);
    let ids = reconcile(world, vedette, &[], &[], vec![part])?;
    Ok(ids.first().copied().unwrap_or(0))
}

fn own_name(service: &str) -> String {
    format!("vsvip-{service}")
}

/// The parameters of the VIP that a service without `vsvip_ref` wants: that of its addresses, or that of all
/// addresses.
fn wanted(document: &Members) -> AviResult<Members> {
    let mut wanted = Members::new();
    let name = document.get("name").and_then(Json::as_str).unwrap_or_default();
    wanted.insert("name".to_owned(), own_name(name).into());
    wanted.extend(document.get("vip").map(|vip| ("vip".to_owned(), vip.clone())));
    match avi::translate(Kind::VsVip, &wanted, &avi::Targets::default())? {
        Plan::Objects(parts) => {
            let mut part = parts.into_iter().next().unwrap_or_default();
            part.shift_remove("dns_names");
            Ok(part)
        }
        _ => Ok(Members::from_iter([
            ("name".to_owned(), ALL_ADDRESSES.into()),
            ("ipv4".to_owned(), "0.0.0.0".into()),
        ])),
    }
}

fn addresses(part: &Members) -> [String; 2] {
    ["ipv4", "ipv6"].map(|column| part.get(column).and_then(Json::as_str).unwrap_or("").to_owned())
}

/// Whether a VIP has the addresses that a service without `vsvip_ref` wants.
pub(super) fn is_wanted(world: &World<'_, '_>, document: &Members, vip: u64) -> AviResult<bool> {
    let rows = world.call.rows("SELECT ipv4, ipv6 FROM vips WHERE vipid = ?", &[vip.into()])?;
    let actual = rows.first().map(|row| ["ipv4", "ipv6"].map(|column| row.text(column).to_owned()));
    Ok(actual == Some(addresses(&wanted(document)?)))
}

/// The VIP of a service without `vsvip_ref`. `own` is what the service has.
pub(super) fn vip(world: &World<'_, '_>, document: &Members, own: &[Json]) -> AviResult<u64> {
    let Some(vedette) = Kind::VsVip.vedette() else { return Ok(0) };
    let mut part = wanted(document)?;
    world.may("vip.get")?;
    let [ipv4, ipv6] = addresses(&part);
    let same = "SELECT vipid FROM vips WHERE ipv4 = ? AND ipv6 = ? ORDER BY vipid LIMIT 1";
    if let Some(row) = world.call.rows(same, &[ipv4.into(), ipv6.into()])?.first() {
        return Ok(row.id("vipid"));
    }
    if let Some(id) = own.first().and_then(|current| id_of(current, "vipid"))
        && is_own(world, id, own, own)?
    {
        let condition = json!({ "vipids": [id.to_string()] });
        let own: Vec<Json> = world.objects(vedette, &condition)?.into_values().collect();
        part.extend(own.first().map(|own| ("name".to_owned(), own["name"].clone())));
        let ids = reconcile(world, vedette, &own, &[], vec![part])?;
        return Ok(ids.first().copied().unwrap_or(0));
    }
    let name = part["name"].as_str().unwrap_or_default().to_owned();
    for n in 1..NAMES_MAX {
        let name = if n == 1 { name.clone() } else { format!("{name} ({n})") };
        let taken = "SELECT vipid FROM vips WHERE name = ? LIMIT 1";
        if world.call.rows(taken, &[name.as_str().into()])?.is_empty() {
            part.insert("name".to_owned(), name.into());
            let ids = reconcile(world, vedette, &[], &[], vec![part])?;
            return Ok(ids.first().copied().unwrap_or(0));
        }
    }
    Err(refuse(409, format!("vip: the names such as \"{name}\" are taken; set vsvip_ref")))
}

/// Whether a VIP was made for this service, and only these services use it.
fn is_own(world: &World<'_, '_>, vip: u64, service: &[Json], users: &[Json]) -> AviResult<bool> {
    let name = service.first().and_then(|one| one["name"].as_str()).unwrap_or_default();
    let rows = world.call.rows("SELECT name FROM vips WHERE vipid = ?", &[vip.into()])?;
    let own = own_name(name);
    let is_named = rows.first().is_some_and(|row| {
        let rest = row.text("name").strip_prefix(&own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    });
    let written = "SELECT aviobjectid FROM avi_objects WHERE kind = 'vsvip' AND objectid = ?";
    let used = "SELECT virtualserviceid FROM virtualservices WHERE vipid = ?";
    let key = "virtualserviceid";
    let is_alone = world.call.rows(used, &[vip.into()])?.iter().all(|row| {
        let mut ids = users.iter().filter_map(|user| id_of(user, key));
        ids.any(|id| id == row.id(key))
    });
    Ok(is_named && is_alone && world.call.rows(written, &[vip.into()])?.is_empty())
}

/// A VIP that was made for a service ends with it, unless another one uses it. It stays if the user may not
/// delete it.
pub(super) fn delete_own(world: &World<'_, '_>, service: &[Json]) -> AviResult<()> {
    let Some(id) = service.first().and_then(|one| id_of(one, "vipid")) else { return Ok(()) };
    if world.may("vip.delete").is_ok() && is_own(world, id, service, &[])? {
        world.run("vip.delete", &json!([id.to_string()]))?;
    }
    Ok(())
}

/// Shows the choices that a service itself does not name: a group that is not the oldest one, and a VIP with
/// other addresses.
pub(super) fn show_choices(
    world: &World<'_, '_>,
    document: &mut Members,
    actual: &Json,
) -> AviResult<()> {
    if let Some(group) = id_of(actual, "enginegroupid")
        && !has(document, "se_group_ref")
        && oldest_group(world)? != Some(group)
    {
        let reference = world.refer(Kind::EngineGroup, group);
        document.insert("se_group_ref".to_owned(), reference.into());
    }
    if let Some(vip) = id_of(actual, "vipid")
        && !has(document, "vsvip_ref")
        && !is_wanted(world, document, vip).unwrap_or(true)
    {
        document.shift_remove("vip");
        document.insert("vsvip_ref".to_owned(), world.refer(Kind::VsVip, vip).into());
    }
    Ok(())
}
