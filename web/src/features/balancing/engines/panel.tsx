import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { mayBalance } from "~/api/balancing";
import { enginesQuery } from "~/api/engines";
import { atServer } from "~/api/server-clock";
import { CRUMB } from "~/shared/page";
import { Button } from "~/ui/button";
import { useNow } from "~/util/hooks";
import { EngineDialog } from "./engine-dialog";
import { useEnrolment } from "./enrolment";
import { Judged } from "./lines";
import { rollout } from "./state";
import { texts } from "./texts";

/** Above the form of a service or group: how far its configuration has come, and what to do next. */
export function EnginesPanel({ enginegroupid }: { enginegroupid: string }) {
  const { data } = useQuery(enginesQuery());
  const now = atServer(useNow());
  const [adding, setAdding] = useState(false);
  const { start, dialog } = useEnrolment();
  if (!data) return null;
  const engines = data.filter((one) => one.enginegroupid === enginegroupid);
  return (
    <section
      aria-label={texts.engines}
      className="mb-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg border bg-surface px-4 py-2.5 text-sm shadow-card"
    >
      <Judged {...rollout(engines, now)} />
      <span className="flex items-center gap-3">
        {engines.length === 0 && mayBalance() && (
          <Button look="primary" small icon="plus" onClick={() => setAdding(true)}>
            {texts.addEngine}
          </Button>
        )}
        <Link to="/balancing/engines" className={CRUMB}>
          {texts.allEngines}
        </Link>
      </span>
      {adding && (
        <EngineDialog
          enginegroupid={enginegroupid}
          onCreated={start}
          onClose={() => setAdding(false)}
        />
      )}
      {dialog}
    </section>
  );
}
