import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { cx } from "./cx";
import { Icon } from "./icon";

const BOX =
  "w-full rounded-md border border-line-strong bg-surface text-ink text-sm px-2.5 " +
  "hover:border-faint focus:border-accent focus:outline-2 focus:outline-offset-0 focus:outline-accent/30 " +
  "disabled:bg-sunken disabled:text-soft";

interface FieldProps {
  label: string;
  /** What belongs in here, below the box. */
  hint?: ReactNode;
  error?: string;
  required?: boolean;
  className?: string;
  children: (id: string, describedBy: string | undefined) => ReactNode;
}

/** Label, control, hint and error, tied together for screen readers. */
export function Field({ label, hint, error, required, className, children }: FieldProps) {
  const id = useId();
  const describedBy = hint || error ? `${id}-note` : undefined;
  return (
    <div className={cx("flex flex-col gap-1", className)}>
      <label htmlFor={id} className="text-xs font-medium text-soft">
        {label}
        {required && <span className="text-bad-ink"> *</span>}
      </label>
      {children(id, describedBy)}
      {(error || hint) && (
        <p id={describedBy} className={cx("text-xs", error ? "text-bad-ink" : "text-faint")}>
          {error || hint}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return (
    <input autoComplete="off" spellCheck={false} {...rest} className={cx(BOX, "h-8", className)} />
  );
}

export function Textarea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <textarea spellCheck={false} {...rest} className={cx(BOX, "py-1.5 leading-5", className)} />
  );
}

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  options: readonly (readonly [value: string, label: string])[];
}

export function Select({ options, className, ...rest }: SelectProps) {
  return (
    <span className={cx("relative inline-flex w-full", className)}>
      <select {...rest} className={cx(BOX, "h-8 appearance-none pr-7")}>
        {options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <Icon
        name="down"
        size={14}
        className="pointer-events-none absolute right-2 top-2.25 text-faint"
      />
    </span>
  );
}

/** What a labelled box has beside what the box itself takes. */
interface LabelledProps extends Omit<FieldProps, "className" | "children"> {
  /** Of label and box together; `className` is the box's own. */
  fieldClass?: string;
  onChange: (value: string) => void;
}
type Labelled<Box> = LabelledProps & Omit<Box, "id" | keyof LabelledProps>;

/** Which part of its properties is the label's, and which the box's. */
function divided<P extends LabelledProps>(props: P) {
  const { label, hint, error, required, fieldClass, onChange, ...box } = props;
  const field = { label, hint, error, required, className: fieldClass };
  return { field, box, onChange };
}

/** A line of text with its label. */
export function TextField(props: Labelled<InputHTMLAttributes<HTMLInputElement>>) {
  const { field, box, onChange } = divided(props);
  return (
    <Field {...field}>
      {(id) => <Input id={id} {...box} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

/** Lines of text with their label. */
export function TextareaField(props: Labelled<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const { field, box, onChange } = divided(props);
  return (
    <Field {...field}>
      {(id) => <Textarea id={id} {...box} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

/** A choice with its label. */
export function SelectField(props: Labelled<SelectProps>) {
  const { field, box, onChange } = divided(props);
  return (
    <Field {...field}>
      {(id) => <Select id={id} {...box} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type"> {
  label: ReactNode;
}

export function Checkbox({ label, className, ...rest }: CheckboxProps) {
  return (
    <label className={cx("inline-flex items-center gap-2 text-sm select-none", className)}>
      <input type="checkbox" {...rest} className="size-3.5 shrink-0 accent-accent" />
      {label}
    </label>
  );
}

interface SearchProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  className?: string;
}

/** A search box with its icon; the page decides when typing takes effect. */
export function SearchBox({ value, onChange, label, className }: SearchProps) {
  return (
    <span className={cx("relative inline-flex", className)}>
      <Icon
        name="search"
        size={14}
        className="pointer-events-none absolute left-2.5 top-2.25 text-faint"
      />
      <Input
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="pl-8"
      />
    </span>
  );
}
