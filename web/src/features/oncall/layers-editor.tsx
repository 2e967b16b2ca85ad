import { Mask } from "~/shared/forms/mask";
import { AddButton, RowsEditor } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { Input, Select, SelectField, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { WEEKDAYS } from "~/util/maintenance";
import { HOLIDAY_RULES } from "~/util/oncall";
import { moved, patched, without } from "~/util/rows";
import { ALL_WEEK, type LayerDraft, type LayerSource, newLayer, UNITS } from "./draft";
import { texts } from "./texts";

export type UserChoices = readonly (readonly [userid: string, name: string])[];

interface LayerProps {
  layer: LayerDraft;
  set: (next: Partial<LayerDraft>) => void;
  users: UserChoices;
}

/** The users in the order of their shifts; one may come more than once. */
function Turn({ layer, set, users }: LayerProps) {
  const known = new Set(users.map(([id]) => id));
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-xs font-medium text-soft">{texts.usersInTurn}</legend>
      <RowsEditor
        word={texts.userWord}
        rows={layer.users}
        onChange={(next) => set({ users: next })}
        fresh={() => ({ userid: "" })}
        columns="grid-cols-[1.25rem_minmax(0,1fr)_2rem_2rem_2rem] items-center"
      >
        {(row, change) => {
          const at = layer.users.indexOf(row);
          const move = (to: number) => set({ users: moved(layer.users, at, to) });
          const missing = row.userid && !known.has(row.userid);
          return (
            <>
              <span className="tabular text-right text-xs text-faint">{at + 1}</span>
              <Select
                aria-label={texts.user}
                options={[
                  ["", texts.chooseUser],
                  ...users,
                  ...(missing ? [[row.userid, `${texts.user} ${row.userid}`] as const] : []),
                ]}
                value={row.userid}
                onChange={(event) => change({ userid: event.target.value })}
              />
              <IconButton
                icon="up"
                label={texts.moveUp}
                disabled={at === 0}
                onClick={() => move(at - 1)}
              />
              <IconButton
                icon="arrowDown"
                label={texts.moveDown}
                disabled={at === layer.users.length - 1}
                onClick={() => move(at + 1)}
              />
            </>
          );
        }}
      </RowsEditor>
    </fieldset>
  );
}

function Rotation(props: LayerProps) {
  const { layer, set } = props;
  return (
    <>
      <Turn {...props} />
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <TextField
          label={texts.starts}
          required
          type="datetime-local"
          value={layer.start}
          onChange={(start) => set({ start })}
        />
        <div className="grid grid-cols-[minmax(0,1fr)_6rem] items-end gap-2">
          <TextField
            label={texts.every}
            required
            inputMode="numeric"
            value={layer.every}
            onChange={(every) => set({ every })}
          />
          <Select
            aria-label={texts.unit}
            options={UNITS}
            value={layer.unit}
            onChange={(event) => set({ unit: event.target.value })}
          />
        </div>
        {layer.unit !== "h" && (
          <TextField
            label={texts.handoff}
            type="time"
            hint={texts.handoffHint}
            value={layer.handoff}
            onChange={(handoff) => set({ handoff })}
          />
        )}
        <TextField
          label={texts.ends}
          type="datetime-local"
          hint={texts.endsHint}
          value={layer.end}
          onChange={(end) => set({ end })}
        />
      </div>
    </>
  );
}

function Restrictions({ layer, set }: Omit<LayerProps, "users">) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-xs font-medium text-soft">{texts.restrictions}</legend>
      <RowsEditor
        word={texts.restrictionWord}
        rows={layer.restrictions}
        onChange={(restrictions) => set({ restrictions })}
        fresh={() => ({ weekdays: ALL_WEEK, from: "18:00", to: "08:00" })}
        columns="grid-cols-[minmax(0,1fr)_minmax(0,1fr)_2rem] items-end sm:grid-cols-[minmax(0,1fr)_6.5rem_6.5rem_2rem]"
        note={<p className="text-xs text-faint">{texts.restrictionsHint}</p>}
      >
        {(row, change) => (
          <>
            <div className="max-sm:col-span-3">
              <Mask
                label={texts.weekdays}
                names={WEEKDAYS}
                mask={row.weekdays}
                onChange={(weekdays) => change({ weekdays })}
              />
            </div>
            {(["from", "to"] as const).map((end) => (
              <Input
                key={end}
                aria-label={texts[end]}
                // A box for times does not take 24:00.
                placeholder="08:00"
                maxLength={5}
                value={row[end]}
                onChange={(event) => change({ [end]: event.target.value })}
              />
            ))}
          </>
        )}
      </RowsEditor>
    </fieldset>
  );
}

const SOURCES: readonly (readonly [LayerSource, string])[] = [
  ["rotation", "Rotation"],
  ["calendar", "Calendar"],
];

function Layer(props: LayerProps) {
  const { layer, set } = props;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label={texts.layerName}
          required
          maxLength={255}
          value={layer.name}
          onChange={(name) => set({ name })}
        />
        <SegmentedField<LayerSource>
          label={texts.source}
          value={layer.source}
          options={SOURCES}
          onChange={(source) => set({ source })}
        />
      </div>
      {layer.source === "rotation" && <Rotation {...props} />}
      {layer.source === "calendar" && (
        <TextareaField
          label={texts.calendarText}
          required
          rows={6}
          hint={texts.calendarTextHint}
          value={layer.calendar}
          onChange={(calendar) => set({ calendar })}
        />
      )}
      <Restrictions {...props} />
      <SelectField
        label={texts.onHolidays}
        fieldClass="max-w-56"
        options={HOLIDAY_RULES}
        value={layer.onHolidays}
        onChange={(onHolidays) => set({ onHolidays })}
      />
    </>
  );
}

interface LayersEditorProps {
  layers: readonly LayerDraft[];
  onChange: (layers: LayerDraft[]) => void;
  users: UserChoices;
  problems: Record<string, string>;
}

/** The layers, the weakest first. */
export function LayersEditor({ layers, onChange, users, problems }: LayersEditorProps) {
  const add = () =>
    onChange([
      ...layers,
      newLayer(texts.layerNumber(layers.length + 1), Math.floor(Date.now() / 1000)),
    ]);
  return (
    <div className="flex flex-col gap-3">
      {layers.map((layer, at) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: layers have no identity but their place
          key={at}
          aria-label={texts.layerNumber(at + 1)}
          className="flex min-w-0 flex-col gap-3 rounded-md border p-3"
        >
          <div className="-mb-1 flex items-center">
            <span className="flex-1 text-xs font-semibold text-soft">
              {texts.layerNumber(at + 1)}
            </span>
            <IconButton
              icon="up"
              label={texts.moveUp}
              disabled={at === 0}
              onClick={() => onChange(moved(layers, at, at - 1))}
            />
            <IconButton
              icon="arrowDown"
              label={texts.moveDown}
              disabled={at === layers.length - 1}
              onClick={() => onChange(moved(layers, at, at + 1))}
            />
            <IconButton
              icon="trash"
              label={texts.removeLayer}
              onClick={() => onChange(without(layers, at))}
            />
          </div>
          <Layer layer={layer} set={(next) => onChange(patched(layers, at, next))} users={users} />
          {problems[`layer${at}`] && (
            <p className="text-xs text-bad-ink">{problems[`layer${at}`]}</p>
          )}
        </fieldset>
      ))}
      <AddButton onClick={add}>{texts.addLayer}</AddButton>
      {problems.layers && <p className="text-xs text-bad-ink">{problems.layers}</p>}
    </div>
  );
}
