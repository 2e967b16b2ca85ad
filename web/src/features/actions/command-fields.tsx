import { Link } from "@tanstack/react-router";
import { session } from "~/api/session-store";
import { GroupPicker, HostPicker } from "~/shared/pickers";
import { Checkbox, Field, SelectField } from "~/ui/field";
import { Sentence } from "~/ui/sentence";
import { type ActionSource, runsOnHosts } from "~/util/actions";
import type { RecipientNames } from "./names";
import type { OperationDraft } from "./operation-draft";
import { texts } from "./texts";

/** Only they create scripts. */
const SUPER_ADMIN = 3;

interface CommandFieldsProps {
  source: ActionSource;
  operation: OperationDraft;
  set: (next: Partial<OperationDraft>) => void;
  names: RecipientNames;
}

function Targets({ operation, set }: CommandFieldsProps) {
  return (
    <>
      <Checkbox
        label={texts.currentHost}
        checked={operation.currentHost}
        onChange={(event) => set({ currentHost: event.target.checked })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label={texts.targetHosts}>
          {(id) => (
            <HostPicker
              id={id}
              field
              values={operation.targetHosts}
              onChange={(targetHosts) => set({ targetHosts })}
            />
          )}
        </Field>
        <Field label={texts.targetGroups}>
          {(id) => (
            <GroupPicker
              of="host"
              id={id}
              field
              values={operation.targetGroups}
              onChange={(targetGroups) => set({ targetGroups })}
            />
          )}
        </Field>
      </div>
    </>
  );
}

/** Which script runs, and where. */
export function CommandFields(props: CommandFieldsProps) {
  const { source, operation, set, names } = props;
  const { script } = operation;
  const known = script === "" || names.scripts.some(([id]) => id === script);
  return (
    <>
      <SelectField
        label={texts.script}
        required
        options={[
          ["", texts.choose],
          ...(known ? [] : [[script, names.script(script)] as const]),
          ...names.scripts,
        ]}
        value={script}
        onChange={(next) => set({ script: next })}
      />
      {names.scripts.length === 0 && (
        <p className="text-xs text-soft">
          {session()?.type === SUPER_ADMIN ? (
            <Sentence
              text={texts.noScripts}
              places={{
                page: (
                  <Link to="/scripts/new" className="text-accent-ink underline">
                    {texts.createScript}
                  </Link>
                ),
              }}
            />
          ) : (
            texts.askForScripts
          )}
        </p>
      )}
      {runsOnHosts(source) ? (
        <Targets {...props} />
      ) : (
        <p className="text-xs text-soft">{texts.onTheServer}</p>
      )}
    </>
  );
}
