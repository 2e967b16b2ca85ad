import type { Macro } from "~/api/hosts";
import { MacroType } from "~/api/schema";
import { Input, Select } from "~/ui/field";
import { macroProblem } from "~/util/macros";
import { texts } from "../texts";
import { RowsEditor } from "./rows-editor";

interface MacrosEditorProps {
  macros: readonly Macro[];
  onChange: (macros: Macro[]) => void;
}

const wrong = (macro: string) => macro.trim() !== "" && macroProblem(macro) !== undefined;

/** What discovery made becomes people's own with a change. */
const own = ({ automatic }: Macro): Partial<Macro> => (automatic === "1" ? { automatic: "0" } : {});

const TYPES = [
  ["0", "Text"],
  ["1", "Secret"],
  ["2", "Vault"],
] as const;

/** User macros, a line each. A stored secret stays as it is unless a new value is typed. */
export function MacrosEditor({ macros, onChange }: MacrosEditorProps) {
  const note = (
    <>
      {macros.some((macro) => wrong(macro.macro)) && (
        <p className="text-xs text-bad-ink">{texts.enterAMacroAs}</p>
      )}
      {macros.some((macro) => macro.automatic === "1") && (
        <p className="text-xs text-soft">
          {texts.discoveryMaintains(
            macros.flatMap((one) => (one.automatic === "1" ? [one.macro] : [])).join(", "),
          )}
        </p>
      )}
    </>
  );
  return (
    <RowsEditor
      word={texts.macro}
      rows={macros}
      onChange={onChange}
      fresh={(): Macro => ({ macro: "", value: "", type: "0", description: "" })}
      columns="grid-cols-[1fr_1fr_2rem] max-sm:border-b max-sm:pb-2 sm:grid-cols-[1fr_1fr_6rem_1fr_2rem]"
      note={note}
    >
      {(macro, change) => {
        const set = (next: Partial<Macro>) => change({ ...next, ...own(macro) });
        return (
          <>
            <Input
              aria-label={texts.macroLabel}
              placeholder={texts.macroExample}
              title={texts.nameNameContextOr}
              aria-invalid={wrong(macro.macro) || undefined}
              className={`font-mono text-xs ${wrong(macro.macro) ? "border-bad-ink!" : ""}`}
              value={macro.macro}
              onChange={(e) => set({ macro: e.target.value })}
            />
            <Input
              aria-label={texts.value}
              type={macro.type === MacroType.Secret ? "password" : "text"}
              placeholder={
                macro.type === MacroType.Secret && macro.hostmacroid
                  ? texts.unchanged
                  : texts.valueWord
              }
              value={macro.value ?? ""}
              onChange={(e) => set({ value: e.target.value })}
            />
            <Select
              aria-label={texts.type}
              className="max-sm:order-1"
              options={TYPES}
              value={macro.type}
              onChange={(e) => set({ type: e.target.value })}
            />
            <Input
              aria-label={texts.description}
              className="max-sm:order-1"
              placeholder={texts.descriptionWord}
              value={macro.description}
              onChange={(e) => set({ description: e.target.value })}
            />
          </>
        );
      }}
    </RowsEditor>
  );
}
