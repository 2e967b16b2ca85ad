import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { engineGroupsQuery } from "~/api/balancing";
import { type BalancingImport, compareBalancing, importBalancing } from "~/api/balancing-file";
import { explain } from "~/api/errors";
import { ChangeList, DropZone } from "~/shared/import-preview";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Checkbox, SelectField } from "~/ui/field";
import { ErrorNote, SkeletonRows } from "~/ui/state";
import { toast } from "~/ui/toast";
import { listChanges } from "~/util/compare";
import { plural } from "~/util/format";
import { texts } from "./texts";

/** A larger file is refused by the server anyway. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** What is imported, and how. */
interface Choice {
  name: string;
  source: string;
  group: string;
  remove: boolean;
}

/** What the import would change, what stays, and what of it engines get. */
function Preview({ result }: { result: BalancingImport }) {
  const kinds = Object.values(result.objects);
  const unchanged = kinds.reduce((sum, kind) => sum + (kind.unchanged?.length ?? 0), 0);
  const services = result.services.map((one) => one.name).join(", ");
  return (
    <>
      <ChangeList changes={listChanges(result.objects)} />
      {unchanged > 0 && (
        <p className="text-xs text-soft">{texts.unchanged(plural(unchanged, texts.objectWord))}</p>
      )}
      {services && <p className="text-soft break-all">{texts.touches(services)}</p>}
      {result.ignored.length > 0 && (
        <p className="text-xs text-soft">{texts.ignored(result.ignored.join(", "))}</p>
      )}
    </>
  );
}

/** How the file is imported. Each change shows again what would happen. */
function Options({ choice, onChange }: { choice: Choice; onChange: (next: Choice) => void }) {
  const { data: groups = [] } = useQuery(engineGroupsQuery());
  return (
    <>
      <SelectField
        label={texts.group}
        hint={texts.groupHint}
        value={choice.group}
        options={[
          ["", texts.noGroup],
          ...groups.map((one) => [one.enginegroupid, one.name] as const),
        ]}
        onChange={(group) => onChange({ ...choice, group })}
      />
      <Checkbox
        label={texts.remove}
        checked={choice.remove}
        onChange={(event) => onChange({ ...choice, remove: event.target.checked })}
      />
    </>
  );
}

/** Imports a file: first what would change, then the changes. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [choice, setChoice] = useState<Choice>({ name: "", source: "", group: "", remove: false });
  const [tooLarge, setTooLarge] = useState<string | null>(null);
  const comparing = useMutation({ mutationFn: compareBalancing });
  const run = useMutation({
    mutationFn: () => importBalancing(choice),
    onSuccess: (result) => {
      toast(texts.imported(plural(listChanges(result.objects).length, texts.changeWord)));
      onClose();
    },
    onSettled: () => void client.invalidateQueries(),
  });
  const change = (next: Choice) => {
    setChoice(next);
    run.reset();
    if (next.source) comparing.mutate(next);
  };
  const choose = async ([file]: readonly File[]) => {
    if (!file) return;
    const isLarge = file.size > FILE_BYTES_MAX;
    setTooLarge(isLarge ? texts.tooLarge(file.name) : null);
    if (!isLarge) change({ ...choice, name: file.name, source: await file.text() });
  };
  const changes = comparing.data ? listChanges(comparing.data.objects).length : 0;
  const failure = run.error ?? comparing.error;
  return (
    <Dialog
      title={texts.title}
      onClose={onClose}
      wide
      footer={
        <>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button
            look="primary"
            disabled={!comparing.isSuccess || changes === 0}
            busy={run.isPending}
            onClick={() => run.mutate()}
          >
            {changes ? texts.importCount(plural(changes, texts.changeWord)) : texts.import}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <DropZone
          names={choice.name ? [choice.name] : []}
          label={texts.file}
          prompt={texts.chooseFile}
          hint={texts.hint}
          accept=".yaml,.yml,.json"
          onChoose={choose}
        />
        <Options choice={choice} onChange={change} />
        {tooLarge && <ErrorNote what={tooLarge} />}
        {failure && <ErrorNote {...explain(failure)} />}
        {comparing.isPending && <SkeletonRows rows={4} />}
        {comparing.isSuccess && <Preview result={comparing.data} />}
      </div>
    </Dialog>
  );
}
