import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type MassItem, readMassItems, updateItems } from "~/api/mass-items";
import { toast } from "~/ui/toast";
import type { Changes } from "./plan";
import { joined, type Outcome, type Progress, Run } from "./run";
import { texts } from "./texts";

/** Before a run, during it, after it. */
export type RunState =
  | { stage: "none" }
  | { stage: "running"; progress: Progress; stopping: boolean }
  | { stage: "ended"; outcome: Outcome };

const API = { read: readMassItems, update: updateItems };

/** A run of a mass change. It stops after its current request if the page is left. */
export function useRun() {
  const client = useQueryClient();
  const [state, setState] = useState<RunState>({ stage: "none" });
  const running = useRef<Run | null>(null);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
      running.current?.stop();
    };
  }, []);
  const isRunning = state.stage === "running";
  useEffect(() => {
    if (!isRunning) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isRunning]);

  /** `before`: the outcome that the run continues. */
  const start = async (items: readonly MassItem[], changes: Changes, before?: Outcome) => {
    const run = new Run(items, changes, API, (progress) =>
      setState((old) => (old.stage === "running" ? { ...old, progress } : old)),
    );
    running.current = run;
    setState({ stage: "running", progress: run.progress(), stopping: false });
    const own = await run.go();
    const outcome = before ? joined(before, own, items) : own;
    running.current = null;
    void client.invalidateQueries();
    setState({ stage: "ended", outcome });
    if (left.current && outcome.end !== "done")
      toast(texts.stoppedInBackground(outcome.changed, outcome.total), "bad");
  };
  const stop = () => {
    running.current?.stop();
    setState((old) => (old.stage === "running" ? { ...old, stopping: true } : old));
  };
  return { state, start, stop };
}
