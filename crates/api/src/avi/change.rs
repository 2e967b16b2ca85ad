//! Changes: each is one transaction over the methods of the JSON-RPC API.

use avi::{Kind, Members, Plan, Source, Uuid, Vedette};
use config::Edit;
use config::db::{DbResult, Value};
use config::table;
use serde_json::{Value as Json, json};

use super::world::{Entry, Which, World, has, id_of, port_of, reference};
use super::{AviResult, OBJECT_BYTES_MAX, refuse, vips};

/// Members that the server sets.
const OF_SERVER: [&str; 4] = ["uuid", "url", "_last_modified", "tenant"];

/// Creates an object; returns its UUID.
pub(super) fn create(world: &World<'_, '_>, kind: Kind, members: Members) -> AviResult<String> {
    check_fixed(kind)?;
    world.may(&format!("{}.create", kind.governed_by()))?;
    save(world, kind, None, members)
}

/// Replaces all members of an object.
pub(super) fn replace(
    world: &World<'_, '_>,
    kind: Kind,
    uuid: &str,
    members: Members,
) -> AviResult<()> {
    let before = changeable(world, kind, uuid)?;
    check_version(&before, &members)?;
    save(world, kind, Some(&before), members).map(drop)
}

/// Changes some members of an object.
pub(super) fn patch(
    world: &World<'_, '_>,
    kind: Kind,
    uuid: &str,
    mut members: Members,
) -> AviResult<()> {
    let before = changeable(world, kind, uuid)?;
    check_version(&before, &members)?;
    for name in OF_SERVER {
        members.shift_remove(name);
    }
    world.canonical(kind, &mut members, true)?;
    let after = avi::patch(before.document.clone(), &members)?;
    save(world, kind, Some(&before), after).map(drop)
}

fn changeable(world: &World<'_, '_>, kind: Kind, uuid: &str) -> AviResult<Entry> {
    check_fixed(kind)?;
    world.may(&format!("{}.update", kind.governed_by()))?;
    let before = world.one(kind, uuid)?;
    if before.is_built_in {
        return Err(refuse(
            403,
            format!("\"{}\" is a system object and cannot be changed.", before.name()),
        ));
    }
    Ok(before)
}

fn check_fixed(kind: Kind) -> AviResult<()> {
    match kind.is_fixed() {
        true => {
            Err(refuse(403, format!("Vedette has one {}, which cannot be changed.", kind.word())))
        }
        false => Ok(()),
    }
}

/// A client that sends `_last_modified` changes what it has read. Values that this API never returns are not
/// compared.
fn check_version(before: &Entry, members: &Members) -> AviResult<()> {
    let given = members.get("_last_modified").and_then(Json::as_str).unwrap_or_default();
    if given.len() != avi::version(&before.document).len()
        || given == avi::version(&before.document)
    {
        return Ok(());
    }
    let text =
        "Concurrent update: the object was changed after it was read. Read it again and retry.";
    Err(refuse(412, text))
}

fn save(
    world: &World<'_, '_>,
    kind: Kind,
    before: Option<&Entry>,
    mut members: Members,
) -> AviResult<String> {
    for name in OF_SERVER {
        members.shift_remove(name);
    }
    members.retain(|_, value| !value.is_null());
    if Json::Object(members.clone()).to_string().len() > OBJECT_BYTES_MAX {
        return Err(refuse(400, "The object is larger than 1 MiB."));
    }
    avi::check(kind, &members)?;
    world.canonical(kind, &mut members, true)?;
    let name = members.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    if name.is_empty() {
        return Err(refuse(400, "name: this member is required"));
    }
    let others = world.list(kind, Which::Named(&name))?;
    if others.iter().any(|other| before.is_none_or(|before| before.uuid != other.uuid)) {
        return Err(refuse(409, format!("{} \"{name}\" already exists.", kind.word())));
    }
    apply(world, kind, before, members)
}

