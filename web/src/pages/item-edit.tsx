import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { hostQuery } from "~/api/hosts";
import { itemQuery } from "~/api/items";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { ItemForm } from "./item-edit-parts/form";

const newRoute = getRouteApi("/inside/hosts/$hostid/items/new");
const editRoute = getRouteApi("/inside/items/$itemid/edit");

function Heading({ hostid, host, title }: { hostid: string; host: string; title: string }) {
  return (
    <span className="truncate">
      <Link to="/hosts/$hostid" params={{ hostid }} className="text-soft hover:text-ink">
        {host}
      </Link>
      <span className="px-1.5 text-faint">/</span>
      {title}
    </span>
  );
}

export function ItemNewPage() {
  const { hostid } = newRoute.useParams();
  const { data: host, error } = useQuery({ ...hostQuery(hostid), refetchInterval: false });
  return (
    <Page
      title="Create item"
      scroll
      heading={host && <Heading hostid={hostid} host={host.name} title="Create item" />}
    >
      {error ? (
        <QueryError error={error} />
      ) : host === null ? (
        <Empty icon="hosts" title="This host does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : host ? (
        <ItemForm host={host} item={null} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}

export function ItemEditPage() {
  const { itemid } = editRoute.useParams();
  const { data: item, error } = useQuery(itemQuery(itemid));
  const { data: host, error: hostError } = useQuery({
    ...hostQuery(item?.hostid ?? ""),
    enabled: Boolean(item),
    refetchInterval: false,
  });
  const failed = error ?? hostError;
  const title = item ? `Edit ${item.name}` : "Edit item";
  return (
    <Page
      title={title}
      scroll
      heading={host && <Heading hostid={host.hostid} host={host.name} title={title} />}
    >
      {failed ? (
        <QueryError error={failed} />
      ) : item === null || host === null ? (
        <Empty icon="search" title="This item does not exist">
          It was deleted, or it belongs to a template.
        </Empty>
      ) : item && host ? (
        <ItemForm key={item.itemid} host={host} item={item} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
