import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { explain } from "~/api/errors";
import { deleteHost, setHostStatus } from "~/api/host-changes";
import type { Host } from "~/api/hosts";
import { maySilence } from "~/api/maintenance";
import { Status } from "~/api/schema";
import { interfaceAddress, interfaceName } from "~/shared/availability";
import { SilenceDialog } from "~/shared/silence";
import { Button, buttonClass, IconButton } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { Icon } from "~/ui/icon";
import { MenuItem, Popover } from "~/ui/popover";
import { Dot } from "~/ui/severity";
import { ErrorNote } from "~/ui/state";
import { TagList } from "~/ui/tag";
import { toast } from "~/ui/toast";
import { isOfProxy } from "./draft";
import { texts } from "./texts";

const AVAILABILITY = ["Unknown", "Available", "Not available"];
const TONES = ["off", "good", "bad"] as const;

/** Addresses with their availability, groups, templates and tags. */
export function HostFacts({ host }: { host: Host }) {
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 pb-1 text-sm">
      {host.interfaces.map((iface) => {
        const state = Number(iface.available ?? 0);
        return (
          <span
            key={iface.interfaceid}
            className="inline-flex items-center gap-1.5"
            title={iface.error || undefined}
          >
            <Dot tone={TONES[state] ?? "off"} />
            <span className="text-soft">{interfaceName(iface.type)}</span>
            <span className="tabular">{interfaceAddress(iface)}</span>
            <span className={state === 2 ? "text-bad-ink" : "text-faint"}>
              {AVAILABILITY[state]}
            </span>
          </span>
        );
      })}
      {host.active_available !== "0" && (
        <span className="inline-flex items-center gap-1.5">
          <Dot tone={TONES[Number(host.active_available)] ?? "off"} />
          <span className="text-soft">{texts.activeChecks}</span>
          <span className="text-faint">{AVAILABILITY[Number(host.active_available)]}</span>
        </span>
      )}
      {isOfProxy(host) && <span className="text-bad-ink">{texts.proxiesCannotConnect}</span>}
      <span className="text-soft">{host.hostgroups.map((group) => group.name).join(", ")}</span>
      <TagList tags={[...host.tags, ...(host.inheritedTags ?? [])]} max={12} wrap />
    </div>
  );
}

/** Why an interface does not answer, in full; shown only when one does not. */
export function InterfaceErrors({ host }: { host: Host }) {
  const failing = host.interfaces.filter((iface) => iface.available === "2" && iface.error);
  if (failing.length === 0) return null;
  return (
    <div className="flex flex-col gap-2 pb-1">
      {failing.map((iface) => (
        <ErrorNote
          key={iface.interfaceid}
          what={texts.notAvailable(
            interfaceName(iface.type),
            interfaceAddress(iface),
            iface.error ?? "",
          )}
          todo={texts.checkThatTheAgent}
        />
      ))}
    </div>
  );
}

export function HostActions({ host }: { host: Host }) {
  const [silencing, setSilencing] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => client.invalidateQueries({ queryKey: ["hosts"] });
  const fail = (error: unknown) => {
    const { what, todo } = explain(error);
    toast(`${what} ${todo}`, "bad");
  };
  const status = useMutation({
    mutationFn: () =>
      setHostStatus(host.hostid, host.status === Status.Enabled ? Status.Disabled : Status.Enabled),
    onSuccess: () =>
      toast(
        host.status === Status.Enabled
          ? texts.notMonitoredNow(host.name)
          : texts.monitoredNow(host.name),
      ),
    onError: fail,
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: () => deleteHost(host.hostid),
    onSuccess: () => {
      toast(texts.deleted(host.name));
      void refresh();
      void navigate({ to: "/hosts" });
    },
    onError: fail,
  });
  const onDelete = async () => {
    const body = (
      <>
        <p>{texts.itsItemsTriggersProblems}</p>
        <p className="text-soft">{texts.toKeepTheHistory}</p>
      </>
    );
    if (await confirmed(texts.deleteQuestion(host.name), body, texts.confirmDelete))
      remove.mutate();
  };
  return (
    <>
      {maySilence() && (
        <Button icon="mute" onClick={() => setSilencing(true)}>
          {texts.silence}
        </Button>
      )}
      {silencing && (
        <SilenceDialog
          target={{ hosts: [host] }}
          running={host.maintenance_status === "1" ? [host.maintenanceid] : []}
          onClose={() => setSilencing(false)}
        />
      )}
      <Link
        to="/hosts/$hostid/items/new"
        params={{ hostid: host.hostid }}
        className={buttonClass("plain")}
      >
        <Icon name="plus" size={15} />
        {texts.createItem}
      </Link>
      <Link
        to="/hosts/$hostid/edit"
        params={{ hostid: host.hostid }}
        className={buttonClass("plain")}
      >
        <Icon name="edit" size={15} />
        {texts.editHost}
      </Link>
      <Popover
        align="right"
        trigger={({ open, toggle }) => (
          <IconButton icon="more" label={texts.moreActions} aria-expanded={open} onClick={toggle} />
        )}
      >
        {(close) => (
          <>
            <MenuItem
              onClick={() => {
                close();
                status.mutate();
              }}
            >
              <Icon name="power" size={15} />
              {host.status === Status.Enabled ? texts.stopMonitoring : texts.startMonitoring}
            </MenuItem>
            {maySilence() && (
              <MenuItem
                onClick={() => {
                  close();
                  void navigate({ to: "/maintenance/new", search: { host: host.hostid } });
                }}
              >
                <Icon name="wrench" size={15} />
                {texts.planMaintenance}
              </MenuItem>
            )}
            <MenuItem
              danger
              onClick={() => {
                close();
                void onDelete();
              }}
            >
              <Icon name="trash" size={15} />
              {texts.deleteHost}
            </MenuItem>
          </>
        )}
      </Popover>
    </>
  );
}
