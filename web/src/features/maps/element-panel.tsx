import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ICON, imageNamesQuery, type MapElement, mapsQuery } from "~/api/maps";
import { MapElementType } from "~/api/schema";
import { triggerLabel, triggerSearchQuery } from "~/api/trigger-config";
import { GroupPicker, HostPicker } from "~/shared/pickers";
import { Button } from "~/ui/button";
import { Field, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { isBehind, useSettled } from "~/util/hooks";
import type { ElementDraft } from "./draft";
import { texts } from "./texts";

export const ELEMENT_TYPES = [
  [MapElementType.Host, texts.host],
  [MapElementType.HostGroup, texts.hostGroup],
  [MapElementType.Trigger, texts.trigger],
  [MapElementType.Map, texts.map],
  [MapElementType.Image, texts.image],
] as const;

interface TriggersProps {
  id?: string;
  values: readonly string[];
  /** Names of triggers that were chosen before. */
  labelOf: (id: string) => string | undefined;
  onChange: (ids: string[]) => void;
}

/** Chooses triggers by their name. */
export function TriggersPicker({ id, values, labelOf, onChange }: TriggersProps) {
  const [text, setText] = useState("");
  const [seen] = useState(() => new Map<string, string>());
  const settled = useSettled(text);
  const search = useQuery(triggerSearchQuery(settled));
  const options = (search.data ?? []).map((found) => ({
    value: found.triggerid,
    label: triggerLabel(found),
  }));
  for (const option of options) seen.set(option.value, option.label);
  return (
    <Pick
      field
      id={id}
      label={texts.triggers}
      values={values}
      options={options}
      labelOf={(value) => seen.get(value) ?? labelOf(value)}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      onChange={onChange}
    />
  );
}

interface ShownProps {
  element: ElementDraft;
  /** The map that is edited, which cannot show itself. */
  sysmapid: string | null;
  triggerName: (id: string) => string | undefined;
  onChange: (elements: MapElement["elements"]) => void;
}

/** What an element shows. */
function Shown({ element, sysmapid, triggerName, onChange }: ShownProps) {
  const { data: maps = [] } = useQuery(mapsQuery());
  const ids = (key: keyof MapElement["elements"][number]) =>
    element.elements.flatMap((one) => one[key] ?? []);
  switch (element.elementtype) {
    case MapElementType.Host:
      return (
        <Field label={texts.host} required>
          {(id) => (
            <HostPicker
              field
              id={id}
              values={ids("hostid")}
              onChange={(ids) => onChange(ids.slice(-1).map((hostid) => ({ hostid })))}
            />
          )}
        </Field>
      );
    case MapElementType.HostGroup:
      return (
        <Field label={texts.hostGroup} required>
          {(id) => (
            <GroupPicker
              of="host"
              field
              id={id}
              values={ids("groupid")}
              onChange={(ids) => onChange(ids.slice(-1).map((groupid) => ({ groupid })))}
            />
          )}
        </Field>
      );
    case MapElementType.Trigger:
      return (
        <Field label={texts.triggers} required>
          {(id) => (
            <TriggersPicker
              id={id}
              values={ids("triggerid")}
              labelOf={triggerName}
              onChange={(ids) => onChange(ids.map((triggerid) => ({ triggerid })))}
            />
          )}
        </Field>
      );
    case MapElementType.Map: {
      const others = maps.filter((map) => map.sysmapid !== sysmapid);
      return (
        <SelectField
          label={texts.map}
          required
          options={[["", texts.choose], ...others.map((map) => [map.sysmapid, map.name] as const)]}
          value={ids("sysmapid")[0] ?? ""}
          onChange={(sysmapid) => onChange(sysmapid ? [{ sysmapid }] : [])}
        />
      );
    }
    default:
      return null;
  }
}

interface PanelProps extends Omit<ShownProps, "onChange"> {
  onChange: (next: Partial<ElementDraft>) => void;
  onRemove: () => void;
}

/** The settings of the selected element. */
export function ElementPanel({ onChange, onRemove, ...props }: PanelProps) {
  const { element } = props;
  const { data: images = [] } = useQuery(imageNamesQuery());
  const icons = images
    .filter(({ imagetype }) => imagetype === ICON)
    .map(({ imageid, name }) => [imageid, name] as const);
  const isChosen = icons.some(([id]) => id === element.iconid_off);
  return (
    <fieldset className="flex flex-col gap-4 rounded-md border p-4">
      <legend className="px-1 text-sm font-semibold">{texts.selectedElement}</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.elementType}
          options={ELEMENT_TYPES}
          value={element.elementtype}
          onChange={(elementtype) => onChange({ elementtype, elements: [] })}
        />
        <SelectField
          label={texts.icon}
          options={isChosen ? icons : [[element.iconid_off, texts.chooseIcon], ...icons]}
          value={element.iconid_off}
          onChange={(iconid_off) => onChange({ iconid_off })}
        />
        <Shown {...props} onChange={(elements) => onChange({ elements })} />
        <TextareaField
          label={texts.label}
          rows={2}
          maxLength={2048}
          value={element.label}
          onChange={(label) => onChange({ label })}
        />
        {(["x", "y"] as const).map((axis) => (
          <TextField
            key={axis}
            label={axis.toUpperCase()}
            type="number"
            min={0}
            value={String(element[axis])}
            onChange={(value) => onChange({ [axis]: Math.max(0, Math.round(Number(value))) })}
          />
        ))}
      </div>
      <Button small icon="trash" className="self-start" onClick={onRemove}>
        {texts.removeElement}
      </Button>
    </fieldset>
  );
}
