import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { groupsQuery } from "~/api/groups";
import { type HostPrototypeRow, hostPrototypesQuery } from "~/api/host-prototypes";
import { CELL, PlainTable, PrototypeState } from "~/shared/config-tables";
import { Empty } from "~/ui/state";
import { texts } from "./texts";

/** The host prototypes of a rule. */
export function HostPrototypes({ ruleid }: { ruleid: string }) {
  const query = useQuery(hostPrototypesQuery(ruleid));
  const { data: groups = [] } = useQuery(groupsQuery("host"));
  const groupNames = (prototype: HostPrototypeRow) =>
    [
      ...prototype.groupLinks.map(
        (link) => groups.find((group) => group.groupid === link.groupid)?.name,
      ),
      ...prototype.groupPrototypes.map((group) => group.name),
    ]
      .filter(Boolean)
      .join(", ");
  return (
    <PlainTable<HostPrototypeRow>
      query={query}
      head={[
        ["Name", ""],
        ["Host groups", ""],
        ["Templates", ""],
        ["State", "w-36"],
      ]}
      empty={
        <Empty icon="hosts" title={texts.noHostPrototypes}>
          {texts.hostPrototypesCreateHosts}
        </Empty>
      }
      row={(prototype) => (
        <tr key={prototype.hostid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            <Link
              to="/host-prototypes/$hostid/edit"
              params={{ hostid: prototype.hostid }}
              className="hover:underline"
            >
              {prototype.name}
            </Link>
            {prototype.host !== prototype.name && (
              <span className="block text-xs font-normal text-faint">{prototype.host}</span>
            )}
            {prototype.templateid !== "0" && (
              <span className="block text-xs font-normal text-faint">{texts.fromATemplate}</span>
            )}
          </td>
          <td className={`${CELL} text-soft`}>{groupNames(prototype)}</td>
          <td className={`${CELL} text-soft`}>
            {prototype.templates.map((template) => template.name).join(", ")}
          </td>
          <td className={CELL}>
            <PrototypeState {...prototype} />
          </td>
        </tr>
      )}
    />
  );
}
