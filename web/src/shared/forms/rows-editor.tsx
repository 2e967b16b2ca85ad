import type { ReactNode } from "react";
import { Button, IconButton } from "~/ui/button";
import { patched, without } from "~/util/rows";
import { texts } from "../texts";

interface RowsEditorProps<T> {
  rows: readonly T[];
  onChange: (rows: T[]) => void;
  /** What a row is, such as "tag". */
  word: string;
  /** What a new row begins as. */
  fresh: () => T;
  /** The columns of a row; its last one, 2rem wide, has the button that removes it. */
  columns: string;
  /** The boxes have labels above them, so that the button moves down to the boxes. */
  labelled?: boolean;
  /** Below the rows: what is wrong with them. */
  note?: ReactNode;
  /** The boxes of a row. */
  children: (row: T, set: (next: Partial<T>) => void) => ReactNode;
}

/** Rows of boxes, with buttons that remove and add one. */
export function RowsEditor<T>(props: RowsEditorProps<T>) {
  const { rows, onChange, word } = props;
  return (
    <div className="flex flex-col gap-2">
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
        <div key={at} className={`grid gap-2 ${props.columns}`}>
          {props.children(row, (next) => onChange(patched(rows, at, next)))}
          <IconButton
            icon="trash"
            label={texts.removeWord(word)}
            className={props.labelled ? "mt-5" : undefined}
            onClick={() => onChange(without(rows, at))}
          />
        </div>
      ))}
      {props.note}
      <AddButton onClick={() => onChange([...rows, props.fresh()])}>
        {texts.addWord(word)}
      </AddButton>
    </div>
  );
}

interface AddButtonProps {
  onClick: () => void;
  children: ReactNode;
}

/** Adds a row at the end of a list. */
export function AddButton({ onClick, children }: AddButtonProps) {
  return (
    <Button small icon="plus" className="self-start" onClick={onClick}>
      {children}
    </Button>
  );
}
