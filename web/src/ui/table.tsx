import { type ColumnDef, flexRender, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useMemo, useRef } from "react";
import { cx } from "./cx";
import { Icon } from "./icon";
import { Skeleton } from "./state";
import { useRowKeys } from "./table-keys";

/** A column. `width` is a CSS grid track: `8rem`, `minmax(12rem, 2fr)`. */
export interface Column<T> {
  id: string;
  header: ReactNode;
  width: string;
  cell: (row: T) => ReactNode;
  /** The header sorts by this column. */
  sortable?: boolean;
  align?: "right";
}

export interface Sort {
  id: string;
  desc: boolean;
}

export interface TableProps<T> {
  /** What the rows are, for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  count: number;
  /** Undefined while the row is on its way. */
  rowAt: (index: number) => T | undefined;
  idOf: (row: T) => string;
  rowHeight?: number;
  onVisible?: (first: number, last: number) => void;
  onOpen?: (row: T, index: number) => void;
  /** The row whose details are open. */
  openId?: string;
  selected?: ReadonlySet<string>;
  onSelect?: (selected: Set<string>) => void;
  allIds?: readonly string[];
  /** Keys on the active row beside the table's own (arrows, j, k, Enter, x). */
  onKey?: (key: string, row: T) => boolean;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  empty?: ReactNode;
  rowClass?: (row: T) => string | undefined;
}

interface Slot<T> {
  index: number;
  row: T | undefined;
}

/** A virtual table: only the rows on screen exist, and the caller fetches only those. */
export function VirtualTable<T>(props: TableProps<T>) {
  const { columns, count, rowAt, idOf, rowHeight = 36, onVisible, selected, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => onVisible?.(first, last), [first, last, onVisible]);

  const definitions = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<Slot<T>> => ({
          id: column.id,
          header: () => column.header,
          cell: ({ row }) =>
            row.original.row === undefined ? null : column.cell(row.original.row),
        }),
      ),
    [columns],
  );
  const slots = shown.map((item): Slot<T> => ({ index: item.index, row: rowAt(item.index) }));
  const table = useReactTable({
    data: slots,
    columns: definitions,
    getCoreRowModel: getCoreRowModel(),
    manualSorting: true,
    manualPagination: true,
    autoResetAll: false,
  });
  const template = [onSelect ? "1rem" : "", ...columns.map((column) => column.width)].join(" ");
  const { active, setActive, onKeyDown } = useRowKeys(props, (index) =>
    virtual.scrollToIndex(index),
  );
  const toggle = (row: T) => {
    if (!onSelect) return;
    const next = new Set(selected);
    if (!next.delete(idOf(row))) next.add(idOf(row));
    onSelect(next);
  };

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={props.label}
      aria-rowcount={count + 1}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="relative h-full min-h-0 overflow-auto outline-offset-[-2px]"
    >
      <HeaderRow {...props} template={template} />
      {count === 0 && props.empty}
      <div className="relative min-w-fit" style={{ height: virtual.getTotalSize() }}>
        {table.getRowModel().rows.map((tableRow, n) => {
          const { index, row } = tableRow.original;
          const id = row === undefined ? `#${index}` : idOf(row);
          const isSelected = selected?.has(id) ?? false;
          return (
            <div
              key={id}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={onSelect ? isSelected : undefined}
              data-row={id}
              tabIndex={-1}
              onClick={() => {
                setActive(index);
                if (row !== undefined) props.onOpen?.(row, index);
              }}
              style={{
                gridTemplateColumns: template,
                height: rowHeight,
                transform: `translateY(${shown[n]?.start ?? 0}px)`,
              }}
              className={cx(
                "group absolute inset-x-0 grid items-center gap-x-4 border-b px-3 outline-none",
                props.onOpen && "cursor-pointer",
                isSelected || props.openId === id ? "bg-accent-soft" : "hover:bg-hover",
                active === index && "shadow-[inset_2px_0_0_var(--accent)]",
                row !== undefined && props.rowClass?.(row),
              )}
            >
              {onSelect && (
                <SelectBox checked={isSelected} onToggle={() => row !== undefined && toggle(row)} />
              )}
              {row === undefined ? (
                <Skeleton className="col-span-3 w-2/3" />
              ) : (
                tableRow.getVisibleCells().map((cell, c) => (
                  <div
                    key={cell.id}
                    role="gridcell"
                    tabIndex={-1}
                    className={cx(
                      "min-w-0 truncate",
                      columns[c]?.align === "right" && "tabular text-right",
                    )}
                  >
                    {flexRender(cell.column.columnDef.cell, cell.getContext())}
                  </div>
                ))
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const SelectBox = memo(function SelectBox({
  checked,
  onToggle,
}: {
  checked: boolean;
  onToggle: () => void;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only keeps the click from opening the row
    <span className="flex" onClick={(event) => event.stopPropagation()}>
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label="Select row"
        checked={checked}
        onChange={onToggle}
        className="size-3.5 accent-accent"
      />
    </span>
  );
});

function HeaderRow<T>(props: TableProps<T> & { template: string }) {
  const { columns, sort, onSort, selected, onSelect, allIds, template } = props;
  const all = allIds !== undefined && allIds.length > 0 && selected?.size === allIds.length;
  return (
    <div
      role="row"
      aria-rowindex={1}
      tabIndex={-1}
      style={{ gridTemplateColumns: template }}
      className="sticky top-0 z-10 grid h-8 min-w-fit items-center gap-x-4 border-b bg-sunken px-3 text-xs font-medium text-soft"
    >
      {onSelect && (
        <input
          type="checkbox"
          aria-label="Select all rows"
          checked={all}
          ref={(box) => {
            if (box) box.indeterminate = !all && (selected?.size ?? 0) > 0;
          }}
          onChange={() => onSelect(all ? new Set() : new Set(allIds))}
          className="size-3.5 accent-accent"
        />
      )}
      {columns.map((column) => {
        const sorted = sort?.id === column.id;
        return (
          <div
            key={column.id}
            role="columnheader"
            tabIndex={-1}
            aria-sort={sorted ? (sort.desc ? "descending" : "ascending") : undefined}
            className={cx("min-w-0 truncate", column.align === "right" && "text-right")}
          >
            {column.sortable && onSort ? (
              <button
                type="button"
                className={cx(
                  "inline-flex items-center gap-1 hover:text-ink",
                  sorted && "text-ink",
                )}
                onClick={() => onSort({ id: column.id, desc: sorted ? !sort.desc : false })}
              >
                {column.header}
                {sorted && <Icon name={sort.desc ? "arrowDown" : "up"} size={11} />}
              </button>
            ) : (
              column.header
            )}
          </div>
        );
      })}
    </div>
  );
}
