import type { ReactNode } from "react";
import { AddButton } from "~/shared/forms/rows-editor";
import { TagConditionsEditor } from "~/shared/forms/tag-conditions";
import { SeverityPicker } from "~/shared/pickers";
import { IconButton } from "~/ui/button";
import { Checkbox, Field, Input, Select, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import {
  type Fields,
  fieldValue,
  listValues,
  NUMBER_FIELD,
  type NumberedRow,
  numberedRows,
  referenceOf,
  rowsOf,
  TEXT_FIELD,
  withList,
  withNumberedRows,
  withReference,
  withRows,
  withValue,
} from "./fields";
import { ObjectPicker } from "./object-picker";
import { DASHBOARD } from "./references";
import {
  counts,
  type DataType,
  fieldType,
  freshRow,
  type Objects,
  type Options,
  type Rows,
  type Setting,
  settingValue,
  withSetting,
  withSeveral,
} from "./settings";
import { texts } from "./texts";

/** What the form of a widget knows of its dashboard. */
export interface Surroundings {
  /** The template whose dashboard is edited; null: it is one of users. */
  templateid: string | null;
  /** Where settings can read this kind of data. */
  sourcesOf: (data: DataType) => Options;
}

interface FormProps extends Surroundings {
  settings: readonly Setting[];
  fields: Fields;
  onChange: (fields: Fields) => void;
  /** The fields are those of a row. */
  inRow?: boolean;
}

interface ControlProps<S extends Setting = Setting> extends Omit<FormProps, "settings"> {
  setting: S;
}

/** `tags.0.operator` of Zabbix 7.0. */
const TAG_OPERATORS: Options = [
  ["4", texts.hasTag],
  ["1", texts.equals],
  ["0", texts.contains],
  ["5", texts.doesNotExist],
  ["3", texts.doesNotEqual],
  ["2", texts.doesNotContain],
];
const BLACK = "000000";

function Tags({ setting, fields, onChange }: ControlProps) {
  const rows = rowsOf(fields, setting.name).map((row) => ({
    tag: fieldValue(row, "tag") ?? "",
    operator: fieldValue(row, "operator") ?? "0",
    value: fieldValue(row, "value") ?? "",
  }));
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="sr-only">{setting.label}</legend>
      <TagConditionsEditor
        tags={rows}
        operators={TAG_OPERATORS}
        onChange={(tags) =>
          onChange(
            withRows(
              fields,
              setting.name,
              tags.map(({ tag, operator, value }) => [
                { type: TEXT_FIELD, name: "tag", value: tag },
                { type: NUMBER_FIELD, name: "operator", value: operator },
                { type: TEXT_FIELD, name: "value", value },
              ]),
            ),
          )
        }
      />
    </fieldset>
  );
}

function Colour({ setting, fields, onChange, inRow = false }: ControlProps) {
  const value = settingValue(fields, setting);
  const needed = setting.kind === "colour" && setting.initial !== "";
  const set = (next: string) => onChange(withSetting(fields, setting, next, inRow));
  return (
    <Field label={setting.label}>
      {(id) => (
        <span className="flex h-8 items-center gap-3">
          {/* A colour that new rows have cannot be left out. */}
          {!needed && (
            <Checkbox
              aria-label={texts.ownColour(setting.label)}
              label={null}
              checked={value !== ""}
              onChange={(event) => set(event.target.checked ? BLACK : "")}
            />
          )}
          <Input
            id={id}
            type="color"
            className="w-16 px-1"
            disabled={value === "" && !needed}
            value={`#${value || BLACK}`}
            onChange={(event) => set(event.target.value.slice(1).toUpperCase())}
          />
        </span>
      )}
    </Field>
  );
}

function Several({ setting, fields, onChange }: ControlProps) {
  if (setting.kind !== "several") return null;
  const stored = listValues(fields, setting.name);
  const chosen = stored.length > 0 ? stored : setting.initial;
  const toggled = (value: string) =>
    setting.options.map(([one]) => one).filter((one) => chosen.includes(one) !== (one === value));
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <legend className="pb-1 text-xs font-medium text-soft">{setting.label}</legend>
      {setting.options.map(([value, label]) => (
        <Checkbox
          key={value}
          label={label}
          checked={chosen.includes(value)}
          // One stays: without any, the default counts.
          disabled={setting.initial.length > 0 && chosen.length === 1 && chosen[0] === value}
          onChange={() => onChange(withSeveral(fields, setting, toggled(value)))}
        />
      ))}
    </fieldset>
  );
}

