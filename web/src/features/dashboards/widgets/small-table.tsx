import type { ReactNode } from "react";
import { cx } from "~/ui/cx";

interface SmallTableProps {
  label: string;
  head: readonly ReactNode[];
  rows: readonly { id: string; cells: readonly ReactNode[] }[];
  /** Columns from this one on are numbers or states: at the right, or in the middle. */
  numbersFrom?: number;
}

/** A table of a widget. The first cell of a row names it. */
export function SmallTable({ label, head, rows, numbersFrom = head.length }: SmallTableProps) {
  const side = (n: number) => (n >= numbersFrom ? "text-right" : "text-left");
  return (
    <table aria-label={label} className="w-full text-sm">
      <thead className="sticky top-0 z-10 bg-surface text-xs text-soft">
        <tr>
          {head.map((cell, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity
            <th key={n} scope="col" className={cx("px-3 py-1 font-medium", side(n))}>
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, cells }) => (
          <tr key={id} className="border-t">
            {cells.map((cell, n) =>
              n === 0 ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity
                <th key={n} scope="row" className={cx("px-3 py-1 font-normal", side(n))}>
                  {cell}
                </th>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity
                <td key={n} className={cx("px-3 py-1", side(n), n >= numbersFrom && "tabular")}>
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
