import { useQuery } from "@tanstack/react-query";
import { proxiesQuery, proxyGroupsQuery } from "~/api/proxies";
import { SelectField } from "~/ui/field";
import type { HostDraft } from "./draft";
import { texts } from "./texts";

const COLLECTORS = [
  ["0", texts.server],
  ["1", texts.proxy],
  ["2", texts.proxyGroup],
] as const;

interface MonitoredByProps {
  draft: HostDraft;
  set: (next: Partial<HostDraft>) => void;
  error?: string;
}

/** What collects the values of the host. */
export function MonitoredBy({ draft, set, error }: MonitoredByProps) {
  const { data: proxies = [] } = useQuery(proxiesQuery());
  const { data: groups = [] } = useQuery(proxyGroupsQuery());
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={texts.monitoredBy}
        options={COLLECTORS}
        value={draft.monitoredBy}
        hint={draft.monitoredBy === "0" ? undefined : texts.proxiesCannotConnect}
        onChange={(monitoredBy) => set({ monitoredBy })}
      />
      {draft.monitoredBy === "1" && (
        <SelectField
          label={texts.proxy}
          error={error}
          options={[
            ["0", texts.choose],
            ...proxies.map((proxy) => [proxy.proxyid, proxy.name] as const),
          ]}
          value={draft.proxyid}
          onChange={(proxyid) => set({ proxyid })}
        />
      )}
      {draft.monitoredBy === "2" && (
        <SelectField
          label={texts.proxyGroup}
          error={error}
          options={[
            ["0", texts.choose],
            ...groups.map((group) => [group.proxy_groupid, group.name] as const),
          ]}
          value={draft.proxyGroupid}
          onChange={(proxyGroupid) => set({ proxyGroupid })}
        />
      )}
    </div>
  );
}
