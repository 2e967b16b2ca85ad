import type { ReactNode } from "react";
import { RowsEditor } from "./rows-editor";

interface HeadedRowsProps<T> {
  /** Heads of the columns; "" for a box that has its own label. */
  heads: readonly string[];
  /** Columns of the heads and the rows; the last one is 2rem wide. */
  grid: string;
  /** More classes of the heads and of each row. */
  headClass?: string;
  rowClass?: string;
  rows: readonly T[];
  onChange: (rows: T[]) => void;
  /** What a row is, such as "server". */
  word: string;
  fresh: () => T;
  /** What is wrong with the rows. */
  problem: string | undefined;
  /** Below the rows and the problem. */
  note?: ReactNode;
  /** The boxes of a row. */
  children: (row: T, set: (next: Partial<T>) => void) => ReactNode;
}

/** Rows of boxes below the heads of their columns. */
export function HeadedRows<T>(props: HeadedRowsProps<T>) {
  const { grid, headClass = "", rowClass = "", problem } = props;
  return (
    <div className="flex flex-col gap-1">
      <div
        aria-hidden="true"
        className={`grid gap-2 text-xs font-medium text-soft ${headClass} ${grid}`}
      >
        {props.heads.map((head, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity but their place
          <span key={at} className="truncate">
            {head}
          </span>
        ))}
      </div>
      <RowsEditor
        rows={props.rows}
        onChange={props.onChange}
        word={props.word}
        fresh={props.fresh}
        columns={`items-center ${rowClass} ${grid}`}
        note={
          <>
            {problem && <p className="text-xs text-bad-ink">{problem}</p>}
            {props.note}
          </>
        }
      >
        {props.children}
      </RowsEditor>
    </div>
  );
}
