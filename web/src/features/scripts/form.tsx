import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { groupsQuery } from "~/api/groups";
import { deleteScripts, type Script, saveScript } from "~/api/scripts";
import { userGroupNamesQuery } from "~/api/users";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { SelectField, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { ScriptKind, ScriptScope, scopeName } from "~/util/scripts";
import { isOfMenu, scriptDraft, scriptParams, scriptProblems } from "./draft";
import { KindFields, type PartProps } from "./kind-fields";
import { Questions } from "./questions";
import { texts } from "./texts";

const SCOPES = [ScriptScope.Host, ScriptScope.Event, ScriptScope.Action].map(
  (scope) => [scope, scopeName(scope)] as const,
);
const PERMISSIONS = [
  ["read", "Read"],
  ["write", "Write"],
] as const;

function General({ draft, set, problems, isNew }: PartProps) {
  const scoped = (scope: string) => {
    // Actions cannot open addresses.
    const type =
      scope === ScriptScope.Action && draft.type === ScriptKind.Url ? ScriptKind.Shell : draft.type;
    set({ scope, type });
  };
  return (
    <FormSection title={texts.general} note={texts.scopeNote}>
      <TextField
        label={texts.name}
        required
        error={problems.name}
        autoFocus={isNew}
        maxLength={255}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <SegmentedField
        label={texts.scope}
        value={SCOPES.find(([scope]) => scope === draft.scope)?.[0] ?? ScriptScope.Host}
        options={SCOPES}
        onChange={scoped}
      />
      {isOfMenu(draft) && (
        <TextField
          label={texts.menuPath}
          hint={texts.menuPathHint}
          maxLength={255}
          value={draft.menuPath}
          onChange={(menuPath) => set({ menuPath })}
        />
      )}
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </FormSection>
  );
}

/** The groups to choose from; one that may not be read stays. */
function choices(
  rows: readonly (readonly [string, string])[],
  chosen: string,
  nameOf: (id: string) => string,
) {
  const known = chosen === "0" || rows.some(([id]) => id === chosen);
  return [
    ["0", texts.anyGroup] as const,
    ...(known ? [] : [[chosen, nameOf(chosen)] as const]),
    ...rows,
  ];
}

function Access({ draft, set }: PartProps) {
  const { data: users = [] } = useQuery(userGroupNamesQuery());
  const { data: hosts = [] } = useQuery(groupsQuery("host"));
  const menu = isOfMenu(draft);
  return (
    <FormSection title={menu ? texts.who : texts.where} note={menu ? texts.whoNote : undefined}>
      {menu && (
        <SelectField
          label={texts.userGroup}
          options={choices(
            users.map((one) => [one.usrgrpid, one.name] as const),
            draft.userGroup,
            texts.userGroupNumber,
          )}
          value={draft.userGroup}
          onChange={(userGroup) => set({ userGroup })}
        />
      )}
      <SelectField
        label={texts.hostGroup}
        hint={texts.hostGroupHint}
        options={choices(
          hosts.map((one) => [one.groupid, one.name] as const),
          draft.hostGroup,
          texts.hostGroupNumber,
        )}
        value={draft.hostGroup}
        onChange={(hostGroup) => set({ hostGroup })}
      />
      {menu && (
        <SegmentedField
          label={texts.hostAccess}
          value={draft.write ? "write" : "read"}
          options={PERMISSIONS}
          onChange={(permission) => set({ write: permission === "write" })}
        />
      )}
    </FormSection>
  );
}

/** Creates or edits a script. */
export function ScriptForm({ script }: { script: Script | null }) {
  const drafting = useDraft(() => scriptDraft(script), scriptProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["scripts"] });
    void navigate({ to: "/scripts" });
  };
  const id = script?.scriptid ?? null;
  const part = { draft, set, problems, isNew: id === null };
  return (
    <ObjectForm
      word={texts.scriptWord}
      drafting={drafting}
      isNew={id === null}
      save={() => saveScript(id, scriptParams(draft, id === null))}
      onSaved={leave}
      remove={() => deleteScripts([id ?? ""])}
      onDeleted={leave}
      loss={texts.lossOnDelete}
    >
      <General {...part} />
      <KindFields {...part} menu={isOfMenu(draft)} />
      <Access {...part} />
      {isOfMenu(draft) && <Questions {...part} />}
    </ObjectForm>
  );
}
