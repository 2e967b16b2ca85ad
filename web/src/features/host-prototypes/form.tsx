import { useQueryClient } from "@tanstack/react-query";
import {
  deleteHostPrototype,
  type HostPrototypeDetail,
  saveHostPrototype,
} from "~/api/host-prototypes";
import { InterfacesEditor, newInterface } from "~/shared/forms/interfaces-editor";
import { MacrosEditor } from "~/shared/forms/macros-editor";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { useDraft } from "~/shared/forms/use-draft";
import { OwnerFields } from "~/shared/owner-fields";
import { Checkbox, SelectField, TextareaField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { INVENTORY_MODES } from "~/util/inventory";
import { draftOf, type HostPrototypeDraft, paramsOf, problemsOf } from "./draft";
import { texts } from "./texts";

interface PartProps {
  draft: HostPrototypeDraft;
  set: (next: Partial<HostPrototypeDraft>) => void;
  problems: Record<string, string>;
}

function Interfaces({ draft, set }: PartProps) {
  const own = (custom: "0" | "1") =>
    set({
      custom,
      interfaces:
        custom === "1" && draft.interfaces.length === 0
          ? [newInterface("1", true)]
          : draft.interfaces,
    });
  return (
    <FormSection
      title={texts.interfaces}
      note="Addresses that Vedette connects to. Addresses and ports may contain discovery macros."
    >
      <div className="flex">
        <Segmented<"0" | "1">
          label={texts.interfaces}
          value={draft.custom}
          onChange={own}
          options={[
            ["0", texts.inherit],
            ["1", texts.custom],
          ]}
        />
      </div>
      {draft.custom === "1" ? (
        <InterfacesEditor
          interfaces={draft.interfaces}
          onChange={(interfaces) => set({ interfaces })}
        />
      ) : (
        <p className="text-sm text-soft">{texts.discoveredHostsGetThe}</p>
      )}
    </FormSection>
  );
}

interface HostPrototypeFormProps {
  ruleid: string;
  prototype: HostPrototypeDetail | null;
  onDone: () => void;
}

/** Creates or edits a host prototype. */
export function HostPrototypeForm({ ruleid, prototype, onDone }: HostPrototypeFormProps) {
  const drafting = useDraft(() => draftOf(prototype), problemsOf);
  const client = useQueryClient();
  const inherited = prototype !== null && prototype.templateid !== "0";
  const { draft, set, problems } = drafting;
  const part = { draft, set, problems };
  const id = prototype?.hostid ?? null;
  const leave = () => {
    void client.invalidateQueries();
    onDone();
  };
  const params = () => ({ ...(id === null ? { ruleid } : {}), ...paramsOf(draft, inherited) });
  return (
    <ObjectForm
      word={texts.hostPrototype}
      drafting={{ ...drafting, draft: { name: draft.name.trim() || draft.host.trim() } }}
      isNew={id === null}
      save={() => saveHostPrototype(id, params())}
      onSaved={leave}
      inherited={inherited && "You can change its state here."}
      remove={() => deleteHostPrototype(id ?? "")}
      onDeleted={leave}
      loss="The hosts and groups discovered with it are deleted too, with the history of the hosts."
    >
      <FormSection title={texts.state} note="Applies to hosts that are discovered from now on.">
        <div className="flex flex-wrap gap-x-6 gap-y-2">
          <Checkbox
            label={texts.discoverHosts}
            checked={draft.discovered}
            onChange={(e) => set({ discovered: e.target.checked })}
          />
          <Checkbox
            label={texts.createEnabled}
            checked={draft.monitored}
            onChange={(e) => set({ monitored: e.target.checked })}
          />
        </div>
      </FormSection>
      <fieldset disabled={inherited} className="contents">
        <FormSection
          title={texts.hosts}
          note="Each discovered entity becomes a host with these names, groups and templates."
        >
          <OwnerFields
            of="host"
            {...part}
            isNew={id === null}
            hint={texts.mustContainADiscovery}
            templates={prototype?.templates ?? []}
          >
            <TextareaField
              label={texts.groupPrototypes}
              error={problems.groupNames}
              hint={texts.onePerLineWith}
              rows={2}
              value={draft.groupNames}
              onChange={(groupNames) => set({ groupNames })}
            />
          </OwnerFields>
          <SelectField
            label={texts.inventory}
            fieldClass="max-w-60"
            options={INVENTORY_MODES}
            value={draft.inventory}
            onChange={(inventory) => set({ inventory })}
          />
        </FormSection>
        <Interfaces {...part} />
        <FormSection title={texts.tags} note="Added to each problem of the hosts.">
          <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
        </FormSection>
        <FormSection
          title={texts.macros}
          note="Added to the macros of the discovery rule's host, which discovered hosts also have."
        >
          <MacrosEditor macros={draft.macros} onChange={(macros) => set({ macros })} />
        </FormSection>
      </fieldset>
    </ObjectForm>
  );
}
