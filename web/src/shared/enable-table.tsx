import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Dot } from "~/ui/severity";
import { type Column, VirtualTable } from "~/ui/table";
import { toast } from "~/ui/toast";
import { formatCount, plural } from "~/util/format";
import { texts } from "./texts";

interface Changes {
  /** Without it they cannot be switched off. */
  enable?: (ids: string[], on: boolean) => Promise<unknown>;
  remove: (ids: string[]) => Promise<unknown>;
}

interface Options extends Changes {
  /** What it is, for counts: "rule". */
  word: string;
  /** Head of the keys of queries that change with it. */
  queryKey: string;
  /** What goes with it when it is deleted. */
  warning: string;
}

/** Selecting rows, switching them on and off, deleting them. */
export function useSwitches({ word, queryKey, warning, enable, remove }: Options) {
  const client = useQueryClient();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const change = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: () => setSelected(new Set()),
    onError: (error) => {
      const { what, todo } = explain(error);
      toast(`${what} ${todo}`, "bad");
    },
    onSettled: () => void client.invalidateQueries({ queryKey: [queryKey] }),
  });
  const onDelete = async (ids: string[]) => {
    const title = `Delete ${plural(ids.length, word)}?`;
    if (await confirmed(title, <p>{warning}</p>, texts.delete)) change.mutate(() => remove(ids));
  };
  const buttons = (ids: string[]): ReactNode =>
    ids.length > 0 && (
      <>
        {enable && (
          <>
            <Button onClick={() => change.mutate(() => enable(ids, true))}>{texts.enable}</Button>
            <Button onClick={() => change.mutate(() => enable(ids, false))}>{texts.disable}</Button>
          </>
        )}
        <Button look="danger" icon="trash" onClick={() => void onDelete(ids)}>
          {texts.deleteSelected(formatCount(ids.length))}
        </Button>
      </>
    );
  return { selected, setSelected, buttons };
}

/** Whether a row is switched on; a press changes that. */
export function Switch({ on, error }: { on: boolean; error?: string }) {
  const tone = error ? "bad" : on ? "good" : "off";
  const text = on ? (error ? "Error" : "Enabled") : "Disabled";
  return (
    <span className="inline-flex items-center gap-1.5" title={error || undefined}>
      <Dot tone={tone} />
      <span className={on ? undefined : "text-faint"}>{text}</span>
    </span>
  );
}

interface EnableTableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  idOf: (row: T) => string;
  /** Without them nothing can be selected. */
  selected?: ReadonlySet<string>;
  onSelect?: (selected: ReadonlySet<string>) => void;
  onOpen: (row: T) => void;
  empty: ReactNode;
}

/** A table of few rows that are all there, to be selected. */
export function EnableTable<T>(props: EnableTableProps<T>) {
  const { rows, idOf } = props;
  const ids = useMemo(() => rows.map(idOf), [rows, idOf]);
  return (
    <VirtualTable
      label={props.label}
      columns={props.columns}
      count={rows.length}
      rowAt={(index) => rows[index]}
      idOf={idOf}
      selected={props.selected}
      onSelect={props.onSelect}
      allIds={ids}
      onOpen={props.onOpen}
      empty={props.empty}
    />
  );
}
