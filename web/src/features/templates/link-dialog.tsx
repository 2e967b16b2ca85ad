import { useMutation, useQueryClient } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { linkTemplates } from "~/api/host-changes";
import type { Template } from "~/api/templates";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { HostPicker } from "~/shared/pickers";
import { useDialogDraft } from "~/shared/save-dialog";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { plural } from "~/util/format";
import { texts } from "./texts";

/** Links one template to hosts. */
export function LinkDialog({ template, onClose }: { template: Template; onClose: () => void }) {
  const client = useQueryClient();
  const [hostids, setHostids, restored] = useKeptState<string[]>("link", []);
  const link = useMutation({
    mutationFn: () => linkTemplates(hostids, [template.templateid]),
    onSuccess: () => {
      toast(texts.wasLinkedTo(template.name, plural(hostids.length, "host")));
      void client.invalidateQueries();
      onClose();
    },
  });
  const leave = useDialogDraft({ draft: hostids, restored, error: link.error, onClose });
  return (
    <Dialog
      title={texts.linkName(template.name)}
      onClose={() => void leave()}
      footer={
        <>
          <Button onClick={() => void leave()}>{texts.cancel}</Button>
          <Button
            look="primary"
            disabled={hostids.length === 0}
            busy={link.isPending}
            onClick={() => link.mutate()}
          >
            {texts.linkTo(plural(hostids.length, "host"))}
          </Button>
        </>
      }
    >
      <div className="flex min-h-80 flex-col gap-4">
        {link.error && <ErrorNote {...explain(link.error)} />}
        <Field label={texts.hosts} hint={texts.theItemsTriggersAnd}>
          {(id) => <HostPicker id={id} field values={hostids} onChange={setHostids} />}
        </Field>
      </div>
    </Dialog>
  );
}
