import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type EngineToken, enginesQuery, generateEngineToken } from "~/api/engines";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { canCopy, copy } from "~/ui/copy";
import { Dialog } from "~/ui/dialog";
import { Field, TextField } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { formatClock } from "~/util/time";
import { DATA, engineCommand, isController, isLocal, usualController } from "./command";
import { EngineLines } from "./lines";
import { texts } from "./texts";

interface Named {
  engineid: string;
  name: string;
}

/** The command that starts an engine, with what depends on the machines. */
function Command({ engine, made }: { engine: Named; made: EngineToken }) {
  const [controller, setController] = useState(usualController(location.hostname));
  const [data, setData] = useState(DATA);
  const right = isController(controller.trim());
  const command = engineCommand(made.token, controller.trim(), data.trim() || DATA);
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.controller}
          error={right ? undefined : texts.controllerWrong}
          hint={isLocal(controller) ? texts.controllerLocal : texts.controllerHint}
          value={controller}
          onChange={setController}
        />
        <TextField
          label={texts.data}
          hint={texts.dataHint}
          placeholder={DATA}
          value={data}
          onChange={setData}
        />
      </div>
      <Field
        label={texts.command}
        hint={texts.tokenUntil(formatClock(Number(made.expires_at), "minute"))}
      >
        {(id) => (
          <output
            id={id}
            className="rounded-md bg-sunken px-3 py-2 font-mono text-xs break-all select-all"
          >
            {command}
          </output>
        )}
      </Field>
      <div className="flex flex-col gap-1 text-sm">
        <p>{texts.tokenOnce}</p>
        <p className="text-xs text-soft">{texts.tokenAgain}</p>
      </div>
      {canCopy && (
        <Button
          look="primary"
          icon="copy"
          className="self-start"
          disabled={!right}
          onClick={() => copy(command, texts.copied)}
        >
          {texts.copyCommand}
        </Button>
      )}
      <EngineLines of={(one) => one.engineid === engine.engineid} />
    </div>
  );
}

/** Generates tokens of engines. `dialog` shows one with its command; it is a part of the page. */
export function useEnrolment() {
  const client = useQueryClient();
  const [engine, setEngine] = useState<Named | null>(null);
  const generate = useMutation({
    mutationFn: (one: Named) => generateEngineToken(one.engineid),
    onSettled: () => client.invalidateQueries(enginesQuery()),
  });
  const start = (one: Named) => {
    setEngine(one);
    generate.mutate(one);
  };
  const close = () => {
    setEngine(null);
    generate.reset();
  };
  /** For an engine that may have a token or run already. */
  const renew = async (one: Named) => {
    const body = <p>{texts.newTokenLoss}</p>;
    if (await confirmed(texts.newTokenTitle(one.name), body, texts.generate, "key")) start(one);
  };
  const dialog: ReactNode = engine && (
    <Dialog
      wide
      title={texts.startEngine(engine.name)}
      onClose={close}
      footer={<Button onClick={close}>{texts.done}</Button>}
    >
      {generate.error && (
        <ErrorNote {...explain(generate.error)} onRetry={() => generate.mutate(engine)} />
      )}
      {generate.isPending && <p role="status">{texts.generating}</p>}
      {generate.data && <Command engine={engine} made={generate.data} />}
    </Dialog>
  );
  return { start, renew, dialog };
}
