import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { explain } from "~/api/errors";
import {
  childServicesQuery,
  foundServicesQuery,
  LEVEL_MAX,
  type ServiceFilter,
  serviceCountQuery,
} from "~/api/services";
import { allows } from "~/api/session-store";
import { slasQuery, sliQuery } from "~/api/slas";
import { together, useVisible } from "~/api/windows";
import { ListPage, NoRows } from "~/shared/list-page";
import { useSlaZone } from "~/shared/sla/zone";
import { buttonClass } from "~/ui/button";
import { Input, SearchBox, Select } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Segmented } from "~/ui/segmented";
import { VirtualTable } from "~/ui/table";
import { useFilters } from "~/util/hooks";
import { listOf, listTo, parseSearch, replacesEntry } from "~/util/search";
import { SLA_ON } from "~/util/sla";
import { parseTagFilters } from "~/util/tags";
import { type ShownSla, serviceColumns } from "./columns";
import { texts } from "./texts";
import { type Level, parentsOf, type TreeRow, treeRows } from "./tree";

const route = getRouteApi("/inside/services");
const NO_FILTERS = { text: undefined, tags: undefined, status: undefined };
/** Periods of the bars. */
const BARS = 10;

type Search = ReturnType<typeof route.useSearch>;

function useFilter(search: Search): ServiceFilter {
  return useMemo(
    () => ({
      text: search.text,
      problems: search.status === "problems",
      tags: search.tags ? parseTagFilters(search.tags) : undefined,
    }),
    [search.text, search.status, search.tags],
  );
}

/** The rows of the tree, whose open levels are read. */
function useTree(open: readonly string[], enabled: boolean) {
  const top = useQuery({ ...childServicesQuery("0"), enabled });
  const parents = useMemo(() => parentsOf(open), [open]);
  const levels = useQueries({
    queries: parents.map((id) => ({ ...childServicesQuery(id), enabled })),
  });
  const level = (id: string): Level => {
    const query = id === "0" ? top : levels[parents.indexOf(id)];
    const services = query?.data;
    const cut = (services?.length ?? 0) >= LEVEL_MAX ? texts.cut(LEVEL_MAX) : undefined;
    if (services) return { services, cut };
    if (id === "0") return {};
    const note = query?.error ? texts.belowUnknown(explain(query.error).what) : texts.loadingBelow;
    return { note };
  };
  return { query: top, rows: top.data && treeRows(level, new Set(open)) };
}

/** Services that a search finds, without the tree. */
function useFound(filter: ServiceFilter, enabled: boolean) {
  const query = useQuery({ ...foundServicesQuery(filter), enabled });
  const rows = query.data?.map(
    (service): TreeRow => ({
      is: "service",
      path: service.serviceid,
      depth: 0,
      service,
      open: false,
    }),
  );
  if (rows && rows.length >= LEVEL_MAX)
    rows.push({ is: "note", path: "/cut", depth: 0, text: texts.cutFound(LEVEL_MAX) });
  return { query, rows };
}

/** The agreement that the list shows, and the indicators of the rows on screen. */
function useShownSla(chosen: string | undefined, rows: readonly TreeRow[]) {
  const may = allows("services.sla_report");
  const { data: slas = [] } = useQuery({ ...slasQuery(), enabled: may });
  const enabled = slas.filter((sla) => sla.status === SLA_ON);
  const sla = enabled.find((one) => one.slaid === chosen) ?? enabled[0];
  const serviceids = rows.flatMap((row) => (row.is === "service" ? [row.service.serviceid] : []));
  const unique = [...new Set(serviceids)].sort();
  const query = useQuery({
    ...sliQuery({ slaid: sla?.slaid ?? "", serviceids: unique, periods: BARS }),
    enabled: sla !== undefined && unique.length > 0,
    placeholderData: (before) => before,
  });
  const zone = useSlaZone(sla);
  const failed = query.error !== null;
  const pending = query.isPlaceholderData;
  const shown: ShownSla = useMemo(
    () => ({ sla, sli: query.data, failed, pending, zone }),
    [sla, query.data, failed, pending, zone],
  );
  return { shown, slas: enabled };
}

