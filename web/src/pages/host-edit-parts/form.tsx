import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { explain } from "~/api/errors";
import { createHostGroup } from "~/api/groups";
import { saveHost } from "~/api/host-changes";
import type { Host } from "~/api/hosts";
import { InterfacesEditor, newInterface } from "~/forms/interfaces-editor";
import { MacrosEditor } from "~/forms/macros-editor";
import { FormSection } from "~/forms/section";
import { TagsEditor } from "~/forms/tags-editor";
import { HostGroupPicker, TemplatePicker } from "~/parts/pickers";
import { Button } from "~/ui/button";
import { Checkbox, Field, Input, Textarea } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { draftOf, type HostDraft, hostParams, problemsOf } from "./draft";
import { TlsFields } from "./tls";

/** Creates or edits a host. */
export function HostForm({ host }: { host: Host | null }) {
  const [draft, setDraft] = useState(() => draftOf(host, newInterface("1", true)));
  const [tried, setTried] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const set = (next: Partial<HostDraft>) => setDraft({ ...draft, ...next });
  const problems = problemsOf(draft, host === null);
  const shown = tried ? problems : {};
  const save = useMutation({
    mutationFn: () => saveHost(host?.hostid ?? null, hostParams(draft, host)),
    onSuccess: ({ hostids }) => {
      toast(host ? `${draft.host} was saved.` : `${draft.host} was created.`);
      void client.invalidateQueries();
      const hostid = hostids[0] ?? host?.hostid ?? "";
      void navigate({ to: "/hosts/$hostid", params: { hostid } });
    },
  });
  const addGroup = useMutation({
    mutationFn: createHostGroup,
    onSuccess: (groupid) => {
      void client.invalidateQueries({ queryKey: ["hostgroups"] });
      set({ groupids: [...draft.groupids, groupid] });
    },
    onError: (error) => toast(explain(error).what, "bad"),
  });
  const names = new Map(host?.parentTemplates.map((t) => [t.templateid, t.name]));

  return (
    <form
      className="rounded-lg border bg-surface px-6 shadow-card"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(problems).length === 0) save.mutate();
      }}
    >
      <FormSection
        title="Host"
        note="The host name is what agents send; the visible name is what people read."
      >
        <div className="grid grid-cols-2 gap-4">
          <Field label="Host name" required error={shown.host}>
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
        <Field label="Host groups" required error={shown.groups}>
          {(id) => (
            <HostGroupPicker
              id={id}
              field
              values={draft.groupids}
              onChange={(groupids) => set({ groupids })}
              onCreate={(name) => addGroup.mutate(name)}
            />
          )}
        </Field>
        <Field
          label="Templates"
          hint="What a template brings appears at once; what an unlinked one brought goes."
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
      <FormSection title="Tags" note="Go with every problem of this host.">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <FormSection title="Macros" note="Override those of templates and the global ones.">
        <MacrosEditor macros={draft.macros} onChange={(macros) => set({ macros })} />
      </FormSection>
      <FormSection title="Encryption" note="Between Vedette and this host's agent.">
        <TlsFields draft={draft} set={set} isNew={host === null} error={shown.psk} />
      </FormSection>
      <div className="sticky -bottom-8 -mx-6 flex items-center gap-2 rounded-b-lg border-t bg-surface px-6 py-3">
        <Button type="submit" look="primary" busy={save.isPending}>
          {host ? "Save host" : "Create host"}
        </Button>
        <Button onClick={() => router.history.back()}>Cancel</Button>
        {save.error && <ErrorNote {...explain(save.error)} className="ml-2 flex-1" />}
        {tried && Object.keys(problems).length > 0 && (
          <span role="alert" className="ml-2 text-sm text-bad-ink">
            {Object.values(problems)[0]}
          </span>
        )}
      </div>
    </form>
  );
}
