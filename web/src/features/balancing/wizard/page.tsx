import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  certificatesQuery,
  engineGroupsQuery,
  mayBalance,
  monitorsQuery,
  poolsQuery,
  vipsQuery,
} from "~/api/balancing";
import { explain, refusalOf } from "~/api/errors";
import { Found, NoPermission } from "~/shared/fallback";
import { FormBar } from "~/shared/forms/form-bar";
import { FormCard } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { setSaving } from "~/shared/forms/unsaved";
import { useDraft } from "~/shared/forms/use-draft";
import { Page } from "~/shared/page";
import { Button } from "~/ui/button";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { type BalanceDraft, balanceDraft, balanceProblems, hasTls } from "./draft";
import { CertificatePart, CheckPart, GroupPart, ServicePart } from "./parts";
import { carryOut, type Outcome, planOf, removeMade, type StepKey, type Taken } from "./plan";
import { Servers } from "./servers";
import { texts } from "./texts";

/** The field at which the refusal of an object is shown. */
const FIELDS: Record<StepKey, string> = {
  vip: "address",
  certificate: "certificate",
  group: "enginegroupid",
  monitor: "check",
  pool: "servers",
  service: "port",
};

/** The field of the draft that an error concerns, and the server's words; nothing for other errors. */
function refusedField({ failed }: Outcome): Record<string, string> {
  const refusal = failed && refusalOf(failed.error);
  if (!refusal) return {};
  const { member, text } = refusal;
  const own = ["name", "path", "private_key"].includes(member) && failed.step.key !== "pool";
  return { [own ? member : FIELDS[failed.step.key]]: text };
}

interface FailureProps {
  outcome: Outcome;
  busy: boolean;
  onRemove: () => void;
}

/** Which object failed and why, and what was made before it. */
function Failure({ outcome: { made, failed }, busy, onRemove }: FailureProps) {
  if (!failed) return null;
  return (
    <div className="my-4 flex flex-col gap-3">
      <ErrorNote what={texts.failed(failed.step.word)} todo={explain(failed.error).what} />
      {made.length > 0 && (
        <section aria-label={texts.leftovers} className="flex flex-col items-start gap-2 text-sm">
          <p>{texts.leftovers}</p>
          <ul className="list-disc pl-5">
            {made.map(({ key, word, name }) => (
              <li key={key}>{texts.part(word, name)}</li>
            ))}
          </ul>
          <p className="text-soft">{texts.again}</p>
          <Button icon="trash" look="danger" busy={busy} onClick={onRemove}>
            {texts.remove}
          </Button>
        </section>
      )}
    </div>
  );
}

/** Makes the objects of a draft, and takes back what was made. */
function useCreation(draft: BalanceDraft, taken: Taken) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [outcome, setOutcome] = useState<Outcome>({ made: [], failed: null });
  const [names] = useState(taken);
  // What an earlier attempt has made takes no names from the next one.
  const plan = planOf(draft, names);
  const refresh = () => client.invalidateQueries({ queryKey: ["balancing"] });
  const create = useMutation({
    mutationFn: () => carryOut(draft, plan, outcome.made),
    onSuccess: (next) => {
      void refresh();
      const service = next.made.find(({ key }) => key === "service");
      if (next.failed || !service) {
        setSaving(false);
        setOutcome(next);
        return;
      }
      setSaving(true);
      toast(texts.created(service.name));
      void navigate({
        to: "/balancing/$kind/$id/edit",
        params: { kind: "services", id: service.id },
      });
    },
  });
  const remove = useMutation({
    mutationFn: () => removeMade(outcome.made),
    onSuccess: (made) => {
      setOutcome({ made, failed: null });
      toast(texts.removed);
    },
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: refresh,
  });
  return { plan, outcome, create, remove };
}

function BalanceForm({ first, taken }: { first: BalanceDraft; taken: Taken }) {
  const drafting = useDraft(() => first, balanceProblems);
  const { draft, set } = drafting;
  const { plan, outcome, create, remove } = useCreation(draft, taken);
  const problems = { ...drafting.problems, ...(create.isPending ? {} : refusedField(outcome)) };
  const part = { draft, set, problems };
  const parts = plan.map(({ word, name }) => texts.part(word, name));
  return (
    <FormCard
      onSubmit={() => {
        if (drafting.check()) create.mutate();
      }}
    >
      <FormSection title={texts.service} note={texts.serviceNote}>
        <ServicePart {...part} />
      </FormSection>
      {hasTls(draft.protocol) && (
        <FormSection title={texts.certificate} note={texts.certificateNote}>
          <CertificatePart {...part} />
        </FormSection>
      )}
      <FormSection title={texts.servers} note={texts.serversNote}>
        <Servers
          servers={draft.servers}
          onChange={(servers) => set({ servers })}
          error={problems.servers}
        />
      </FormSection>
      <FormSection title={texts.checks} note={texts.checksNote}>
        <CheckPart {...part} />
      </FormSection>
      <FormSection title={texts.engines} note={texts.enginesNote}>
        <GroupPart {...part} />
        {draft.name.trim() && (
          <p className="text-xs text-soft">{texts.willMake(parts.join(", "))}</p>
        )}
      </FormSection>
      <Failure outcome={outcome} busy={remove.isPending} onRemove={() => remove.mutate()} />
      <FormBar
        save={texts.create}
        busy={create.isPending}
        error={create.error}
        problems={drafting.problems}
      />
    </FormCard>
  );
}

const named = (rows: readonly { name: string }[] | undefined) => rows?.map(({ name }) => name);

/** From nothing to a virtual service with all that it needs. */
export function BalancePage() {
  const vips = useQuery(vipsQuery());
  const groups = useQuery(engineGroupsQuery());
  const pools = useQuery(poolsQuery());
  const monitors = useQuery(monitorsQuery());
  const certificates = useQuery(certificatesQuery());
  if (!mayBalance()) return <NoPermission />;
  const all = [vips, groups, pools, monitors, certificates];
  const faulty = all.find(({ error, data }) => error && !data) ?? groups;
  const ready = all.every(({ data }) => data);
  return (
    <Page title={texts.title} scroll>
      <Found query={{ ...faulty, data: ready ? true : undefined }} gone={null}>
        {() => (
          <BalanceForm
            first={balanceDraft({
              groups: groups.data ?? [],
              vips: vips.data ?? [],
              certificates: certificates.data ?? [],
            })}
            taken={{
              vip: named(vips.data),
              group: named(groups.data),
              pool: named(pools.data),
              monitor: named(monitors.data),
              certificate: named(certificates.data),
            }}
          />
        )}
      </Found>
    </Page>
  );
}
