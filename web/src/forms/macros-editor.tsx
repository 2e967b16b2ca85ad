import type { Macro } from "~/api/hosts";
import { Button, IconButton } from "~/ui/button";
import { Input, Select } from "~/ui/field";
import { macroProblem } from "~/util/macros";

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
  const set = (at: number, next: Partial<Macro>) =>
    onChange(macros.map((macro, i) => (i === at ? { ...macro, ...next, ...own(macro) } : macro)));
  return (
    <div className="flex flex-col gap-2">
      {macros.map((macro, i) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          key={i}
          className="grid grid-cols-[1fr_1fr_2rem] gap-2 max-sm:border-b max-sm:pb-2 sm:grid-cols-[1fr_1fr_6rem_1fr_2rem]"
        >
          <Input
            aria-label="Macro"
            placeholder="{$NAME}"
            title={'{$NAME}, {$NAME:"context"} or {$NAME:regex:"pattern"}'}
            aria-invalid={wrong(macro.macro) || undefined}
            className={`font-mono text-xs ${wrong(macro.macro) ? "border-bad-ink!" : ""}`}
            value={macro.macro}
            onChange={(e) => set(i, { macro: e.target.value })}
          />
          <Input
            aria-label="Value"
            type={macro.type === "1" ? "password" : "text"}
            placeholder={macro.type === "1" && macro.hostmacroid ? "unchanged" : "value"}
            value={macro.value ?? ""}
            onChange={(e) => set(i, { value: e.target.value })}
          />
          <Select
            aria-label="Type"
            className="max-sm:order-1"
            options={TYPES}
            value={macro.type}
            onChange={(e) => set(i, { type: e.target.value })}
          />
          <Input
            aria-label="Description"
            className="max-sm:order-1"
            placeholder="description"
            value={macro.description}
            onChange={(e) => set(i, { description: e.target.value })}
          />
          <IconButton
            icon="trash"
            label="Remove macro"
            onClick={() => onChange(macros.filter((_, at) => at !== i))}
          />
        </div>
      ))}
      {macros.some((macro) => wrong(macro.macro)) && (
        <p className="text-xs text-bad-ink">
          A macro is written {"{$NAME}"}, {'{$NAME:"context"}'} or {'{$NAME:regex:"pattern"}'}.
        </p>
      )}
      {macros.some((macro) => macro.automatic === "1") && (
        <p className="text-xs text-soft">
          Discovery keeps{" "}
          {macros.flatMap((one) => (one.automatic === "1" ? [one.macro] : [])).join(", ")}. What you
          change is this host's own from then on.
        </p>
      )}
      <Button
        small
        icon="plus"
        className="self-start"
        onClick={() => onChange([...macros, { macro: "", value: "", type: "0", description: "" }])}
      >
        Add macro
      </Button>
    </div>
  );
}
