import { useMutation, useQuery } from "@tanstack/react-query";
import {
  type ConnectorRow,
  connectorsQuery,
  deleteConnector,
  enableConnector,
} from "~/api/connectors";
import { explain } from "~/api/errors";
import { CELL, PlainTable } from "~/shared/config-tables";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Page } from "~/shared/page";
import { RowButtons, useDelete } from "~/shared/save-dialog";
import { Button, IconButton } from "~/ui/button";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import { ConnectorDialog, KEYS } from "./dialog";
import { isOn } from "./draft";
import { texts } from "./texts";

/** `tag`, or with its value: `tag: value`. */
const tagText = ({ tag, value }: ConnectorRow["tags"][number]) =>
  value ? `${tag}: ${value}` : tag;

function Connectors({ onEdit }: { onEdit: (connector: ConnectorRow) => void }) {
  const query = useQuery(connectorsQuery());
  const remove = useDelete(deleteConnector, KEYS);
  const toggle = useMutation({
    mutationFn: (connector: ConnectorRow) =>
      enableConnector(connector.connectorid, !isOn(connector)),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => query.refetch(),
  });
  return (
    <PlainTable<ConnectorRow>
      query={query}
      head={[
        ["Name", ""],
        ["Data type", "w-32"],
        ["URL", ""],
        ["Tags", ""],
        ["State", "w-32"],
        ["", "w-24"],
      ]}
      empty={
        <Empty icon="send" title={texts.noConnectors}>
          {texts.noConnectorsText}
        </Empty>
      }
      row={(connector) => {
        const on = isOn(connector);
        return (
          <tr key={connector.connectorid} className="border-t hover:bg-hover">
            <td className={`${CELL} font-medium`} title={connector.description || undefined}>
              {connector.name}
            </td>
            <td className={`${CELL} text-soft`}>
              {connector.data_type === "0" ? texts.itemValues : texts.events}
            </td>
            <td className={`${CELL} text-soft`}>{connector.url}</td>
            <td className={`${CELL} text-soft`}>{connector.tags.map(tagText).join(", ")}</td>
            <td className={CELL}>
              <span className="flex items-center justify-between gap-1">
                <span className={on ? "text-soft" : "text-faint"}>
                  {on ? texts.enabled : texts.disabled}
                </span>
                <IconButton
                  small
                  icon="power"
                  label={`${on ? texts.disable : texts.enable} ${connector.name}`}
                  onClick={() => toggle.mutate(connector)}
                />
              </span>
            </td>
            <td className="px-2 py-1 text-right whitespace-nowrap">
              <RowButtons
                name={connector.name}
                onEdit={() => onEdit(connector)}
                onDelete={() =>
                  remove(connector.connectorid, connector.name, texts.loss, texts.delete)
                }
              />
            </td>
          </tr>
        );
      }}
    />
  );
}

/** What is streamed to other programs. */
export function ConnectorsPage() {
  const [editing, setEditing] = useKeptState<{ connector?: ConnectorRow | null }>("dialog", {});
  return (
    <Page
      title={texts.connectors}
      scroll
      actions={
        <Button look="primary" icon="plus" onClick={() => setEditing({ connector: null })}>
          {texts.createConnector}
        </Button>
      }
    >
      <Connectors onEdit={(connector) => setEditing({ connector })} />
      {editing.connector !== undefined && (
        <ConnectorDialog stored={editing.connector} onClose={() => setEditing({})} />
      )}
    </Page>
  );
}
