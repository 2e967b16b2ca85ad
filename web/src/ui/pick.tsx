import { type ReactNode, useEffect, useRef, useState } from "react";
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
  /** The options are those of an earlier text. */
  busy?: boolean;
  /** Shows the chosen ones in the box, as a form field does. */
  field?: boolean;
  id?: string;
  onCreate?: (text: string) => void;
}

/** Chooses several of many, by typing. */
export function Pick(props: PickProps) {
  const { label, values, options, onChange, labelOf, onSearch, busy, field, id, onCreate } = props;
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
  const create = () => {
    if (!onCreate || !needle) return;
    onCreate(text.trim());
    search("");
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
          <SearchBox
            label={texts.searchLabel(label.toLowerCase())}
            text={text}
            onText={search}
            first={found[0]?.value}
            busy={busy}
            onChoose={(value) => (value === undefined ? create() : toggle(value))}
            onDown={() => list.current?.querySelector("button")?.focus()}
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
                onClick={create}
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

interface SearchBoxProps {
  label: string;
  text: string;
  onText: (text: string) => void;
  /** The first option. */
  first?: string;
  /** It is one of an earlier text. */
  busy?: boolean;
  /** Undefined: there is no option. */
  onChoose: (value: string | undefined) => void;
  onDown: () => void;
}

/** Enter chooses the first option of the text, which may still be on its way; leaving the box revokes it. */
function SearchBox({ label, text, onText, first, busy, onChoose, onDown }: SearchBoxProps) {
  const [entered, setEntered] = useState(false);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useEffect(() => {
    if (!entered || busy) return;
    setEntered(false);
    choose.current(first);
  }, [entered, busy, first]);
  return (
    <Input
      autoFocus
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => {
        setEntered(false);
        onText(event.target.value);
      }}
      onBlur={() => setEntered(false)}
      onKeyDown={(event) => {
        if (event.key === "ArrowDown") onDown();
        if (event.key !== "Enter") return;
        event.preventDefault();
        setEntered(true);
      }}
    />
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
