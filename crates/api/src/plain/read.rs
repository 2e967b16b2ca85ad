//! `get` of plain objects.

use super::{Action, Plain, child, need};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::Get;
use crate::permission::on_hosts;

/// Reads objects.
pub(crate) fn read(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Get)?;
    let spec = plain.spec();
    let mut options: Vec<&str> = spec.by_ids.iter().map(|(option, _)| *option).collect();
    options.extend(spec.children.iter().filter_map(|child| Some(child.select?.name())));
    options.extend(spec.relations.iter().map(|related| related.select));
    options.extend(spec.options);
    let mut get = Get::new(call, input, spec.object, &options)?;
    for (option, condition) in spec.by_ids {
        get.by_ids(option, condition)?;
    }
    if let Some(column) = spec.of_host
        && let Some(condition) = on_hosts(call.user(), need(&get), &format!("t.{column}"))
    {
        get.and(condition, []);
    }
    plain.select(&mut get, call, input)?;
    let mut found = get.run()?;
    for one in spec.children {
        child::show(&mut found, one, spec.object.strict)?;
    }
    for related in spec.relations {
        let wanted = match related.counts {
            true => found.wants(related.select)?,
            false => found.wants_uncounted(related.select)?,
        };
        if let Some(wanted) = wanted {
            let pairs = call.pairs(related.pairs, &found.ids())?;
            found.relate_as(&related.relation, &wanted, &pairs)?;
        }
    }
    plain.show(&mut found)?;
    Ok(found.finish())
}
