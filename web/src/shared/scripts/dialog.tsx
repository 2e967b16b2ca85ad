import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { explain } from "~/api/errors";
import {
  executeScript,
  type MenuScript,
  menuScriptsQuery,
  type ScriptTarget,
  scriptWithInput,
} from "~/api/scripts";
import { QueryError } from "~/shared/fallback";
import { Button, buttonClass } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Icon } from "~/ui/icon";
import { Empty, ErrorNote, SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { inputProblem, openable, ScriptKind } from "~/util/scripts";
import { formatDuration } from "~/util/time";
import { ManualInput } from "./input";
import { ScriptMenu } from "./menu";
import { type Outcome, Result } from "./result";
import { texts } from "./texts";

interface ScriptsDialogProps {
  target: ScriptTarget;
  /** The host or the problem. */
  name: string;
  onClose: () => void;
}

const asksInput = (script: MenuScript) => script.manualinput === "1";
/** Whether the texts of a script show the input. */
const showsInput = ({ confirmation, url }: MenuScript) =>
  `${confirmation} ${url}`.includes("{MANUALINPUT");

/** A step of the way from the menu to the result. */
type Stage =
  | { is: "menu" }
  | { is: "input"; script: MenuScript }
  | { is: "confirm"; script: MenuScript; input: string | undefined }
  | { is: "run"; script: MenuScript; input: string | undefined; since: number };

function useRun(target: ScriptTarget) {
  return useMutation({
    mutationFn: async ({ script, input }: { script: MenuScript; input?: string }) => {
      const start = performance.now();
      try {
        const execution = await executeScript(target, script.scriptid, input);
        return { ms: performance.now() - start, execution } satisfies Outcome;
      } catch (error) {
        return { ms: performance.now() - start, error } satisfies Outcome;
      }
    },
  });
}

function Running({ since }: { since: number }) {
  const now = useNow();
  return (
    <div role="status" className="flex flex-col gap-1">
      <p className="animate-blink font-medium">
        {texts.running(formatDuration(Math.max(0, now - since)))}
      </p>
      <p className="text-xs text-soft">{texts.keepsRunning}</p>
    </div>
  );
}

/** The question of a script, or the address that it opens. */
function Confirm({ script }: { script: MenuScript }) {
  const url = script.type === ScriptKind.Url ? script.url : undefined;
  return (
    <div className="flex flex-col gap-2">
      <p className="break-words whitespace-pre-wrap">
        {script.confirmation || (url === undefined ? texts.runNow : texts.opensUrl)}
      </p>
      {url !== undefined && <code className="text-xs break-all text-soft">{url}</code>}
      {url !== undefined && !openable(url) && <ErrorNote what={texts.notOpened} />}
    </div>
  );
}

function Choices({
  target,
  onChoose,
}: {
  target: ScriptTarget;
  onChoose: (s: MenuScript) => void;
}) {
  const query = useQuery(menuScriptsQuery(target));
  const { data, error, refetch } = query;
  if (error) return <QueryError error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} />;
  if (data.length === 0)
    return (
      <Empty icon="play" title={texts.noScripts} className="py-6">
        {"hostid" in target ? texts.noScriptsOfHost : texts.noScriptsOfEvent}
      </Empty>
    );
  return <ScriptMenu scripts={data} onChoose={onChoose} />;
}

/** Opens the address of a script. */
function OpenLink({ script, onOpen }: { script: MenuScript; onOpen: () => void }) {
  const url = openable(script.url);
  if (!url) return null;
  const apart = script.new_window !== "0";
  return (
    <a
      href={url}
      target={apart ? "_blank" : undefined}
      rel="noreferrer"
      className={buttonClass("primary")}
      onClick={onOpen}
    >
      <Icon name="out" size={15} />
      {texts.open}
    </a>
  );
}

interface InputFormProps {
  form: RefObject<HTMLFormElement | null>;
  script: MenuScript;
  value: string;
  onChange: (value: string) => void;
  /** The user has submitted it. */
  tried: boolean;
  error: unknown;
  onSubmit: () => void;
}

