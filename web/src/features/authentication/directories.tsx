import { useQuery } from "@tanstack/react-query";
import {
  authenticationQuery,
  type Directory,
  deleteDirectory,
  directoriesQuery,
} from "~/api/authentication";
import { CELL, PlainTable } from "~/shared/config-tables";
import { RowButtons, useDelete } from "~/shared/save-dialog";
import { Empty } from "~/ui/state";
import { KEYS } from "./directory-dialog";
import { NAMES } from "./settings-draft";
import { texts } from "./texts";

export function Directories({ onEdit }: { onEdit: (directory: Directory) => void }) {
  const query = useQuery(directoriesQuery());
  const { data: settings } = useQuery(authenticationQuery(NAMES));
  const remove = useDelete(deleteDirectory, KEYS);
  return (
    <PlainTable<Directory>
      query={query}
      head={[
        ["Name", ""],
        ["Host", ""],
        ["Base DN", ""],
        ["Provisioning", "w-32"],
        ["", "w-24"],
      ]}
      empty={
        <Empty icon="key" title={texts.noServers}>
          {texts.noServersText}
        </Empty>
      }
      row={(directory) => (
        <tr key={directory.userdirectoryid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`} title={directory.description || undefined}>
            {directory.name}
            {directory.userdirectoryid === settings?.ldap_userdirectoryid && (
              <span className="pl-2 text-xs font-normal text-faint"> {texts.isDefault}</span>
            )}
          </td>
          <td className={`${CELL} text-soft`}>
            {directory.host}:{directory.port}
          </td>
          <td className={`${CELL} text-soft`}>{directory.base_dn}</td>
          <td className={`${CELL} text-soft`}>
            {directory.provision_status === "1" ? texts.provisions : texts.provisionsNot}
          </td>
          <td className="px-2 py-1 text-right whitespace-nowrap">
            <RowButtons
              name={directory.name}
              onEdit={() => onEdit(directory)}
              onDelete={() =>
                remove(directory.userdirectoryid, directory.name, texts.serverLoss, texts.delete)
              }
            />
          </td>
        </tr>
      )}
    />
  );
}
