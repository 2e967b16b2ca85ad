import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  type ServiceRef,
  serviceNamesQuery,
  slaServiceCountQuery,
  slaServices,
} from "~/api/services";
import { session } from "~/api/session-store";
import { cellsOf, type SlaSummary, type Sli, slasQuery, sliQuery } from "~/api/slas";
import { together, useRowWindow, useVisible, windowOf } from "~/api/windows";
import { ListPage } from "~/shared/list-page";
import { CRUMB } from "~/shared/page";
import { SliBars } from "~/shared/sla/bars";
import { useSlaZone } from "~/shared/sla/zone";
import { buttonClass } from "~/ui/button";
import { Select } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Empty } from "~/ui/state";
import { type Column, VirtualTable } from "~/ui/table";
import { percent, periodName, SLA_ON, sliWords, verdictOf } from "~/util/sla";
import { PeriodTable } from "./periods";
import { texts } from "./texts";

const route = getRouteApi("/inside/sla-report");
/** Periods of the report of all services. */
const BARS = 20;
/** Periods of the report of one service. */
const PERIODS = 100;

interface Shown {
  sla: SlaSummary;
  sli: Sli | undefined;
  zone: string | undefined;
  /** The indicators could not be read. */
  failed: boolean;
  /** Those of other rows are still shown: what is missing is on its way. */
  pending: boolean;
}

/** The indicators of a row; undefined: on their way. */
function indicators(row: ServiceRef, { sli, pending }: Shown) {
  const cells = cellsOf(sli, row.serviceid);
  return sli && (cells.length > 0 || !pending) ? cells : undefined;
}

function Bars({ row, shown }: { row: ServiceRef; shown: Shown }) {
  const { sla, sli, zone, failed } = shown;
  const cells = indicators(row, shown);
  if (!sli || !cells) return <span className="text-faint">{failed ? texts.unknown : "…"}</span>;
  return (
    <SliBars
      name={row.name}
      slo={Number(sla.slo)}
      zone={zone}
      periods={sli.periods}
      cells={cells}
    />
  );
}

/** The indicator of the newest period, red if it misses the objective. */
function Newest({ row, shown }: { row: ServiceRef; shown: Shown }) {
  const cells = indicators(row, shown);
  if (!cells) return null;
  const slo = Number(shown.sla.slo);
  const cell = cells.at(-1);
  const look = { met: "text-good-ink", missed: "font-medium text-bad-ink", unknown: "text-faint" };
  return <span className={`tabular ${look[verdictOf(cell, slo)]}`}>{sliWords(cell, slo)}</span>;
}

function Missed({ row, shown }: { row: ServiceRef; shown: Shown }) {
  const cells = indicators(row, shown);
  if (!cells) return null;
  const verdicts = cells.map((cell) => verdictOf(cell, Number(shown.sla.slo)));
  const known = verdicts.filter((one) => one !== "unknown").length;
  if (known === 0) return <span className="text-faint">{texts.unknown}</span>;
  const missed = verdicts.filter((one) => one === "missed").length;
  return (
    <span className={missed > 0 ? "tabular text-bad-ink" : "tabular text-soft"}>
      {texts.missedOf(missed, known)}
    </span>
  );
}

function columnsOf(shown: Shown): Column<ServiceRef>[] {
  return [
    {
      id: "summary",
      header: texts.service,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium">{row.name}</span>
          <span className="flex items-center gap-2 text-xs">
            <Bars row={row} shown={shown} />
            <Newest row={row} shown={shown} />
          </span>
        </span>
      ),
    },
    {
      id: "name",
      header: texts.service,
      width: "minmax(12rem, 1.5fr)",
      on: "wide",
      cell: (row) => <span className="truncate font-medium">{row.name}</span>,
    },
    {
      id: "bars",
      header: texts.lastPeriods(shown.sli?.periods.length ?? BARS),
      width: "13rem",
      on: "wide",
      cell: (row) => <Bars row={row} shown={shown} />,
    },
    {
      id: "now",
      header: texts.now,
      width: "7rem",
      on: "wide",
      align: "right",
      cell: (row) => <Newest row={row} shown={shown} />,
    },
    {
      id: "missed",
      header: texts.missed,
      width: "7rem",
      on: "wide",
      align: "right",
      cell: (row) => <Missed row={row} shown={shown} />,
    },
  ];
}