function InputForm({ form, script, value, onChange, tried, error, onSubmit }: InputFormProps) {
  return (
    <form
      ref={form}
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <ManualInput
        prompt={script.manualinput_prompt}
        type={script.manualinput_validator_type}
        validator={script.manualinput_validator}
        value={value}
        error={tried ? inputProblem(script, value) : undefined}
        onChange={onChange}
      />
      {error !== null && <ErrorNote {...explain(error)} />}
    </form>
  );
}

/** Chooses a script, asks for its input and confirmation, runs it and shows what it returned. */
export function ScriptsDialog({ target, name, onClose }: ScriptsDialogProps) {
  const [stage, setStage] = useState<Stage>({ is: "menu" });
  const [input, setInput] = useState("");
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const run = useRun(target);
  const start = (script: MenuScript, value: string | undefined) => {
    setStage({ is: "run", script, input: value, since: Math.floor(Date.now() / 1000) });
    run.mutate({ script, input: value });
  };
  const confirm = (script: MenuScript, value: string | undefined) => {
    if (script.confirmation || script.type === ScriptKind.Url)
      setStage({ is: "confirm", script, input: value });
    else start(script, value);
  };
  const choose = (script: MenuScript) => {
    run.reset();
    expanding.reset();
    setTried(false);
    setInput(script.manualinput_default_value);
    if (asksInput(script)) setStage({ is: "input", script });
    else confirm(script, undefined);
  };
  const expanding = useMutation({
    mutationFn: (script: MenuScript) =>
      showsInput(script)
        ? scriptWithInput(target, script.scriptid, input)
        : Promise.resolve(script),
    onSuccess: (script) => confirm(script, input),
  });
  const enter = (script: MenuScript) => {
    setTried(true);
    if (!inputProblem(script, input)) expanding.mutate(script);
  };
  const menu = () => setStage({ is: "menu" });
  const title = stage.is === "menu" ? texts.runOn(name) : texts.runName(stage.script.name, name);
  const footers: Record<Stage["is"], ReactNode> = {
    menu: <Button onClick={onClose}>{texts.close}</Button>,
    input: (
      <Button
        look="primary"
        busy={expanding.isPending}
        onClick={() => form.current?.requestSubmit()}
      >
        {texts.next}
      </Button>
    ),
    confirm:
      stage.is === "confirm" &&
      (stage.script.type === ScriptKind.Url ? (
        <OpenLink script={stage.script} onOpen={onClose} />
      ) : (
        <Button
          look="primary"
          icon="play"
          autoFocus
          onClick={() => start(stage.script, stage.input)}
        >
          {texts.run}
        </Button>
      )),
    run: stage.is === "run" && (
      <>
        {run.data && (
          <Button icon="play" onClick={() => choose(stage.script)}>
            {texts.again}
          </Button>
        )}
        <Button look="primary" autoFocus onClick={onClose}>
          {texts.close}
        </Button>
      </>
    ),
  };
  return (
    <Dialog
      title={title}
      wide={stage.is === "run"}
      onClose={onClose}
      footer={
        <>
          {stage.is !== "menu" && (
            <Button look="quiet" icon="left" className="mr-auto" onClick={menu}>
              {texts.back}
            </Button>
          )}
          {footers[stage.is]}
        </>
      }
    >
      {stage.is === "menu" && <Choices target={target} onChoose={choose} />}
      {stage.is === "input" && (
        <InputForm
          form={form}
          script={stage.script}
          value={input}
          onChange={setInput}
          tried={tried}
          error={expanding.error}
          onSubmit={() => enter(stage.script)}
        />
      )}
      {stage.is === "confirm" && <Confirm script={stage.script} />}
      {stage.is === "run" &&
        (run.data ? (
          <Result outcome={run.data} name={stage.script.name} />
        ) : (
          <Running since={stage.since} />
        ))}
    </Dialog>
  );
}
