import { Checkbox, Field, Input, Select } from "~/ui/field";
import { type HostDraft, usesCertificate, usesPsk } from "./draft";

interface TlsFieldsProps {
  draft: HostDraft;
  set: (next: Partial<HostDraft>) => void;
  isNew: boolean;
  error?: string;
}

const CONNECT = [
  ["1", "No encryption"],
  ["2", "Pre-shared key"],
  ["4", "Certificate"],
] as const;

/** How connections to and from the host are encrypted. */
export function TlsFields({ draft, set, isNew, error }: TlsFieldsProps) {
  const accept = (bit: number, on: boolean) => {
    const next = on ? draft.tlsAccept | bit : draft.tlsAccept & ~bit;
    if (next !== 0) set({ tlsAccept: next });
  };
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Connections to the host">
          {(id) => (
            <Select
              id={id}
              options={CONNECT}
              value={draft.tlsConnect}
              onChange={(e) => set({ tlsConnect: e.target.value })}
            />
          )}
        </Field>
        <fieldset className="flex flex-col gap-1">
          <legend className="pb-1 text-xs font-medium text-soft">Connections from the host</legend>
          <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1">
            {CONNECT.map(([bit, label]) => (
              <Checkbox
                key={bit}
                label={label}
                checked={(draft.tlsAccept & Number(bit)) !== 0}
                onChange={(e) => accept(Number(bit), e.target.checked)}
              />
            ))}
          </div>
        </fieldset>
      </div>
      {usesPsk(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="PSK identity" hint={isNew ? undefined : "Empty keeps the stored one."}>
            {(id) => (
              <Input
                id={id}
                value={draft.pskIdentity}
                onChange={(e) => set({ pskIdentity: e.target.value })}
              />
            )}
          </Field>
          <Field
            label="PSK"
            error={error}
            hint={isNew ? "32 to 512 hexadecimal digits" : "Empty keeps the stored one."}
          >
            {(id) => (
              <Input
                id={id}
                className="font-mono"
                value={draft.psk}
                onChange={(e) => set({ psk: e.target.value })}
              />
            )}
          </Field>
        </div>
      )}
      {usesCertificate(draft) && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Issuer">
            {(id) => (
              <Input
                id={id}
                value={draft.tlsIssuer}
                onChange={(e) => set({ tlsIssuer: e.target.value })}
              />
            )}
          </Field>
          <Field label="Subject">
            {(id) => (
              <Input
                id={id}
                value={draft.tlsSubject}
                onChange={(e) => set({ tlsSubject: e.target.value })}
              />
            )}
          </Field>
        </div>
      )}
    </>
  );
}
