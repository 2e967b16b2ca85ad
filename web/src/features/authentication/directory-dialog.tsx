import { type Directory, directoriesQuery, saveDirectory } from "~/api/authentication";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { SaveDialog } from "~/shared/save-dialog";
import { Checkbox, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import {
  type DirectoryDraft,
  directoryDraft,
  directoryParams,
  directoryProblem,
} from "./directory-draft";
import { Mapping } from "./mapping";
import { TestSignIn } from "./test-sign-in";
import { texts } from "./texts";

export const KEYS = [["directories"], ["authentication"]];
const WAYS = [
  ["attribute", texts.fromAttribute],
  ["search", texts.fromSearch],
] as const;

interface PartProps {
  draft: DirectoryDraft;
  set: (next: Partial<DirectoryDraft>) => void;
}

type TextName = {
  [K in keyof DirectoryDraft]: DirectoryDraft[K] extends string ? K : never;
}[keyof DirectoryDraft];

interface TextProps extends PartProps {
  name: TextName;
  label: string;
  hint?: string;
  required?: boolean;
  type?: string;
}

function Text({ draft, set, name, ...box }: TextProps) {
  return <TextField {...box} value={draft[name]} onChange={(value) => set({ [name]: value })} />;
}

/** Where the server is, and how it finds users. */
function Connection({ stored, ...part }: PartProps & { stored: Directory | null }) {
  const { draft, set } = part;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[1fr_8rem]">
        <Text name="host" label={texts.host} required hint={texts.hostHint} {...part} />
        <Text name="port" label={texts.port} required {...part} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Text name="base_dn" label={texts.baseDn} required {...part} />
        <Text
          name="search_attribute"
          label={texts.searchAttribute}
          required
          hint={texts.searchAttributeHint}
          {...part}
        />
        <Text name="bind_dn" label={texts.bindDn} hint={texts.bindDnHint} {...part} />
        <TextField
          label={texts.bindPassword}
          type="password"
          autoComplete="new-password"
          hint={stored?.bind_dn ? texts.keepPassword : undefined}
          value={draft.bind_password}
          onChange={(bind_password) => set({ bind_password })}
        />
        <Text
          name="search_filter"
          label={texts.searchFilter}
          hint={texts.searchFilterHint}
          {...part}
        />
        <Checkbox
          className="sm:pt-6 sm:self-start"
          label={texts.startTls}
          checked={draft.startTls}
          onChange={(event) => set({ startTls: event.target.checked })}
        />
      </div>
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </>
  );
}

/** How the names and groups of a user are found. */
function Attributes(part: PartProps) {
  const { draft, set } = part;
  return (
    <>
      <SegmentedField
        label={texts.groupsFrom}
        value={draft.byAttribute ? "attribute" : "search"}
        options={WAYS}
        onChange={(way) => set({ byAttribute: way === "attribute" })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        {draft.byAttribute ? (
          <Text
            name="group_membership"
            label={texts.membership}
            hint={texts.membershipHint}
            {...part}
          />
        ) : (
          <Text name="group_basedn" label={texts.groupBaseDn} required {...part} />
        )}
        <Text name="group_name" label={texts.groupName} {...part} />
        {!draft.byAttribute && (
          <>
            <Text name="group_member" label={texts.groupMember} {...part} />
            <Text
              name="user_ref_attr"
              label={texts.userReference}
              hint={texts.userReferenceHint}
              {...part}
            />
            <Text
              name="group_filter"
              label={texts.groupFilter}
              hint={texts.groupFilterHint}
              {...part}
            />
          </>
        )}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Text name="user_username" label={texts.firstName} {...part} />
        <Text name="user_lastname" label={texts.lastName} {...part} />
      </div>
    </>
  );
}

interface DialogProps {
  stored: Directory | null;
  onClose: () => void;
}

/** Creates or edits an LDAP server. */
export function DirectoryDialog({ stored, onClose }: DialogProps) {
  const [draft, setDraft, restored] = useKeptState("directory", directoryDraft(stored));
  const set = (next: Partial<DirectoryDraft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const part = { draft, set };
  const id = stored?.userdirectoryid ?? null;
  const problem = directoryProblem(draft, stored);
  return (
    <SaveDialog
      title={stored ? texts.editName(stored.name) : texts.createServer}
      word={texts.server}
      wide
      draft={draft}
      restored={restored}
      stale={
        stored
          ? {
              before: stored,
              now: () => reread(directoriesQuery(), (one) => one.userdirectoryid === id),
            }
          : undefined
      }
      problem={problem}
      save={() => saveDirectory(id, directoryParams(draft))}
      saved={texts.wasSaved(draft.name)}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        autoFocus={!stored}
        maxLength={128}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <Connection {...part} stored={stored} />
      <Checkbox
        label={texts.provisioning}
        checked={draft.provisions}
        onChange={(event) => set({ provisions: event.target.checked })}
      />
      {draft.provisions && (
        <>
          <Attributes {...part} />
          <Mapping {...part} />
        </>
      )}
      <TestSignIn id={id} draft={draft} disabled={problem !== undefined} />
    </SaveDialog>
  );
}
