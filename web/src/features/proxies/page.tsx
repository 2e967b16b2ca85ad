import { getRouteApi } from "@tanstack/react-router";
import type { ProxyGroupRow, ProxyRow } from "~/api/proxies";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Page } from "~/shared/page";
import { Button } from "~/ui/button";
import { Tabs } from "~/ui/segmented";
import { ProxyGroupDialog, ProxyGroups } from "./groups";
import { Proxies, ProxyDialog } from "./proxies";
import { texts } from "./texts";

const route = getRouteApi("/inside/proxies");
type Tab = "proxies" | "groups";
const TABS: readonly (readonly [Tab, string])[] = [
  ["proxies", "Proxies"],
  ["groups", "Proxy groups"],
];

/** What a dialog is open for; null stands for a new one. */
interface Editing {
  proxy?: ProxyRow | null;
  group?: ProxyGroupRow | null;
}

/** Proxies, and the groups that share hosts. */
export function ProxiesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [editing, setEditing] = useKeptState<Editing>("dialog", {});
  const tab: Tab = search.tab === "groups" ? "groups" : "proxies";
  const close = () => setEditing({});
  return (
    <Page
      title={texts.proxies}
      scroll
      actions={
        <Button
          look="primary"
          icon="plus"
          onClick={() => setEditing(tab === "groups" ? { group: null } : { proxy: null })}
        >
          {tab === "groups" ? texts.createGroup : texts.createProxy}
        </Button>
      }
      bar={
        <Tabs<Tab>
          label={texts.kinds}
          value={tab}
          options={TABS}
          onChange={(value) =>
            void navigate({ search: { tab: value === "proxies" ? undefined : value } })
          }
        />
      }
    >
      <p className="pb-2 text-soft">{texts.proxiesCannotConnect}</p>
      {tab === "proxies" && <Proxies onEdit={(proxy) => setEditing({ proxy })} />}
      {tab === "groups" && <ProxyGroups onEdit={(group) => setEditing({ group })} />}
      {editing.proxy !== undefined && <ProxyDialog proxy={editing.proxy} onClose={close} />}
      {editing.group !== undefined && <ProxyGroupDialog group={editing.group} onClose={close} />}
    </Page>
  );
}
