import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "~/api/client";
import { compareImport, formatOf, runImport } from "~/api/configuration";
import { explain } from "~/api/errors";
import { ChangeCounts, ChangeList, DropZone } from "~/shared/import-preview";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Checkbox } from "~/ui/field";
import { ErrorNote, SkeletonRows } from "~/ui/state";
import { type ImportChange, listChanges } from "~/util/compare";
import { formatCount, plural } from "~/util/format";
import { type Outcome, runInOrder } from "~/util/in-order";
import { texts } from "./texts";

/** A larger file is refused by the server anyway. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;
interface Source {
  name: string;
  text: string;
}

type Results = Outcome<Source, ImportChange[]>[];

const compare = async (file: Source, remove: boolean) =>
  listChanges(await compareImport(file.text, formatOf(file.name), remove));

/** What each file would change now. A file that needs another one may be refused until that is imported. */
async function preview(files: readonly Source[], remove: boolean): Promise<Results> {
  const results: Results = [];
  for (const of of files) {
    try {
      results.push({ of, result: await compare(of, remove) });
    } catch (error) {
      results.push({ of, error });
    }
  }
  return results;
}

const changesOf = (results: Results) =>
  results.flatMap((one) => ("error" in one ? [] : one.result));

/** The error of each file that was refused. */
function Refused({ results }: { results: Results }) {
  return results.map((one) => {
    if (!("error" in one)) return null;
    const { what, todo } = explain(one.error);
    return <ErrorNote key={one.of.name} what={`${one.of.name}: ${what}`} todo={todo} />;
  });
}

/** What the import did: the counts of all files, and the errors by file. */
function Report({ results }: { results: Results }) {
  const done = results.filter((one) => !("error" in one));
  return (
    <div role="status" className="flex flex-col gap-2">
      <p className="font-medium">
        {texts.importedOf(formatCount(done.length), plural(results.length, "file"))}
      </p>
      <ChangeCounts changes={changesOf(results)} />
      <Refused results={results} />
    </div>
  );
}

interface ImportProps {
  title?: string;
  onClose: () => void;
}

/** Imports files in the order of their dependencies: first what would change, then the changes. */
export function ImportDialog({ title = texts.importTemplates, onClose }: ImportProps) {
  const client = useQueryClient();
  const [files, setFiles] = useState<readonly Source[]>([]);
  const [removeMissing, setRemoveMissing] = useState(false);
  const [tooLarge, setTooLarge] = useState<string | null>(null);
  const comparing = useMutation({
    mutationFn: (of: { files: readonly Source[]; remove: boolean }) => preview(of.files, of.remove),
  });
  const run = useMutation({
    mutationFn: () =>
      runInOrder(
        files,
        async (file) => {
          const changes = await compare(file, removeMissing);
          if (changes.length > 0) await runImport(file.text, formatOf(file.name), removeMissing);
          return changes;
        },
        // A refusal by the API: its codes are below zero.
        (error) => error instanceof ApiError && error.code < 0,
      ),
    onSettled: () => void client.invalidateQueries(),
  });
  const choose = async (chosen: readonly File[]) => {
    const large = chosen.find((file) => file.size > FILE_BYTES_MAX);
    if (large) {
      setTooLarge(texts.isLargerThan64(large.name));
      return;
    }
    setTooLarge(null);
    const next = await Promise.all(
      chosen.map(async (file) => ({ name: file.name, text: await file.text() })),
    );
    setFiles(next);
    comparing.mutate({ files: next, remove: removeMissing });
  };
  const results = comparing.data ?? [];
  const changes = changesOf(results);
  const refused = results.filter((one) => "error" in one);
  // A refused file may only need one that is imported with it.
  const possible = changes.length > 0 || (refused.length > 0 && results.length > 1);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      wide
      footer={
        run.isSuccess ? (
          <Button look="primary" onClick={onClose}>
            {texts.done}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{texts.cancel}</Button>
            <Button
              look="primary"
              disabled={!comparing.isSuccess || !possible}
              busy={run.isPending}
              onClick={() => run.mutate()}
            >
              {changes.length ? texts.importCount(plural(changes.length, "change")) : texts.import}
            </Button>
          </>
        )
      }
    >
      {run.isSuccess ? (
        <Report results={run.data} />
      ) : (
        <div className="flex flex-col gap-4">
          <DropZone
            names={files.map((file) => file.name)}
            label={texts.filesToImport}
            prompt={texts.chooseFilesOrDrop}
            hint={texts.yamlXmlOrJson}
            accept=".yaml,.yml,.xml,.json"
            multiple
            onChoose={choose}
          />
          <Checkbox
            label={texts.deleteItemsTriggersAnd}
            checked={removeMissing}
            onChange={(event) => {
              setRemoveMissing(event.target.checked);
              if (files.length) comparing.mutate({ files, remove: event.target.checked });
            }}
          />
          {tooLarge && <ErrorNote what={tooLarge} />}
          {run.error && <ErrorNote {...explain(run.error)} />}
          {comparing.isPending && <SkeletonRows rows={4} />}
          {comparing.isSuccess && (
            <>
              {refused.length > 0 && results.length > 1 && (
                <p className="text-soft">{texts.theseFilesCannotBe}</p>
              )}
              <Refused results={results} />
              {(changes.length > 0 || refused.length === 0) && <ChangeList changes={changes} />}
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
