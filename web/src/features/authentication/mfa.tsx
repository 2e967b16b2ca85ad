import { useQuery } from "@tanstack/react-query";
import {
  authenticationQuery,
  deleteMfa,
  type MfaRow,
  mfaQuery,
  saveMfa,
} from "~/api/authentication";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { RowButtons, SaveDialog, useDelete } from "~/shared/save-dialog";
import { SelectField, TextField } from "~/ui/field";
import { Empty } from "~/ui/state";
import { oneOf } from "~/util/one-of";
import { NAMES } from "./settings-draft";
import { texts } from "./texts";

const KEYS = [["mfa"], ["authentication"]];
const TOTP = "1";
const HASHES = [
  ["1", "SHA-1"],
  ["2", "SHA-256"],
  ["3", "SHA-512"],
] as const;
const LENGTHS = [
  ["6", "6"],
  ["8", "8"],
] as const;

/** Creates or edits an MFA method of type TOTP. */
export function MfaDialog({ method, onClose }: { method: MfaRow | null; onClose: () => void }) {
  const [draft, setDraft, restored] = useKeptState("mfa", {
    name: method?.name ?? "",
    hash_function: method?.hash_function ?? "1",
    code_length: method?.code_length ?? "6",
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const reread = useReread();
  const id = method?.mfaid ?? null;
  const isDuo = method !== null && method.type !== TOTP;
  const save = () =>
    saveMfa(id, {
      ...(id ? {} : { type: TOTP }),
      name: draft.name.trim(),
      ...(!isDuo && {
        hash_function: oneOf(draft.hash_function, ["1", "2", "3"]),
        code_length: oneOf(draft.code_length, ["6", "8"]),
      }),
    });
  return (
    <SaveDialog
      title={method ? texts.editName(method.name) : texts.createMethod}
      word={texts.method}
      draft={draft}
      restored={restored}
      stale={
        method
          ? { before: method, now: () => reread(mfaQuery(), (one) => one.mfaid === method.mfaid) }
          : undefined
      }
      problem={draft.name.trim() ? undefined : "Enter a name."}
      save={save}
      saved={texts.wasSaved(draft.name)}
      keys={KEYS}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        hint={isDuo ? undefined : texts.totpNote}
        autoFocus={!method}
        maxLength={128}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      {isDuo ? (
        <p className="text-sm text-soft">{texts.duoNote}</p>
      ) : (
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={texts.hash}
            options={HASHES}
            value={draft.hash_function}
            onChange={(hash) => set({ hash_function: oneOf(hash, ["1", "2", "3"]) })}
          />
          <SelectField
            label={texts.codeLength}
            options={LENGTHS}
            value={draft.code_length}
            onChange={(length) => set({ code_length: oneOf(length, ["6", "8"]) })}
          />
        </div>
      )}
      {method && !isDuo && <p className="text-xs text-faint">{texts.reEnrol}</p>}
    </SaveDialog>
  );
}

export function MfaMethods({ onEdit }: { onEdit: (method: MfaRow) => void }) {
  const query = useQuery(mfaQuery());
  const { data: settings } = useQuery(authenticationQuery(NAMES));
  const remove = useDelete(deleteMfa, KEYS);
  return (
    <PlainTable<MfaRow>
      query={query}
      head={[
        ["Name", ""],
        ["Type", "w-52"],
        ["Codes", "w-32"],
        ["User groups", ""],
        ["", "w-24"],
      ]}
      empty={
        <Empty icon="key" title={texts.noMethods}>
          {texts.noMethodsText}
        </Empty>
      }
      row={(method) => (
        <tr key={method.mfaid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            {method.name}
            {method.mfaid === settings?.mfaid && (
              <span className="pl-2 text-xs font-normal text-faint"> {texts.isDefault}</span>
            )}
          </td>
          <td className={`${CELL} text-soft`}>{method.type === TOTP ? texts.totp : texts.duo}</td>
          <td className={`${CELL} text-soft`}>
            {method.type === TOTP && texts.digits(method.code_length)}
          </td>
          <td className={`${CELL} text-soft`}>
            {method.usrgrps.map((group) => group.name).join(", ")}
          </td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            <RowButtons
              name={method.name}
              onEdit={() => onEdit(method)}
              onDelete={() => remove(method.mfaid, method.name, texts.methodLoss, texts.delete)}
            />
          </td>
        </tr>
      )}
    />
  );
}
