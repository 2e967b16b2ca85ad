import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { mayBalance } from "~/api/balancing";
import { drainEngine, drained } from "~/api/engines";
import { explain } from "~/api/errors";
import { Button, buttonClass } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { formatAgo, formatClock } from "~/util/time";
import { reviewed } from "../apply/review";
import { Status } from "./engines";
import { Moves } from "./moves";
import type { EngineSeen, Place, VipSeen } from "./seen";
import { texts } from "./texts";
import { Served } from "./vips";

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h3 className="text-xs font-medium text-soft">{title}</h3>
      {children}
    </section>
  );
}

function PlaceList({
  title,
  places,
  now,
}: {
  title: string;
  places: readonly Place[];
  now: number;
}) {
  return (
    <Part title={title}>
      {places.length === 0 && <p className="text-soft">{texts.noneYet}</p>}
      <ul className="flex flex-col gap-1.5">
        {places.map(({ engine, since }) => (
          <li
            key={engine.id}
            className="grid gap-x-3 sm:grid-cols-[minmax(6rem,1fr)_minmax(0,1.4fr)]"
          >
            <span className="font-medium break-words">{engine.name}</span>
            <Status engine={engine} />
            {since > 0 && (
              <span className="text-xs text-soft sm:col-start-2">
                {texts.since(formatClock(since), formatAgo(since, now))}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

interface VipDetailsProps {
  vip: VipSeen;
  now: number;
  onClose: () => void;
}

/** All engines of a VIP, since when, and why it lacks some. */
export function VipDetails({ vip, now, onClose }: VipDetailsProps) {
  return (
    <Dialog
      title={vip.name}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.close}</Button>
          <Link
            to="/balancing/$kind/$id/edit"
            params={{ kind: "vips", id: vip.id }}
            className={buttonClass()}
          >
            {texts.openVip}
          </Link>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-sm">
        <p className="flex flex-wrap items-center gap-x-4">
          <Served vip={vip} />
          <span className="text-soft">{vip.address}</span>
        </p>
        {vip.reason && (
          <Part title={texts.why}>
            <p className="break-words">{vip.reason}</p>
          </Part>
        )}
        <PlaceList title={texts.active} places={vip.active} now={now} />
        {vip.standby.length > 0 && (
          <PlaceList title={texts.standby} places={vip.standby} now={now} />
        )}
      </div>
    </Dialog>
  );
}

function VipList({ title, names }: { title: string; names: readonly string[] }) {
  return (
    <Part title={title}>
      <p className="break-words">{names.length > 0 ? names.join(", ") : texts.noneYet}</p>
    </Part>
  );
}

/** Drains an engine or ends that, once the user has seen which VIPs move. */
function useDrain(engine: EngineSeen, onClose: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (on: boolean) => {
      const words = on
        ? { question: texts.drainQuestion, action: texts.drain, done: texts.drainDone }
        : { question: texts.undrainQuestion, action: texts.undrain, done: texts.undrainDone };
      const said = {
        question: words.question(engine.name),
        action: words.action,
        done: words.done(engine.name),
      };
      return reviewed(
        said,
        drained(engine.id, on),
        () => drainEngine(engine.id, on),
        (moves) => <Moves moves={moves} />,
      ).then((saved) => saved !== false && toast(`${said.done}.`));
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["balancing"] }),
  });
}

/** The state of an engine and all its VIPs. */
export function EngineDetails({ engine, onClose }: { engine: EngineSeen; onClose: () => void }) {
  const drain = useDrain(engine, onClose);
  const isDrained = engine.drained;
  return (
    <Dialog
      title={engine.name}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.close}</Button>
          <Link to="/balancing/engines" className={buttonClass()}>
            {texts.openEngines}
          </Link>
          {mayBalance() && isDrained !== undefined && (
            <Button busy={drain.isPending} onClick={() => drain.mutate(!isDrained)}>
              {isDrained ? texts.undrain : texts.drain}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4 text-sm">
        {drain.error && <ErrorNote {...explain(drain.error)} />}
        <Status engine={engine} />
        <VipList title={texts.activeFor} names={engine.active} />
        {engine.standby.length > 0 && <VipList title={texts.standbyFor} names={engine.standby} />}
      </div>
    </Dialog>
  );
}
