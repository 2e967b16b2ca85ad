// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => {
  const api = mockEstate({ hosts: 3, alerting: true });
  api.answers["mediatype.create"] = () => ({ mediatypeids: ["9"] });
  api.answers["mediatype.update"] = () => ({ mediatypeids: ["9"] });
  return api;
};
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

test("the list says which actions need a disabled media type", async () => {
  await openPage(estate(), "/media-types");
  const table = await screen.findByRole("grid", { name: "Media types" });
  const row = (name: RegExp) => within(table).getByRole("row", { name });
  await waitFor(() =>
    expect(row(/Pager/).textContent).toContain(
      "Messages fail, because it is disabled: Production problems",
    ),
  );
  expect(row(/Chat/).textContent).toContain("Production problems");
  expect(row(/E-mail/).textContent).toContain("1 action with all media types");
});

test("a new e-mail media type is sent with its texts", async () => {
  const api = estate();
  await openPage(api, "/media-types/new");
  await screen.findByRole("heading", { name: "Create media type" });
  press("Create media type");
  expect((await screen.findByRole("alert")).textContent).toBe("Enter a name.");
  type(/^Name/, "Mail");
  type(/^SMTP server/, "mail.example.org");
  type(/^Sender's address/, "monitoring@example.org");
  type("Encryption", "1");
  press("Create media type");
  await waitFor(() => expect(api.callsOf("mediatype.create")).toHaveLength(1));
  expect(api.callsOf("mediatype.create")[0]).toMatchObject({
    name: "Mail",
    type: "0",
    smtp_server: "mail.example.org",
    smtp_security: "1",
    smtp_verify_peer: "1",
    message_templates: [{ recovery: "0" }, { recovery: "1" }, { recovery: "2" }],
  });
});

test("an existing password is neither read nor overwritten", async () => {
  const api = estate();
  const stored = api.tables["mediatype.get"]?.[0];
  Object.assign(stored ?? {}, { smtp_authentication: "1", username: "monitoring" });
  await openPage(api, "/media-types/1/edit");
  const box = await screen.findByLabelText<HTMLInputElement>("Password");
  expect(box.value).toBe("");
  for (const call of api.callsOf("mediatype.get"))
    expect((call as { output: string[] }).output).not.toContain("passwd");
  type(/^Description/, "Mail of the team");
  press("Save media type");
  await waitFor(() => expect(api.callsOf("mediatype.update")).toHaveLength(1));
  const [params] = api.callsOf("mediatype.update") as Record<string, unknown>[];
  expect(params).toMatchObject({ mediatypeid: "1", description: "Mail of the team" });
  expect(params).not.toHaveProperty("passwd");
});

test("a test message shows what the receiver answered", async () => {
  const api = estate();
  await openPage(api, "/media-types/1/edit");
  fireEvent.click(await screen.findByRole("button", { name: "Test…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Test E-mail" }));
  dialog.getByText("Enter an address.");
  type(/^Send to/, "ann@example.org");
  press("Send test");
  await dialog.findByText("Sent in 87 ms");
  expect(dialog.getAllByRole("region", { name: "Output" })[0]?.textContent).toContain(
    "250 accepted for ann@example.org",
  );
  expect(api.callsOf("mediatype.test")).toMatchObject([
    { mediatypeid: "1", sendto: ["ann@example.org"], subject: "Test subject" },
  ]);
  expect(api.callsOf("mediatype.update")).toEqual([]);
});

test("a failed test shows the reason and the log of the webhook, and no success", async () => {
  const api = estate();
  api.refuse("mediatype.test", {
    code: -32500,
    message: "Application error.",
    data: "Chat responded with 403.\n\nLog:\ntoken is wrong",
  });
  await openPage(api, "/media-types/2/edit");
  await screen.findByRole("button", { name: "Test…" });
  type(/^Description/, "Edited");
  press("Test…");
  const dialog = within(await screen.findByRole("dialog", { name: "Test Chat" }));
  dialog.getByText(/Save your changes to test them/);
  press("Send test");
  await dialog.findByText("Chat responded with 403.");
  dialog.getByText("token is wrong");
  expect(dialog.queryByText(/^Sent in/)).toBeNull();
});

test("a limit, a fallback and an address for replies are saved", async () => {
  const api = estate();
  await openPage(api, "/media-types/1/edit");
  const box = await screen.findByLabelText<HTMLSelectElement>(/^If a message fails for good/);
  await within(box).findByRole("option", { name: "Chat" });
  // Not by itself.
  expect(within(box).queryByRole("option", { name: "E-mail" })).toBeNull();
  fireEvent.click(screen.getByLabelText("Limit messages to an address"));
  fireEvent.change(screen.getByLabelText("Messages", { selector: "input" }), {
    target: { value: "0" },
  });
  type("Address for replies", "a b@example.com");
  press("Save media type");
  expect((await screen.findByRole("alert")).textContent).toBe(
    "Enter a number of messages from 1 to 10000.",
  );
  await screen.findByText(/^Enter an address such as vedette@example.com/);
  fireEvent.change(screen.getByLabelText("Messages", { selector: "input" }), {
    target: { value: "30" },
  });
  type("Address for replies", "vedette@example.com");
  fireEvent.change(box, { target: { value: "2" } });
  press("Save media type");
  await waitFor(() => expect(api.callsOf("mediatype.update")).toHaveLength(1));
  const [sent] = api.callsOf("mediatype.update");
  expect(sent).toMatchObject({
    storm_limit: { messages: 30, period: "5m" },
    fallback_mediatypeid: "2",
    reply_address: "vedette@example.com",
  });
  expect(sent).not.toHaveProperty("living");
});

test("only webhooks and scripts can edit messages in place", async () => {
  const api = estate();
  await openPage(api, "/media-types/2/edit");
  fireEvent.click(await screen.findByLabelText("Messages of a problem can be edited in place"));
  press("Save media type");
  await waitFor(() => expect(api.callsOf("mediatype.update")).toHaveLength(1));
  const [sent] = api.callsOf("mediatype.update");
  expect(sent).toMatchObject({ living: "1", storm_limit: null, fallback_mediatypeid: "0" });
  expect(sent).not.toHaveProperty("reply_address");
});

test("a disabled fallback is pointed out", async () => {
  await openPage(estate(), "/media-types/1/edit");
  const box = await screen.findByLabelText(/^If a message fails for good/);
  await within(box).findByRole("option", { name: "Pager" });
  fireEvent.change(box, { target: { value: "3" } });
  screen.getByText("This media type is disabled: messages fail.");
});
