//! Maps: hosts, host groups, triggers, other maps and images on a plane, with links between them.

mod check;
mod elements;
mod fields;
mod links;
mod nesting;
mod parts;
mod rights;
mod shown;
mod urls;

use config::Edit;
use config::db::Row;
use config::objects::delete_elements_of;
use config::table;
use objects::MapElementType;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::found::Found;
use crate::get::Get;
use crate::permission::action_allowed;
use crate::plain::{self, Action, Draft, Plain, Spec, Unique, delete_rows};

pub(crate) use fields::MAP;

pub(crate) const METHODS: &[Method] = &[
    Method::user("map.get", plain::get::<SysMap>),
    Method::user("map.create", |call, input| plain::create::<SysMap>(call, &known(input))),
    Method::user("map.update", |call, input| plain::update::<SysMap>(call, &known(input))),
    Method::user("map.delete", delete),
];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Map \"{name}\" already exists.",
    }),
    options: &["selectSelements", "selectLinks", "selectIconMap", "expandUrls"],
    children: fields::CHILDREN,
    ..Spec::new(
        &MAP,
        &table::MAPS,
        &[("sysmapids", "t.sysmapid IN ({ids})"), ("userids", "t.userid IN ({ids})")],
    )
};

#[derive(Default)]
struct SysMap;

/// Maps without members that maps do not have: they are ignored.
fn known(input: &Json) -> Json {
    let mut input = input.clone();
    let maps = match &mut input {
        Json::Array(maps) => maps.iter_mut().collect(),
        one => vec![one],
    };
    for map in maps.into_iter().filter_map(Json::as_object_mut) {
        map.retain(|name, _| MAP.field(name).is_some());
        for child in
            fields::CHILDREN.iter().filter(|child| fields::IGNORING.contains(&child.member))
        {
            let rows = map.get_mut(child.member).and_then(Json::as_array_mut);
            for row in rows.into_iter().flatten().filter_map(Json::as_object_mut) {
                row.retain(|name, _| child.is_given(name));
            }
        }
    }
    input
}

/// Ids of the maps that the options of a `get` choose, whether the user may read them or not.
fn chosen(call: &Call<'_>, input: &Json) -> ApiResult<Vec<u64>> {
    let mut get = Get::new(call, input, &MAP, SPEC.options)?;
    for (option, condition) in SPEC.by_ids {
        get.by_ids(option, condition)?;
    }
    let (condition, values) = get.condition()?;
    let sql = format!("SELECT t.sysmapid AS id FROM maps t WHERE {condition}");
    Ok(call.rows(&sql, &values)?.iter().map(|row| row.id("id")).collect())
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain::delete::<SysMap>(call, input).map_err(|error| match error.is_no_object() {
        true => ApiError::params(NO_OBJECT),
        false => error,
    })
}

impl Plain for SysMap {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn allow(&self, call: &Call<'_>, action: Action) -> ApiResult<()> {
        if action == Action::Get || action_allowed(call.user(), "edit_maps") {
            return Ok(());
        }
        let method = format!("map.{}", action.name());
        Err(ApiError::application(format!("No permissions to call \"{method}\".")))
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        if call.is_super_admin() {
            return Ok(());
        }
        let (need, chosen) = (plain::need(get), chosen(call, input)?);
        if let Some(open) = call.read(|c| rights::maps(call, c, need, &chosen))? {
            get.in_ids("t.sysmapid IN ({ids})", &Vec::from_iter(open));
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        shown::elements(found)?;
        shown::links(found)?;
        shown::icon_map(found)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        elements::parse(draft.input, &draft.path)?;
        links::parse(draft.input, &draft.path).map(drop)
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("sysmapid")).collect();
        rights::require_writable(call, edit, &ids)?;
        drafts
            .iter()
            .enumerate()
            .try_for_each(|(n, draft)| rights::check_owner(call, edit, draft, rows.get(n)))
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if before.is_none() && !draft.gives("userid") {
            draft.set("userid", call.user().id);
        }
        check::labels(draft, before)?;
        check::shapes(edit, draft, before)?;
        let elements = elements::parse(draft.input, &draft.path)?.unwrap_or_default();
        check::pictures(edit, draft, &elements)?;
        let stored = elements::stored(edit, draft.id)?;
        let shown = elements.iter().filter_map(|one| {
            let kind = one.kind(one.of(&stored));
            Some((kind, one.shown.as_ref()?.ids.as_slice()))
        });
        let shown: Vec<(MapElementType, &[u64])> = shown.collect();
        let links = links::parse(draft.input, &draft.path)?.unwrap_or_default();
        check::objects(call, edit, &shown, &links)
    }

    fn written(&self, _: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        for draft in drafts {
            let links = links::parse(draft.input, &draft.path)?;
            let references = match elements::parse(draft.input, &draft.path)? {
                Some(given) => {
                    if links.is_none() {
                        links::check_kept(edit, draft.id, &given)?;
                    }
                    elements::write(edit, draft.id, &given)?
                }
                None => elements::references(edit, draft.id)?,
            };
            if let Some(links) = links {
                links::write(edit, draft.id, &links, &references)?;
            }
        }
        let with_elements = drafts.iter().filter(|draft| draft.input.get("selements").is_some());
        let ids: Vec<u64> = with_elements.map(|draft| draft.id).collect();
        check::circles(edit, &ids)
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("sysmapid")).collect();
        rights::require_writable(call, edit, &ids)?;
        delete_elements_of(edit, MapElementType::Map, &ids)?;
        delete_rows(&SPEC, edit, rows)
    }
}

#[cfg(test)]
mod tests;
