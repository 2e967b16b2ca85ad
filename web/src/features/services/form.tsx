import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { deleteServices, type Service, saveService } from "~/api/services";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { TagConditionsEditor } from "~/shared/forms/tag-conditions";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { useDraft } from "~/shared/forms/use-draft";
import { buttonClass } from "~/ui/button";
import { Field, TextareaField, TextField } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { TAG_OPERATORS } from "~/util/services";
import { Calculation, type PartProps } from "./calculation";
import { StatusMark } from "./columns";
import { serviceDraft, serviceParams, serviceProblems } from "./draft";
import { ServicePicker } from "./picker";
import { texts } from "./texts";

function General({ draft, set, problems, isNew }: PartProps & { isNew: boolean }) {
  return (
    <FormSection title={texts.general}>
      <TextField
        label={texts.name}
        required
        error={problems.name}
        autoFocus={isNew}
        maxLength={128}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </FormSection>
  );
}

function Place({ draft, set, problems, id }: PartProps & { id: string | undefined }) {
  return (
    <FormSection title={texts.place} note={texts.placeNote}>
      <Field label={texts.parents}>
        {(field) => (
          <ServicePicker
            id={field}
            label={texts.parents}
            without={id}
            values={draft.parents}
            onChange={(parents) => set({ parents })}
          />
        )}
      </Field>
      <Field label={texts.children} error={problems.children}>
        {(field) => (
          <ServicePicker
            id={field}
            label={texts.children}
            without={id}
            values={draft.children}
            onChange={(children) => set({ children })}
          />
        )}
      </Field>
      <TextField
        label={texts.sortOrder}
        inputMode="numeric"
        hint={texts.sortOrderHint}
        error={problems.sortOrder}
        fieldClass="max-w-48"
        value={draft.sortOrder}
        onChange={(sortOrder) => set({ sortOrder })}
      />
    </FormSection>
  );
}

interface FormProps {
  service: Service | null;
  /** The service above a new one. */
  parentid?: string;
}

/** Creates or edits a service. */
export function ServiceForm({ service, parentid }: FormProps) {
  const drafting = useDraft(() => serviceDraft(service, parentid), serviceProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["services"] });
    void client.invalidateQueries({ queryKey: ["sli"] });
    void navigate({ to: "/services" });
  };
  const id = service?.serviceid;
  const part = { draft, set, problems };
  return (
    <>
      {service && (
        <div className="flex flex-wrap items-center gap-3 pb-3">
          <StatusMark status={service.status} />
          {service.readonly ? (
            <p className="text-soft">{texts.readOnly}</p>
          ) : (
            <Link
              to="/services/new"
              search={{ parent: service.serviceid }}
              className={buttonClass("plain", true)}
            >
              <Icon name="plus" size={13} />
              {texts.createChild(service.name)}
            </Link>
          )}
        </div>
      )}
      <ObjectForm
        word={texts.serviceWord}
        drafting={drafting}
        isNew={service === null}
        readOnly={service?.readonly}
        save={() => saveService(id ?? null, serviceParams(draft))}
        onSaved={leave}
        remove={() => deleteServices([id ?? ""])}
        onDeleted={leave}
        loss={texts.lossOnDelete}
      >
        <fieldset disabled={service?.readonly} className="min-w-0">
          <General {...part} isNew={service === null} />
          <FormSection title={texts.problemTags} note={texts.problemTagsNote}>
            <TagConditionsEditor
              tags={draft.problemTags}
              operators={TAG_OPERATORS}
              onChange={(problemTags) => set({ problemTags })}
            />
            {problems.problemTags && <p className="text-xs text-bad-ink">{problems.problemTags}</p>}
          </FormSection>
          <Place {...part} id={id} />
          <Calculation {...part} />
          <FormSection title={texts.serviceTags} note={texts.serviceTagsNote}>
            <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
          </FormSection>
        </fieldset>
      </ObjectForm>
    </>
  );
}
