import { useQuery } from "@tanstack/react-query";
import { DENIED, deleteRole, type Role, rolesQuery, saveRole } from "~/api/users";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { RowButtons, SaveDialog, useDelete } from "~/shared/save-dialog";
import { Checkbox, Select, SelectField, Textarea, TextField } from "~/ui/field";
import { Empty } from "~/ui/state";
import { plural } from "~/util/format";
import { oneOf } from "~/util/one-of";
import { texts } from "./texts";

const KEYS = [["roles"], ["users"]];
const TYPES = [
  ["1", "User: views data as user groups permit"],
  ["2", "Admin: also configures"],
  ["3", "Super admin: full access"],
] as const;
const MODES = [
  ["0", "All methods except these"],
  ["1", "Only these methods"],
] as const;

const typeName = (type: string) =>
  TYPES.find(([value]) => value === type)?.[1].split(":")[0] ?? type;
/** `acknowledge_problems` → "Acknowledge problems". */
const actionName = (name: string) => {
  const text = name.replaceAll("_", " ").replace("api", "API").replace("sla", "SLA");
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
};

/** What the dialog changes: users get their roles elsewhere. */
const edited = (role: Role | null) => role && { ...role, users: undefined };

/** Creates or edits a role: what kind of user one is, and which actions and methods one may use. */
export function RoleDialog({ role, onClose }: { role: Role | null; onClose: () => void }) {
  const rules = role?.rules;
  const [draft, setDraft, restored] = useKeptState("role", {
    name: role?.name ?? "",
    type: role?.type ?? "1",
    off:
      rules?.actions.filter((action) => action.status === DENIED).map((action) => action.name) ??
      [],
    api: rules?.["api.access"] !== "0",
    mode: rules?.["api.mode"] ?? "0",
    methods: rules?.api.join("\n") ?? "",
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const { data: all = [] } = useQuery(rolesQuery());
  const reread = useReread();
  // The names of actions come with any role of the type; the server knows which there are.
  const actions = (role ?? all.find((other) => other.type === draft.type))?.rules.actions ?? [];
  const save = () =>
    saveRole(role?.roleid ?? null, {
      name: draft.name.trim(),
      type: oneOf(draft.type, ["1", "2", "3"]),
      rules: {
        "actions.default_access": rules?.["actions.default_access"],
        actions: actions.map(({ name }) => ({
          name,
          status: draft.off.includes(name) ? "0" : "1",
        })),
        "api.access": draft.api ? "1" : "0",
        "api.mode": draft.mode,
        api: draft.methods
          .split(/[\s,]+/)
          .map((method) => method.trim())
          .filter(Boolean),
      },
    });
  return (
    <SaveDialog
      title={role ? texts.editName(role.name) : texts.createRole}
      word={texts.role}
      draft={draft}
      restored={restored}
      stale={
        role
          ? {
              before: edited(role),
              now: async () =>
                edited(await reread(rolesQuery(), (one) => one.roleid === role.roleid)),
            }
          : undefined
      }
      problem={draft.name.trim() ? undefined : "Enter a name."}
      save={save}
      saved={`${draft.name} was saved.`}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        autoFocus={!role}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <SelectField
        label={texts.userType}
        options={TYPES}
        value={draft.type}
        onChange={(type) => set({ type })}
      />
      {actions.length > 0 && (
        <fieldset className="flex flex-col gap-1.5">
          <legend className="pb-1 text-xs font-medium text-soft">{texts.actions}</legend>
          <div className="grid gap-x-4 gap-y-1.5 sm:grid-cols-2">
            {actions.map(({ name }) => (
              <Checkbox
                key={name}
                label={actionName(name)}
                checked={!draft.off.includes(name)}
                onChange={(e) =>
                  set({
                    off: e.target.checked
                      ? draft.off.filter((other) => other !== name)
                      : [...draft.off, name],
                  })
                }
              />
            ))}
          </div>
        </fieldset>
      )}
      <Checkbox
        label={texts.accessToTheApi}
        checked={draft.api}
        onChange={(e) => set({ api: e.target.checked })}
      />
      {draft.api && (
        <div className="flex flex-col gap-2">
          <Select
            aria-label={texts.apiMethods}
            options={MODES}
            value={draft.mode}
            onChange={(e) => set({ mode: e.target.value })}
          />
          <Textarea
            aria-label={texts.listOfMethods}
            placeholder={texts.hostGetProblem}
            rows={3}
            className="font-mono text-xs"
            value={draft.methods}
            onChange={(e) => set({ methods: e.target.value })}
          />
        </div>
      )}
    </SaveDialog>
  );
}

export function Roles({ onEdit }: { onEdit: (role: Role) => void }) {
  const query = useQuery(rolesQuery());
  const remove = useDelete(deleteRole, KEYS);
  return (
    <PlainTable<Role>
      query={query}
      head={[
        ["Name", ""],
        ["User type", "w-40"],
        ["Users", "w-32"],
        ["", "w-32"],
      ]}
      empty={<Empty icon="key" title={texts.youDoNotHavePermission} />}
      row={(role) => (
        <tr key={role.roleid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>{role.name}</td>
          <td className={`${CELL} text-soft`}>{typeName(role.type)}</td>
          <td className={`${CELL} text-soft`}>{plural(role.users.length, "user")}</td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            {role.readonly === "1" ? (
              <span className="text-xs text-faint">{texts.cannotBeChanged}</span>
            ) : (
              <RowButtons
                name={role.name}
                onEdit={() => onEdit(role)}
                onDelete={() => remove(role.roleid, role.name, texts.aRoleThatIs, texts.delete)}
              />
            )}
          </td>
        </tr>
      )}
    />
  );
}
