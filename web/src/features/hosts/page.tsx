import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { hostStatesQuery } from "~/api/host-states";
import { type HostFilter, type HostRow, hostTotalQuery, hostWindow } from "~/api/hosts";
import { maySilence } from "~/api/maintenance";
import { Status } from "~/api/schema";
import { mayConfigure } from "~/api/session-store";
import { together, useRowWindow, useVisible, windowOf } from "~/api/windows";
import { ListPage, NoRows } from "~/shared/list-page";
import { GroupPicker, TemplatePicker } from "~/shared/pickers";
import { mayRunScripts, Scripts } from "~/shared/scripts/button";
import { SilenceDialog, useMaintenances } from "~/shared/silence";
import { buttonClass } from "~/ui/button";
import { Input, SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Segmented } from "~/ui/segmented";
import { VirtualTable } from "~/ui/table";
import { useFilters } from "~/util/hooks";
import { listOf, listTo, parseSearch, replacesEntry } from "~/util/search";
import { parseTagFilters, tagFilterText } from "~/util/tags";
import { hostColumns } from "./columns";
import { texts } from "./texts";

const route = getRouteApi("/inside/hosts");
const NO_FILTERS = {
  text: undefined,
  group: undefined,
  tags: undefined,
  status: undefined,
  template: undefined,
};

type Search = ReturnType<typeof route.useSearch>;

/** What the address bar narrows the list to. */
function useFilter(search: Search): HostFilter {
  return useMemo(
    () => ({
      text: search.text,
      groupids: listOf(search.group),
      templateids: listOf(search.template),
      tags: search.tags ? parseTagFilters(search.tags) : undefined,
      status: search.status,
      sort: search.sort === "status" ? "status" : "name",
      desc: search.desc === "yes",
    }),
    [search],
  );
}

/** The rows of a window that have arrived. */
function rowsIn(
  { offset, limit }: { offset: number; limit: number },
  rowAt: (index: number) => HostRow | undefined,
): HostRow[] {
  const rows = Array.from({ length: limit }, (_, n) => rowAt(offset + n));
  return rows.filter((row) => row !== undefined);
}

interface FiltersProps {
  search: Search;
  /** Boxes whose text reaches the address after a pause. */
  typed: Omit<ReturnType<typeof useFilters>, "onClear">;
  onChange: (next: Partial<Search>) => void;
}

function Filters({ search, typed, onChange }: FiltersProps) {
  return (
    <>
      <SearchBox
        label={texts.searchHosts}
        value={typed.text}
        onChange={typed.setText}
        className="w-64"
      />
      <GroupPicker
        of="host"
        values={listOf(search.group)}
        onChange={(v) => onChange({ group: listTo(v) })}
      />
      <TemplatePicker
        values={listOf(search.template)}
        onChange={(v) => onChange({ template: listTo(v) })}
      />
      <Input
        aria-label={texts.tags}
        placeholder={texts.tagsSiteRiga}
        value={typed.tags}
        onChange={(event) => typed.setTags(event.target.value)}
        className="w-44!"
      />
      <Segmented
        label={texts.status}
        value={search.status ?? "all"}
        onChange={(v) => onChange({ status: v === "all" ? undefined : v })}
        options={[
          ["all", texts.all],
          ["0", texts.monitored],
          ["1", texts.notMonitored],
        ]}
      />
    </>
  );
}

export function HostsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [visible, onVisible] = useVisible();
  const change = useCallback(
    (next: Partial<typeof search>) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      }),
    [navigate],
  );
  const filter = useFilter(search);
  const total = useQuery(hostTotalQuery(filter));
  const rows = useRowWindow<HostRow>({
    queryKey: ["hosts", "rows", filter],
    visible,
    fetch: (offset, limit, signal) => hostWindow(filter, offset, limit, signal),
    live: "config",
  });
  const shown = rowsIn(windowOf(visible), rows.rowAt);
  const { data: states } = useQuery(hostStatesQuery(shown.map((row) => row.hostid)));
  const maintenances = useMaintenances(
    shown.filter((row) => row.maintenance_status === "1").map((row) => row.maintenanceid),
  );
  const [silencing, setSilencing] = useState<HostRow | null>(null);
  const [running, setRunning] = useState<HostRow | null>(null);
  const columns = useMemo(
    () =>
      hostColumns(
        states ?? new Map(),
        maintenances,
        (tag) => change({ tags: tagFilterText(tag) }),
        setSilencing,
        setRunning,
      ),
    [states, maintenances, change],
  );
  const { onClear, ...typed } = useFilters(search, change, NO_FILTERS);
  const create = mayConfigure() && (
    <Link to="/hosts/new" className={buttonClass("primary")}>
      <Icon name="plus" size={15} />
      {texts.createHost}
    </Link>
  );

  return (
    <ListPage
      title={texts.hosts}
      count={total.data}
      actions={create}
      filters={<Filters search={search} typed={typed} onChange={change} />}
      onClear={onClear}
      query={together(rows, total)}
      beside={
        <>
          {silencing && (
            <SilenceDialog
              target={{ hosts: [silencing] }}
              running={silencing.maintenance_status === "1" ? [silencing.maintenanceid] : []}
              onClose={() => setSilencing(null)}
            />
          )}
          {running && (
            <Scripts
              target={{ hostid: running.hostid }}
              name={running.name}
              onClose={() => setRunning(null)}
            />
          )}
        </>
      }
    >
      {total.data !== undefined && (
        <VirtualTable
          label={texts.hosts}
          columns={columns}
          count={total.data}
          rowAt={rows.rowAt}
          idOf={(row) => row.hostid}
          onVisible={onVisible}
          onOpen={(row) =>
            void navigate({ to: "/hosts/$hostid", params: { hostid: row.hostid }, search: {} })
          }
          onKey={(key, row) => {
            if (key === "s" && maySilence()) setSilencing(row);
            else if (key === "r" && mayRunScripts()) setRunning(row);
            else return false;
            return true;
          }}
          sort={{ id: filter.sort ?? "name", desc: filter.desc ?? false }}
          onSort={({ id, desc }) =>
            change({ sort: id === "name" ? undefined : id, desc: desc ? "yes" : undefined })
          }
          rowClass={(row) => (row.status === Status.Disabled ? "bg-sunken" : undefined)}
          empty={
            <NoRows icon="hosts" word={texts.hostWord} onClear={onClear} action={create}>
              {texts.createAHostWith}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
