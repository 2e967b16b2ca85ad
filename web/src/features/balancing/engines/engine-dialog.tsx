import { useQuery } from "@tanstack/react-query";
import { engineGroupsQuery } from "~/api/balancing";
import { type Engine, enginesQuery, saveEngine } from "~/api/engines";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useReread } from "~/shared/fresh";
import { SaveDialog } from "~/shared/save-dialog";
import { SelectField, TextField } from "~/ui/field";
import { texts } from "./texts";

interface EngineDialogProps {
  /** The engine to change; without it, a new one. */
  engine?: Engine;
  /** Group of a new engine. */
  enginegroupid?: string;
  /** Of a new engine. */
  onCreated?: (engine: { engineid: string; name: string }) => void;
  onClose: () => void;
}

/** Creates or edits an engine. */
export function EngineDialog(props: EngineDialogProps) {
  const { engine, onClose } = props;
  const id = engine?.engineid ?? null;
  const [draft, setDraft, restored] = useKeptState(`engine ${id ?? "new"}`, {
    name: engine?.name ?? "",
    enginegroupid: engine?.enginegroupid ?? props.enginegroupid ?? "",
    description: engine?.description ?? "",
  });
  const { data: groups = [] } = useQuery(engineGroupsQuery());
  const reread = useReread();
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const name = draft.name.trim();
  const configured = ({ name, enginegroupid, description }: Engine) => ({
    name,
    enginegroupid,
    description,
  });
  const save = async () => {
    const { engineids } = await saveEngine(id, { ...draft, name });
    const [engineid] = engineids;
    if (!engine && engineid) props.onCreated?.({ engineid, name });
  };
  return (
    <SaveDialog
      title={engine ? texts.editTitle(engine.name) : texts.addEngine}
      word={texts.engineWord}
      problem={name ? (draft.enginegroupid ? undefined : texts.chooseGroup) : texts.enterName}
      save={save}
      saved={engine ? texts.saved(name) : texts.created(name)}
      keys={[["balancing"]]}
      onClose={onClose}
      draft={draft}
      restored={restored}
      stale={
        engine && {
          before: configured(engine),
          now: async () => {
            const now = await reread(enginesQuery(), (one) => one.engineid === id);
            return now && configured(now);
          },
        }
      }
    >
      <TextField
        label={texts.name}
        required
        hint={texts.nameHint}
        maxLength={128}
        value={draft.name}
        onChange={(next) => set({ name: next })}
      />
      <SelectField
        label={texts.group}
        required
        hint={engine && draft.enginegroupid !== engine.enginegroupid ? texts.groupMoves : undefined}
        options={[
          ["", texts.choose],
          ...groups.map((one) => [one.enginegroupid, one.name] as const),
        ]}
        value={draft.enginegroupid}
        onChange={(enginegroupid) => set({ enginegroupid })}
      />
      <TextField
        label={texts.description}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </SaveDialog>
  );
}
