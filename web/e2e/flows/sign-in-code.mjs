// Signing in with a code: a new authenticator is enrolled, a wrong code refused, the right one accepted.

import { accessible } from "../axe.mjs";
import { expect, go, heading, page, step } from "../lib.mjs";
import { codeOf } from "../totp.mjs";

const field = () => page.getByLabel("Verification code");
const verify = () => page.getByRole("button", { name: "Verify" }).click();

export default async function () {
  let code = "";
  await step("sign out", async () => {
    await page.getByRole("button", { name: /Signed in as/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Vedette" }).waitFor();
  });

  await step("password before code", async () => {
    await page.getByLabel("User name").fill(process.env.CODED_USER);
    await page.getByLabel("Password").fill(process.env.CODED_PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("img", { name: "QR code for the authenticator" }).waitFor();
    await accessible("with the QR code");
    code = codeOf(await page.getByLabel("Key").inputValue());
  });

  await step("wrong code", async () => {
    await field().fill(String((Number(code) + 1) % 1_000_000).padStart(6, "0"));
    await verify();
    await page.getByText("The verification code was incorrect, please try again.").waitFor();
    expect((await field().inputValue()) === "", "the wrong code is gone");
  });

  await step("right code", async () => {
    await field().fill(codeOf(await page.getByLabel("Key").inputValue()));
    await verify();
    await heading("Overview").waitFor();
  });

  await step("enrolled", async () => {
    await page.getByRole("button", { name: /Signed in as/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await go("/login");
    await page.getByLabel("User name").fill(process.env.CODED_USER);
    await page.getByLabel("Password").fill(process.env.CODED_PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await field().waitFor();
    expect((await page.getByLabel("Key").count()) === 0, "the secret is shown once");
    await page.getByRole("button", { name: "Sign in with another account" }).click();
    await page.getByLabel("Password").waitFor();
  });
}