/** The services of an agreement with their indicators; those on screen are read. */
function useServices(slaid: string, sla: SlaSummary | undefined, enabled: boolean) {
  const [visible, onVisible] = useVisible();
  const total = useQuery({ ...slaServiceCountQuery(slaid), enabled: enabled && slaid !== "" });
  const rows = useRowWindow<ServiceRef>({
    // Without the list nothing is read: those rows are no rows of the list.
    queryKey: ["services", "report", slaid, enabled],
    visible,
    fetch: (offset, limit, signal) =>
      slaid && enabled ? slaServices(slaid, offset, limit, signal) : Promise.resolve([]),
    live: "config",
  });
  const { offset, limit } = windowOf(visible);
  const ids = Array.from({ length: limit }, (_, n) => rows.rowAt(offset + n)?.serviceid).filter(
    (id) => id !== undefined,
  );
  const sli = useQuery({
    ...sliQuery({ slaid, serviceids: ids, periods: BARS }),
    enabled: enabled && slaid !== "" && ids.length > 0,
    placeholderData: (before) => before,
  });
  const zone = useSlaZone(sla);
  const failed = sli.error !== null;
  const pending = sli.isPlaceholderData;
  const shown = useMemo(
    () => sla && { sla, sli: sli.data, zone, failed, pending },
    [sla, sli.data, zone, failed, pending],
  );
  return { total, rows, sli, shown, onVisible };
}

function NoSla() {
  const admin = (session()?.type ?? 0) >= 2;
  return (
    <Empty
      icon="bars"
      title={texts.noSlas}
      action={
        admin && (
          <Link to="/sla/new" className={buttonClass("primary")}>
            <Icon name="plus" size={15} />
            {texts.createSla}
          </Link>
        )
      }
    >
      {admin ? texts.createFirst : texts.askForSla}
    </Empty>
  );
}

/** How services met their agreements, period by period. */
export function SlaReportPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const slas = useQuery(slasQuery());
  const enabled = slas.data?.filter((sla) => sla.status === SLA_ON);
  const sla = enabled?.find((one) => one.slaid === search.sla) ?? enabled?.[0];
  const slaid = sla?.slaid ?? "";
  const one = search.service;
  const list = useServices(slaid, sla, one === undefined);
  const { total, rows, shown, sli } = list;
  const columns = useMemo(() => (shown ? columnsOf(shown) : []), [shown]);
  const names = useQuery(serviceNamesQuery(one ? [one] : []));
  const single = useQuery({
    ...sliQuery({ slaid, serviceids: one ? [one] : [], periods: PERIODS }),
    enabled: one !== undefined && slaid !== "",
  });
  const name = names.data?.[0]?.name ?? texts.service;
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }) });
  const query = one
    ? together(slas, single)
    : together(slas, ...(slaid ? [total, rows] : []), ...(sli.error ? [sli] : []));
  return (
    <ListPage
      title={texts.report}
      count={
        sla &&
        texts.objectiveIs(
          percent(Number(sla.slo)),
          periodName(sla.period).toLowerCase(),
          sla.timezone === "system" ? texts.systemZone : sla.timezone,
        )
      }
      filters={
        <>
          <Select
            aria-label={texts.chooseSla}
            className="max-w-72"
            options={(enabled ?? []).map((each) => [each.slaid, each.name] as const)}
            value={slaid}
            onChange={(event) => change({ sla: event.target.value })}
          />
          {one && (
            <span className="flex min-w-0 items-center gap-2">
              <button
                type="button"
                className={CRUMB}
                onClick={() => change({ service: undefined })}
              >
                {texts.allServices}
              </button>
              <span className="text-faint">/</span>
              <span className="truncate font-medium">{name}</span>
            </span>
          )}
        </>
      }
      query={query}
    >
      {enabled?.length === 0 ? (
        <NoSla />
      ) : one ? (
        sla && single.data && <PeriodTable sla={sla} sli={single.data} id={one} name={name} />
      ) : (
        total.data !== undefined && (
          <VirtualTable
            label={texts.report}
            columns={columns}
            count={total.data}
            rowAt={rows.rowAt}
            idOf={(row) => row.serviceid}
            onVisible={list.onVisible}
            onOpen={({ serviceid }) => change({ service: serviceid })}
            empty={
              <Empty icon="bars" title={texts.notCovered}>
                {texts.tagServices}
              </Empty>
            }
          />
        )
      )}
    </ListPage>
  );
}
