//! The objects as clients of Avi see them: what they wrote, with what has changed in the JSON-RPC API or the UI
//! since then.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use avi::{Kind, Members, Plan, Reference, Source, Uuid, Vedette};
use config::db::{Row, Value};
use objects::UserType;
use serde_json::{Value as Json, json};

use super::{AviResult, refuse, vips};
use crate::call::Call;
use crate::{permission, rpc};

/// Ids in one statement.
const IDS_MAX: usize = 500;

/// An object.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) uuid: String,
    /// Its members, with references in the form `/api/TYPE/UUID`.
    pub(super) document: Members,
    /// Its members as a client wrote them.
    pub(super) written: Members,
    /// What it is in the JSON-RPC API.
    pub(super) own: Vec<Json>,
    /// Row of `avi_objects`.
    pub(super) row: Option<u64>,
    /// It cannot be changed.
    pub(super) is_built_in: bool,
}

impl Entry {
    pub(super) fn name(&self) -> &str {
        self.document.get("name").and_then(Json::as_str).unwrap_or_default()
    }

    pub(super) fn reference(&self) -> String {
        reference(self.kind, &self.uuid)
    }

    pub(super) fn ids(&self) -> Vec<u64> {
        let key = self.kind.vedette().map_or("", |vedette| vedette.key);
        self.own.iter().filter_map(|own| id_of(own, key)).collect()
    }
}

pub(super) fn reference(kind: Kind, uuid: &str) -> String {
    format!("/api/{}/{uuid}", kind.word())
}

/// An id within an object of the JSON-RPC API.
pub(super) fn id_of(object: &Json, key: &str) -> Option<u64> {
    object[key].as_str().and_then(|id| id.parse().ok()).filter(|id| *id != 0)
}

/// Whether a member is set.
pub(super) fn has(document: &Members, member: &str) -> bool {
    document.get(member).is_some_and(|value| !value.is_null() && value != "")
}

/// Which objects of a type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    All,
    Named(&'a str),
    Uuid(&'a str),
}

/// Where an object is.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) uuid: String,
    pub(super) name: String,
    /// Ids in the JSON-RPC API.
    pub(super) ids: Vec<u64>,
    /// Row of `avi_objects`.
    pub(super) row: Option<u64>,
    /// Bytes of its document in that row.
    pub(super) bytes: usize,
}

/// What a reference leads to.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) id: Option<u64>,
    /// Of profiles; empty for other objects.
    pub(super) document: Rc<Members>,
}

/// The objects that a call's user may see.
pub(super) struct World<'c, 'a> {
    pub(super) call: &'c Call<'a>,
    /// What references lead to.
    pub(super) known: RefCell<HashMap<Reference, Option<Rc<Found>>>>,
    /// Bytes of the profiles in it.
    pub(super) known_bytes: Cell<usize>,
    /// Objects that this request has changed, as they were, by reference.
    pub(super) changed: RefCell<HashMap<String, Rc<Found>>>,
}

impl<'c, 'a> World<'c, 'a> {
    pub(super) fn new(call: &'c Call<'a>) -> Self {
        Self {
            call,
            known: RefCell::default(),
            known_bytes: Cell::default(),
            changed: RefCell::default(),
        }
    }

    /// After a change of an object, which was so before.
    pub(super) fn forget(&self, before: Option<&Entry>) {
        self.known.borrow_mut().clear();
        self.known_bytes.set(0);
        let Some(before) = before else { return };
        let is_profile = before.kind.vedette().is_none();
        let found = Found {
            kind: before.kind,
            uuid: before.uuid.clone(),
            name: before.name().to_owned(),
            id: before.ids().first().copied(),
            document: if is_profile { before.document.clone() } else { Members::new() }.into(),
        };
        self.changed.borrow_mut().entry(before.reference()).or_insert_with(|| found.into());
    }

    /// Calls a method, if the user's type and role allow it.
    pub(super) fn run(&self, method: &str, params: &Json) -> AviResult<Json> {
        self.may(method)?;
        Ok(rpc::run_inner(self.call, method, params)?)
    }

