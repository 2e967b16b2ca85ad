import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type EngineGroup, engineGroupsQuery, mayBalance } from "~/api/balancing";
import {
  deleteEngine,
  type Engine,
  enginesQuery,
  type FiguresById,
  figuresQuery,
  freshFigure,
} from "~/api/engines";
import { atServer } from "~/api/server-clock";
import { QueryError, StaleError } from "~/shared/fallback";
import { Count, Page } from "~/shared/page";
import { RowButtons, useDelete } from "~/shared/save-dialog";
import { Button, buttonClass, IconButton } from "~/ui/button";
import { Card } from "~/ui/card";
import { Icon } from "~/ui/icon";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatCount, formatUnits } from "~/util/format";
import { useNow } from "~/util/hooks";
import { formatClock } from "~/util/time";
import { EngineDialog } from "./engine-dialog";
import { useEnrolment } from "./enrolment";
import { Judged } from "./lines";
import { engineState, rollout } from "./state";
import { texts } from "./texts";

/** The begin of a hash; the rest is in its title. */
function Hash({ label, hash }: { label: string; hash: string }) {
  return (
    <span className="whitespace-nowrap" title={hash}>
      {label} {hash ? <code className="font-mono">{hash.slice(0, 10)}</code> : texts.noHash}
    </span>
  );
}

interface Actions {
  onEdit: (engine: Engine) => void;
  onToken: (engine: Engine) => void;
  onDelete: (engine: Engine) => void;
}

interface EngineRowProps extends Actions {
  engine: Engine;
  figures: FiguresById | undefined;
}

/** What an engine does at the moment. */
function Load({ engine, figures }: Pick<EngineRowProps, "engine" | "figures">) {
  const now = atServer(useNow());
  const words = (figure: string, format: (value: number) => string) => {
    const value = freshFigure(figures, engine.engineid, figure, now);
    return value === undefined ? texts.unknown : format(value);
  };
  return (
    <span className="flex flex-wrap gap-x-4 pl-4 text-xs text-soft">
      <span>{texts.connections(words("connections", formatCount))}</span>
      <span>{texts.waiting(words("records,waiting", (value) => formatUnits(value, "B")))}</span>
    </span>
  );
}

/** Which program is connected since when, and until when its certificate is valid. */
function Connection({ engine }: { engine: Engine }) {
  const time = (seconds: string) => formatClock(Number(seconds), "minute");
  return (
    <span className="flex flex-wrap gap-x-4 pl-4 text-xs text-soft">
      <span>{texts.version(engine.version)}</span>
      <span>{texts.since(time(engine.connected_at))}</span>
      {engine.certificate_until !== "0" && (
        <span>{texts.certificateUntil(time(engine.certificate_until))}</span>
      )}
    </span>
  );
}

function EngineRow({ engine, figures, ...on }: EngineRowProps) {
  const { connection, configuration } = engineState(engine, atServer(useNow()));
  return (
    <li className="grid items-start gap-x-6 gap-y-2 border-t px-4 py-3 text-sm lg:grid-cols-[minmax(8rem,1fr)_minmax(0,1.4fr)_minmax(0,2fr)_auto]">
      <span className="min-w-0">
        <span className="block font-medium break-words">{engine.name}</span>
        <span className="block text-xs text-soft">{engine.description}</span>
      </span>
      <span className="flex min-w-0 flex-col gap-1">
        <Judged {...connection} />
        {engine.lastaccess !== "0" && <Load engine={engine} figures={figures} />}
        {engine.version && <Connection engine={engine} />}
      </span>
      <span className="flex min-w-0 flex-col gap-1">
        <Judged {...configuration} />
        <span className="flex flex-wrap gap-x-4 pl-4 text-xs text-soft">
          <Hash label={texts.running} hash={engine.running_hash} />
          <Hash label={texts.desired} hash={engine.desired_hash} />
        </span>
      </span>
      {mayBalance() && (
        <span className="-my-1.5 flex lg:justify-end">
          <IconButton
            icon="key"
            label={texts.newToken(engine.name)}
            onClick={() => on.onToken(engine)}
          />
          <RowButtons
            name={engine.name}
            onEdit={() => on.onEdit(engine)}
            onDelete={() => on.onDelete(engine)}
          />
        </span>
      )}
    </li>
  );
}

