import { memo, type ReactNode } from "react";
import { cx } from "./cx";
import { Skeleton } from "./state";
import { texts } from "./texts";

/** A column. `width` is a CSS grid track: `8rem`, `minmax(12rem, 2fr)`. */
export interface Column<T> {
  id: string;
  header: ReactNode;
  width: string;
  cell: (row: T) => ReactNode;
  /** The header sorts by this column. */
  sortable?: boolean;
  align?: "right";
  /** Shown only on windows wider than a phone, or only on those as narrow. */
  on?: "wide" | "narrow";
}

interface RowProps<T> {
  id: string;
  index: number;
  /** Pixels from the top of the list. */
  start: number;
  height: number;
  row: T | undefined;
  columns: readonly Column<T>[];
  template: string;
  selectable: boolean;
  selected: boolean;
  /** Its details are open beside the table. */
  open: boolean;
  active: boolean;
  className: string | undefined;
  onOpen: ((row: T | undefined, index: number) => void) | undefined;
  onToggle: (row: T) => void;
}

function Row<T>(props: RowProps<T>) {
  const { id, index, start, height, row, columns, template, selectable, selected, onOpen } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selectable ? selected : undefined}
      data-row={id}
      tabIndex={-1}
      onClick={onOpen && (() => onOpen(row, index))}
      style={{ gridTemplateColumns: template, height, transform: `translateY(${start}px)` }}
      className={cx(
        "group absolute inset-x-0 grid items-center gap-x-4 border-b px-3 outline-none",
        onOpen && "cursor-pointer",
        selected || props.open ? "bg-accent-soft" : "hover:bg-hover",
        props.active && "shadow-[inset_2px_0_0_var(--accent)]",
        props.className,
      )}
    >
      {selectable && (
        <div
          role="gridcell"
          tabIndex={-1}
          className="flex"
          onClick={(event) => event.stopPropagation()}
        >
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={texts.selectRow}
            checked={selected}
            onChange={() => row !== undefined && props.onToggle(row)}
            className="size-3.5 accent-accent"
          />
        </div>
      )}
      {row === undefined ? (
        <div role="gridcell" tabIndex={-1} className="col-span-3">
          <Skeleton className="w-2/3" />
        </div>
      ) : (
        columns.map((column) => (
          <div
            key={column.id}
            role="gridcell"
            tabIndex={-1}
            className={cx("min-w-0 truncate", column.align === "right" && "tabular text-right")}
          >
            {column.cell(row)}
          </div>
        ))
      )}
    </div>
  );
}

/** One row of a virtual table; redrawn only when its data, place or state changes. */
export const VirtualRow = memo(Row) as typeof Row;