    pub(super) fn may(&self, method: &str) -> AviResult<()> {
        let lowest = rpc::lowest_type(method).unwrap_or(UserType::SuperAdmin);
        Ok(permission::check_method(self.call.user(), method, lowest, method)?)
    }

    /// Objects of the JSON-RPC API by id.
    pub(super) fn objects(
        &self,
        vedette: Vedette,
        condition: &Json,
    ) -> AviResult<HashMap<u64, Json>> {
        let mut params = json!({ "output": "extend" });
        for select in vedette.selects {
            params[*select] = "extend".into();
        }
        if let (Some(params), Some(condition)) = (params.as_object_mut(), condition.as_object()) {
            params.extend(condition.clone());
        }
        let rows = self.run(&format!("{}.get", vedette.object), &params)?;
        let Json::Array(rows) = rows else { return Ok(HashMap::new()) };
        let id = |row: &Json| row[vedette.key].as_str().and_then(|id| id.parse().ok());
        Ok(rows.into_iter().filter_map(|row| Some((id(&row)?, row))).collect())
    }

    /// Objects of a type, ordered by name.
    pub(super) fn list(&self, kind: Kind, which: Which<'_>) -> AviResult<Vec<Listed>> {
        let mut listed: Vec<Listed> = built_in(kind)
            .map(|one| Listed {
                uuid: uuid_of(one),
                name: one.document.get("name").and_then(Json::as_str).unwrap_or_default().into(),
                ids: Vec::new(),
                row: None,
                bytes: 0,
            })
            .collect();
        if !kind.is_fixed() {
            self.may(&format!("{}.get", kind.governed_by()))?;
            listed.extend(self.changeable(kind, which)?);
        }
        listed.retain(|one| match which {
            Which::All => true,
            Which::Named(name) => one.name == name,
            Which::Uuid(uuid) => one.uuid == uuid,
        });
        listed.sort_by(|one, other| (&one.name, &one.uuid).cmp(&(&other.name, &other.uuid)));
        Ok(listed)
    }

    fn changeable(&self, kind: Kind, which: Which<'_>) -> AviResult<Vec<Listed>> {
        let Some(vedette) = kind.vedette() else {
            return self.rows(kind, which, &[]);
        };
        let (condition, values): (_, Vec<Value>) = match which {
            Which::All => ("1 = 1".to_owned(), Vec::new()),
            Which::Named(name) => ("name = ?".to_owned(), vec![name.into()]),
            Which::Uuid(uuid) => match Uuid::parse(kind, uuid) {
                Some(Uuid { source: Source::Vedette, id, .. }) => {
                    (format!("{} = ?", vedette.key), vec![id.into()])
                }
                _ => ("1 = 0".to_owned(), Vec::new()),
            },
        };
        let mut names = self.names(vedette, &condition, &values)?;
        let meant: Vec<u64> = names.keys().copied().collect();
        let rows = self.rows(kind, which, &meant)?;
        let of_rows: HashSet<u64> = rows.iter().flat_map(|row| &row.ids).copied().collect();
        let missing: Vec<u64> =
            of_rows.iter().filter(|id| !names.contains_key(id)).copied().collect();
        for ids in missing.chunks(IDS_MAX) {
            let condition = format!("{} IN ({})", vedette.key, vec!["?"; ids.len()].join(", "));
            let values: Vec<Value> = ids.iter().map(|id| Value::from(*id)).collect();
            names.extend(self.names(vedette, &condition, &values)?);
        }
        let mut listed = Vec::new();
        for mut row in rows {
            let (first, had_objects) = (row.ids.first().copied(), !row.ids.is_empty());
            row.ids.retain(|id| names.contains_key(id));
            // Its objects were deleted elsewhere.
            if had_objects && row.ids.is_empty() {
                continue;
            }
            if let Some(name) = first.and_then(|id| names.get(&id)) {
                row.name.clone_from(name);
            }
            listed.push(row);
        }
        let others = meant.into_iter().filter(|id| !of_rows.contains(id));
        listed.extend(others.map(|id| Listed {
            uuid: Uuid { kind, source: Source::Vedette, id }.to_string(),
            name: names.get(&id).cloned().unwrap_or_default(),
            ids: vec![id],
            row: None,
            bytes: 0,
        }));
        Ok(listed)
    }

