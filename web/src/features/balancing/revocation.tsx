import { SelectField, TextareaField } from "~/ui/field";
import { texts } from "./texts";

interface RevocationListsProps {
  label: string;
  /** PEM text; empty: none are checked. */
  lists: string;
  /** `refuse` or `accept`. */
  expired: string;
  onChange: (lists: string, expired: string) => void;
}

/** Which certificates are revoked, and what happens when that is no longer known. */
export function RevocationLists({ label, lists, expired, onChange }: RevocationListsProps) {
  return (
    <>
      <TextareaField
        label={label}
        rows={3}
        className="font-mono text-xs"
        placeholder={texts.crlPlaceholder}
        hint={texts.revocationsHint}
        value={lists}
        onChange={(next) => onChange(next, expired)}
      />
      {lists.trim() !== "" && (
        <SelectField
          label={texts.expiredList}
          hint={texts.expiredListHint}
          options={[
            ["refuse", texts.refuseAll],
            ["accept", texts.acceptOthers],
          ]}
          value={expired}
          onChange={(next) => onChange(lists, next)}
        />
      )}
    </>
  );
}
