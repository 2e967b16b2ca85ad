import { useState } from "react";
import { useDialogDraft } from "~/shared/save-dialog";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Checkbox, SelectField, TextField } from "~/ui/field";
import { kindName } from "../widgets/kinds";
import type { WidgetContent } from "./draft";
import { COLUMNS, movedInside, type Place, ROWS, sizedInside } from "./geometry";
import { KIND_OPTIONS, kindOf, REFRESH } from "./kinds";
import { problemIn, settingValue, withSetting } from "./settings";
import { SettingsForm, type Surroundings } from "./settings-form";
import { texts } from "./texts";

interface PlaceFieldsProps {
  place: Place;
  onChange: (place: Place) => void;
}

/** The place in numbers: for those who neither drag nor use the arrow keys. */
function PlaceFields({ place, onChange }: PlaceFieldsProps) {
  const field = (side: keyof Place, label: string, most: number) => {
    // Columns and rows are counted from 1.
    const first = side === "x" || side === "y" ? 1 : 0;
    const inside = first === 1 ? movedInside : sizedInside;
    return (
      <TextField
        label={label}
        type="number"
        min={1}
        max={most}
        value={String(place[side] + first)}
        onChange={(text) => onChange(inside({ ...place, [side]: Number(text) - first }))}
      />
    );
  };
  return (
    <fieldset className="grid grid-cols-2 gap-4 sm:grid-cols-4">
      <legend className="pb-1 text-xs font-medium text-soft">{texts.placeNote}</legend>
      {field("x", texts.column, COLUMNS)}
      {field("y", texts.row, ROWS)}
      {field("width", texts.width, COLUMNS)}
      {field("height", texts.height, ROWS)}
    </fieldset>
  );
}

interface WidgetDialogProps extends Surroundings {
  content: WidgetContent;
  /** Null: the widget is new, and gets a free place. */
  place: Place | null;
  onApply: (content: WidgetContent, place: Place | null) => void;
  onClose: () => void;
}

/** Edits the settings of one widget. They are part of the dashboard's draft once they are applied. */
export function WidgetDialog({ onApply, onClose, ...props }: WidgetDialogProps) {
  const [content, setContent] = useState(props.content);
  const [place, setPlace] = useState(props.place);
  const [tried, setTried] = useState(false);
  const kind = kindOf(content.type);
  const draft = { content, place };
  const close = useDialogDraft({ draft, restored: false, error: null, onClose });
  const set = (next: Partial<WidgetContent>) => setContent({ ...content, ...next });
  const setFields = (fields: WidgetContent["fields"]) => set({ fields });
  const problem = problemIn(kind.settings, content.fields);
  const apply = () => {
    setTried(true);
    if (problem === undefined) onApply(content, place);
  };
  const isKnown = KIND_OPTIONS.some(([type]) => type === content.type);
  return (
    <Dialog
      wide
      title={place ? texts.widgetSettings(content.name || kindName(content.type)) : texts.newWidget}
      onClose={() => void close()}
      footer={
        <>
          {tried && problem && (
            <span role="alert" className="mr-auto self-center text-sm text-bad-ink">
              {problem}
            </span>
          )}
          <Button onClick={() => void close()}>{texts.cancel}</Button>
          <Button look="primary" onClick={apply}>
            {texts.apply}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={texts.type}
            options={isKnown ? KIND_OPTIONS : [[content.type, content.type], ...KIND_OPTIONS]}
            value={content.type}
            onChange={(type) => set({ type, fields: [] })}
          />
          <TextField
            label={texts.widgetName}
            maxLength={255}
            placeholder={texts.namePlaceholder(kindName(content.type))}
            value={content.name}
            onChange={(name) => set({ name })}
          />
          <SelectField
            label={REFRESH.label}
            options={REFRESH.options}
            value={settingValue(content.fields, REFRESH)}
            onChange={(value) => setFields(withSetting(content.fields, REFRESH, value, false))}
          />
          <Checkbox
            className="self-end sm:h-8"
            label={texts.showHeader}
            checked={!content.hideHeader}
            onChange={(event) => set({ hideHeader: !event.target.checked })}
          />
        </div>
        {isKnown ? (
          <SettingsForm
            {...props}
            settings={kind.settings}
            fields={content.fields}
            onChange={setFields}
          />
        ) : (
          <p className="text-sm text-soft">{texts.unknownKind}</p>
        )}
        {place && <PlaceFields place={place} onChange={setPlace} />}
        {/* Enter in a box applies. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
