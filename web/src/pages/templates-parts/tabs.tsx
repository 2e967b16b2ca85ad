import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { explain } from "~/api/errors";
import { unlinkTemplate } from "~/api/host-changes";
import type { Template } from "~/api/templates";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";

/** The hosts that use a template. */
export function Hosts({ template, onLink }: { template: Template; onLink: () => void }) {
  const client = useQueryClient();
  const unlink = useMutation({
    mutationFn: ({ hostid, clear }: { hostid: string; clear: boolean }) =>
      unlinkTemplate(hostid, template.templateid, clear),
    onSuccess: () => toast(`${template.name} was unlinked.`),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => client.invalidateQueries(),
  });
  if (template.hosts.length === 0) {
    return (
      <Card bodyClass="">
        <Empty
          icon="hosts"
          title="No host uses this template"
          action={
            <Button look="primary" icon="link" onClick={onLink}>
              Link to hosts
            </Button>
          }
        >
          Linked hosts get its items, triggers and discovery rules.
        </Empty>
      </Card>
    );
  }
  return (
    <Card bodyClass="">
      <ul>
        {template.hosts.map((host) => (
          <li
            key={host.hostid}
            className="flex h-10 items-center gap-2 border-b px-4 last:border-0 hover:bg-hover"
          >
            <Link
              to="/hosts/$hostid"
              params={{ hostid: host.hostid }}
              className="flex-1 truncate font-medium hover:underline"
            >
              {host.name}
            </Link>
            <Button
              small
              look="quiet"
              icon="unlink"
              onClick={() => unlink.mutate({ hostid: host.hostid, clear: false })}
            >
              Unlink
            </Button>
            <Button
              small
              look="quiet"
              icon="trash"
              onClick={() => unlink.mutate({ hostid: host.hostid, clear: true })}
            >
              Unlink and clear
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The macros of a template with their defaults. */
export function Macros({ template }: { template: Template }) {
  if (template.macros.length === 0) {
    return (
      <Card bodyClass="">
        <Empty icon="key" title="This template has no macros" />
      </Card>
    );
  }
  return (
    <Card bodyClass="">
      <dl>
        {template.macros.map((macro) => (
          <div
            key={macro.macro}
            className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_minmax(0,1.4fr)] gap-4 border-b px-4 py-2 last:border-0"
          >
            <dt className="font-mono text-xs break-all">{macro.macro}</dt>
            <dd className="font-mono text-xs break-all">
              {macro.type === "1" ? "••••••" : macro.value}
            </dd>
            <dd className="text-soft">{macro.description}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
