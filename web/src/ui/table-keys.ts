import { type KeyboardEvent, useState } from "react";
import type { TableProps } from "./table";

const PAGE_ROWS = 15;

/** Where a key leads from the active row; null for keys that do not move. */
function destination(key: string, active: number, count: number): number | null {
  switch (key) {
    case "ArrowDown":
    case "j":
      return active + 1;
    case "ArrowUp":
    case "k":
      return active - 1;
    case "PageDown":
      return active + PAGE_ROWS;
    case "PageUp":
      return active - PAGE_ROWS;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

/** Moves the active row by keyboard and passes other keys on: arrows, j, k, Page, Home, End, Enter, x. */
export function useRowKeys<T>(props: TableProps<T>, scrollTo: (index: number) => void) {
  const { count, rowAt, idOf, onOpen, onKey, selected, onSelect } = props;
  const [active, setActive] = useState(-1);

  const move = (to: number) => {
    const index = Math.max(0, Math.min(count - 1, to));
    setActive(index);
    scrollTo(index);
    const row = rowAt(index);
    // With details open, moving shows the next row's details.
    if (props.openId !== undefined && row !== undefined) onOpen?.(row, index);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return;
    const target = event.target as HTMLElement;
    if (
      target.closest("input:not([type=checkbox]), select, textarea, a, button") &&
      event.key !== "Escape"
    )
      return;
    const to = destination(event.key, active, count);
    if (to !== null) {
      event.preventDefault();
      move(to);
      return;
    }
    const row = rowAt(active);
    if (row === undefined) return;
    if (event.key === "Enter") {
      event.preventDefault();
      onOpen?.(row, active);
    } else if ((event.key === "x" || event.key === " ") && onSelect) {
      event.preventDefault();
      const next = new Set(selected);
      if (!next.delete(idOf(row))) next.add(idOf(row));
      onSelect(next);
    } else if (onKey?.(event.key, row)) event.preventDefault();
  };

  return { active, setActive, onKeyDown };
}
