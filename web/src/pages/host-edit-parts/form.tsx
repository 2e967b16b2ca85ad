import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { saveHost } from "~/api/host-changes";
import type { Host } from "~/api/hosts";
import { FormBar } from "~/forms/form-bar";
import { InterfacesEditor, newInterface } from "~/forms/interfaces-editor";
import { MacrosEditor } from "~/forms/macros-editor";
import { FormCard } from "~/forms/object-form";
import { FormSection } from "~/forms/section";
import { TagsEditor } from "~/forms/tags-editor";
import { useDraft } from "~/forms/use-draft";
import { HostFields } from "~/parts/host-fields";
import { ask } from "~/ui/confirm";
import { Checkbox, Field, Textarea } from "~/ui/field";
import { toast } from "~/ui/toast";
import {
  draftOf,
  hostParams,
  isDiscovered,
  problemsOf,
  unlinkedTemplates,
  usesIpmi,
} from "./draft";
import { IpmiFields } from "./ipmi";
import { TlsFields } from "./tls";

/** Creates or edits a host. */
export function HostForm({ host }: { host: Host | null }) {
  const { draft, set, problems, check } = useDraft(
    () => draftOf(host, newInterface("1", true)),
    (draft) => problemsOf(draft, host === null),
  );
  const discovered = isDiscovered(host);
  const client = useQueryClient();
  const navigate = useNavigate();
  const save = useMutation({
    mutationFn: (clear: boolean) => saveHost(host?.hostid ?? null, hostParams(draft, host, clear)),
    onSuccess: ({ hostids }) => {
      toast(host ? `${draft.host} was saved.` : `${draft.host} was created.`);
      void client.invalidateQueries();
      const hostid = hostids[0] ?? host?.hostid ?? "";
      void navigate({ to: "/hosts/$hostid", params: { hostid } });
    },
  });
  const submit = async () => {
    if (!check()) return;
    const unlinked = unlinkedTemplates(draft, host);
    if (unlinked.length === 0) return save.mutate(false);
    const choice = await ask({
      title: "Unlink templates?",
      body: (
        <>
          <p>{unlinked.map((template) => template.name).join(", ")} will no longer be linked.</p>
          <p>
            <b>Unlink</b> keeps the items, triggers and history it brought, as this host's own.{" "}
            <b>Unlink and clear</b> deletes them.
          </p>
        </>
      ),
      choices: [
        { value: "clear", label: "Unlink and clear", look: "danger", icon: "trash" },
        { value: "keep", label: "Unlink", look: "primary", icon: "unlink" },
      ],
    });
    if (choice) save.mutate(choice === "clear");
  };

  return (
    <FormCard onSubmit={() => void submit()}>
      <FormSection
        title="Host"
        note={
          discovered
            ? "Discovery made this host. Its names, groups, interfaces and encryption follow the host prototype and the rule's host; change them there."
            : "The host name is what agents send; the visible name is what people read."
        }
      >
        <HostFields
          draft={draft}
          set={set}
          problems={problems}
          isNew={host === null}
          fixed={discovered}
          templates={host?.parentTemplates ?? []}
          templatesHint="What a template brings appears at once. Unlinking asks what becomes of it."
        />
        <Field label="Description">
          {(id) => (
            <Textarea
              id={id}
              rows={2}
              value={draft.description}
              onChange={(e) => set({ description: e.target.value })}
            />
          )}
        </Field>
        <Checkbox
          label="Monitored"
          checked={draft.monitored}
          onChange={(e) => set({ monitored: e.target.checked })}
        />
      </FormSection>
      <FormSection
        title="Interfaces"
        note="Where Vedette connects to. Active agents and senders need none."
      >
        <fieldset disabled={discovered} className="contents">
          <InterfacesEditor
            interfaces={draft.interfaces}
            onChange={(interfaces) => set({ interfaces })}
          />
        </fieldset>
      </FormSection>
      {usesIpmi(draft) && (
        <FormSection title="IPMI" note="Who asks the host's management controller.">
          <fieldset disabled={discovered} className="contents">
            <IpmiFields draft={draft} set={set} />
          </fieldset>
        </FormSection>
      )}
      <FormSection title="Tags" note="Go with every problem of this host.">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <FormSection title="Macros" note="Override those of templates and the global ones.">
        <MacrosEditor macros={draft.macros} onChange={(macros) => set({ macros })} />
      </FormSection>
      <FormSection title="Encryption" note="Between Vedette and this host's agent.">
        <fieldset disabled={discovered} className="contents">
          <TlsFields draft={draft} set={set} isNew={host === null} error={problems.psk} />
        </fieldset>
      </FormSection>
      <FormBar
        save={host ? "Save host" : "Create host"}
        busy={save.isPending}
        error={save.error}
        problems={problems}
      />
    </FormCard>
  );
}
