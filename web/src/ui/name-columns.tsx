import type { ReactNode } from "react";
import type { Column } from "./table-row";
import { texts } from "./texts";

interface NameColumnsProps<T> {
  /** What a row is, such as "Rule". */
  header: string;
  name: (row: T) => ReactNode;
  nameWidth: string;
  state: (row: T) => ReactNode;
  stateWidth: string;
  /** What phones show of a row beside its name and its state. */
  more: (row: T) => string;
}

/** What lists of configured objects begin with: name and state, which phones show as two lines. */
export function nameColumns<T>(props: NameColumnsProps<T>): Column<T>[] {
  const { header, name, state } = props;
  return [
    {
      id: "summary",
      header,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          {name(row)}
          <span className="flex min-w-0 items-center gap-2 text-xs text-soft">
            {state(row)}
            <span className="truncate">{props.more(row)}</span>
          </span>
        </span>
      ),
    },
    { id: "name", header: texts.name, width: props.nameWidth, on: "wide", cell: name },
    { id: "state", header: texts.state, width: props.stateWidth, on: "wide", cell: state },
  ];
}
