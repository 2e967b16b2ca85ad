import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { autoregistrationQuery, saveAutoregistration } from "~/api/network";
import { QueryError } from "~/shared/fallback";
import { FormBar } from "~/shared/forms/form-bar";
import { FormCard } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { Checkbox, TextField } from "~/ui/field";
import { Sentence } from "~/ui/sentence";
import { SkeletonRows } from "~/ui/state";
import { toast } from "~/ui/toast";
import {
  ANNOUNCED_BY,
  type AnnounceDraft,
  announceParams,
  announceProblems,
  PSK,
} from "~/util/announce";
import { texts } from "./texts";

/** Over which connections agents may announce themselves. */
export function AutoregistrationPage() {
  const { data: accept, error, refetch } = useFresh(autoregistrationQuery());
  return (
    <Page title={texts.autoregistration} scroll>
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
  const client = useQueryClient();
  const hasKey = (stored & PSK) !== 0;
  const { draft, set, problems, check } = useDraft<AnnounceDraft>(
    () => ({ accept: stored, identity: "", psk: "" }),
    (draft) => announceProblems(draft, hasKey),
  );
  const save = useMutation({
    mutationFn: () => saveAutoregistration(announceParams(draft)),
    onSuccess: () => {
      toast(texts.theAutoregistrationSettingsWere);
      set({ identity: "", psk: "" });
      void client.invalidateQueries({ queryKey: ["network", "autoregistration"] });
    },
  });
  const note = hasKey ? "Leave empty to keep the current value." : undefined;
  return (
    <FormCard onSubmit={() => check() && save.mutate()}>
      <FormSection
        title={texts.connections}
        note="Encryption accepted from agents that are not registered yet."
      >
        <fieldset className="flex flex-col gap-1.5" aria-label={texts.acceptedConnections}>
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
          {problems.accept && <p className="text-xs text-bad-ink">{problems.accept}</p>}
        </fieldset>
        {(draft.accept & PSK) !== 0 && (
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={texts.pskIdentity}
              required={!hasKey}
              error={problems.identity}
              hint={note}
              maxLength={128}
              value={draft.identity}
              onChange={(identity) => set({ identity })}
            />
            <TextField
              label={texts.psk}
              required={!hasKey}
              error={problems.psk}
              hint={note ?? texts.n32To512Hexadecimal}
              className="font-mono"
              maxLength={512}
              value={draft.psk}
              onChange={(psk) => set({ psk })}
            />
          </div>
        )}
        <p className="text-xs text-soft">
          <Sentence
            text={texts.agentsCanRegisterWhile}
            places={{
              action: (
                <Link to="/actions" search={{ source: "agents" }} className="underline">
                  {texts.autoregistrationAction}
                </Link>
              ),
            }}
          />
        </p>
      </FormSection>
      <FormBar save="Save settings" busy={save.isPending} error={save.error} problems={problems} />
    </FormCard>
  );
}
