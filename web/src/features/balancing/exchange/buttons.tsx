import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { mayBalance } from "~/api/balancing";
import { exportBalancing } from "~/api/balancing-file";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { toast } from "~/ui/toast";
import { download } from "~/util/download";
import { formatCount, plural } from "~/util/format";
import { ImportDialog } from "./dialog";
import { texts } from "./texts";

/** Exports the chosen services with all that they use, or everything; imports a file. */
export function FileButtons({ chosen }: { chosen: string[] }) {
  const [importing, setImporting] = useState(false);
  const run = useMutation({
    mutationFn: () => exportBalancing(chosen),
    onSuccess: ({ source, left_out }) => {
      download(texts.fileName, source);
      if (left_out.length > 0) toast(texts.leftOut(plural(left_out.length, texts.detailWord)));
    },
    onError: (failure) => toast(explain(failure).what, "bad"),
  });
  return (
    <>
      <Button icon="download" busy={run.isPending} onClick={() => run.mutate()}>
        {chosen.length > 0 ? texts.exportChosen(formatCount(chosen.length)) : texts.exportAll}
      </Button>
      {mayBalance() && (
        <Button icon="upload" onClick={() => setImporting(true)}>
          {texts.import}
        </Button>
      )}
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
    </>
  );
}
