import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { ApiError } from "~/api/client";
import { type TransactionAnswer, transactionsQuery } from "~/api/transactions";
import { RangePicker } from "~/charts/range-picker";
import { QueryError } from "~/shared/fallback";
import { Count, Page, Sheet } from "~/shared/page";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { Select } from "~/ui/field";
import { Empty, SkeletonRows } from "~/ui/state";
import { VirtualTable } from "~/ui/table";
import { formatCount, plural } from "~/util/format";
import { DEFAULT_RANGE } from "~/util/time";
import { filterFault, fullBar, GROUPS, narrowed } from "~/util/transactions";
import { transactionColumns } from "./columns";
import { Bars, Groups, Timings } from "./figures";
import { FilterBox } from "./filter-box";
import { texts } from "./texts";

const route = getRouteApi("/inside/transactions");

interface NothingProps {
  filter: string;
  onClear: () => void;
}

/** What to do where there is no record. */
function Nothing({ filter, onClear }: NothingProps) {
  if (filter) {
    return (
      <Empty
        icon="latest"
        title={texts.noMatch}
        action={<Button onClick={onClear}>{texts.clearFilter}</Button>}
      >
        {texts.noMatchWhy}
      </Empty>
    );
  }
  return (
    <Empty icon="latest" title={texts.noRecords}>
      {texts.noRecordsWhy}
      <code className="mt-2 block max-w-full overflow-x-auto rounded-md bg-sunken px-3 py-2 text-left font-mono text-xs">
        {texts.command}
      </code>
    </Empty>
  );
}

interface FoundProps {
  answer: TransactionAnswer;
  group: string;
  onValue: (value: string) => void;
  onRange: (from: number, till: number) => void;
}

/** What a search has found: over time, timings and groups, and the newest records. */
function Found({ answer, group, onValue, onRange }: FoundProps) {
  const rows = answer.transactions;
  const columns = useMemo(
    () =>
      transactionColumns(
        fullBar(rows),
        rows.some((row) => row.user),
      ),
    [rows],
  );
  const name = GROUPS.find(([column]) => column === group)?.[1] ?? group;
  return (
    <>
      {answer.damaged !== "0" && (
        <p role="alert" className="mb-2 text-sm text-bad-ink">
          {texts.damaged(plural(Number(answer.damaged), "block"))}
        </p>
      )}
      <Card bodyClass="px-3 py-2.5" className="mb-3 shrink-0">
        <Bars histogram={answer.histogram} onRange={onRange} />
      </Card>
      <div className={answer.groups ? "mb-3 grid shrink-0 gap-3 xl:grid-cols-2" : "mb-3 shrink-0"}>
        <Timings percentiles={answer.percentiles} />
        {answer.groups && <Groups answer={answer} column={group} name={name} onValue={onValue} />}
      </div>
      <Sheet>
        <VirtualTable
          label={texts.transactions}
          columns={columns}
          count={rows.length}
          rowAt={(at) => rows[at]}
          idOf={(row) => `${row.engine} ${row.began} ${row.client} ${row.path}`}
        />
      </Sheet>
    </>
  );
}

/** Searches the records of what the load balancer's engines carried. */
export function TransactionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = search.filter ?? "";
  const group = search.group ?? "";
  const range = { from: search.from ?? DEFAULT_RANGE.from, to: search.to ?? DEFAULT_RANGE.to };
  const query = useQuery(transactionsQuery({ filter, range, group }));
  const { data, error } = query;
  const fault = error instanceof ApiError ? filterFault(filter, error.data) : null;
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }) });
  const onSearch = (text: string) => {
    if (text === filter) void query.refetch();
    else change({ filter: text || undefined });
  };
  return (
    <Page
      title={texts.transactions}
      heading={
        <>
          {texts.transactions}
          {data && !error && <Count>{texts.found(formatCount(Number(data.count)))}</Count>}
        </>
      }
      actions={<RangePicker range={range} onChange={({ from, to }) => change({ from, to })} />}
      bar={
        <>
          <FilterBox value={filter} onSearch={onSearch} fault={fault} busy={query.isFetching} />
          <Select
            aria-label={texts.groupBy}
            className="w-44! self-start"
            options={[["", texts.noGroups], ...GROUPS]}
            value={group}
            onChange={(event) => change({ group: event.target.value || undefined })}
          />
        </>
      }
    >
      {error && !fault && <QueryError error={error} onRetry={() => void query.refetch()} />}
      {!error && !data && (
        <Sheet>
          <SkeletonRows rows={12} />
        </Sheet>
      )}
      {!error && data?.count === "0" && (
        <Sheet>
          <Nothing filter={filter} onClear={() => change({ filter: undefined })} />
        </Sheet>
      )}
      {!error && data && data.count !== "0" && (
        <Found
          answer={data}
          group={group}
          onValue={(value) => change({ filter: narrowed(filter, group, value) })}
          onRange={(from, till) => change({ from: String(from), to: String(till) })}
        />
      )}
    </Page>
  );
}