interface FiltersProps {
  search: Search;
  typed: Omit<ReturnType<typeof useFilters>, "onClear">;
  slas: readonly { slaid: string; name: string }[];
  slaid: string | undefined;
  onChange: (next: Partial<Search>) => void;
}

function Filters({ search, typed, slas, slaid, onChange }: FiltersProps) {
  return (
    <>
      <SearchBox
        label={texts.searchServices}
        value={typed.text}
        onChange={typed.setText}
        className="w-64"
      />
      <Input
        aria-label={texts.tags}
        placeholder={texts.tagsFilter}
        value={typed.tags}
        onChange={(event) => typed.setTags(event.target.value)}
        className="w-44!"
      />
      <Segmented
        label={texts.status}
        value={search.status === "problems" ? "problems" : "all"}
        onChange={(v) => onChange({ status: v === "all" ? undefined : v })}
        options={[
          ["all", texts.all],
          ["problems", texts.withProblems],
        ]}
      />
      {slas.length > 1 && (
        <Select
          aria-label={texts.slaAgreement}
          className="max-w-52"
          options={slas.map((sla) => [sla.slaid, sla.name] as const)}
          value={slaid}
          onChange={(event) => onChange({ sla: event.target.value })}
        />
      )}
    </>
  );
}

const CREATE = (
  <Link to="/services/new" className={buttonClass("primary")}>
    <Icon name="plus" size={15} />
    {texts.createService}
  </Link>
);

/** What users of the estate depend on, as a tree with its status. */
export function ServicesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [visible, onVisible] = useVisible();
  const change = useCallback(
    (next: Partial<Search>) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      }),
    [navigate],
  );
  const filter = useFilter(search);
  const { onClear, ...typed } = useFilters(search, change, NO_FILTERS);
  const searching = onClear !== undefined;
  const open = useMemo(() => listOf(search.open), [search.open]);
  const tree = useTree(open, !searching);
  const found = useFound(filter, searching);
  const total = useQuery(serviceCountQuery(filter));
  const { query, rows } = searching ? found : tree;
  const [first, last] = visible;
  const { shown, slas } = useShownSla(search.sla, rows?.slice(first, last + 1) ?? []);
  const toggle = useCallback(
    (path: string) =>
      void navigate({
        search: (old) => {
          const paths = listOf(old.open);
          const next = paths.includes(path)
            ? paths.filter((one) => one !== path)
            : [...paths, path];
          return { ...old, open: listTo(next) };
        },
        replace: true,
      }),
    [navigate],
  );
  const columns = useMemo(
    () => serviceColumns(searching ? undefined : toggle, shown),
    [searching, toggle, shown],
  );
  return (
    <ListPage
      title={texts.services}
      count={total.data}
      actions={CREATE}
      filters={
        <Filters
          search={search}
          typed={typed}
          slas={slas}
          slaid={shown.sla?.slaid}
          onChange={change}
        />
      }
      onClear={onClear}
      query={together(query, total)}
    >
      {rows && (
        <VirtualTable
          label={texts.services}
          columns={columns}
          count={rows.length}
          rowAt={(index) => rows[index]}
          idOf={(row) => row.path}
          onVisible={onVisible}
          onOpen={(row) => {
            if (row.is === "service")
              void navigate({
                to: "/services/$serviceid/edit",
                params: { serviceid: row.service.serviceid },
                search: {},
              });
          }}
          onKey={(key, row) => {
            if (row.is !== "service" || searching || row.service.children === "0") return false;
            if (key !== (row.open ? "ArrowLeft" : "ArrowRight")) return false;
            toggle(row.path);
            return true;
          }}
          empty={
            <NoRows icon="tree" word={texts.serviceWord} onClear={onClear} action={CREATE}>
              {texts.servicesShow}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
