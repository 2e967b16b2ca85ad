import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { configItemQuery, ruleQuery } from "~/api/item-config";
import { ownerQuery } from "~/api/owners";
import { Found, Gone, QueryError } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { NO_OWNER, OwnerPage, useLeave } from "~/shared/owner";
import { Page } from "~/shared/page";
import { SkeletonRows } from "~/ui/state";
import { ItemForm } from "./form";
import { texts } from "./texts";

const hostRoute = getRouteApi("/inside/hosts/$hostid/items/new");
const newRoute = getRouteApi("/inside/items/new");
const editRoute = getRouteApi("/inside/items/$itemid/edit");

function NewItem({ ownerid, ruleid }: { ownerid: string; ruleid?: string }) {
  const query = useQuery(ownerQuery(ownerid));
  const leave = useLeave();
  return (
    <OwnerPage title={ruleid ? texts.createItemPrototype : texts.createItem} owner={query.data}>
      <Found query={query} gone={NO_OWNER}>
        {(owner) => {
          const done = () => leave(owner, "latest", ruleid);
          const kind = ruleid ? "prototype" : "item";
          return (
            <ItemForm
              owner={owner}
              kind={kind}
              item={null}
              ruleid={ruleid}
              onDone={done}
              onDeleted={done}
            />
          );
        }}
      </Found>
    </OwnerPage>
  );
}

/** An item for the host in the address. */
export function HostItemNewPage() {
  return <NewItem ownerid={hostRoute.useParams().hostid} />;
}

/** An item for a host or template, or a prototype for a rule. */
export function ItemNewPage() {
  const { owner = "", rule: ruleid } = newRoute.useSearch();
  const { data: rule } = useQuery(ruleQuery(ruleid ?? ""));
  if (ruleid && !rule) {
    return (
      <Page title={texts.createItemPrototype} scroll>
        {rule === null ? NO_OWNER : <SkeletonRows rows={10} />}
      </Page>
    );
  }
  return <NewItem ownerid={rule?.hostid ?? owner} ruleid={ruleid} />;
}

export function ItemEditPage() {
  const { itemid } = editRoute.useParams();
  const { data: item, error } = useFresh(configItemQuery(itemid));
  const { data: owner, error: ownerError } = useQuery(ownerQuery(item?.hostid ?? ""));
  const leave = useLeave();
  const found = item?.discoveryRule;
  const rule = found && !Array.isArray(found) ? found : undefined;
  const failed = error ?? ownerError;
  const done = () => owner && leave(owner, "latest", rule?.itemid);
  return (
    <OwnerPage
      title={item ? texts.editName(item.name) : texts.editItem}
      owner={owner}
      rule={rule}
      tab="items"
    >
      {failed ? (
        <QueryError error={failed} />
      ) : item === null ? (
        <Gone icon="search" title={texts.thisItemDoesNot} />
      ) : owner === null ? (
        NO_OWNER
      ) : item && owner ? (
        <ItemForm
          key={item.itemid}
          owner={owner}
          kind={item.kind}
          item={item}
          onDone={done}
          onDeleted={done}
        />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </OwnerPage>
  );
}