interface SourceProps {
  label: string;
  sources: Options;
  /** Without a reference. */
  none: string;
  reference: string;
  onChange: (reference: string) => void;
}

/** From where a setting takes its value: a widget, the dashboard, or the form. */
function Source({ label, sources, none, reference, onChange }: SourceProps) {
  const isKnown = reference === "" || sources.some(([value]) => value === reference);
  return (
    <Select
      aria-label={label}
      options={[
        ["", none],
        ...sources,
        ...(isKnown ? [] : [[reference, texts.unavailable] as const]),
      ]}
      value={reference}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function ObjectsControl({ setting, fields, onChange, ...around }: ControlProps<Objects>) {
  const { name, label, many } = setting;
  const reference = referenceOf(fields, name);
  const sources = setting.from ? around.sourcesOf(setting.from) : [];
  return (
    <Field label={label} required={setting.required}>
      {(id) => (
        <div className="flex flex-col gap-2">
          {(sources.length > 0 || reference !== "") && (
            <Source
              label={texts.source(label)}
              sources={sources}
              none={texts.chosenHere}
              reference={reference}
              onChange={(next) => onChange(withReference(fields, name, next))}
            />
          )}
          {reference === "" && (
            <ObjectPicker
              of={setting.of}
              templateid={around.templateid}
              id={id}
              label={label}
              values={listValues(fields, name)}
              onChange={(ids) =>
                onChange(withList(fields, name, fieldType(setting), many ? ids : ids.slice(-1)))
              }
            />
          )}
        </div>
      )}
    </Field>
  );
}

const OWN = "own";

function Period({ setting, fields, onChange, sourcesOf }: ControlProps) {
  const [from, to] = [`${setting.name}.from`, `${setting.name}.to`];
  const isOwn = fieldValue(fields, from) !== undefined || fieldValue(fields, to) !== undefined;
  const dashboard = `${DASHBOARD}._timeperiod`;
  const sources = sourcesOf("_timeperiod").filter(([value]) => value !== dashboard);
  const reference = referenceOf(fields, setting.name);
  const choose = (value: string) => {
    const none = withReference(fields, setting.name, value === OWN ? "" : value);
    const own = withValue(withValue(none, from, TEXT_FIELD, "now-1h"), to, TEXT_FIELD, "now");
    onChange(value === OWN ? own : none);
  };
  return (
    <fieldset className="grid gap-2 sm:grid-cols-3">
      <legend className="sr-only">{setting.label}</legend>
      <SelectField
        label={setting.label}
        options={[
          [dashboard, texts.periodOfDashboard],
          [OWN, texts.periodOwn],
          ...sources,
          ...(["", dashboard, ...sources.map(([value]) => value)].includes(reference)
            ? []
            : [[reference, texts.unavailable] as const]),
        ]}
        value={isOwn ? OWN : reference || dashboard}
        onChange={choose}
      />
      {isOwn &&
        (
          [
            [from, texts.from],
            [to, texts.to],
          ] as const
        ).map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            hint={texts.periodHint}
            value={fieldValue(fields, name) ?? ""}
            onChange={(value) => onChange(withValue(fields, name, TEXT_FIELD, value))}
          />
        ))}
    </fieldset>
  );
}

