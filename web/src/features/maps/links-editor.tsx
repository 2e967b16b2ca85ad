import { RowsEditor } from "~/shared/forms/rows-editor";
import { Field, Input, Select, SelectField, TextField } from "~/ui/field";
import type { ElementDraft, LinkDraft } from "./draft";
import { TriggersPicker } from "./element-panel";
import { texts } from "./texts";

const STYLES = [
  ["0", texts.line],
  ["2", texts.bold],
  ["3", texts.dotted],
  ["4", texts.dashed],
] as const;
const LINK_COLOUR = "00CC00";
const PROBLEM_COLOUR = "DD0000";

interface ColourProps {
  id?: string;
  label?: string;
  /** Six hexadecimal digits. */
  value: string;
  onChange: (value: string) => void;
}

function Colour({ id, label, value, onChange }: ColourProps) {
  return (
    <Input
      id={id}
      aria-label={label}
      type="color"
      className="p-0.5"
      value={`#${value}`}
      onChange={(event) => onChange(event.target.value.slice(1).toUpperCase())}
    />
  );
}

interface IndicatorsProps {
  link: LinkDraft;
  triggerName: (id: string) => string | undefined;
  onChange: (triggers: LinkDraft["linktriggers"]) => void;
}

/** Triggers whose problems give a link another look. */
function Indicators({ link, triggerName, onChange }: IndicatorsProps) {
  return (
    <RowsEditor
      word={texts.indicator}
      rows={link.linktriggers}
      onChange={onChange}
      fresh={() => ({ triggerid: "", drawtype: "0", color: PROBLEM_COLOUR })}
      columns="grid-cols-[minmax(0,1fr)_7rem_3.5rem_2rem]"
    >
      {(one, set) => (
        <>
          <TriggersPicker
            values={one.triggerid ? [one.triggerid] : []}
            labelOf={triggerName}
            onChange={(ids) => set({ triggerid: ids.at(-1) ?? "" })}
          />
          <Select
            aria-label={texts.problemStyle}
            options={STYLES}
            value={one.drawtype}
            onChange={(event) => set({ drawtype: event.target.value })}
          />
          <Colour
            label={texts.problemColour}
            value={one.color}
            onChange={(color) => set({ color })}
          />
        </>
      )}
    </RowsEditor>
  );
}

interface LinksProps {
  links: readonly LinkDraft[];
  elements: readonly ElementDraft[];
  /** The element that a new link begins at. */
  selected: string | null;
  nameOf: (element: ElementDraft) => string;
  triggerName: (id: string) => string | undefined;
  problem: string | undefined;
  onChange: (links: LinkDraft[]) => void;
}

/** The links between elements. */
export function LinksEditor(props: LinksProps) {
  const { links, elements, selected, nameOf, triggerName, problem, onChange } = props;
  const ends = elements.map((one) => [one.selementid, nameOf(one)] as const);
  const [first = "", second = ""] = [
    selected ?? "",
    ...elements.map((one) => one.selementid).filter((id) => id !== selected),
  ].filter(Boolean);
  if (elements.length < 2) return <p className="text-soft">{texts.linksNeedTwo}</p>;
  return (
    <RowsEditor
      word={texts.linkWord}
      rows={links}
      onChange={onChange}
      fresh={() => ({
        linkid: "",
        selementid1: first,
        selementid2: second,
        drawtype: "0",
        color: LINK_COLOUR,
        label: "",
        linktriggers: [],
      })}
      columns="grid-cols-[minmax(0,1fr)_2rem] border-b pb-4"
      labelled
      note={problem && <p className="text-xs text-bad-ink">{problem}</p>}
    >
      {(link, set) => (
        <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-[1fr_1fr_7rem_3.5rem]">
          <SelectField
            label={texts.from}
            options={ends}
            value={link.selementid1}
            onChange={(selementid1) => set({ selementid1 })}
          />
          <SelectField
            label={texts.to}
            options={ends}
            value={link.selementid2}
            onChange={(selementid2) => set({ selementid2 })}
          />
          <SelectField
            label={texts.style}
            options={STYLES}
            value={link.drawtype}
            onChange={(drawtype) => set({ drawtype })}
          />
          <Field label={texts.colour}>
            {(id) => <Colour id={id} value={link.color} onChange={(color) => set({ color })} />}
          </Field>
          <TextField
            label={texts.label}
            maxLength={2048}
            fieldClass="col-span-full"
            value={link.label}
            onChange={(label) => set({ label })}
          />
          <div className="col-span-full">
            <Indicators
              link={link}
              triggerName={triggerName}
              onChange={(linktriggers) => set({ linktriggers })}
            />
          </div>
        </div>
      )}
    </RowsEditor>
  );
}
