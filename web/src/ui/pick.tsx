import { type ReactNode, useRef, useState } from "react";
import { cx } from "./cx";
import { Input } from "./field";
import { Icon } from "./icon";
import { Popover } from "./popover";
import { texts } from "./texts";

export interface Option {
  value: string;
  label: string;
  mark?: ReactNode;
}

interface PickProps {
  /** What is chosen here: "Host groups". */
  label: string;
  values: readonly string[];
  options: readonly Option[];
  onChange: (values: string[]) => void;
  /** Words for chosen values that are not among the options (those not loaded). */
  labelOf?: (value: string) => string | undefined;
  /** Tells the text typed, where the options come from a search. */
  onSearch?: (text: string) => void;
  /** Shows the chosen ones in the box, as a form field does. */
  field?: boolean;
  id?: string;
  onCreate?: (text: string) => void;
}

/** Chooses several of many, by typing. */
export function Pick(props: PickProps) {
  const { label, values, options, onChange, labelOf, onSearch, field, id, onCreate } = props;
  const [text, setText] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const needle = text.trim().toLowerCase();
  const found = onSearch ? options : options.filter((o) => o.label.toLowerCase().includes(needle));
  const words = (value: string) =>
    options.find((o) => o.value === value)?.label ?? labelOf?.(value) ?? value;
  const toggle = (value: string) =>
    onChange(values.includes(value) ? values.filter((v) => v !== value) : [...values, value]);
  const search = (next: string) => {
    setText(next);
    onSearch?.(next);
  };
  const exact = options.some((o) => o.label.toLowerCase() === needle);
  return (
    <Popover
      className="w-72"
      trigger={({ open, toggle: flip }) =>
        field ? (
          <FieldTrigger {...{ id, label, values, words, flip, open }} onRemove={toggle} />
        ) : (
          <button
            type="button"
            aria-expanded={open}
            onClick={flip}
            className={cx(
              "inline-flex h-8 max-w-56 items-center gap-1.5 rounded-md border px-2.5 text-sm hover:bg-hover",
              values.length
                ? "border-accent/50 bg-accent-soft text-accent-ink"
                : "border-line-strong bg-surface text-soft",
            )}
          >
            <span className="truncate">
              {values.length === 0
                ? label
                : values.length === 1
                  ? words(values[0] ?? "")
                  : `${label}: ${values.length}`}
            </span>
            <Icon name="down" size={13} />
          </button>
        )
      }
    >
      {() => (
        <div>
          <Input
            autoFocus
            aria-label={texts.searchLabel(label.toLowerCase())}
            placeholder={texts.searchLabel(label.toLowerCase())}
            value={text}
            onChange={(event) => search(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "ArrowDown") list.current?.querySelector("button")?.focus();
              if (event.key !== "Enter") return;
              event.preventDefault();
              if (found[0]) toggle(found[0].value);
            }}
          />
          <div
            ref={list}
            className="mt-1 max-h-72 overflow-auto"
            role="listbox"
            aria-label={label}
            aria-multiselectable
          >
            {found.slice(0, 100).map((option) => (
              <OptionRow
                key={option.value}
                option={option}
                chosen={values.includes(option.value)}
                onToggle={toggle}
              />
            ))}
            {found.length === 0 && !onCreate && (
              <p className="px-2.5 py-2 text-xs text-faint">{texts.noMatches}</p>
            )}
            {onCreate && needle && !exact && (
              <button
                type="button"
                className="flex h-8 w-full items-center gap-2 rounded-md px-2.5 text-left text-sm text-accent-ink hover:bg-hover"
                onClick={() => onCreate(text.trim())}
              >
                <Icon name="plus" size={14} /> {texts.create(text.trim())}
              </button>
            )}
          </div>
          {values.length > 0 && !field && (
            <button
              type="button"
              className="mt-1 h-7 w-full rounded-md text-xs text-soft hover:bg-hover"
              onClick={() => onChange([])}
            >
              {texts.clear}
            </button>
          )}
        </div>
      )}
    </Popover>
  );
}

function OptionRow({
  option,
  chosen,
  onToggle,
}: {
  option: Option;
  chosen: boolean;
  onToggle: (v: string) => void;
}) {
  return (
    <button
      type="button"
      role="option"
      aria-selected={chosen}
      onClick={() => onToggle(option.value)}
      onKeyDown={(event) => {
        const row = event.currentTarget;
        const next =
          event.key === "ArrowDown"
            ? row.nextElementSibling
            : event.key === "ArrowUp"
              ? row.previousElementSibling
              : null;
        if (next instanceof HTMLElement) {
          event.preventDefault();
          next.focus();
        }
      }}
      className="flex h-8 w-full items-center gap-2 rounded-md px-2.5 text-left text-sm hover:bg-hover focus:bg-hover"
    >
      <span
        className={cx(
          "flex size-3.5 shrink-0 items-center justify-center rounded-sm border",
          chosen ? "border-accent bg-accent text-on-accent" : "border-line-strong",
        )}
      >
        {chosen && <Icon name="check" size={11} />}
      </span>
      {option.mark}
      <span className="truncate">{option.label}</span>
    </button>
  );
}

interface TriggerProps {
  id?: string;
  label: string;
  values: readonly string[];
  words: (value: string) => string;
  flip: () => void;
  open: boolean;
  onRemove: (value: string) => void;
}

function FieldTrigger({ id, label, values, words, flip, open, onRemove }: TriggerProps) {
  return (
    <div className="flex min-h-8 w-full flex-wrap items-center gap-1 rounded-md border border-line-strong bg-surface px-1.5 py-1 hover:border-faint in-disabled:bg-sunken in-disabled:opacity-70">
      {values.map((value) => (
        <span
          key={value}
          className="inline-flex h-6 items-center gap-1 rounded bg-accent-soft pl-2 text-xs text-accent-ink"
        >
          {words(value)}
          <button
            type="button"
            aria-label={texts.removeWhat(words(value))}
            className="px-1 hover:text-ink disabled:invisible"
            onClick={() => onRemove(value)}
          >
            <Icon name="close" size={11} />
          </button>
        </span>
      ))}
      <button
        id={id}
        type="button"
        aria-expanded={open}
        onClick={flip}
        className="inline-flex h-6 items-center gap-1 rounded px-1.5 text-xs text-soft hover:bg-hover hover:text-ink disabled:invisible"
      >
        <Icon name="plus" size={12} />{" "}
        {values.length ? texts.add : texts.chooseLabel(label.toLowerCase())}
      </button>
    </div>
  );
}
