import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import type { ItemKind } from "~/api/item-config";
import { type TestOutcome, testItem } from "~/api/item-test";
import { itemsQuery } from "~/api/items";
import { macroLevelsQuery } from "~/api/macros";
import { type Owner, ownerQuery } from "~/api/owners";
import { ItemType, MacroType } from "~/api/schema";
import { HostPicker } from "~/shared/pickers";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Checkbox, Input, TextareaField, TextField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { ErrorNote } from "~/ui/state";
import { resolveMacro } from "~/util/macros";
import type { ItemDraft } from "./draft";
import { comparesWithPrevious, macrosOfTest, shownSteps, testParams } from "./test-params";
import { TestSteps } from "./test-steps";
import { texts } from "./texts";

interface TestDialogProps {
  draft: ItemDraft;
  kind: ItemKind;
  owner: Owner;
  onClose: () => void;
}

/** Types that nobody can be asked for: their values are sent, or come out of another item. */
const NOT_ASKED = new Set(["2", "7", "17", "18"]);

/** Values of the macros of a test: as defined, unless typed otherwise. */
function useMacros(macros: readonly string[], ownerid: string) {
  const { data: levels = [] } = useQuery(macroLevelsQuery(macros.length ? ownerid : ""));
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map());
  const rows = macros.map((macro) => {
    const found = resolveMacro(macro, levels);
    const secret = found !== null && found.definition.type !== MacroType.Text;
    return {
      macro,
      value: typed.get(macro) ?? found?.definition.value ?? "",
      from: secret
        ? "Secret: enter a value for this test"
        : found
          ? found.level.from
          : macro.startsWith("{#")
            ? "Discovery macro: enter a value"
            : "Not defined",
    };
  });
  const set = (macro: string, value: string) => setTyped(new Map(typed).set(macro, value));
  return { rows, set };
}

function MacroRows({ rows, set }: ReturnType<typeof useMacros>) {
  return (
    <section aria-label={texts.macros} className="flex flex-col gap-2">
      <h3 className="text-xs font-semibold text-soft">{texts.macros}</h3>
      {rows.map(({ macro, value, from }) => (
        <div key={macro} className="grid items-center gap-x-3 gap-y-1 sm:grid-cols-[1fr_1fr_1fr]">
          <code className="font-mono text-xs break-all">{macro}</code>
          <Input
            aria-label={texts.valueOf(macro)}
            value={value}
            onChange={(e) => set(macro, e.target.value)}
          />
          <span className="truncate text-xs text-faint" title={from}>
            {from}
          </span>
        </div>
      ))}
    </section>
  );
}

interface Previous {
  value: string;
  time: string;
}

function PreviousFields({
  previous,
  onChange,
}: {
  previous: Previous;
  onChange: (previous: Previous) => void;
}) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label={texts.previousValue}
        hint={texts.asReceivedBeforePreprocessing}
        value={previous.value}
        onChange={(value) => onChange({ ...previous, value })}
      />
      <TextField
        label={texts.previousTime}
        hint={texts.suchAsNow60s}
        value={previous.time}
        onChange={(value) => onChange({ ...previous, time: value })}
      />
    </div>
  );
}

/** Runs a value through the item's preprocessing on the server, step by step; nothing is kept. */
export default function TestDialog({ draft, kind, owner, onClose }: TestDialogProps) {
  const askable = !NOT_ASKED.has(draft.type);
  const [source, setSource] = useState<"typed" | "host">("typed");
  const [value, setValue] = useState("");
  const [failed, setFailed] = useState(false);
  const [error, setError] = useState("");
  const [previous, setPrevious] = useState<Previous>({ value: "", time: "now-60s" });
  const [hostid, setHostid] = useState(owner.template ? "" : owner.id);
  const { data: host } = useQuery(ownerQuery(hostid));
  const { data: masters } = useQuery(
    itemsQuery(draft.type === ItemType.Dependent && draft.masterId !== "0" ? [draft.masterId] : []),
  );
  const master = masters?.[0];
  const macros = useMacros(macrosOfTest(draft, source, host ?? undefined), hostid || owner.id);
  const compares = comparesWithPrevious(draft.preprocessing);
  const [started, setStarted] = useState<string | null>(null);
  const run = useMutation<TestOutcome>({
    mutationFn: () => {
      setStarted(source === "typed" && !failed ? value : null);
      const input = {
        source,
        value,
        failed,
        error,
        previous: previous.value,
        previousTime: compares ? previous.time : "",
        macros: new Map(macros.rows.map((row) => [row.macro, row.value])),
        host: host ?? undefined,
      };
      return testItem(testParams(draft, kind, input));
    },
  });
  const outcome = run.data;
  const came = outcome?.item?.result ?? started;
  return (
    <Dialog
      title={texts.testWhat(draft.name || texts.theItem)}
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.close}</Button>
          <Button
            look="primary"
            icon="play"
            busy={run.isPending}
            disabled={source === "host" && !host}
            onClick={() => run.mutate()}
          >
            {source === "host" ? texts.getValueAndTest : texts.test}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-wrap items-center gap-3">
          {askable && (
            <Segmented
              label={texts.valueSource}
              value={source}
              onChange={setSource}
              options={[
                ["typed", texts.enterAValue],
                ["host", texts.getValueFromHost],
              ]}
            />
          )}
          {source === "host" && owner.template && (
            <HostPicker
              values={hostid ? [hostid] : []}
              onChange={(ids) => setHostid(ids.at(-1) ?? "")}
            />
          )}
          {source === "host" && host && (
            <span className="text-soft">{texts.collectedDuringTest(host.name)}</span>
          )}
          {source === "typed" && (
            <Checkbox
              label={texts.treatAsFailedCheck}
              checked={failed}
              onChange={(e) => setFailed(e.target.checked)}
            />
          )}
          {source === "typed" && master && master.lastclock !== "0" && (
            <Button small onClick={() => setValue(master.lastvalue)}>
              {texts.lastValueOf(master.name)}
            </Button>
          )}
        </div>
        {source === "typed" && (
          <TextareaField
            label={failed ? texts.error : texts.value}
            autoFocus
            rows={failed ? 1 : 4}
            className="font-mono text-xs"
            value={failed ? error : value}
            onChange={failed ? setError : setValue}
            onKeyDown={(e) => {
              if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run.mutate();
            }}
          />
        )}
        {compares && <PreviousFields previous={previous} onChange={setPrevious} />}
        {macros.rows.length > 0 && <MacroRows {...macros} />}
        {run.error && <ErrorNote {...explain(run.error)} />}
        {outcome?.item?.error !== undefined && (
          <ErrorNote what={texts.theValueCouldNot(outcome.item.error)} />
        )}
        <TestSteps
          steps={draft.preprocessing}
          shown={
            outcome ? shownSteps(draft.preprocessing.length, came ?? null, outcome) : undefined
          }
          outcome={outcome}
        />
      </div>
    </Dialog>
  );
}
