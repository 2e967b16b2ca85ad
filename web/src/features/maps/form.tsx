import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { mapFactsQuery } from "~/api/map-facts";
import { BACKGROUND, deleteMap, ICON, imageNamesQuery, type NetworkMap, saveMap } from "~/api/maps";
import { MapElementType, MapLabelType } from "~/api/schema";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { Sharing } from "~/shared/forms/sharing";
import { useDraft } from "~/shared/forms/use-draft";
import { Button } from "~/ui/button";
import { SelectField, TextField } from "~/ui/field";
import { Canvas } from "./canvas";
import {
  changed,
  type ElementDraft,
  type MapDraft,
  mapDraft,
  mapParams,
  mapProblems,
  placed,
  withElement,
  withoutElement,
} from "./draft";
import { ELEMENT_TYPES, ElementPanel } from "./element-panel";
import { usePlaneHistory } from "./history";
import { LinksEditor } from "./links-editor";
import { usePictures } from "./pictures";
import { nameOf } from "./state";
import { texts } from "./texts";

const LABELS = [
  [MapLabelType.Label, texts.labelOwn],
  [MapLabelType.Address, texts.labelAddress],
  [MapLabelType.Name, texts.labelName],
  [MapLabelType.Status, texts.labelStatus],
  [MapLabelType.Nothing, texts.labelNothing],
] as const;
const LOCATIONS = [
  ["0", texts.below],
  ["1", texts.left],
  ["2", texts.right],
  ["3", texts.above],
] as const;
const GRIDS = ["20", "40", "50", "75", "100"].map((side) => [side, texts.pixels(side)] as const);
/** The name of the icon of new elements. */
const FIRST_ICON = "Server_(64)";

interface PartProps {
  draft: MapDraft;
  set: (next: Partial<MapDraft>) => void;
  problems: Record<string, string>;
}

function General({ draft, set, problems }: PartProps) {
  const { data: images = [] } = useQuery(imageNamesQuery());
  const backgrounds = images.filter(({ imagetype }) => imagetype === BACKGROUND);
  return (
    <FormSection title={texts.general}>
      <TextField
        label={texts.name}
        required
        error={problems.name}
        maxLength={128}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        {(["width", "height"] as const).map((side) => (
          <TextField
            key={side}
            label={texts[side]}
            required
            type="number"
            min={1}
            error={problems[side]}
            value={draft[side]}
            onChange={(value) => set({ [side]: value })}
          />
        ))}
        <SelectField
          label={texts.grid}
          options={GRIDS}
          value={draft.gridSize}
          onChange={(gridSize) => set({ gridSize: gridSize as MapDraft["gridSize"] })}
        />
        <SelectField
          label={texts.background}
          options={[
            ["0", texts.noBackground],
            ...backgrounds.map(({ imageid, name }) => [imageid, name] as const),
          ]}
          value={draft.backgroundid}
          onChange={(backgroundid) => set({ backgroundid })}
        />
        <SelectField
          label={texts.labels}
          options={LABELS}
          value={draft.labelType}
          onChange={(labelType) => set({ labelType: labelType as MapDraft["labelType"] })}
        />
        <SelectField
          label={texts.labelLocation}
          options={LOCATIONS}
          value={draft.labelLocation}
          onChange={(location) => set({ labelLocation: location as MapDraft["labelLocation"] })}
        />
      </div>
    </FormSection>
  );
}

