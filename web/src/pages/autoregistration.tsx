import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { autoregistrationQuery, saveAutoregistration } from "~/api/network";
import { FormBar } from "~/forms/form-bar";
import { FormSection } from "~/forms/section";
import { useFresh } from "~/parts/fresh";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Checkbox, Field, Input } from "~/ui/field";
import { SkeletonRows } from "~/ui/state";
import { toast } from "~/ui/toast";
import {
  ANNOUNCED_BY,
  type AnnounceDraft,
  announceParams,
  announceProblems,
  PSK,
} from "~/util/announce";

/** Over which connections agents may announce themselves. */
export function AutoregistrationPage() {
  const { data: accept, error, refetch } = useFresh(autoregistrationQuery());
  return (
    <Page title="Autoregistration" scroll>
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : accept === undefined ? (
        <SkeletonRows rows={4} />
      ) : (
        <Settings key={accept} stored={accept} />
      )}
    </Page>
  );
}

function Settings({ stored }: { stored: number }) {
  const [draft, setDraft] = useState<AnnounceDraft>({ accept: stored, identity: "", psk: "" });
  const [tried, setTried] = useState(false);
  const client = useQueryClient();
  const set = (next: Partial<AnnounceDraft>) => setDraft({ ...draft, ...next });
  const hasKey = (stored & PSK) !== 0;
  const problems = announceProblems(draft, hasKey);
  const shown = tried ? problems : {};
  const save = useMutation({
    mutationFn: () => saveAutoregistration(announceParams(draft)),
    onSuccess: () => {
      toast("The settings of autoregistration were saved.");
      setDraft({ ...draft, identity: "", psk: "" });
      setTried(false);
      void client.invalidateQueries({ queryKey: ["network", "autoregistration"] });
    },
  });
  const note = hasKey ? "Empty keeps the stored one." : undefined;
  return (
    <form
      className="rounded-lg border bg-surface px-4 shadow-card sm:px-6"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(problems).length === 0) save.mutate();
      }}
    >
      <FormSection
        title="Connections"
        note="Over which connections agents that no host has the name of may announce themselves."
      >
        <fieldset className="flex flex-col gap-1.5" aria-label="Accepted connections">
          {ANNOUNCED_BY.map(([bit, label]) => (
            <Checkbox
              key={bit}
              label={label}
              checked={(draft.accept & bit) !== 0}
              onChange={(e) =>
                set({ accept: e.target.checked ? draft.accept | bit : draft.accept & ~bit })
              }
            />
          ))}
          {shown.accept && <p className="text-xs text-bad-ink">{shown.accept}</p>}
        </fieldset>
        {(draft.accept & PSK) !== 0 && (
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="PSK identity" required={!hasKey} error={shown.identity} hint={note}>
              {(id) => (
                <Input
                  id={id}
                  maxLength={128}
                  value={draft.identity}
                  onChange={(e) => set({ identity: e.target.value })}
                />
              )}
            </Field>
            <Field
              label="PSK"
              required={!hasKey}
              error={shown.psk}
              hint={note ?? "32 to 512 hexadecimal digits. Hosts made of such agents get this key."}
            >
              {(id) => (
                <Input
                  id={id}
                  className="font-mono"
                  maxLength={512}
                  value={draft.psk}
                  onChange={(e) => set({ psk: e.target.value })}
                />
              )}
            </Field>
          </div>
        )}
        <p className="text-xs text-soft">
          Agents are heard while an{" "}
          <Link to="/actions" search={{ source: "agents" }} className="underline">
            autoregistration action
          </Link>{" "}
          is switched on; it makes hosts of them.
        </p>
      </FormSection>
      <FormBar save="Save settings" busy={save.isPending} error={save.error} problems={shown} />
    </form>
  );
}
