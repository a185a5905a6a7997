/**
 * Simulated people who answer the survey. Usage: node respondents.mjs URL INVITATIONS SCREENSHOTS
 *
 * INVITATIONS is JSON: [{ code, dept, salary }]. The first few use the page in Chromium, at the width of a desk and of a
 * phone; the others run the form's code here. Prints one line of JSON: how many answered, how many did so in Chromium.
 */

import { readFileSync } from "node:fs";
import { existsSync } from "node:fs";
import { PublicKey } from "hearith";
import { chromium } from "playwright-core";
import { answer } from "./form.js";

const [url, invitations, screenshots] = process.argv.slice(2);
const people = JSON.parse(readFileSync(invitations, "utf8"));
const IN_BROWSER = 10;
const AT_ONCE = 8;

async function inBrowser(some) {
  const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
  if (!path) return 0;
  const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });
  try {
    for (const [index, { code, dept, salary }] of some.entries()) {
      const phone = index % 2 === 1;
      const page = await browser.newPage({ viewport: phone ? { width: 375, height: 667 } : { width: 1280, height: 720 } });
      const wrong = [];
      page.on("pageerror", (error) => wrong.push(error.message));
      await page.goto(`${url}#${code}`);
      await page.selectOption("[name=dept]", dept);
      await page.fill("[name=salary]", salary);
      if (index < 2) await page.screenshot({ path: `${screenshots}/survey-${phone ? "phone" : "desk"}.png` });
      await page.click("button");
      await page.waitForSelector("output.good");
      if (index === 0) {
        await page.click("summary");
        await page.screenshot({ path: `${screenshots}/survey-sent.png` });
      }
      if (wrong.length > 0) throw new Error(wrong.join("; "));
      await page.close();
    }
  } finally {
    await browser.close();
  }
  return some.length;
}

async function send(person, key) {
  const response = await fetch(`${url}answers`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer(key, person)),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}

const key = await PublicKey.read(await (await fetch(`${url}key.json`)).text());
// A thousand encryptions under one key pay for its table.
key.prepare();
const chosen = await inBrowser(people.slice(0, IN_BROWSER));
const rest = people.slice(chosen);
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let person = rest.pop(); person; person = rest.pop()) await send(person, key);
  }),
);
console.log(JSON.stringify({ answered: people.length, browser: chosen }));