/** The plane with its elements and links. */
function PlaneEditor({ draft, set, problems, sysmapid }: PartProps & { sysmapid: string | null }) {
  const [selected, setSelected] = useState<string | null>(null);
  const [kind, setKind] = useState<string>(MapElementType.Host);
  const { change, undo, redo } = usePlaneHistory(draft, set);
  const { data: images = [] } = useQuery(imageNamesQuery());
  const { data: facts } = useQuery(mapFactsQuery(draft.elements, draft.links));
  const pictures = usePictures([
    draft.backgroundid,
    ...draft.elements.map(({ iconid_off }) => iconid_off),
  ]);
  const typeOf = ({ elementtype }: ElementDraft) =>
    ELEMENT_TYPES.find(([number]) => number === elementtype)?.[1] ?? "";
  const shownName = (element: ElementDraft) =>
    (facts && nameOf(element, facts)) || element.label || typeOf(element);
  const triggerName = (id: string) => facts?.triggers.get(id)?.description;
  const element = draft.elements.find(({ selementid }) => selementid === selected);
  const add = () => {
    const icons = images.filter(({ imagetype }) => imagetype === ICON);
    const icon = icons.find(({ name }) => name === FIRST_ICON) ?? icons[0];
    // New elements stand side by side.
    const step = 2 * Number(draft.gridSize) + draft.elements.length * 100;
    const [width, height] = [Number(draft.width), Number(draft.height)];
    const column = step % Math.max(100, width - 100);
    const row = 100 * (1 + Math.floor(step / Math.max(100, width - 100)));
    const at = placed(column, row, Number(draft.gridSize), width, height);
    const fresh = { elementtype: kind, elements: [], iconid_off: icon?.imageid ?? "0", label: "" };
    const [next, id] = withElement(draft, { ...fresh, ...at, tags: [] });
    change(next);
    setSelected(id);
  };
  const remove = (id: string) => {
    change(withoutElement(draft, id));
    setSelected(null);
  };
  return (
    <section className="flex flex-col gap-4 border-b py-5">
      <div className="flex flex-wrap items-end gap-2">
        <SelectField
          label={texts.newElement}
          options={ELEMENT_TYPES}
          value={kind}
          onChange={setKind}
          fieldClass="w-44"
        />
        <Button icon="plus" onClick={add}>
          {texts.addElement}
        </Button>
        <Button disabled={!undo} onClick={undo}>
          {texts.undo}
        </Button>
        <Button disabled={!redo} onClick={redo}>
          {texts.redo}
        </Button>
      </div>
      <p className="text-xs text-soft">{texts.planeHint}</p>
      {problems.elements && <p className="text-xs text-bad-ink">{problems.elements}</p>}
      <Canvas
        draft={draft}
        pictures={pictures}
        nameOf={shownName}
        selected={selected}
        onSelect={setSelected}
        onMove={(id, to) => change(changed(draft, id, to))}
        onRemove={remove}
      />
      {element && (
        <ElementPanel
          key={element.selementid}
          element={element}
          sysmapid={sysmapid}
          triggerName={triggerName}
          onChange={(next) => change(changed(draft, element.selementid, next))}
          onRemove={() => remove(element.selementid)}
        />
      )}
      <h2 className="text-sm font-semibold">{texts.links}</h2>
      <LinksEditor
        links={draft.links}
        elements={draft.elements}
        selected={selected}
        nameOf={shownName}
        triggerName={triggerName}
        problem={problems.links}
        onChange={(links) => change({ elements: draft.elements, links })}
      />
    </section>
  );
}

/** Creates or edits a map. */
export function MapForm({ map }: { map: NetworkMap | null }) {
  const drafting = useDraft(() => mapDraft(map), mapProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const sysmapid = map?.sysmapid ?? null;
  const refresh = () => client.invalidateQueries({ queryKey: ["maps"] });
  const part = { draft, set, problems };
  return (
    <ObjectForm
      word={texts.mapWord}
      drafting={drafting}
      isNew={sysmapid === null}
      save={() => saveMap(sysmapid, mapParams(draft, map))}
      onSaved={(id) => {
        void refresh();
        void navigate({ to: "/maps/$sysmapid", params: { sysmapid: id } });
      }}
      remove={() => deleteMap(sysmapid ?? "")}
      onDeleted={() => {
        void refresh();
        void navigate({ to: "/maps" });
      }}
      loss={texts.lossOnDelete}
    >
      <General {...part} />
      <PlaneEditor {...part} sysmapid={sysmapid} />
      <Sharing draft={draft} set={set} note={texts.sharingNote} isPrivate={texts.isPrivate} />
    </ObjectForm>
  );
}
