import { useQuery, useQueryClient } from "@tanstack/react-query";
import { hostQuery, type Macro } from "~/api/hosts";
import { macroLevelsQuery, saveMacros } from "~/api/macros";
import { MacroType } from "~/api/schema";
import { templateQuery } from "~/api/templates";
import { MacrosEditor } from "~/shared/forms/macros-editor";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { Empty } from "~/ui/state";
import { macroParams, macroProblem } from "~/util/macros";
import { CELL, PlainTable } from "./config-tables";
import { SaveDialog } from "./save-dialog";
import { texts } from "./texts";

/** Macros change items, triggers and expressions on every page. */
const EVERYTHING = [[]];

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
  const [macros, setMacros, restored] = useKeptState<Macro[]>("macros", [...own]);
  const client = useQueryClient();
  const wrong = macros
    .map((macro) => macro.macro.trim() && macroProblem(macro.macro))
    .find(Boolean);
  const now = async () => {
    const owner = template
      ? await client.fetchQuery({ ...templateQuery(ownerid), staleTime: 0 })
      : await client.fetchQuery({ ...hostQuery(ownerid), staleTime: 0 });
    return owner && { macros: owner.macros };
  };
  return (
    <SaveDialog
      title={texts.macros}
      word={texts.macrosWord}
      wide
      draft={macros}
      restored={restored}
      stale={{ before: { macros: own }, now }}
      problem={wrong || undefined}
      save={() => saveMacros(ownerid, template, macroParams(macros))}
      saved="The macros were saved."
      keys={EVERYTHING}
      onClose={onClose}
    >
      <MacrosEditor macros={macros} onChange={setMacros} />
    </SaveDialog>
  );
}

/** Every macro that counts for a host or template: its value, and where that comes from. */
export function MacrosView(props: MacrosViewProps) {
  const { ownerid, template } = props;
  const [editing, setEditing] = useKeptState("dialog", false);
  const query = useQuery(macroLevelsQuery(ownerid));
  const sourceOf = (row: Row) => row.from || (template ? texts.thisTemplate : texts.thisHost);
  const seen = new Set<string>();
  const rows: Row[] = (query.data ?? []).flatMap(({ from, macros }) =>
    macros.map((macro) => {
      const overridden = seen.has(macro.macro);
      seen.add(macro.macro);
      const value =
        macro.type === MacroType.Text
          ? (macro.value ?? "")
          : macro.type === MacroType.Secret
            ? "••••••"
            : "vault";
      return { ...macro, value, description: macro.description ?? "", from, overridden };
    }),
  );
  rows.sort(
    (a, b) => a.macro.localeCompare(b.macro) || Number(a.overridden) - Number(b.overridden),
  );
  const edit = (
    <Button icon="edit" className="self-start" onClick={() => setEditing(true)}>
      {texts.editMacros}
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
            <Empty icon="key" title={texts.noMacros} action={edit}>
              {texts.macrosAreValuesThat}
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
                row.value || <span className="font-sans text-faint">{texts.empty}</span>
              )}
            </td>
            <td className={`${CELL} text-soft`}>
              {row.overridden ? texts.fromOverridden(sourceOf(row)) : sourceOf(row)}
            </td>
            <td className={`${CELL} text-soft`}>{row.description}</td>
          </tr>
        )}
      />
      {editing && <MacrosDialog {...props} onClose={() => setEditing(false)} />}
    </div>
  );
}
