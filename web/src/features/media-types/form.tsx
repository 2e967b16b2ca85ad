import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ComponentType, useMemo, useState } from "react";
import {
  deleteMediaTypes,
  type MediaType,
  mediaTypeNamesQuery,
  saveMediaType,
} from "~/api/media-types";
import { MediaTypeKind, Status } from "~/api/schema";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { Button } from "~/ui/button";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { mediaTypeDraft, mediaTypeParams, mediaTypeProblems } from "./draft";
import { EmailFields, type KindProps, ScriptFields, SmsFields, WebhookFields } from "./kind-fields";
import { KINDS } from "./kinds";
import { MessagesEditor } from "./messages-editor";
import { TestDialog } from "./test-dialog";
import { texts } from "./texts";

const FIELDS: Record<string, ComponentType<KindProps>> = {
  [MediaTypeKind.Email]: EmailFields,
  [MediaTypeKind.Webhook]: WebhookFields,
  [MediaTypeKind.Script]: ScriptFields,
  [MediaTypeKind.Sms]: SmsFields,
};

function General({ draft, set, problems, isNew }: KindProps) {
  return (
    <FormSection title={texts.general}>
      <TextField
        label={texts.name}
        required
        error={problems.name}
        autoFocus={isNew}
        maxLength={100}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <SegmentedField
        label={texts.kind}
        value={KINDS.find(([kind]) => kind === draft.type)?.[0] ?? MediaTypeKind.Email}
        options={KINDS}
        onChange={(type) => set({ type })}
      />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      <Checkbox
        label={texts.enabled}
        checked={draft.on}
        onChange={(e) => set({ on: e.target.checked })}
      />
    </FormSection>
  );
}

/** What sends messages that failed for good; not the media type itself. */
function Fallback({ draft, set, id }: Pick<KindProps, "draft" | "set"> & { id: string | null }) {
  const { data = [] } = useQuery(mediaTypeNamesQuery());
  const others = data.filter(({ mediatypeid }) => mediatypeid !== id);
  const chosen = others.find(({ mediatypeid }) => mediatypeid === draft.fallback);
  const unknown = draft.fallback !== "0" && !chosen;
  return (
    <SelectField
      label={texts.fallback}
      fieldClass="max-w-80"
      hint={draft.fallback === "0" ? undefined : texts.fallbackHint}
      error={chosen?.status === Status.Disabled ? texts.fallbackIsOff : undefined}
      options={[
        ["0", texts.noFallback],
        ...others.map((one) => [one.mediatypeid, one.name] as const),
        ...(unknown ? [[draft.fallback, texts.typeNumber(draft.fallback)] as const] : []),
      ]}
      value={draft.fallback}
      onChange={(fallback) => set({ fallback })}
    />
  );
}

/** How many messages an address gets at most. */
function StormLimit({ draft, set, problems }: Pick<KindProps, "draft" | "set" | "problems">) {
  return (
    <>
      <Checkbox
        label={texts.limited}
        checked={draft.limited}
        onChange={(e) => set({ limited: e.target.checked })}
      />
      {draft.limited && (
        <>
          <div className="grid gap-4 sm:grid-cols-3">
            <TextField
              label={texts.stormMessages}
              inputMode="numeric"
              error={problems.stormMessages}
              value={draft.stormMessages}
              onChange={(stormMessages) => set({ stormMessages })}
            />
            <TextField
              label={texts.stormPeriod}
              error={problems.stormPeriod}
              value={draft.stormPeriod}
              onChange={(stormPeriod) => set({ stormPeriod })}
            />
          </div>
          <p className="text-xs text-soft">{texts.stormNote}</p>
        </>
      )}
    </>
  );
}

function Delivery({ draft, set, problems, id }: KindProps & { id: string | null }) {
  return (
    <FormSection title={texts.delivery} note={texts.deliveryNote}>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          label={texts.attempts}
          inputMode="numeric"
          error={problems.attempts}
          value={draft.attempts}
          onChange={(attempts) => set({ attempts })}
        />
        <TextField
          label={texts.interval}
          error={problems.interval}
          value={draft.interval}
          onChange={(interval) => set({ interval })}
        />
        {draft.type !== MediaTypeKind.Sms && (
          <TextField
            label={texts.sessions}
            inputMode="numeric"
            hint={texts.sessionsHint}
            error={problems.sessions}
            value={draft.sessions}
            onChange={(sessions) => set({ sessions })}
          />
        )}
      </div>
      <StormLimit {...{ draft, set, problems }} />
      <Fallback {...{ draft, set, id }} />
    </FormSection>
  );
}

/** Creates or edits a media type. */
export function MediaTypeForm({ mediaType }: { mediaType: MediaType | null }) {
  const drafting = useDraft(() => mediaTypeDraft(mediaType), mediaTypeProblems);
  const { draft, set, problems } = drafting;
  const [testing, setTesting] = useState(false);
  const stored = useMemo(() => mediaTypeDraft(mediaType), [mediaType]);
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["mediatypes"] });
    void navigate({ to: "/media-types" });
  };
  const id = mediaType?.mediatypeid ?? null;
  const isNew = id === null;
  const OfKind = FIELDS[draft.type] ?? EmailFields;
  return (
    <ObjectForm
      word={texts.mediaTypeWord}
      drafting={drafting}
      isNew={isNew}
      save={() => saveMediaType(id, mediaTypeParams(draft))}
      onSaved={leave}
      remove={() => deleteMediaTypes([id ?? ""])}
      onDeleted={leave}
      loss={texts.lossOnDelete}
      buttons={
        id !== null && (
          <>
            <Button icon="flask" onClick={() => setTesting(true)}>
              {texts.test}
            </Button>
            {testing && (
              <TestDialog
                mediatypeid={id}
                draft={stored}
                edited={JSON.stringify(draft) !== JSON.stringify(stored)}
                onClose={() => setTesting(false)}
              />
            )}
          </>
        )
      }
    >
      <General {...{ draft, set, problems, isNew }} />
      <OfKind {...{ draft, set, problems, isNew }} />
      <FormSection title={texts.messages} note={texts.messagesNote}>
        <MessagesEditor
          messages={draft.messages}
          type={draft.type}
          onChange={(messages) => set({ messages })}
        />
      </FormSection>
      <Delivery {...{ draft, set, problems, isNew, id }} />
    </ObjectForm>
  );
}