/// Writes the objects of the JSON-RPC API, then the row, then what refers to it. Returns the UUID.
fn apply(
    world: &World<'_, '_>,
    kind: Kind,
    before: Option<&Entry>,
    mut document: Members,
) -> AviResult<String> {
    let own = before.map(|before| before.own.as_slice()).unwrap_or_default();
    let old_parts = match before {
        Some(before) => world.parts(before, &before.document)?,
        None => Vec::new(),
    };
    let mut targets = world.targets(&document, false)?;
    if kind == Kind::VirtualService {
        choose(world, before, &document, &mut targets)?;
    }
    let plan = avi::translate(kind, &document, &targets)?;
    let ids = match (plan, kind.vedette()) {
        (Plan::Objects(parts), Some(vedette)) => {
            if kind == Kind::Certificate
                && own.is_empty()
                && parts.iter().any(|part| !part.contains_key("certificate"))
            {
                let text = "certificate.certificate: Vedette does not make certificates; give the PEM text";
                return Err(refuse(400, text));
            }
            reconcile(world, vedette, own, &old_parts, parts)?
        }
        (Plan::Incomplete(lacks), Some(vedette)) => {
            delete_objects(world, vedette, own).map_err(|failure| match failure {
                super::Failure::Api(error) => refuse(412, format!("{lacks}. {}", error.data)),
                refused => refused,
            })?;
            Vec::new()
        }
        _ => Vec::new(),
    };
    if kind == Kind::Certificate {
        for secret in ["key", "key_passphrase"] {
            document.shift_remove(secret);
        }
    }
    let uuid = store(world, kind, before, &document, &ids)?;
    world.forget(before);
    if kind == Kind::VirtualService {
        vips::delete_own(world, own)?;
    }
    if kind.vedette().is_none() || own.is_empty() != ids.is_empty() {
        refresh(world, &reference(kind, &uuid))?;
    }
    Ok(uuid)
}

/// The engine group and the VIP of a service that names none: those that it has, unless its own members have
/// changed.
fn choose(
    world: &World<'_, '_>,
    before: Option<&Entry>,
    document: &Members,
    targets: &mut avi::Targets,
) -> AviResult<()> {
    let current = before.map(|before| before.own.as_slice()).unwrap_or_default();
    let is_kept = |member: &str| {
        before.is_some_and(|before| {
            let value =
                |document: &Members| has(document, member).then(|| document[member].clone());
            value(document) == value(&before.written)
        })
    };
    let own = |key: &str| current.first().and_then(|current| id_of(current, key));
    if !has(document, "se_group_ref") {
        let kept = own("enginegroupid").filter(|_| is_kept("se_group_ref"));
        targets.engine_group = Some(kept.map_or_else(|| vips::engine_group(world), Ok)?);
    }
    let has_pool = has(document, "pool_ref") || has(document, "pool_group_ref");
    if !has(document, "vsvip_ref") && has_pool {
        let kept = own("vipid").filter(|_| is_kept("vsvip_ref") && is_kept("vip"));
        targets.vip = Some(kept.map_or_else(|| vips::vip(world, document, current), Ok)?);
    }
    Ok(())
}

