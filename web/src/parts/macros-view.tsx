import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import type { Macro } from "~/api/hosts";
import { macroLevelsQuery, saveMacros } from "~/api/macros";
import { MacrosEditor } from "~/forms/macros-editor";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { Dialog } from "~/ui/dialog";
import { Empty, ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { macroParams, macroProblem } from "~/util/macros";
import { CELL, PlainTable } from "./config-tables";

interface MacrosViewProps {
  ownerid: string;
  template: boolean;
  /** The owner's own macros. */
  own: readonly Macro[];
}

interface Row {
  macro: string;
  value: string;
  description: string;
  from: string;
  overridden: boolean;
}

function MacrosDialog({
  ownerid,
  template,
  own,
  onClose,
}: MacrosViewProps & { onClose: () => void }) {
  const client = useQueryClient();
  const [macros, setMacros] = useState<Macro[]>([...own]);
  const wrong = macros.find((macro) => macro.macro.trim() && macroProblem(macro.macro));
  const save = useMutation({
    mutationFn: () => saveMacros(ownerid, template, macroParams(macros)),
    onSuccess: () => {
      toast("The macros were saved.");
      void client.invalidateQueries();
      onClose();
    },
  });
  return (
    <Dialog
      title="Macros"
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            busy={save.isPending}
            disabled={wrong !== undefined}
            onClick={() => save.mutate()}
          >
            Save macros
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {save.error && <ErrorNote {...explain(save.error)} />}
        <MacrosEditor macros={macros} onChange={setMacros} />
      </div>
    </Dialog>
  );
}

/** Every macro that counts for a host or template: its value, and where that comes from. */
export function MacrosView(props: MacrosViewProps) {
  const { ownerid, template } = props;
  const [editing, setEditing] = useState(false);
  const query = useQuery(macroLevelsQuery(ownerid));
  const seen = new Set<string>();
  const rows: Row[] = (query.data ?? []).flatMap(({ from, macros }) =>
    macros.map((macro) => {
      const overridden = seen.has(macro.macro);
      seen.add(macro.macro);
      const value =
        macro.type === "0" ? (macro.value ?? "") : macro.type === "1" ? "••••••" : "vault";
      return { ...macro, value, description: macro.description ?? "", from, overridden };
    }),
  );
  rows.sort(
    (a, b) => a.macro.localeCompare(b.macro) || Number(a.overridden) - Number(b.overridden),
  );
  const edit = (
    <Button icon="edit" className="self-start" onClick={() => setEditing(true)}>
      Edit macros
    </Button>
  );
  return (
    <div className="flex flex-col gap-3">
      {rows.length > 0 && edit}
      <PlainTable<Row>
        query={{ ...query, data: query.data && rows }}
        head={[
          ["Macro", ""],
          ["Value", ""],
          ["From", ""],
          ["Description", ""],
        ]}
        empty={
          <Card bodyClass="">
            <Empty icon="key" title="No macros" action={edit}>
              Macros are values that items and triggers refer to by name, such as {"{$CPU.MAX}"}.
            </Empty>
          </Card>
        }
        row={(row) => (
          <tr
            key={`${row.from}/${row.macro}`}
            className={`border-t hover:bg-hover ${row.overridden ? "text-faint" : ""}`}
          >
            <td className={`${CELL} font-mono text-xs break-all`}>{row.macro}</td>
            <td className={`${CELL} font-mono text-xs break-all`}>
              {row.overridden ? (
                <s>{row.value}</s>
              ) : (
                row.value || <span className="font-sans text-faint">(empty)</span>
              )}
            </td>
            <td className={`${CELL} text-soft`}>
              {row.from || (template ? "this template" : "this host")}
              {row.overridden && <span className="text-faint"> · overridden</span>}
            </td>
            <td className={`${CELL} text-soft`}>{row.description}</td>
          </tr>
        )}
      />
      {editing && <MacrosDialog {...props} onClose={() => setEditing(false)} />}
    </div>
  );
}
