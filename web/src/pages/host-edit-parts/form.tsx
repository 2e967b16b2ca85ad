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
import { HostGroupPicker, TemplatePicker, useNewHostGroup } from "~/parts/pickers";
import { ask } from "~/ui/confirm";
import { Checkbox, Field, Input, Textarea } from "~/ui/field";
import { toast } from "~/ui/toast";
import { draftOf, hostParams, problemsOf, unlinkedTemplates, usesIpmi } from "./draft";
import { IpmiFields } from "./ipmi";
import { TlsFields } from "./tls";

/** Creates or edits a host. */
export function HostForm({ host }: { host: Host | null }) {
  const { draft, set, problems, check } = useDraft(
    () => draftOf(host, newInterface("1", true)),
    (draft) => problemsOf(draft, host === null),
  );
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
  const addGroup = useNewHostGroup((groupid) => set({ groupids: [...draft.groupids, groupid] }));
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
  const names = new Map(host?.parentTemplates.map((t) => [t.templateid, t.name]));

  return (
    <FormCard onSubmit={() => void submit()}>
      <FormSection
        title="Host"
        note="The host name is what agents send; the visible name is what people read."
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Host name" required error={problems.host}>
            {(id) => (
              <Input
                id={id}
                autoFocus={!host}
                value={draft.host}
                onChange={(e) => set({ host: e.target.value })}
              />
            )}
          </Field>
          <Field label="Visible name">
            {(id) => (
              <Input
                id={id}
                placeholder={draft.host}
                value={draft.name}
                onChange={(e) => set({ name: e.target.value })}
              />
            )}
          </Field>
        </div>
        <Field label="Host groups" required error={problems.groups}>
          {(id) => (
            <HostGroupPicker
              id={id}
              field
              values={draft.groupids}
              onChange={(groupids) => set({ groupids })}
              onCreate={addGroup}
            />
          )}
        </Field>
        <Field
          label="Templates"
          hint="What a template brings appears at once. Unlinking asks what becomes of it."
        >
          {(id) => (
            <TemplatePicker
              id={id}
              field
              names={names}
              values={draft.templateids}
              onChange={(templateids) => set({ templateids })}
            />
          )}
        </Field>
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
        <InterfacesEditor
          interfaces={draft.interfaces}
          onChange={(interfaces) => set({ interfaces })}
        />
      </FormSection>
      {usesIpmi(draft) && (
        <FormSection title="IPMI" note="Who asks the host's management controller.">
          <IpmiFields draft={draft} set={set} />
        </FormSection>
      )}
      <FormSection title="Tags" note="Go with every problem of this host.">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <FormSection title="Macros" note="Override those of templates and the global ones.">
        <MacrosEditor macros={draft.macros} onChange={(macros) => set({ macros })} />
      </FormSection>
      <FormSection title="Encryption" note="Between Vedette and this host's agent.">
        <TlsFields draft={draft} set={set} isNew={host === null} error={problems.psk} />
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
