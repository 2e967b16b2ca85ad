import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { cx } from "./cx";
import { Icon } from "./icon";
import { useRowKeys } from "./table-keys";
import { type Column, VirtualRow } from "./table-row";
import { texts } from "./texts";

export type { Column } from "./table-row";

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
  /** Selects all rows where the ids are not in the browser; then `allCount` tells how many. */
  onSelectAll?: () => Promise<void>;
  allCount?: number;
  /** Keys on the active row beside the table's own (arrows, j, k, Enter, x). */
  onKey?: (key: string, row: T) => boolean;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  empty?: ReactNode;
  rowClass?: (row: T) => string | undefined;
}

const NARROW = matchMedia("(width < 40rem)");

/** Whether the window is as narrow as a phone. */
function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener("change", listener);
      return () => NARROW.removeEventListener("change", listener);
    },
    () => NARROW.matches,
  );
}

/** Callers hear of the rows on screen in steps of this many, not for every row that comes into sight. */
const VISIBLE_STEP = 10;

/** Rows on screen. Rows of another height, as when a phone is turned, get new places. */
function useRows(scroller: RefObject<HTMLDivElement | null>, count: number, height: number) {
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  });
  const placed = useRef(height);
  useLayoutEffect(() => {
    if (placed.current === height) return;
    placed.current = height;
    virtual.measure();
  }, [height, virtual]);
  return virtual;
}

/** A virtual table: only the rows on screen exist, and the caller fetches only those. */
export function VirtualTable<T>(props: TableProps<T>) {
  const { count, rowAt, idOf, onVisible, selected, onSelect } = props;
  const narrow = useNarrow();
  const columns = useMemo(
    () => props.columns.filter((column) => column.on !== (narrow ? "wide" : "narrow")),
    [narrow, props.columns],
  );
  // Fingers need more room.
  const rowHeight = narrow ? 52 : (props.rowHeight ?? 36);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useRows(scroller, count, rowHeight);
  const shown = virtual.getVirtualItems();
  const first = Math.floor((shown[0]?.index ?? 0) / VISIBLE_STEP) * VISIBLE_STEP;
  const last = Math.ceil((shown.at(-1)?.index ?? 0) / VISIBLE_STEP) * VISIBLE_STEP;
  useEffect(() => onVisible?.(first, last), [first, last, onVisible]);

  const template = [onSelect ? "1rem" : "", ...columns.map((column) => column.width)].join(" ");
  const { active, setActive, onKeyDown } = useRowKeys(props, (index) =>
    virtual.scrollToIndex(index),
  );
  // Rows are memoised, so what they call must stay the same between renders.
  const latest = useRef(props);
  latest.current = props;
  const open = useCallback(
    (row: T | undefined, index: number) => {
      setActive(index);
      if (row !== undefined) latest.current.onOpen?.(row, index);
    },
    [setActive],
  );
  const toggle = useCallback((row: T) => {
    const { selected: old, onSelect: select, idOf: id } = latest.current;
    const next = new Set(old);
    if (!next.delete(id(row))) next.add(id(row));
    select?.(next);
  }, []);

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
      <HeaderRow {...props} columns={columns} template={template} />
      {count === 0 && (
        <div role="row" aria-rowindex={2} tabIndex={-1}>
          <div role="gridcell" tabIndex={-1}>
            {props.empty}
          </div>
        </div>
      )}
      <div className="relative min-w-fit" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = rowAt(index);
          const id = row === undefined ? `#${index}` : idOf(row);
          return (
            <VirtualRow<T>
              key={id}
              id={id}
              index={index}
              start={start}
              height={rowHeight}
              row={row}
              columns={columns}
              template={template}
              selectable={onSelect !== undefined}
              selected={selected?.has(id) ?? false}
              open={props.openId === id}
              active={active === index}
              className={row === undefined ? undefined : props.rowClass?.(row)}
              onOpen={props.onOpen ? open : undefined}
              onToggle={toggle}
            />
          );
        })}
      </div>
    </div>
  );
}

function HeaderRow<T>(props: TableProps<T> & { template: string }) {
  const { columns, sort, onSort, selected, onSelect, allIds, template } = props;
  const allCount = props.allCount ?? allIds?.length ?? 0;
  // Checked at once, also while the ids are on their way.
  const [asked, setAsked] = useState(false);
  const all = asked || (allCount > 0 && (selected?.size ?? 0) >= allCount);
  return (
    <div
      role="row"
      aria-rowindex={1}
      tabIndex={-1}
      style={{ gridTemplateColumns: template }}
      className="sticky top-0 z-10 grid h-8 min-w-fit items-center gap-x-4 border-b bg-sunken px-3 text-xs font-medium text-soft"
    >
      {onSelect && (
        <div role="columnheader" tabIndex={-1} className="flex">
          <input
            type="checkbox"
            aria-label={texts.selectAllRows}
            checked={all}
            ref={(box) => {
              if (box) box.indeterminate = !all && (selected?.size ?? 0) > 0;
            }}
            onChange={() => {
              if (all) onSelect(new Set());
              else if (props.onSelectAll) {
                setAsked(true);
                void props.onSelectAll().finally(() => setAsked(false));
              } else onSelect(new Set(allIds));
            }}
            className="size-3.5 accent-accent"
          />
        </div>
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
