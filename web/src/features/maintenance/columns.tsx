import { Link } from "@tanstack/react-router";
import type { MaintenanceDetail } from "~/api/maintenance";
import { nameColumns } from "~/ui/name-columns";
import { Dot } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { periodWords, type State, stateAt, stateWords } from "~/util/maintenance";
import { texts } from "./texts";

const TONES = { running: "warn", planned: "next", over: "off" } as const;

/** Groups first, then hosts. */
export function coveredWords(row: Pick<MaintenanceDetail, "groups" | "hosts">): string {
  return [...row.groups, ...row.hosts].map((one) => one.name).join(", ");
}

function Name({ row }: { row: MaintenanceDetail }) {
  return (
    <Link
      to="/maintenance/$maintenanceid/edit"
      params={{ maintenanceid: row.maintenanceid }}
      onClick={(event) => event.stopPropagation()}
      title={row.name}
      className="truncate font-medium hover:underline"
    >
      {row.name}
    </Link>
  );
}

function StateCell({ state }: { state: State }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <Dot tone={TONES[state.is]} />
      <span className={state.is === "over" ? "text-faint" : undefined}>{stateWords(state)}</span>
    </span>
  );
}

export function maintenanceColumns(now: number): Column<MaintenanceDetail>[] {
  return [
    ...nameColumns<MaintenanceDetail>({
      header: texts.maintenance,
      name: (row) => <Name row={row} />,
      nameWidth: "minmax(12rem, 1.6fr)",
      state: (row) => <StateCell state={stateAt(row, now)} />,
      stateWidth: "13rem",
      more: coveredWords,
    }),
    {
      id: "kind",
      header: texts.data,
      width: "7.5rem",
      on: "wide",
      cell: (row) => (
        <span className="text-soft">{row.noData ? texts.notCollected : texts.collected}</span>
      ),
    },
    {
      id: "covers",
      header: texts.scope,
      width: "minmax(8rem, 1fr)",
      on: "wide",
      cell: (row) => (
        <span className="text-soft" title={coveredWords(row)}>
          {coveredWords(row)}
        </span>
      ),
    },
    {
      id: "tags",
      header: texts.onlyProblemsWith,
      width: "minmax(8rem, 1fr)",
      on: "wide",
      cell: (row) =>
        row.tags.length ? (
          <TagList tags={row.tags} max={2} />
        ) : (
          <span className="text-faint">{texts.allProblems}</span>
        ),
    },
    {
      id: "periods",
      header: texts.schedule,
      width: "minmax(16rem, 1.6fr)",
      on: "wide",
      cell: (row) => (
        <span className="text-soft" title={row.periods.map(periodWords).join("\n")}>
          {row.periods.map(periodWords).join("; ")}
        </span>
      ),
    },
  ];
}
