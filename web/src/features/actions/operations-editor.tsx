import { AddButton } from "~/shared/forms/rows-editor";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { GroupPicker, TemplatePicker } from "~/shared/pickers";
import { IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Select } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import {
  type ActionSource,
  hasSteps,
  type Mode,
  offeredOperations,
  operationName,
  operationNeed,
  runsOnHosts,
} from "~/util/actions";
import { patched, without } from "~/util/rows";
import { CommandFields } from "./command-fields";
import { MessageFields, StepFields } from "./message-fields";
import type { RecipientNames } from "./names";
import { newOperation, nextStep, type OperationDraft } from "./operation-draft";
import { texts } from "./texts";

const MODES = [
  ["1", "Automatic"],
  ["0", "Manual"],
] as const;

interface DetailProps {
  operation: OperationDraft;
  set: (next: Partial<OperationDraft>) => void;
  names: ReadonlyMap<string, string>;
}

/** What the operation needs beside its kind. */
function Detail({ operation, set, names }: DetailProps) {
  switch (operationNeed(operation.type)) {
    case "opgroup":
      return (
        <GroupPicker
          of="host"
          field
          values={operation.groups}
          onChange={(groups) => set({ groups })}
        />
      );
    case "optemplate":
      return (
        <TemplatePicker
          field
          names={names}
          values={operation.templates}
          onChange={(templates) => set({ templates })}
        />
      );
    case "optag":
      return <TagsEditor tags={operation.tags} onChange={(tags) => set({ tags })} />;
    case "opinventory":
      return (
        <Segmented
          label={texts.inventoryMode}
          value={operation.inventory === "0" ? "0" : "1"}
          onChange={(inventory) => set({ inventory })}
          options={MODES}
        />
      );
    default:
      return null;
  }
}

interface OperationsEditorProps {
  source: ActionSource;
  mode: Mode;
  operations: OperationDraft[];
  onChange: (operations: OperationDraft[]) => void;
  /** The duration of the action's steps. */
  period: string;
  /** Names of templates by id. */
  names: ReadonlyMap<string, string>;
  recipients: RecipientNames;
  problems: Record<string, string>;
}

interface OperationProps extends Omit<OperationsEditorProps, "operations" | "onChange"> {
  operation: OperationDraft;
  set: (next: Partial<OperationDraft>) => void;
  onRemove: () => void;
}

function Operation({ operation, set, onRemove, ...props }: OperationProps) {
  const { source, mode } = props;
  const need = operationNeed(operation.type);
  const sends = need === "message" || need === "involved";
  const offered = offeredOperations(source, mode).map(([type, name]) => [type, name] as const);
  // A kind that forms do not offer stays.
  const isOffered = offered.some(([type]) => type === operation.type);
  const options = isOffered
    ? offered
    : [...offered, [operation.type, operationName(operation.type)] as const];
  const inSteps = mode === "operations" && hasSteps(source);
  const { from, to, period } = operation;
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)_2rem] items-start gap-2 sm:grid-cols-[14rem_minmax(0,1fr)_2rem]">
        <Select
          aria-label={texts.operation}
          options={options}
          value={operation.type}
          onChange={(e) =>
            set({
              ...newOperation(e.target.value),
              currentHost: runsOnHosts(source),
              from,
              to,
              period,
            })
          }
        />
        <div className="max-sm:col-start-1 max-sm:row-start-2">
          <Detail operation={operation} set={set} names={props.names} />
        </div>
        <IconButton icon="trash" label={texts.removeOperation} onClick={onRemove} />
      </div>
      {inSteps && (
        <StepFields operation={operation} set={set} source={source} period={props.period} />
      )}
      {need === "command" && (
        <CommandFields source={source} operation={operation} set={set} names={props.recipients} />
      )}
      {sends && <MessageFields operation={operation} set={set} names={props.recipients} />}
    </>
  );
}

/** What then happens: to the host, or to those who are told. */
export function OperationsEditor(props: OperationsEditorProps) {
  const { source, mode, operations, onChange, problems } = props;
  const boxed = hasSteps(source);
  const add = () => {
    const offered = offeredOperations(source, mode);
    // Hosts are mostly added to groups; messages are sent at the next step.
    const type = boxed ? (offered[0]?.[0] ?? "") : "4";
    onChange([...operations, newOperation(type, nextStep(operations))]);
  };
  return (
    <div className="flex flex-col gap-3">
      {operations.map((operation, at) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          key={at}
          aria-label={texts.operationNumber(at + 1)}
          className={cx("flex min-w-0 flex-col gap-3", boxed && "rounded-md border p-3")}
        >
          <Operation
            {...props}
            operation={operation}
            set={(next) => onChange(patched(operations, at, next))}
            onRemove={() => onChange(without(operations, at))}
          />
          {problems[`${mode}${at}`] && (
            <p className="text-xs text-bad-ink">{problems[`${mode}${at}`]}</p>
          )}
        </fieldset>
      ))}
      <AddButton onClick={add}>{texts.addOperation}</AddButton>
      {problems[mode] && <p className="text-xs text-bad-ink">{problems[mode]}</p>}
    </div>
  );
}