    fn names(
        &self,
        vedette: Vedette,
        condition: &str,
        values: &[Value],
    ) -> AviResult<HashMap<u64, String>> {
        let Vedette { table, key, .. } = vedette;
        let sql = format!("SELECT {key} AS id, name FROM {table} WHERE {condition}");
        let rows = self.call.rows(&sql, values)?;
        Ok(rows.iter().map(|row| (row.id("id"), row.text("name").to_owned())).collect())
    }

    /// What clients wrote: rows that are meant, or that belong to these objects.
    fn rows(&self, kind: Kind, which: Which<'_>, ids: &[u64]) -> AviResult<Vec<Listed>> {
        let mut values = vec![Value::from(kind.word())];
        let mut condition = "kind = ?".to_owned();
        let meant = match which {
            Which::All => None,
            Which::Uuid(uuid) => Some(("uuid", uuid)),
            Which::Named(name) => Some(("name", name)),
        };
        if let Some((column, value)) = meant {
            // Further ids are few, and only services have them.
            condition += &format!(" AND ({column} = ? OR further <> '[]'");
            values.push(value.into());
            if !ids.is_empty() {
                condition += &format!(" OR objectid IN ({})", vec!["?"; ids.len()].join(", "));
                values.extend(ids.iter().map(|id| Value::from(*id)));
            }
            condition.push(')');
        }
        let sql = format!(
            "SELECT aviobjectid, uuid, name, objectid, further, LENGTH(document) AS bytes \
             FROM avi_objects WHERE {condition} ORDER BY aviobjectid"
        );
        let listed = |row: &Row| {
            let further: Vec<u64> = serde_json::from_str(row.text("further")).unwrap_or_default();
            let first = Some(row.id("objectid")).filter(|id| *id != 0);
            Listed {
                uuid: row.text("uuid").to_owned(),
                name: row.text("name").to_owned(),
                ids: first.into_iter().chain(further).collect(),
                row: Some(row.id("aviobjectid")),
                bytes: usize::try_from(row.id("bytes")).unwrap_or(usize::MAX),
            }
        };
        Ok(self.call.rows(&sql, &values)?.iter().map(listed).collect())
    }

    /// The object itself; `None`: it has gone meanwhile.
    pub(super) fn load(&self, kind: Kind, listed: &Listed) -> AviResult<Option<Entry>> {
        if let Some(one) = built_in(kind).find(|one| uuid_of(one) == listed.uuid) {
            return Ok(Some(Entry {
                kind,
                uuid: listed.uuid.clone(),
                document: one.document.clone(),
                written: Members::new(),
                own: Vec::new(),
                row: None,
                is_built_in: true,
            }));
        }
        // The limit of profiles is for each object.
        if self.known_bytes.replace(0) > 0 {
            self.known.borrow_mut().clear();
        }
        let written = self.document(listed.row)?;
        let mut own = Vec::new();
        if let Some(vedette) = kind.vedette()
            && !listed.ids.is_empty()
        {
            let ids: Vec<String> = listed.ids.iter().map(ToString::to_string).collect();
            let condition = json!({ format!("{}s", vedette.key): ids });
            let mut objects = self.objects(vedette, &condition)?;
            own.extend(listed.ids.iter().filter_map(|id| objects.remove(id)));
            if own.is_empty() {
                return Ok(None);
            }
        }
        let mut entry = Entry {
            kind,
            uuid: listed.uuid.clone(),
            document: Members::new(),
            written,
            own,
            row: listed.row,
            is_built_in: false,
        };
        entry.document = match (entry.row, entry.own.first()) {
            (None, Some(own)) => avi::show(kind, own, &mut |kind, id| self.refer(kind, id)),
            _ => self.current(&entry)?,
        };
        self.canonical(kind, &mut entry.document, false)?;
        Ok(Some(entry))
    }

    pub(super) fn document(&self, row: Option<u64>) -> AviResult<Members> {
        let Some(row) = row else { return Ok(Members::new()) };
        let sql = "SELECT document FROM avi_objects WHERE aviobjectid = ?";
        let rows = self.call.rows(sql, &[row.into()])?;
        Ok(rows
            .first()
            .and_then(|row| serde_json::from_str(row.text("document")).ok())
            .unwrap_or_default())
    }

