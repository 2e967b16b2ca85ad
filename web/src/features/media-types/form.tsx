import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ComponentType, useMemo, useState } from "react";
import { deleteMediaTypes, type MediaType, saveMediaType } from "~/api/media-types";
import { MediaTypeKind } from "~/api/schema";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { Button } from "~/ui/button";
import { Checkbox, TextareaField, TextField } from "~/ui/field";
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

function Delivery({ draft, set, problems }: KindProps) {
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
      <Delivery {...{ draft, set, problems, isNew }} />
    </ObjectForm>
  );
}