/// Updates objects by what differs between the old and the new parts, creates missing ones and deletes surplus
/// ones. Returns the ids in the order of the new parts.
pub(super) fn reconcile(
    world: &World<'_, '_>,
    vedette: Vedette,
    own: &[Json],
    old_parts: &[Members],
    parts: Vec<Members>,
) -> AviResult<Vec<u64>> {
    let Vedette { object, key, .. } = vedette;
    let ports = |parts: &[Members]| parts.iter().map(port_of).cloned().collect::<Vec<_>>();
    let pairs = |parts: &[Members]| {
        let ports = ports(parts);
        avi::pair(&ports.iter().collect::<Vec<_>>(), own)
    };
    let (pairs, old_pairs) = (pairs(&parts), pairs(old_parts));
    let is_surplus = |n: &usize| !pairs.contains(&Some(*n));
    let surplus: Vec<Json> = (0..own.len()).filter(is_surplus).map(|n| own[n].clone()).collect();
    delete_objects(world, vedette, &surplus)?;
    let mut ids = Vec::with_capacity(parts.len());
    let names: Vec<Json> = parts.iter().map(|part| part["name"].clone()).collect();
    for (n, at) in pairs.iter().enumerate() {
        // Another port takes this name.
        let Some(one) = at.map(|at| &own[at]) else { continue };
        if names.iter().enumerate().any(|(other, name)| other != n && *name == one["name"]) {
            let name = format!("{} [{}]", names[n].as_str().unwrap_or_default(), n + 1);
            let change = json!({ key: one[key], "name": name });
            world.run(&format!("{object}.update"), &change)?;
        }
    }
    for (part, at) in parts.into_iter().zip(&pairs) {
        let Some(one) = at.map(|at| &own[at]) else {
            let created = world.run(&format!("{object}.create"), &part.into())?;
            let id = created[format!("{key}s")][0].as_str().and_then(|id| id.parse().ok());
            ids.push(id.ok_or_else(|| refuse(500, "BUG: a created object has no id"))?);
            continue;
        };
        let none = Members::new();
        let old = old_pairs.iter().position(|old| old == at).map_or(&none, |n| &old_parts[n]);
        let mut changes = avi::changes(one, old, &part);
        let is_renamed = names.contains(&one["name"]) && one["name"] != part["name"];
        if is_renamed {
            changes.insert("name".to_owned(), part["name"].clone());
        }
        if !changes.is_empty() {
            changes.insert(key.to_owned(), one[key].clone());
            world.run(&format!("{object}.update"), &changes.into())?;
        }
        ids.extend(id_of(one, key));
    }
    Ok(ids)
}

fn delete_objects(world: &World<'_, '_>, vedette: Vedette, own: &[Json]) -> AviResult<()> {
    if own.is_empty() {
        return Ok(());
    }
    let ids: Vec<&Json> = own.iter().map(|one| &one[vedette.key]).collect();
    world.run(&format!("{}.delete", vedette.object), &json!(ids)).map(drop)
}

/// Writes the row of an object; returns its UUID, which never changes.
fn store(
    world: &World<'_, '_>,
    kind: Kind,
    before: Option<&Entry>,
    document: &Members,
    ids: &[u64],
) -> AviResult<String> {
    let name = document.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    let columns = [
        ("name", Value::from(name)),
        ("objectid", ids.first().copied().unwrap_or(0).into()),
        ("further", json!(ids.get(1..).unwrap_or_default()).to_string().into()),
        ("document", Json::Object(document.clone()).to_string().into()),
    ];
    Ok(world.call.write(|edit| {
        // The row goes with the last object of the JSON-RPC API.
        let row = before.and_then(|before| before.row).unwrap_or(0);
        let sql = "SELECT aviobjectid FROM avi_objects WHERE aviobjectid = ?";
        if !edit.query(sql, &[row.into()])?.is_empty() {
            edit.update(&table::AVI_OBJECTS, row, &columns)?;
            return Ok(before.map(|before| before.uuid.clone()).unwrap_or_default());
        }
        let mut row = vec![("kind", Value::from(kind.word()))];
        row.extend(columns);
        let uuid = match (before, ids.first()) {
            (Some(before), _) => Some(before.uuid.clone()),
            (None, Some(id)) => Some(Uuid { kind, source: Source::Vedette, id: *id }.to_string()),
            (None, None) => None,
        };
        if let Some(uuid) = uuid {
            row.push(("uuid", uuid.as_str().into()));
            edit.insert_new(&table::AVI_OBJECTS, &row)?;
            return Ok(uuid);
        }
        let id = edit.next_id(&table::AVI_OBJECTS, 1)?;
        let uuid = Uuid { kind, source: Source::Stored, id }.to_string();
        row.extend([("aviobjectid", id.into()), ("uuid", uuid.as_str().into())]);
        edit.insert(&table::AVI_OBJECTS, &row)?;
        Ok(uuid)
    })?)
}