    /// What a client wrote, with what has changed since then.
    fn current(&self, entry: &Entry) -> AviResult<Members> {
        let kind = entry.kind;
        let mut document = entry.written.clone();
        self.canonical(kind, &mut document, false)?;
        let expected = self.parts(entry, &document)?;
        let ports: Vec<&Json> = expected.iter().map(port_of).collect();
        let mut name = |kind, id| self.refer(kind, id);
        let (mut services, mut is_first) = (Vec::new(), true);
        for (n, at) in avi::pair(&ports, &entry.own).into_iter().enumerate() {
            let written = document.get("services").and_then(|services| services.get(n)).cloned();
            let (Some(at), Some(part)) = (at, expected.get(n)) else { continue };
            let mut before = avi::show(kind, &Json::Object(part.clone()), &mut name);
            let mut now = avi::show(kind, &entry.own[at], &mut name);
            let [old, new] = [&mut before, &mut now].map(|shown| {
                shown.shift_remove("services").and_then(|mut all| all.as_array_mut()?.pop())
            });
            services.extend(if old == new { written } else { new });
            if is_first {
                overlay(&mut document, &before, now);
            }
            is_first = false;
        }
        if kind == Kind::VirtualService && !services.is_empty() {
            document.insert("services".to_owned(), services.into());
        }
        if let (Kind::VirtualService, Some(actual)) = (kind, entry.own.first()) {
            vips::show_choices(self, &mut document, actual)?;
        }
        Ok(document)
    }

    /// What the objects of an entry were written as, by a document of the entry; empty if it cannot be told.
    pub(super) fn parts(&self, entry: &Entry, document: &Members) -> AviResult<Vec<Members>> {
        let Some(actual) = entry.own.first() else { return Ok(Vec::new()) };
        // Until an object has been changed itself, it is by what its profiles were.
        let is_changed = self.changed.borrow().contains_key(&entry.reference());
        let mut targets = self.targets(document, !is_changed)?;
        targets.engine_group = id_of(actual, "enginegroupid");
        targets.vip = id_of(actual, "vipid");
        match avi::translate(entry.kind, document, &targets) {
            Ok(Plan::Objects(parts)) => Ok(parts),
            _ => Ok(Vec::new()),
        }
    }

    /// The reference to an object of the JSON-RPC API.
    pub(super) fn refer(&self, kind: Kind, id: u64) -> String {
        let sql = "SELECT uuid FROM avi_objects WHERE kind = ? AND objectid = ?";
        let rows = self.call.rows(sql, &[kind.word().into(), id.into()]).unwrap_or_default();
        let uuid = rows.first().map_or_else(
            || Uuid { kind, source: Source::Vedette, id }.to_string(),
            |row| row.text("uuid").to_owned(),
        );
        reference(kind, &uuid)
    }

    /// The object with this UUID.
    pub(super) fn one(&self, kind: Kind, uuid: &str) -> AviResult<Entry> {
        let listed = self.list(kind, Which::Uuid(uuid))?.into_iter().next();
        let found = match listed {
            Some(listed) => self.load(kind, &listed)?,
            None => None,
        };
        found.ok_or_else(|| refuse(404, format!("{} object {uuid} not found!", kind.word())))
    }
}

pub(super) fn port_of(part: &Members) -> &Json {
    part.get("port").unwrap_or(&Json::Null)
}

pub(super) fn built_in(kind: Kind) -> impl Iterator<Item = &'static avi::BuiltIn> {
    avi::built_ins().iter().filter(move |one| one.kind == kind)
}

pub(super) fn uuid_of(one: &avi::BuiltIn) -> String {
    Uuid { kind: one.kind, source: Source::BuiltIn, id: one.number }.to_string()
}

/// Replaces the members that were changed elsewhere.
fn overlay(document: &mut Members, before: &Members, now: Members) {
    for name in before.keys().filter(|name| !now.contains_key(*name)) {
        document.shift_remove(name);
    }
    for (name, value) in now {
        if !before.get(&name).is_some_and(|before| avi::agrees(before, &value)) {
            document.insert(name, value);
        }
    }
}
