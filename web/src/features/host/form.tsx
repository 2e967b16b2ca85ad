import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { saveHost } from "~/api/host-changes";
import type { Host } from "~/api/hosts";
import { FormBar } from "~/shared/forms/form-bar";
import { InterfacesEditor, newInterface } from "~/shared/forms/interfaces-editor";
import { MacrosEditor } from "~/shared/forms/macros-editor";
import { FormCard } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { mayOverwrite } from "~/shared/forms/stale-save";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { setSaving } from "~/shared/forms/unsaved";
import { useDraft } from "~/shared/forms/use-draft";
import { OwnerFields } from "~/shared/owner-fields";
import { askUnlinked } from "~/shared/unlink";
import { Checkbox, TextareaField } from "~/ui/field";
import { Sentence } from "~/ui/sentence";
import { toast } from "~/ui/toast";
import { unlinkedTemplates } from "~/util/owner-draft";
import { draftOf, hostParams, isDiscovered, problemsOf, usesIpmi } from "./draft";
import { IpmiFields } from "./ipmi";
import { MonitoredBy } from "./monitored-by";
import { texts } from "./texts";
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
      toast(host ? texts.saved(draft.host) : texts.wasCreated(draft.host));
      void client.invalidateQueries();
      const hostid = hostids[0] ?? host?.hostid ?? "";
      void navigate({ to: "/hosts/$hostid", params: { hostid } });
    },
  });
  const submit = async () => {
    if (!check()) return;
    const clear = await askUnlinked(
      unlinkedTemplates(draft, host),
      <p>
        <Sentence
          text={texts.unlinkingFromThisHost}
          places={{
            unlink: <b>{texts.unlink}</b>,
            unlinkAndClear: <b>{texts.unlinkAndClear}</b>,
          }}
        />
      </p>,
    );
    if (clear !== null && (await mayOverwrite().catch(() => true))) save.mutate(clear);
    else setSaving(false);
  };

  return (
    <FormCard onSubmit={() => void submit()}>
      <FormSection
        title={texts.host}
        note={
          discovered
            ? "This host was discovered. Its names, groups, interfaces and encryption come from the host prototype and from the host of the discovery rule. Change them there."
            : "Agents use the host name. The UI shows the visible name."
        }
      >
        <OwnerFields
          of="host"
          draft={draft}
          set={set}
          problems={problems}
          isNew={host === null}
          fixed={discovered}
          templates={host?.parentTemplates ?? []}
          templatesHint="Template items are added immediately. When you unlink a template, you choose whether to keep them."
        />
        <TextareaField
          label={texts.description}
          rows={2}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
        <fieldset disabled={discovered} className="contents">
          <MonitoredBy draft={draft} set={set} error={problems.proxy} />
        </fieldset>
        <Checkbox
          label={texts.monitored}
          checked={draft.monitored}
          onChange={(e) => set({ monitored: e.target.checked })}
        />
      </FormSection>
      <FormSection
        title={texts.interfaces}
        note="Addresses that Vedette connects to. Active agents and senders do not need an interface."
      >
        <fieldset disabled={discovered} className="contents">
          <InterfacesEditor
            interfaces={draft.interfaces}
            onChange={(interfaces) => set({ interfaces })}
          />
        </fieldset>
      </FormSection>
      {usesIpmi(draft) && (
        <FormSection title={texts.ipmi} note="Access to the host's management controller.">
          <fieldset disabled={discovered} className="contents">
            <IpmiFields draft={draft} set={set} />
          </fieldset>
        </FormSection>
      )}
      <FormSection title={texts.tags} note="Added to each problem of this host.">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <FormSection title={texts.macros} note="Override template macros and global macros.">
        <MacrosEditor macros={draft.macros} onChange={(macros) => set({ macros })} />
      </FormSection>
      <FormSection
        title={texts.encryption}
        note="Connections between Vedette and the agent of this host."
      >
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