const FIGURES = ["connections", "records,waiting"];

interface GroupCardProps extends Actions {
  group: EngineGroup;
  engines: readonly Engine[];
  onAdd: () => void;
}

/** A group: how far its configuration has come, and its engines. */
function GroupCard({ group, engines, onAdd, ...on }: GroupCardProps) {
  const now = atServer(useNow());
  const ids = engines.map((engine) => engine.engineid);
  const { data: figures } = useQuery(figuresQuery("engine", ids, FIGURES));
  return (
    <Card
      title={
        <Link
          to="/balancing/engine-groups/$id/placement"
          params={{ id: group.enginegroupid }}
          className="hover:underline"
        >
          {group.name}
        </Link>
      }
      side={
        mayBalance() && (
          <Button
            small
            icon="plus"
            onClick={onAdd}
            aria-label={`${texts.addEngine}: ${group.name}`}
          >
            {texts.addEngine}
          </Button>
        )
      }
      bodyClass="pb-1"
    >
      <div className="px-4 pb-3 text-sm">
        {engines.length > 0 ? (
          <Judged {...rollout(engines, now)} />
        ) : (
          <Judged
            tone="warn"
            words={group.virtualservices === "0" ? texts.noEnginesAtAll : texts.noEngines}
          />
        )}
      </div>
      <ul aria-label={`${texts.engines}: ${group.name}`} className="empty:hidden">
        {engines.map((engine) => (
          <EngineRow key={engine.engineid} engine={engine} figures={figures} {...on} />
        ))}
      </ul>
    </Card>
  );
}

const NEW = { enginegroupid: "" };

/** The engines of each group: whether they are connected, and what they run. */
export function EnginesPage() {
  const groups = useQuery(engineGroupsQuery());
  const engines = useQuery(enginesQuery());
  const [edited, setEdited] = useState<Engine | null>(null);
  const [added, setAdded] = useState<typeof NEW | null>(null);
  const { start, renew, dialog } = useEnrolment();
  const remove = useDelete(deleteEngine, [["balancing"]]);
  const query = engines.error && !engines.data ? engines : groups;
  const actions: Actions = {
    onEdit: setEdited,
    onToken: (engine) => void renew(engine),
    onDelete: (engine) =>
      void remove(engine.engineid, engine.name, texts.deleteLoss, texts.deleteAction),
  };
  return (
    <Page
      title={texts.engines}
      heading={
        <>
          {texts.engines}
          {engines.data && <Count>{formatCount(engines.data.length)}</Count>}
        </>
      }
      scroll
    >
      <StaleError query={engines} className="mb-2" />
      {query.error && !query.data && (
        <QueryError error={query.error} onRetry={() => void query.refetch()} />
      )}
      {!query.error && !(groups.data && engines.data) && <SkeletonRows />}
      {groups.data && engines.data && (
        <div className="flex flex-col gap-4">
          {groups.data.map((group) => (
            <GroupCard
              key={group.enginegroupid}
              group={group}
              engines={engines.data.filter((one) => one.enginegroupid === group.enginegroupid)}
              onAdd={() => setAdded({ enginegroupid: group.enginegroupid })}
              {...actions}
            />
          ))}
          {groups.data.length === 0 && (
            <Card>
              <Empty
                icon="power"
                title={texts.engines}
                action={
                  mayBalance() && (
                    <Link
                      to="/balancing/$kind/new"
                      params={{ kind: "engine-groups" }}
                      className={buttonClass("primary")}
                    >
                      <Icon name="plus" size={15} />
                      {texts.createGroup}
                    </Link>
                  )
                }
              >
                {texts.noGroups}
              </Empty>
            </Card>
          )}
        </div>
      )}
      {edited && <EngineDialog engine={edited} onClose={() => setEdited(null)} />}
      {added && (
        <EngineDialog
          enginegroupid={added.enginegroupid}
          onCreated={start}
          onClose={() => setAdded(null)}
        />
      )}
      {dialog}
    </Page>
  );
}
