import { cx } from "~/ui/cx";

interface MaskProps {
  label: string;
  names: readonly string[];
  mask: number;
  onChange: (mask: number) => void;
}

/** Several of a few names, all in sight, as the bits of a number. */
export function Mask({ label, names, mask, onChange }: MaskProps) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-xs font-medium text-soft">{label}</legend>
      <div className="flex flex-wrap gap-1">
        {names.map((name, bit) => {
          const on = ((mask >> bit) & 1) === 1;
          return (
            <button
              key={name}
              type="button"
              aria-pressed={on}
              onClick={() => onChange(mask ^ (1 << bit))}
              className={cx(
                "h-8 min-w-11 rounded-md border px-2 text-xs",
                on
                  ? "border-accent/50 bg-accent-soft font-medium text-accent-ink"
                  : "border-line-strong bg-surface text-soft hover:text-ink",
              )}
            >
              {name}
            </button>
          );
        })}
      </div>
    </fieldset>
  );
}
