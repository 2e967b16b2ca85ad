import { useEffect, useState } from "react";
import { Button } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Input } from "~/ui/field";
import type { FilterFault } from "~/util/transactions";
import { texts } from "./texts";

interface FilterBoxProps {
  value: string;
  onSearch: (filter: string) => void;
  fault: FilterFault | null;
  busy: boolean;
}

/** Conditions in the language of `vedette transactions`; a search is started, not followed while typing. */
export function FilterBox({ value, onSearch, fault, busy }: FilterBoxProps) {
  const [text, setText] = useState(value);
  // The address changed by itself (back, a condition that was clicked): follow it.
  useEffect(() => setText(value), [value]);
  return (
    <form
      className="flex min-w-0 flex-1 basis-80 flex-col gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim());
      }}
    >
      <div className="flex gap-2">
        <Input
          data-search
          aria-label={texts.filter}
          aria-invalid={fault !== null}
          aria-describedby={fault ? "filter-fault" : undefined}
          placeholder={texts.filterExample}
          title={texts.filterHelp}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className={cx("font-mono text-xs", fault && "border-bad-ink")}
        />
        <Button type="submit" look="primary" icon="search" busy={busy}>
          {text.trim() === value ? texts.refresh : texts.search}
        </Button>
      </div>
      {fault && (
        <p id="filter-fault" role="alert" className="text-xs text-bad-ink">
          <code className="mr-2 font-mono whitespace-pre-wrap text-soft">
            {fault.parts[0]}
            <mark className="rounded-sm bg-transparent text-bad-ink underline decoration-wavy underline-offset-2">
              {fault.parts[1]}
            </mark>
            {fault.parts[2]}
          </code>
          {fault.text}
        </p>
      )}
    </form>
  );
}
