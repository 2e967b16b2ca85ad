import { AddButton } from "~/shared/forms/rows-editor";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { GroupPicker, TemplatePicker } from "~/shared/pickers";
import { IconButton } from "~/ui/button";
import { Select } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { OPERATIONS, operationNeed } from "~/util/actions";
import { patched, without } from "~/util/rows";
import { newOperation, type OperationDraft } from "./draft";
import { texts } from "./texts";

const KINDS = OPERATIONS.map(([type, name]) => [type, name] as const);
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
  operations: OperationDraft[];
  onChange: (operations: OperationDraft[]) => void;
  /** Names of templates by id. */
  names: ReadonlyMap<string, string>;
  problems: Record<string, string>;
}

/** What then happens to the host. */
export function OperationsEditor(props: OperationsEditorProps) {
  const { operations, onChange, names, problems } = props;
  return (
    <div className="flex flex-col gap-3">
      {operations.map((operation, at) => {
        const set = (next: Partial<OperationDraft>) => onChange(patched(operations, at, next));
        return (
          <fieldset
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
            key={at}
            aria-label={texts.operationNumber(at + 1)}
            className="flex flex-col gap-2"
          >
            <div className="grid grid-cols-[minmax(0,1fr)_2rem] items-start gap-2 sm:grid-cols-[14rem_minmax(0,1fr)_2rem]">
              <Select
                aria-label={texts.operation}
                options={KINDS}
                value={operation.type}
                onChange={(e) => set({ ...newOperation(e.target.value) })}
              />
              <div className="max-sm:col-start-1 max-sm:row-start-2">
                <Detail operation={operation} set={set} names={names} />
              </div>
              <IconButton
                icon="trash"
                label={texts.removeOperation}
                onClick={() => onChange(without(operations, at))}
              />
            </div>
            {problems[`operation${at}`] && (
              <p className="text-xs text-bad-ink">{problems[`operation${at}`]}</p>
            )}
          </fieldset>
        );
      })}
      <AddButton onClick={() => onChange([...operations, newOperation("4")])}>
        {texts.addOperation}
      </AddButton>
      {problems.operations && <p className="text-xs text-bad-ink">{problems.operations}</p>}
    </div>
  );
}
