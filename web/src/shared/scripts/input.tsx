import { Field, Input, Select } from "~/ui/field";
import { InputCheck, inputChoices } from "~/util/scripts";
import { texts } from "./texts";

interface ManualInputProps {
  /** The question of the script. */
  prompt: string;
  type: string;
  validator: string;
  value: string;
  error?: string;
  onChange: (value: string) => void;
}

/** The box or list in which a user enters the input of a script. */
export function ManualInput(props: ManualInputProps) {
  const { prompt, type, validator, value, error, onChange } = props;
  return (
    <Field label={prompt || texts.input} error={error}>
      {(id, describedBy) =>
        type === InputCheck.List ? (
          <Select
            id={id}
            autoFocus
            aria-describedby={describedBy}
            options={[
              ...(inputChoices(validator).includes(value) ? [] : [["", texts.choose] as const]),
              ...inputChoices(validator).map((one) => [one, one] as const),
            ]}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <Input
            id={id}
            autoFocus
            aria-invalid={error !== undefined}
            aria-describedby={describedBy}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}
