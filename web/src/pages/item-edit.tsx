import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { configItemQuery, ruleQuery } from "~/api/item-config";
import { type Owner, ownerQuery } from "~/api/owners";
import { useFresh } from "~/parts/fresh";
import { OwnerHeading, useLeave } from "~/parts/owner";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { ItemForm } from "./item-edit-parts/form";

const hostRoute = getRouteApi("/inside/hosts/$hostid/items/new");
const newRoute = getRouteApi("/inside/items/new");
const editRoute = getRouteApi("/inside/items/$itemid/edit");

function NoOwner() {
  return (
    <Empty icon="hosts" title="This host or template does not exist">
      It was deleted, or you may not see it.
    </Empty>
  );
}

function NewItem({ ownerid, ruleid }: { ownerid: string; ruleid?: string }) {
  const { data: owner, error } = useQuery(ownerQuery(ownerid));
  const leave = useLeave();
  const navigate = useNavigate();
  const title = ruleid ? "Create item prototype" : "Create item";
  const done = (to: Owner) => () => {
    if (!ruleid) leave(to, "latest");
    else void navigate({ to: "/rules/$ruleid", params: { ruleid }, search: { tab: "items" } });
  };
  return (
    <Page title={title} scroll heading={owner && <OwnerHeading owner={owner} title={title} />}>
      {error ? (
        <QueryError error={error} />
      ) : owner ? (
        <ItemForm
          owner={owner}
          kind={ruleid ? "prototype" : "item"}
          item={null}
          ruleid={ruleid}
          onDone={done(owner)}
          onDeleted={done(owner)}
        />
      ) : owner === null ? (
        <NoOwner />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
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
      <Page title="Create item prototype" scroll>
        {rule === null ? <NoOwner /> : <SkeletonRows rows={10} />}
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
  const navigate = useNavigate();
  const failed = error ?? ownerError;
  const title = item ? `Edit ${item.name}` : "Edit item";
  const rule =
    item?.discoveryRule && !Array.isArray(item.discoveryRule) ? item.discoveryRule : null;
  const done = () => {
    if (rule) {
      const params = { ruleid: rule.itemid };
      void navigate({ to: "/rules/$ruleid", params, search: { tab: "items" } });
    } else if (owner) leave(owner, "latest");
  };
  return (
    <Page
      title={title}
      scroll
      heading={
        owner && (
          <OwnerHeading owner={owner} title={title}>
            {rule && (
              <Link
                to="/rules/$ruleid"
                params={{ ruleid: rule.itemid }}
                search={{ tab: "items" }}
                className="text-soft hover:text-ink"
              >
                {rule.name}
              </Link>
            )}
          </OwnerHeading>
        )
      }
    >
      {failed ? (
        <QueryError error={failed} />
      ) : item === null ? (
        <Empty icon="search" title="This item does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : owner === null ? (
        <NoOwner />
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
    </Page>
  );
}
