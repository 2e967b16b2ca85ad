import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  type AuditEntry,
  type AuditFilter,
  auditCountQuery,
  auditEntryQuery,
  auditWindow,
} from "~/api/audit";
import { auditEnabledQuery } from "~/api/system";
import { together, useRowWindow, useVisible, windowOf } from "~/api/windows";
import { ListPage, NoRows } from "~/shared/list-page";
import { ErrorNote } from "~/ui/state";
import { VirtualTable } from "~/ui/table";
import { useFilters } from "~/util/hooks";
import { parseSearch, replacesEntry } from "~/util/search";
import { COLUMNS } from "./columns";
import { EntryDetails } from "./details";
import { type AuditSearch, NO_FILTERS, toFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { texts } from "./texts";

const route = getRouteApi("/inside/audit");
const idOf = (entry: AuditEntry) => entry.auditid;

/** The filter of the address; the open entry does not change it. */
function useFilter(search: AuditSearch): AuditFilter {
  const key = JSON.stringify({ ...search, entry: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the search
  return useMemo(() => toFilter(search), [key]);
}

/** The entry that the address names: of the rows on screen, or read by its id. */
function useOpen(
  auditid: string | undefined,
  visible: readonly [number, number],
  rows: { rowAt: (index: number) => AuditEntry | undefined; ready: boolean },
) {
  const { offset, limit } = windowOf(visible);
  let listed: AuditEntry | undefined;
  for (let at = offset; at < offset + limit && !listed; at++) {
    const row = rows.rowAt(at);
    if (row?.auditid === auditid) listed = row;
  }
  const other = useQuery(auditEntryQuery(rows.ready && !listed ? (auditid ?? "") : ""));
  return { open: listed ?? other.data, isGone: !listed && other.data === null };
}

/** Says that nothing is recorded; nothing while that is unknown. */
function Disabled() {
  const { data } = useQuery(auditEnabledQuery());
  if (data !== false) return null;
  return <ErrorNote what={texts.disabled} todo={texts.enableIt} />;
}

/** Who changed what, the newest first. The server sorts, counts and cuts: only rows on screen are read. */
export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useFilter(search);
  const [visible, onVisible] = useVisible();
  const total = useQuery(auditCountQuery(filter));
  const rows = useRowWindow<AuditEntry>({
    queryKey: ["audit", "rows", filter],
    visible,
    fetch: (offset, limit, signal) => auditWindow(filter, offset, limit, signal),
    live: "config",
  });
  const change = (next: Partial<AuditSearch>) =>
    void navigate({
      search: (old) => ({ ...old, ...next }),
      replace: replacesEntry(parseSearch(location.search), next),
    });
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  const { open, isGone } = useOpen(search.entry, visible, rows);
  return (
    <ListPage
      title={texts.auditLog}
      count={total.data}
      filters={
        <>
          <FilterBar search={search} text={text} onText={setText} onChange={change} />
          <Disabled />
          {isGone && <span className="text-sm text-soft">{texts.gone}</span>}
        </>
      }
      onClear={onClear}
      query={together(rows, total)}
    >
      {total.data !== undefined && (
        <div className="relative h-full">
          <VirtualTable
            label={texts.auditLog}
            columns={COLUMNS}
            count={total.data}
            rowAt={rows.rowAt}
            idOf={idOf}
            onVisible={onVisible}
            openId={search.entry}
            onOpen={(entry) => change({ entry: entry.auditid })}
            empty={
              <NoRows icon="log" word={texts.entryWord} onClear={onClear}>
                {texts.nothingInTheRange}
              </NoRows>
            }
          />
          {open && (
            <EntryDetails
              key={open.auditid}
              entry={open}
              onClose={() => change({ entry: undefined })}
            />
          )}
        </div>
      )}
    </ListPage>
  );
}
