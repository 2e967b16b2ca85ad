import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Certificate, mayBalance, renewCertificates } from "~/api/balancing";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { Dot } from "~/ui/severity";
import { ErrorNote } from "~/ui/state";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

const TONES = { waiting: "warn", ordering: "warn", issued: "good", failed: "bad" } as const;
type State = keyof typeof TONES;

const isState = (state: string): state is State => Object.hasOwn(TONES, state);

/** How far the order of a certificate is; nothing for one that is given. */
export function OrderState({ row }: { row: Certificate }) {
  const state = row.order_state;
  if (!isState(state)) return null;
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={row.error}>
      <Dot tone={row.error ? "bad" : TONES[state]} />
      {texts.orderStates[state]}
    </span>
  );
}

/** The same with its reason, above the form of a certificate. */
export function Order({ row }: { row: Certificate }) {
  const client = useQueryClient();
  const renew = useMutation({
    mutationFn: () => renewCertificates([row.certificateid]),
    onSettled: () => client.invalidateQueries({ queryKey: ["balancing"] }),
  });
  if (!isState(row.order_state)) return null;
  const next = Number(row.next_attempt);
  return (
    <Card
      title={texts.order}
      className="mb-4"
      side={
        mayBalance() && (
          <Button small icon="play" disabled={renew.isPending} onClick={() => renew.mutate()}>
            {texts.orderNow}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-2 px-4 py-3 text-sm">
        <OrderState row={row} />
        {row.error && <p className="break-words text-bad-ink">{row.error}</p>}
        {row.order_state === "waiting" && !row.error && (
          <p className="text-soft">{texts.whyWaiting}</p>
        )}
        {next > 0 && <p className="text-soft">{texts.nextOrder(formatClock(next, "minute"))}</p>}
        {renew.isSuccess && <p role="status">{texts.orderStarted}</p>}
        {renew.error && <ErrorNote {...explain(renew.error)} onRetry={() => renew.mutate()} />}
      </div>
    </Card>
  );
}