/** Rows of settings, each with a form of its own. */
function RowsControl({ setting, fields, onChange, ...around }: ControlProps<Rows>) {
  const { name, word, settings } = setting;
  const rows = numberedRows(fields, name);
  const write = (next: readonly NumberedRow[]) =>
    onChange(
      setting.numbered
        ? withNumberedRows(fields, name, next)
        : withRows(
            fields,
            name,
            next.map(([, row]) => row),
          ),
    );
  const last = rows.at(-1)?.[0] ?? 0;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs font-medium text-soft">
        {setting.label}
        {setting.required && <span className="text-bad-ink"> *</span>}
      </legend>
      {rows.map(([number, row], at) => {
        const shown = setting.numbered ? number : at + 1;
        return (
          <fieldset key={number} className="flex flex-col gap-3 rounded-md border p-3">
            <legend className="px-1 text-xs font-semibold">{texts.rowTitle(word, shown)}</legend>
            <div className="flex items-start gap-2">
              <div className="min-w-0 flex-1">
                <SettingsForm
                  {...around}
                  inRow
                  settings={settings}
                  fields={row}
                  onChange={(next) =>
                    write(rows.map((one) => (one[0] === number ? [number, next] : one)))
                  }
                />
              </div>
              <IconButton
                icon="trash"
                label={texts.removeRow(word, shown)}
                onClick={() => write(rows.filter((one) => one[0] !== number))}
              />
            </div>
          </fieldset>
        );
      })}
      <AddButton onClick={() => write([...rows, [last + 1, freshRow(settings)]])}>
        {texts.addRow(word)}
      </AddButton>
    </fieldset>
  );
}

/** Settings that take the whole width of the form. */
const WIDE: readonly Setting["kind"][] = ["rows", "tags", "several", "period"];

function Control(props: ControlProps): ReactNode {
  const { setting, fields, onChange, inRow = false } = props;
  const { name, label } = setting;
  const value = settingValue(fields, setting);
  const set = (next: string) => onChange(withSetting(fields, setting, next, inRow));
  switch (setting.kind) {
    case "choice": {
      const isKnown = setting.options.some(([one]) => one === value);
      const options = isKnown ? setting.options : [[value, value] as const, ...setting.options];
      return <SelectField label={label} options={options} value={value} onChange={set} />;
    }
    case "flag":
      return (
        <Checkbox
          className="mt-auto self-start sm:h-8"
          label={label}
          checked={value === "1"}
          onChange={(event) => set(event.target.checked ? "1" : "0")}
        />
      );
    case "number":
      return (
        <TextField
          label={label}
          type="number"
          min={setting.min}
          max={setting.max}
          value={value}
          onChange={set}
        />
      );
    case "text": {
      const box = { label, required: setting.required, maxLength: 2048, value, onChange: set };
      return setting.tall ? <TextareaField rows={2} {...box} /> : <TextField {...box} />;
    }
    case "colour":
      return <Colour {...props} />;
    case "several":
      return <Several {...props} />;
    case "severities":
      return (
        <Field label={label} hint={texts.anySeverity}>
          {(id) => (
            <SeverityPicker
              field
              id={id}
              values={listValues(fields, name)}
              onChange={(values) => onChange(withSeveral(fields, setting, values))}
            />
          )}
        </Field>
      );
    case "patterns": {
      const values = listValues(fields, name);
      const setList = (next: string[]) => onChange(withList(fields, name, TEXT_FIELD, next));
      return (
        <Field label={label} required={setting.required} hint={texts.patternHint}>
          {(id) => (
            <Pick
              field
              id={id}
              label={label}
              values={values}
              options={values.map((one) => ({ value: one, label: one }))}
              onChange={setList}
              onCreate={(text) => setList([...values, text])}
            />
          )}
        </Field>
      );
    }
    case "tags":
      return <Tags {...props} />;
    case "objects":
      return <ObjectsControl {...props} setting={setting} />;
    case "override":
      return (
        <Field label={label}>
          {() => (
            <Source
              label={label}
              sources={props.sourcesOf(setting.from)}
              none={texts.noOverride}
              reference={referenceOf(fields, name)}
              onChange={(next) => onChange(withReference(fields, name, next))}
            />
          )}
        </Field>
      );
    case "period":
      return <Period {...props} />;
    case "rows":
      return <RowsControl {...props} setting={setting} />;
  }
}

/** The settings of a widget, or of a row in it. */
export function SettingsForm({ settings, fields, ...props }: FormProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {settings
        .filter((setting) => counts(setting, settings, fields))
        .map((setting) => (
          <div
            key={`${setting.kind} ${setting.name}`}
            className={
              WIDE.includes(setting.kind) ? "min-w-0 sm:col-span-2" : "flex min-w-0 flex-col"
            }
          >
            <Control {...props} setting={setting} fields={fields} />
          </div>
        ))}
    </div>
  );
}