/// Objects that refer to this one, of those that clients of Avi wrote.
fn referrers(world: &World<'_, '_>, reference: &str) -> AviResult<Vec<(Kind, String)>> {
    let sql = "SELECT kind, uuid FROM avi_objects WHERE document LIKE ? ORDER BY aviobjectid";
    let rows = world.call.rows(sql, &[format!("%\"{reference}\"%").into()])?;
    let found = rows.iter().map(|row| (Kind::named(row.text("kind")), row.text("uuid").to_owned()));
    Ok(found.filter_map(|(kind, uuid)| Some((kind?, uuid))).collect())
}

/// Applies a changed profile, or a pool that has become complete, to what refers to it. References have no
/// cycles, and an object that one of the former objects has changed is read again.
fn refresh(world: &World<'_, '_>, changed: &str) -> AviResult<()> {
    for (kind, uuid) in referrers(world, changed)? {
        let Some(listed) = world.list(kind, Which::Uuid(&uuid))?.into_iter().next() else {
            continue;
        };
        let Some(entry) = world.load(kind, &listed)? else { continue };
        apply(world, kind, Some(&entry), entry.document.clone())?;
    }
    Ok(())
}

/// After the deletion of objects of the JSON-RPC API by whomever: the rows of `avi_objects` that only they
/// had go with them.
pub(crate) fn forget_deleted(edit: &mut Edit<'_>, object: &str, ids: &[u64]) -> DbResult<()> {
    let Some(kind) = Kind::of_object(object) else { return Ok(()) };
    let sql = "SELECT aviobjectid, objectid, further FROM avi_objects WHERE kind = ? \
               AND (objectid = ? OR further LIKE ?)";
    for id in ids {
        let pattern = format!("%{id}%");
        let rows = edit.query(sql, &[kind.word().into(), (*id).into(), pattern.into()])?;
        for row in rows {
            let further: Vec<u64> = serde_json::from_str(row.text("further")).unwrap_or_default();
            let first = Some(row.id("objectid")).filter(|first| first != id).unwrap_or(0);
            let further: Vec<u64> = further.into_iter().filter(|one| one != id).collect();
            let key = row.id("aviobjectid");
            if first == 0 && further.is_empty() {
                edit.delete(&table::AVI_OBJECTS, "aviobjectid", &[key])?;
                continue;
            }
            let columns =
                [("objectid", first.into()), ("further", json!(further).to_string().into())];
            edit.update(&table::AVI_OBJECTS, key, &columns)?;
        }
    }
    Ok(())
}

/// Deletes an object, unless another one refers to it.
pub(super) fn delete(world: &World<'_, '_>, kind: Kind, uuid: &str) -> AviResult<()> {
    check_fixed(kind)?;
    world.may(&format!("{}.delete", kind.governed_by()))?;
    let entry = world.one(kind, uuid)?;
    if entry.is_built_in {
        return Err(refuse(403, "Cannot delete system default object"));
    }
    for (kind, uuid) in referrers(world, &entry.reference())? {
        let Some(user) = world.list(kind, Which::Uuid(&uuid))?.into_iter().next() else { continue };
        // An incomplete object still lacks what it refers to. Without a profile it would later become
        // complete, with less than its client asked for.
        let waits = kind.vedette().is_some() && user.ids.is_empty();
        if waits && entry.kind.vedette().is_some() {
            continue;
        }
        let user = format!("{} {}", kind.word(), user.name);
        return Err(refuse(412, format!("Cannot delete, object is referred by: ['{user}']")));
    }
    if let Some(row) = entry.row {
        world.call.write(|edit| Ok(edit.delete(&table::AVI_OBJECTS, "aviobjectid", &[row])?))?;
    }
    if let Some(vedette) = kind.vedette() {
        delete_objects(world, vedette, &entry.own)?;
    }
    world.forget(None);
    if kind == Kind::VirtualService {
        vips::delete_own(world, &entry.own)?;
    }
    Ok(())
}
