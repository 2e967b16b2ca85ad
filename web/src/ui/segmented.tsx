import { cx } from "./cx";

interface SegmentedProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChange: (value: T) => void;
}

/** A choice of one among a few, all in sight. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedProps<T>) {
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className="inline-flex h-8 max-w-full items-center overflow-x-auto rounded-md border max-sm:h-auto max-sm:flex-wrap [scrollbar-width:none] border-line-strong bg-sunken p-0.5"
    >
      {options.map(([option, text]) => (
        // biome-ignore lint/a11y/useSemanticElements: a radio input cannot be a segment of text
        <button
          key={option}
          type="button"
          role="radio"
          aria-checked={option === value}
          onClick={() => onChange(option)}
          className={cx(
            "h-6.5 rounded px-2.5 text-xs whitespace-nowrap",
            option === value
              ? "bg-surface font-medium text-ink shadow-card"
              : "text-soft hover:text-ink",
          )}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** The same in a form, with its label above. */
export function SegmentedField<T extends string>(props: SegmentedProps<T>) {
  return (
    <div className="flex flex-col items-start gap-1">
      <span aria-hidden="true" className="text-xs font-medium text-soft">
        {props.label}
      </span>
      <Segmented {...props} />
    </div>
  );
}

interface TabsProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string, count?: string | number])[];
  onChange: (value: T) => void;
}

/** Views of one thing. */
export function Tabs<T extends string>({ label, value, options, onChange }: TabsProps<T>) {
  return (
    <div
      role="tablist"
      aria-label={label}
      className="flex gap-1 overflow-x-auto overflow-y-hidden border-b [scrollbar-width:none]"
    >
      {options.map(([option, text, count]) => (
        <button
          key={option}
          type="button"
          role="tab"
          aria-selected={option === value}
          onClick={() => onChange(option)}
          className={cx(
            "flex h-9 shrink-0 items-center gap-1.5 border-b-2 px-2.5 text-sm whitespace-nowrap outline-offset-[-2px]",
            option === value
              ? "border-accent font-medium text-ink"
              : "border-transparent text-soft hover:text-ink",
          )}
        >
          {text}
          {count !== undefined && (
            <span className="tabular rounded-full bg-sunken px-1.5 text-2xs text-soft">
              {count}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
