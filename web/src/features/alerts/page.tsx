import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import {
  type Alert,
  type AlertFilter,
  alertCountQuery,
  alertQuery,
  alertsQuery,
} from "~/api/alerts";
import { together } from "~/api/windows";
import { ListPage, NoRows } from "~/shared/list-page";
import { Button } from "~/ui/button";
import { VirtualTable } from "~/ui/table";
import { formatCount } from "~/util/format";
import { useFilters } from "~/util/hooks";
import { parseSearch, replacesEntry } from "~/util/search";
import { alertColumns } from "./columns";
import { AlertDetails } from "./details";
import { type AlertSearch, NO_FILTERS, sourceOf, toFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { useActionName } from "./names";
import { texts } from "./texts";

const route = getRouteApi("/inside/alerts");
/** Rows that are read at first, and with each "more". */
const STEP = 200;
/** Older rows are found by another time range. */
const ROWS_MAX = 1_000;
const idOf = (alert: Alert) => alert.alertid;

/** The filter of the address; the open row does not change it. */
function useFilter(search: AlertSearch): AlertFilter {
  const key = JSON.stringify({ ...search, alert: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the search
  return useMemo(() => toFilter(search), [key]);
}

/** The newest rows of a filter, more of them on demand, and how many there are. */
function useLog(filter: AlertFilter) {
  const key = JSON.stringify(filter);
  const [wanted, setWanted] = useState({ key, limit: STEP });
  const limit = wanted.key === key ? wanted.limit : STEP;
  const rows = useQuery(alertsQuery(filter, limit));
  const total = useQuery(alertCountQuery(filter));
  const count = rows.data?.length ?? 0;
  const hasMore = (total.data ?? 0) > count;
  return {
    rows: rows.data,
    total: total.data,
    query: together(rows, total),
    more: hasMore && limit < ROWS_MAX ? () => setWanted({ key, limit: limit + STEP }) : undefined,
    isCut: hasMore && limit >= ROWS_MAX,
  };
}

/** "12", or "newest 200 of 12,345". */
function countWords(shown: number, total: number): string {
  const all = formatCount(total);
  return shown < total ? texts.shown(formatCount(shown), all) : all;
}

/** All messages and commands of actions, the newest first. */
export function AlertsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useFilter(search);
  const { rows, total, query, more, isCut } = useLog(filter);
  const actionName = useActionName();
  const columns = useMemo(() => alertColumns(actionName), [actionName]);
  const change = (next: Partial<AlertSearch>) =>
    void navigate({
      search: (old) => ({ ...old, ...next }),
      replace: replacesEntry(parseSearch(location.search), next),
    });
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  const listed = rows?.find((alert) => alert.alertid === search.alert);
  // The message that tells of a withheld one can be outside of the list.
  const other = useQuery(alertQuery(rows && !listed ? (search.alert ?? "") : ""));
  const open = listed ?? other.data;
  return (
    <ListPage
      title={texts.actionLog}
      count={rows && total !== undefined ? countWords(rows.length, total) : undefined}
      actions={
        <>
          {more && <Button onClick={more}>{texts.showMore(STEP)}</Button>}
          {isCut && <span className="text-xs text-soft">{texts.narrow}</span>}
        </>
      }
      filters={<FilterBar search={search} text={text} onText={setText} onChange={change} />}
      onClear={onClear}
      query={query}
    >
      {rows && (
        <div className="relative h-full">
          <VirtualTable
            label={texts.actionLog}
            columns={columns}
            count={rows.length}
            rowAt={(index) => rows[index]}
            idOf={idOf}
            openId={search.alert}
            onOpen={(alert) => change({ alert: alert.alertid })}
            empty={
              <NoRows icon="log" word={texts.alertWord} onClear={onClear}>
                {texts.nothingInTheRange}
              </NoRows>
            }
          />
          {open && (
            <AlertDetails
              key={open.alertid}
              alert={open}
              source={sourceOf(search).split("-")[0] ?? ""}
              actionName={actionName}
              onClose={() => change({ alert: undefined })}
            />
          )}
        </div>
      )}
    </ListPage>
  );
}
