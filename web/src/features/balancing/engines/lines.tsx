import { useQuery } from "@tanstack/react-query";
import { type Engine, enginesQuery } from "~/api/engines";
import { atServer } from "~/api/server-clock";
import { StaleError } from "~/shared/fallback";
import { Dot } from "~/ui/severity";
import { useNow } from "~/util/hooks";
import { engineState } from "./state";

/** Something with the dot of its state. */
export function Judged({ tone, words }: { tone: "good" | "warn" | "bad" | "off"; words: string }) {
  return (
    <span className="flex min-w-0 items-start gap-2">
      <span className="flex h-5 items-center">
        <Dot tone={tone} />
      </span>
      <span className="min-w-0 break-words">{words}</span>
    </span>
  );
}

/** Engines with what they do about the current configuration, read every second. */
export function EngineLines({ of }: { of: (engine: Engine) => boolean }) {
  const query = useQuery(enginesQuery(1_000));
  const now = atServer(useNow());
  const engines = query.data?.filter(of) ?? [];
  return (
    <>
      <StaleError query={query} />
      <ul aria-live="polite" className="flex flex-col gap-3 text-sm">
        {engines.map((engine) => {
          const { connection, configuration } = engineState(engine, now);
          return (
            <li key={engine.engineid} className="flex flex-col gap-1">
              <span className="font-medium">{engine.name}</span>
              <Judged {...connection} />
              <Judged {...configuration} />
            </li>
          );
        })}
      </ul>
    </>
  );
}
