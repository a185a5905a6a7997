/** The pages in a real browser: an election from its setting up to its verified result, and what must not go through. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as base64 from "hearith/base64.ts";
import { type Browser, type BrowserContext, chromium, type Download, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonical } from "../src/protocol/canonical.ts";
import { shownCode, typedCode, withChecks } from "../src/protocol/checked.ts";
import { publicKey } from "../src/protocol/signature.ts";
import { shareBody, tallyBody, totals } from "../src/protocol/tally.ts";
import { verifyRecord } from "../src/protocol/verify.ts";
import { Board, member, secret } from "./support/board.ts";
import { hold, LARGE, trusteeKey } from "./support/ceremony.ts";
import { CHROMIUM, chromiumIsThere } from "./support/chromium.ts";
import { RealServer } from "./support/real.ts";
import { TestServer } from "./support/server.ts";

const SHOTS = new URL("../../target/web/", import.meta.url).pathname;
const DIST = new URL("../dist/", import.meta.url).pathname;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ceremony = hold(2, 3, LARGE);

const TITLE = "Garden club 2026";
const NAMES = ["Asters", "Begonias", "Crocuses", "Dahlias"];
const VOTERS = ["anna", "bert", "cleo"];
const PHONE = { width: 390, height: 844 };
const CONTINUE = "Continue (nothing is sent yet)";
const CHALLENGE = "Test this device first (this ballot will not count)";

interface Running {
  start(): Promise<string>;
  stop(): Promise<void>;
}

let browser: Browser;
let server: Running;
let url: string;
const credentials = new Map<string, string>();
/** The same voters' codes. */
const codes = new Map<string, string>();
const organiserSecret = crypto.getRandomValues(new Uint8Array(32));
const organiserKey = canonical({
  election: null,
  kind: "organiser",
  secret: base64.encode(organiserSecret),
  voter: null,
});

function bytes(text: string) {
  return { name: "file.json", mimeType: "application/json", buffer: Buffer.from(text) };
}

/** The file of a trustee's signing key. */
function signing(trustee: number) {
  const secret = base64.encode(trusteeKey(trustee));
  return bytes(canonical({ election: null, kind: "trustee", secret, voter: null }));
}

async function read(download: Download): Promise<string> {
  return readFileSync(await download.path(), "utf8");
}

/** What the browser complained of: a policy that is broken is a fault, and so is an exception. */
const complaints: string[] = [];

async function visit(context: BrowserContext, path: string, address = url): Promise<Page> {
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => dialog.accept().catch(() => {}));
  await page.goto(`${address}/#/${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

/** On a phone's screen nothing is cut off at the side. */
async function fitsPhone(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  if (!before || before.width <= PHONE.width) return;
  await page.setViewportSize(PHONE);
  await page.screenshot({ path: `${SHOTS}${name}-phone.png`, fullPage: true });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.setViewportSize(before);
  expect(width, `${name} on a phone`).toBeLessThanOrEqual(PHONE.width);
}

/** Where the documentation's pictures go, if they are asked for, and of what there are some. */
const PICTURES = process.env.HEARITH_PICTURES;
const PICTURED = new Set([
  "vote-blank",
  "vote-encrypted",
  "vote-cast",
  "board-found",
  "result",
  "organise-setup",
  "organise-late",
  "trustee-1-verified",
]);

/** A small picture for the documentation, on a desk and on a phone. */
async function pictured(page: Page, name: string): Promise<void> {
  if (!PICTURES || !PICTURED.has(name)) return;
  const before = page.viewportSize();
  const debug = await page.context().newCDPSession(page);
  for (const [kind, size] of Object.entries({ desktop: { width: 900, height: 800 }, phone: PHONE })) {
    await page.setViewportSize(size);
    const all = await page.evaluate(() => document.documentElement.scrollHeight);
    const clip = { x: 0, y: 0, width: size.width, height: Math.min(all, 1500), scale: 0.6 };
    const taken = await debug.send("Page.captureScreenshot", { clip, captureBeyondViewport: true });
    writeFileSync(`${PICTURES}/${name}-${kind}.png`, Buffer.from(taken.data, "base64"));
  }
  if (before) await page.setViewportSize(before);
}

/** Looks for what keeps people out, and takes a picture to look at. */
async function looked(page: Page, name: string): Promise<void> {
  await pictured(page, name);
  await page.screenshot({ path: `${SHOTS}${name}.png`, fullPage: true });
  await fitsPhone(page, name);
  // Axe comes in by the debugger, which no policy of the page concerns.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: object[] }> };
    };
    return (
      await axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
    ).violations;
  });
  expect(found, `axe on ${name}`).toEqual([]);
}

/** The election's server, where its program is named; else the one of tests. Both begin empty, for this organiser. */
function serverFor(organiser: Uint8Array): Running {
  const command = process.env.HEARITH_COMMAND;
  return command ? new RealServer(command, publicKey(organiser)) : new TestServer();
}

beforeAll(async () => {
  if (!chromiumIsThere) return;
  if (!existsSync(`${DIST}index.html`)) throw new Error("the pages are not built: npm run build");
  mkdirSync(SHOTS, { recursive: true });
  server = serverFor(organiserSecret);
  url = await server.start();
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox"],
  });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  expect(complaints).toEqual([]);
});

/** Without a service worker, through which what tests put in the way would not come. */
async function visitor(options: object = {}): Promise<BrowserContext> {
  return browser.newContext({ locale: "en-GB", serviceWorkers: "block", ...options });
}

async function organiser(): Promise<Page> {
  const page = await visit(await visitor(), "organise");
  await page.getByLabel("The organiser's key").setInputFiles(bytes(organiserKey));
  return page;
}

async function act(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name }).waitFor();
  const sure = page.locator("section", { hasText: name }).getByRole("checkbox");
  if ((await sure.count()) > 0) await sure.check();
  await page.getByRole("button", { name }).click();
}

async function voter(name: string, options: object = {}): Promise<Page> {
  const page = await visit(await visitor(options), "vote");
  await page.getByLabel("Or your credential as a file").setInputFiles(bytes(credentials.get(name) ?? ""));
  return page;
}

/** Chooses and encrypts; gives the tracker. */
async function encrypt(page: Page, flowers: string[], answer: string): Promise<string> {
  for (const flower of flowers) await page.getByRole("checkbox", { name: flower }).check();
  await page.getByRole("radio", { name: answer }).check();
  await page.getByRole("button", { name: CONTINUE }).click();
  await page.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
  // What was chosen is there to be read before it is cast.
  const shown = await page.locator("dl.chosen").innerText();
  expect([...flowers, answer].filter((one) => !shown.includes(one))).toEqual([]);
  const typed = typedCode(await page.getByTestId("tracker").innerText(), "tracker");
  if ("wrong" in typed) throw new Error("the tracker's checks are wrong");
  return typed.code;
}

async function cast(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "I have noted the tracker." }).check();
  await page.getByRole("button", { name: "Cast this ballot" }).click();
}

function isFocused(element: Element): boolean {
  return document.activeElement === element;
}

/** The first ballot's tracker. */
let first: string;

/** What the server says, past the pages. */
async function asked(path: string) {
  return (await fetch(`${url}/api/${path}`)).json();
}

describe.runIf(chromiumIsThere)("an election", () => {
  test("begins with the keys that trustees sign with", async () => {
    const page = await visit(await visitor(), "trustee");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Make a signing key and save it" }).click(),
    ]);
    const made = JSON.parse(await read(download));
    expect([made.kind, made.election, made.voter]).toEqual(["trustee", null, null]);
    const shown = await page.locator("code.hash").innerText();
    expect(shown).toBe(base64.encode(publicKey(base64.decode(made.secret))));
    await looked(page, "trustee-key");
    await page.context().close();
  });

  test("is set up by its organiser", async () => {
    const page = await visit(await visitor(), "organise");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Make a new key" }).click(),
    ]);
    const made = JSON.parse(await read(download));
    expect([made.kind, made.secret.length]).toEqual(["organiser", 43]);
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("The organiser's key").setInputFiles(bytes(organiserKey));
    await page.getByLabel("Title").fill(TITLE);
    await page.getByLabel("Question", { exact: true }).fill("Which flowers?");
    await page.getByLabel("Candidates, one per line").fill(NAMES.join("\n"));
    await page.getByRole("button", { name: "Publish the election" }).click();
    await page.getByText("Choose the public file of the key ceremony first.").waitFor();
    await page
      .getByLabel("Public file of the key ceremony")
      .setInputFiles(bytes(JSON.stringify(ceremony.members)));
    await page.getByLabel("Question", { exact: true }).fill("Which flowers?");
    await page.getByLabel("Candidates, one per line").fill(NAMES.join("\n"));
    await page.getByLabel("Method").selectOption("at_most");
    await page.getByLabel("How many").fill("2");
    await page.getByRole("button", { name: "Add a contest" }).click();
    await page.getByLabel("Question", { exact: true }).nth(1).fill("A new fence?");
    await page.getByLabel("Candidates, one per line").nth(1).fill("Yes\nNo");
    await page.getByLabel("Method").nth(1).selectOption("yes_no");
    await looked(page, "organise-setup");
    // A draft is published to nobody, and is there again when its file is opened.
    const [draftFile] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the draft" }).click(),
    ]);
    const draft = await read(draftFile);
    expect(JSON.parse(draft)).toMatchObject({ revoting: true, title: TITLE });
    expect((await asked("election")).phase).toBe("empty");
    await page.getByLabel("Title", { exact: true }).fill("Another one");
    await page.getByRole("button", { name: "Remove this contest" }).last().click();
    await page.getByLabel("Open a draft").setInputFiles(bytes(draft));
    await page.getByRole("group", { name: "Contest 2" }).waitFor();
    await page.getByRole("button", { name: "Publish the election" }).click();
    await page.getByRole("heading", { level: 1, name: TITLE }).waitFor();

    await page.getByText("No voters are registered yet.").waitFor();
    const register = page.getByRole("button", { name: "Make credentials and register" });
    await register.click();
    await page.getByText("The list is empty").waitFor();
    // What is wrong with a list is said before anything is made or saved.
    let saved = 0;
    page.on("download", () => {
      saved += 1;
    });
    await page.getByRole("textbox", { name: "Voters", exact: true }).fill("anna\nbert, 3\nAnna\ncleo, 0");
    await register.click();
    await page.getByText("Twice in the list: Anna. A weight must be").waitFor();
    expect([saved, (await asked("election")).voters]).toEqual([0, 0]);
    await looked(page, "organise-doubles");
    // The server takes the voters, and its answer is lost.
    await page.getByRole("textbox", { name: "Voters", exact: true }).fill("anna\nbert, 3\n\ncleo");
    await page.route("**/api/entries", async (route) => {
      await route.fetch();
      await route.abort();
    });
    const [file] = await Promise.all([page.waitForEvent("download"), register.click()]);
    await page.getByText("The board has not confirmed these voters.").waitFor();
    complaints.splice(0);
    await page.unroute("**/api/entries");
    await page.getByText("Register the voters above first").waitFor();
    await looked(page, "organise-unconfirmed");
    // Whatever else is looked at meanwhile: there is no way to a second set of credentials.
    await page.getByRole("link", { name: "Board" }).click();
    await page.getByRole("link", { name: "Organise" }).click();
    await page.getByLabel("The organiser's key").setInputFiles(bytes(organiserKey));
    expect(await register.count()).toBe(0);
    // Nor does a reload lose the credentials.
    await page.reload();
    await page.getByLabel("The organiser's key").setInputFiles(bytes(organiserKey));
    await page.getByText("The board has not confirmed these voters.").waitFor();
    expect(await register.count()).toBe(0);
    await page.getByRole("button", { name: "Register with the same credentials again" }).click();
    await page.getByText("The board has these voters, with these credentials.").waitFor();
    await page.getByText("3 voters are registered").waitFor();
    // The codes are nowhere else: they are not forgotten without a question, and the page says so.
    await page.evaluate(() => {
      window.confirm = () => false;
    });
    await page.getByRole("button", { name: "Everything is handed out" }).click();
    await page.getByText("The codes are on this page alone.").waitFor();
    const board = await (await fetch(`${url}/record/board/00000000.jsonl`)).text();
    expect(board.split('"kind":"voters"').length - 1).toBe(1);
    const [table] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save codes and links" }).click(),
    ]);
    const [head, ...rows] = (await read(table)).matchAll(/^"(.*)","(.*)","(.*)"\r$/gm);
    expect(head?.slice(1)).toEqual(["voter", "code", "link"]);
    for (const [, name, code, link] of rows) {
      codes.set(name ?? "", code ?? "");
      expect(link).toBe(`${url}/#/vote/${code?.replaceAll(" ", "")}`);
    }
    expect([...codes.keys()]).toEqual(VOTERS);
    expect(await page.getByText("The codes are on this page alone.").count()).toBe(0);
    await page.evaluate(() => {
      window.print = () => {};
    });
    await page.getByRole("button", { name: "Print letters" }).click();
    await page.emulateMedia({ media: "print" });
    await page.getByText(codes.get("cleo") ?? "").waitFor();
    expect(await page.getByRole("button").count()).toBe(0);
    await page.screenshot({ path: `${SHOTS}organise-letters.png`, fullPage: true });
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    // Nobody is registered twice.
    await page.getByRole("textbox", { name: "Voters", exact: true }).fill("CLEO");
    await register.click();
    await page.getByText("On the board already: CLEO.").waitFor();
    await page.getByRole("textbox", { name: "Voters", exact: true }).fill("");
    // The codes are forgotten with the batch.
    await page.getByRole("button", { name: "Everything is handed out" }).click();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    const lines = (await read(file)).trim().split("\n");
    for (const line of lines) credentials.set(JSON.parse(line).voter, line);
    expect([...credentials.keys()]).toEqual(VOTERS);
    await looked(page, "organise-voters");
    await act(page, "Open the election");
    await page.getByRole("heading", { name: "Close the election" }).waitFor();
    await page.context().close();
  });

  test("takes a ballot, which says that it is not cast until it is", async () => {
    const page = await voter("anna");
    await page.getByRole("group", { name: "Which flowers?" }).waitFor();
    await looked(page, "vote-choose");
    // No more than two can be chosen; what is wrong is said, and nothing is greyed out.
    for (const flower of ["Asters", "Begonias", "Dahlias"])
      await page.getByRole("checkbox", { name: flower }).check();
    await page.getByText("That is 1 too many. Take one away.").waitFor();
    await page.getByRole("button", { name: CONTINUE }).click();
    await page.getByText("Please choose one.").waitFor();
    expect(await page.getByRole("checkbox", { name: "Asters" }).evaluate(isFocused)).toBe(true);
    await looked(page, "vote-missing");
    await page.getByRole("checkbox", { name: "Begonias" }).uncheck();
    await page.getByRole("checkbox", { name: "Dahlias" }).uncheck();
    await page.getByRole("button", { name: CONTINUE }).click();
    expect(await page.getByRole("radio", { name: "Yes" }).evaluate(isFocused)).toBe(true);
    const tracker = await encrypt(page, ["Crocuses"], "Yes");
    await looked(page, "vote-encrypted");
    // Looking at another page neither loses the ballot nor lets it be taken for cast.
    await page.getByRole("link", { name: "Board" }).click();
    await page.getByText("Your ballot has NOT been cast.").waitFor();
    await page.getByRole("link", { name: "Back to it" }).click();
    // Nothing has been sent, and nothing can be before the tracker is noted.
    expect((await asked("election")).voted).toBe(0);
    await page.getByRole("button", { name: "Cast this ballot" }).click();
    await page.getByText("Please note the tracker first").waitFor();
    const box = page.getByRole("checkbox", { name: "I have noted the tracker." });
    expect(await box.evaluate(isFocused)).toBe(true);
    expect((await asked("election")).voted).toBe(0);
    // The challenge is folded away.
    expect(await page.getByRole("button", { name: "Open this ballot" }).count()).toBe(0);
    // The code of this ballot's address is the one on the page; so is what is copied.
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(shownCode(tracker, "tracker"));
    // On paper there is the tracker, and nothing of how anybody votes.
    await page.emulateMedia({ media: "print" });
    expect(await page.getByTestId("tracker").isVisible()).toBe(true);
    expect(await page.locator("dl.chosen").isVisible()).toBe(false);
    await page.emulateMedia({ media: "screen" });
    await cast(page);
    await page.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await looked(page, "vote-cast");
    expect((await asked(`ballots/${tracker}`)).entry.body.voter).toBe("anna");
    first = tracker;

    await page.getByRole("link", { name: "Find it on the board" }).click();
    await page.getByText("This ballot is on the board.").waitFor();
    await page.getByText("1 of 3 have voted").waitFor();
    await looked(page, "board-found");
    await page.context().close();
  });

  test("opens a challenged ballot, which does not count", async () => {
    const page = await voter("bert");
    const tracker = await encrypt(page, ["Dahlias", "Asters"], "No");
    await page.getByRole("checkbox", { name: "I have noted the tracker." }).check();
    await page.getByText(CHALLENGE).click();
    await looked(page, "vote-challenge");
    await page.getByRole("button", { name: "Open this ballot, do not count it" }).click();
    await page.getByRole("heading", { name: "You have NOT voted with it." }).waitFor();
    await looked(page, "vote-challenged");
    expect((await asked("election")).voted).toBe(1);

    // Another device finds what was in it.
    const other = await visit(await visitor({ locale: "de-DE" }), `board/${tracker}`);
    await other.getByText("Dieser Stimmzettel wurde geprüft").waitFor();
    await other.getByText("Asters, Dahlias").waitFor();
    await other.getByText("No", { exact: true }).waitFor();
    await looked(other, "board-challenged-de");
    await other.context().close();

    await page.getByRole("button", { name: "Make a new ballot" }).click();
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
    await encrypt(page, ["Dahlias"], "No");
    await cast(page);
    await page.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await page.context().close();
  });

  test("counts the last ballot of a voter, on a phone", async () => {
    const page = await voter("anna", {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      isMobile: true,
    });
    await page.getByText("You have already voted. You may vote again").waitFor();
    await page.getByRole("group", { name: "Which flowers?" }).waitFor();
    await looked(page, "vote-phone");
    await encrypt(page, ["Begonias", "Asters"], "Yes");
    await looked(page, "vote-phone-encrypted");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(360);
    await cast(page);
    await page.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await page.goto(`${url}/#/board/${first}`);
    await page.getByText("This ballot is on the board.").waitFor();
    expect((await asked("election")).voted).toBe(2);
    await page.context().close();
  });

  test("needs no mouse", async () => {
    const page = await visit(await visitor(), "vote");
    await looked(page, "vote-credential");
    const code = codes.get("cleo") ?? "";
    await page.getByLabel("Your voting code").focus();
    await page.keyboard.type(code.slice(0, -1));
    await page.keyboard.press("Enter");
    await page.getByText("A code has 28 letters and digits. This one has 27.").waitFor();
    await page.keyboard.type(code.slice(-1) === "a" ? "b" : "a");
    await page.keyboard.press("Enter");
    await page.getByText("There is a mistake in the code, probably in group 7.").waitFor();
    await page.keyboard.press("Backspace");
    await page.keyboard.type(code.slice(-1).toUpperCase());
    await page.keyboard.press("Enter");
    await page.getByText("You vote as cleo").waitFor();
    await page.getByRole("checkbox", { name: "Asters" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("radio", { name: "Yes" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    // The focus is where the page changed.
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("NOT CAST YET");
    // Past changing the choice, copying and printing to the box, and from there to the act.
    for (const name of ["Change my choice", "Copy", "Print"]) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name);
    }
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Cast this ballot");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await page.context().close();
  });

  test("takes a link as a credential, which it does not leave in the address", async () => {
    const code = (codes.get("bert") ?? "").replaceAll(" ", "");
    const page = await visit(await visitor(), `vote/${code}`);
    await page.getByText("You vote as bert").waitFor();
    expect(await page.evaluate(() => location.hash)).toBe("#/vote");
    // What the server is asked for is everybody's.
    const other = await visitor();
    const requests: string[] = [];
    other.on("request", (request) => requests.push(request.url() + (request.postData() ?? "")));
    await (await visit(other, `vote/${code}`)).getByText("You vote as bert").waitFor();
    expect(requests.filter((one) => one.includes("bert") || one.includes(code.slice(0, 8)))).toEqual([]);
    // A code of nobody, and a tracker in place of a code.
    const stranger = await visit(await visitor(), `vote/${withChecks("a".repeat(26), "credential")}`);
    await stranger.getByText("This code belongs to no voter in this election.").waitFor();
    await stranger.getByLabel("Your voting code").fill(shownCode(first, "tracker"));
    await stranger.getByRole("button", { name: "Continue" }).click();
    await stranger.getByText("This is a code for something else").waitFor();
    for (const one of [page, stranger]) await one.context().close();
    await other.close();
  });

  test("keeps a ballot that did not arrive, to be sent again", async () => {
    const page = await voter("anna");
    const tracker = await encrypt(page, ["Begonias"], "Yes");
    await page.route("**/api/ballots", (route) => route.abort());
    await cast(page);
    await page.getByRole("heading", { name: "has not confirmed" }).waitFor();
    complaints.splice(0);
    await page.unroute("**/api/ballots");
    await page.getByRole("button", { name: "Send it again" }).click();
    await page.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    expect((await asked(`ballots/${tracker}`)).entry.body.voter).toBe("anna");
    await page.context().close();
  });

  test("refuses what is not the voter's", async () => {
    const page = await visit(await visitor(), "vote");
    const file = page.getByLabel("Or your credential as a file");
    await file.setInputFiles(bytes(organiserKey));
    await page.getByText("it is the organiser's key.").waitFor();
    await file.setInputFiles(bytes("{"));
    await page.getByText("it cannot be read or has another format.").waitFor();
    const other = { ...JSON.parse(credentials.get("anna") ?? ""), election: "0".repeat(64) };
    await file.setInputFiles(bytes(canonical(other)));
    await page.getByText("This file belongs to another election.").waitFor();
    // A key that is not the voter's is refused by the server.
    const forged = { ...JSON.parse(credentials.get("anna") ?? ""), voter: "cleo" };
    await file.setInputFiles(bytes(canonical(forged)));
    await encrypt(page, [], "No");
    await cast(page);
    await page.getByText("The server does not know this key for this voter.").waitFor();
    complaints.splice(0);
    await page.context().close();
  });

  test("is closed, added up, decrypted by two of three, and verified", async () => {
    const page = await organiser();
    await act(page, "Close the election");
    await page.getByRole("heading", { name: "Publish the encrypted total" }).waitFor();
    const late = await visit(await visitor({ locale: "de-DE" }), "vote");
    await late.getByRole("heading", { name: "Die Wahl ist geschlossen." }).waitFor();
    await late.getByText("Das Ergebnis wird ermittelt.").waitFor();
    await looked(late, "vote-closed-de");
    await late.context().close();
    await act(page, "Publish the encrypted total");
    await page.getByRole("heading", { name: "Trustees' shares" }).waitFor();
    await page.getByText("0 of 2 needed shares have arrived.").waitFor();
    await page.getByText("2 more shares are needed.").waitFor();
    await looked(page, "organise-shares");

    const wide = (number: bigint) =>
      Buffer.from(number.toString(16).padStart(1024, "0"), "hex").toString("base64url");
    const roots = new Set<string>();
    for (const trustee of [1, 3]) {
      const holder = await visit(await visitor(), "trustee");
      const sent: string[] = [];
      holder.on("request", (request) => sent.push(request.postData() ?? ""));
      await holder.getByRole("button", { name: "Verify the board" }).click();
      await holder.getByText("Everything holds: 3 ballots count").waitFor({ timeout: 60_000 });
      roots.add(await holder.locator("code.hash").innerText());
      await looked(holder, `trustee-${trustee}-verified`);
      await holder.getByRole("checkbox", { name: "I have compared the root" }).check();
      const s = wide(ceremony.secrets[trustee - 1] ?? 0n);
      if (trustee === 1) {
        await holder.getByRole("button", { name: "Decrypt my part" }).click();
        await holder.getByText("Choose your share and your signing key first.").waitFor();
        // A share that is another's is found out before anything is sent.
        await holder.getByLabel("Your share of the key").setInputFiles(bytes(JSON.stringify({ i: 2, s })));
        await holder.getByLabel("Your signing key").setInputFiles(signing(2));
        await holder.getByRole("button", { name: "Decrypt my part" }).click();
        await holder.getByText("not this trustee's").waitFor();
      }
      await holder
        .getByLabel("Your share of the key")
        .setInputFiles(bytes(JSON.stringify({ i: trustee, s })));
      if (trustee === 1) {
        await holder.getByLabel("Your signing key").setInputFiles(signing(2));
        await holder.getByRole("button", { name: "Decrypt my part" }).click();
        await holder.getByText("the signing key is not this trustee's").waitFor();
      }
      await holder.getByLabel("Your signing key").setInputFiles(signing(trustee));
      await holder.getByRole("button", { name: "Decrypt my part" }).click();
      await holder.getByText("Your part is on the board").waitFor();
      expect(sent.filter((body) => body !== "")).toHaveLength(1);
      expect(sent.some((body) => body.includes(s.replace(/^A+/, "").slice(0, 40)))).toBe(false);
      await looked(holder, `trustee-${trustee}`);
      await holder.context().close();
      await page.getByRole("button", { name: "Look for new shares" }).click();
      const from = trustee === 1 ? "1 of 2 needed shares have arrived. From: 1." : "2 of 2 needed shares";
      await page.getByText(from).waitFor();
    }
    // What trustees compare does not change when one of them has shared.
    expect(roots.size).toBe(1);
    await act(page, "Publish the result");
    await page.getByText("Everything is done.").waitFor();
    await page.context().close();

    const reader = await visit(await visitor(), "vote");
    await reader.getByText("The result is published.").waitFor();
    await reader.getByRole("link", { name: "To the result" }).click();
    await reader.getByRole("button", { name: "Verify everything now" }).click();
    await reader.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    await looked(reader, "result");
    const rows = await reader.locator("table.plot tr").allInnerTexts();
    // anna's last: Begonias; bert, who counts three times: Dahlias; cleo: Asters.
    expect(rows.map((row) => row.replace(/\s+/g, " ").trim())).toEqual([
      "Asters 1 vote 20%",
      "Begonias 1 vote 20%",
      "Crocuses 0 votes 0%",
      "Dahlias 3 votes 60%",
      "Yes 2 votes 40%",
      "No 3 votes 60%",
    ]);
    await reader.getByText("3 of 3 voters have voted (100%).").waitFor();
    await reader.getByText("those who voted have 5 of 5 (100%)").waitFor();
    const said = await reader.locator("section.card", { has: reader.locator("table.plot") }).allInnerTexts();
    expect(said[0]).toContain("Elected: Dahlias");
    expect(said[0]).toContain("Tie for one seat: Asters, Begonias");
    expect(said[1]).toContain("Most votes: No");
    const [table] = await Promise.all([
      reader.waitForEvent("download"),
      reader.getByRole("button", { name: "Save as a table" }).click(),
    ]);
    expect((await read(table)).split("\r\n").slice(0, 3)).toEqual([
      "contest,candidate,votes,percent,outcome",
      "Which flowers?,Asters,1,20.0,tied",
      "Which flowers?,Begonias,1,20.0,tied",
    ]);
    expect(await reader.locator("li.pass").count()).toBe(10);
    await reader.context().close();
  });
});

describe.runIf(chromiumIsThere)("an election in which everybody votes once", () => {
  test("refuses a second ballot, and says that it does not count", async () => {
    const organiser = secret("organiser");
    const once = serverFor(organiser);
    const address = await once.start();
    const told = async () => (await fetch(`${address}/api/election`)).json();
    const { board: keeper } = await told();
    // What the organiser's page does, written without it.
    const begun = new Board(secret("board"), organiser);
    const fence = { candidates: ["Yes", "No"], method: "yes_no", title: "A new fence?" };
    begun.begin(ceremony, [fence], { keeper });
    const anna = member("anna");
    begun.register([anna]);
    begun.phase("open");
    for (const line of begun.lines) {
      const { body, kind, signature } = JSON.parse(line);
      const headers = { "Content-Type": "application/json" };
      const entry = { method: "POST", headers, body: canonical({ body, kind, signature }) };
      expect((await fetch(`${address}/api/entries`, entry)).status).toBe(201);
    }
    const key = { election: begun.id, kind: "voter", secret: base64.encode(anna.secret), voter: "anna" };
    const receipts: unknown[] = [];
    /** Votes; with a receipt given by somebody in between, who drops the ballot. */
    const vote = async (answer: string, lie?: unknown, listed = true) => {
      const page = await visit(await visitor(), "vote", address);
      const list = { voters: [{ id: "anna", voted: false }], next: null };
      await page.route("**/api/voters*", (route) => (listed ? route.fulfill({ json: list }) : route.abort()));
      if (lie) await page.route("**/api/ballots", (route) => route.fulfill({ status: 201, json: lie }));
      page.on("response", async (response) => {
        if (response.url().endsWith("/api/ballots") && response.status() === 201)
          receipts.push(await response.json());
      });
      await page.getByLabel("Or your credential as a file").setInputFiles(bytes(canonical(key)));
      await page.getByRole("radio", { name: answer }).waitFor();
      // To choose and to encrypt takes no network.
      await page.context().setOffline(true);
      await encrypt(page, [], answer);
      await page.context().setOffline(false);
      await page.getByText("This cannot be undone.").waitFor();
      await cast(page);
      return page;
    };
    const first = await vote("Yes");
    await first.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    expect(await first.getByRole("button", { name: "Vote again" }).count()).toBe(0);
    // Her own receipt is genuine, and none for another ballot.
    await expect.poll(() => receipts.length).toBe(1);
    const dropped = await vote("No", receipts[0]);
    await dropped.getByText("The board does not confirm this ballot").waitFor();
    expect(await dropped.getByRole("heading", { name: "Your ballot is cast." }).count()).toBe(0);
    const later = await visit(dropped.context(), "result", address);
    await later.getByRole("button", { name: "Verify everything now" }).click();
    await later.getByText("the board lacks a ballot that this browser sent").waitFor({ timeout: 60_000 });
    const here = await visit(first.context(), "result", address);
    await here.getByRole("button", { name: "Verify everything now" }).click();
    await here.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    await here.getByText("Entry 3, counts").waitFor();
    await looked(here, "result-own");
    // The browser tells that the board has no such ballot.
    complaints.splice(0);
    const again = await visit(await visitor(), "vote", address);
    await again.getByLabel("Or your credential as a file").setInputFiles(bytes(canonical(key)));
    await again.getByRole("heading", { name: "You have already voted." }).waitFor();
    expect(await again.getByRole("radio").count()).toBe(0);
    await looked(again, "vote-voted");
    // Where the list does not come, the server refuses the ballot.
    const second = await vote("No", undefined, false);
    await second.getByRole("heading", { name: "This ballot was rejected. It does not count." }).waitFor();
    await second.getByText("You have voted already.").waitFor();
    await looked(second, "vote-refused");
    // The browser, too, tells of a refusal.
    complaints.splice(0);
    expect((await told()).voted).toBe(1);
    const board = await (await fetch(`${address}/record/board/00000000.jsonl`)).text();
    expect(board.trim().split("\n")).toHaveLength(4);
    await once.stop();
  });
});

describe.runIf(chromiumIsThere)("an election with all that can be said besides", () => {
  test("has a blank vote, an order by chance, late voters, and new credentials for lost ones", async () => {
    const organiser = secret("organiser");
    const held = serverFor(organiser);
    const address = await held.start();
    const told = async () => (await fetch(`${address}/api/election`)).json();
    const begun = new Board(secret("board"), organiser);
    const contest = {
      about: "For two years.\nEverybody may ask questions.",
      blank: true,
      candidates: [...NAMES, "Nobody"],
      details: [{ about: "They bloom late.", link: "https://example.org/asters" }, {}, {}, {}, {}],
      method: { choose: { exactly: 2 } },
      shuffled: true,
      title: "Which flowers?",
    };
    const terms = { about: "The spring vote.", closes: "9999-12-31T23:59:59Z", late: true, trial: true };
    begun.begin(ceremony, [contest], { keeper: (await told()).board, terms });
    const [anna, bert] = [member("anna"), member("bert")];
    begun.register([anna, bert]);
    begun.phase("open");
    for (const line of begun.lines) {
      const { body, kind, signature } = JSON.parse(line);
      const headers = { "Content-Type": "application/json" };
      const entry = { method: "POST", headers, body: canonical({ body, kind, signature }) };
      expect((await fetch(`${address}/api/entries`, entry)).status).toBe(201);
    }
    const page = await visit(await visitor(), "organise", address);
    await page.getByText("This is a trial. Its result is not binding.").waitFor();
    const key = { election: null, kind: "organiser", secret: base64.encode(organiser), voter: null };
    await page.getByLabel("The organiser's key").setInputFiles(bytes(canonical(key)));
    await page.getByText(/The server closes the election by itself: .*9999/).waitFor();
    // Somebody comes late, under an alias that the table of codes alone explains.
    const codesOf = async () => {
      const [table] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save codes and links" }).click(),
      ]);
      return (await read(table)).split("\r\n").map((row) => row.split(",").map((cell) => cell.slice(1, -1)));
    };
    await page.getByRole("textbox", { name: "Voters", exact: true }).fill("cleo");
    await page.getByRole("checkbox", { name: "List voters by aliases" }).check();
    await page.getByRole("button", { name: "Make credentials and register" }).click();
    await page.getByText("The board has these voters, with these credentials.").waitFor();
    const [header, late] = await codesOf();
    expect(header).toEqual(["voter", "name", "code", "link"]);
    expect([late?.[0]?.startsWith("voter "), late?.[1]]).toEqual([true, "cleo"]);
    await page.getByRole("button", { name: "Everything is handed out" }).click();
    // Somebody loses a credential, and nobody does who is not there.
    await page.getByText("Replace lost credentials").click();
    await page.getByLabel("Voters who lost theirs").fill("mallory");
    await page.getByRole("button", { name: "Make new credentials" }).click();
    await page.getByText("Not on the board: mallory.").waitFor();
    await page.getByLabel("Voters who lost theirs").fill("bert");
    await looked(page, "organise-late");
    await page.getByRole("button", { name: "Make new credentials" }).click();
    await page.getByText("The board has these voters, with these credentials.").waitFor();
    const [, again] = await codesOf();
    expect(again?.[0]).toBe("bert");
    await page.context().close();

    const booth = await visit(await visitor(), "vote", address);
    await booth.getByText(/You can vote until .*9999/).waitFor();
    await booth.getByLabel("Your voting code").fill(again?.[1] ?? "");
    await booth.getByRole("button", { name: "Continue" }).click();
    await booth.getByText("You vote as bert").waitFor();
    const group = booth.getByRole("group", { name: "Which flowers?" });
    await group.getByText("They bloom late.").waitFor();
    expect(await group.getByRole("link").getAttribute("href")).toBe("https://example.org/asters");
    // Every candidate once, and the blank vote last.
    const shown = await group.locator("label").allInnerTexts();
    expect([...shown].sort()).toEqual([...NAMES, "Nobody"].sort());
    expect(shown.at(-1)).toBe("Nobody");
    await group.getByRole("checkbox", { name: "Asters" }).check();
    await group.getByRole("checkbox", { name: "Begonias" }).check();
    await looked(booth, "vote-blank");
    await group.getByRole("checkbox", { name: "Nobody" }).check();
    expect(await group.getByRole("checkbox", { checked: true }).count()).toBe(1);
    for (const [language, name] of [
      ["es", "Votar"],
      ["fr", "Voter"],
      ["de", "Wählen"],
    ] as const) {
      await booth.locator("select.language").selectOption(language);
      await booth.getByRole("heading", { name }).waitFor();
      await looked(booth, `vote-${language}`);
    }
    await booth.locator("select.language").selectOption("en");
    expect(await group.getByRole("checkbox", { checked: true }).count()).toBe(1);
    await booth.getByRole("button", { name: CONTINUE }).click();
    await booth.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    expect(await booth.locator("dl.chosen dd").innerText()).toBe("Nobody");
    await cast(booth);
    await booth.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await booth.context().close();
    // The credential that was lost signs nothing any more.
    const old = await visit(await visitor(), "vote", address);
    const lost = { election: begun.id, kind: "voter", secret: base64.encode(bert.secret), voter: "bert" };
    await old.route("**/api/voters*", (route) => route.abort());
    await old.getByLabel("Or your credential as a file").setInputFiles(bytes(canonical(lost)));
    await old.getByRole("checkbox", { name: "Nobody" }).check();
    await old.getByRole("button", { name: CONTINUE }).click();
    await old.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    await cast(old);
    await old.getByRole("heading", { name: "This ballot was rejected. It does not count." }).waitFor();
    await old.context().close();
    complaints.splice(0);
    // Everybody sees who came late and whose credential is new.
    const reader = await visit(await visitor(), "result", address);
    await reader.getByRole("button", { name: "Verify everything now" }).click();
    await reader.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    await reader.getByText("Changes of the list of voters (2)").click();
    await reader.getByText("new credential while voting went on").waitFor();
    await looked(reader, "result-changes");
    await reader.context().close();
    await held.stop();
  });

  test("puts candidates in order, by keyboard and by touch", async () => {
    const organiser = secret("organiser");
    const held = serverFor(organiser);
    const address = await held.start();
    const told = async () => (await fetch(`${address}/api/election`)).json();
    // The contest as the organiser's page makes it.
    const setup = await visit(await visitor(), "organise", address);
    const key = { election: null, kind: "organiser", secret: base64.encode(organiser), voter: null };
    await setup.getByLabel("The organiser's key").setInputFiles(bytes(canonical(key)));
    await setup.getByLabel("Title").fill("Flower of the year");
    await setup.getByLabel("Question", { exact: true }).fill("Which flowers?");
    await setup.getByLabel("Candidates, one per line").fill(`${NAMES.slice(0, 3).join("\n")} | for bees`);
    await setup.getByLabel("Method").selectOption("rank");
    await setup.getByLabel("Points of the ranks").fill("5, 2");
    await setup.getByRole("checkbox", { name: "Voters may vote again" }).uncheck();
    await setup
      .getByLabel("Public file of the key ceremony")
      .setInputFiles(bytes(JSON.stringify(ceremony.members)));
    await looked(setup, "organise-ranks");
    await setup.getByRole("button", { name: "Publish the election" }).click();
    await setup.getByRole("heading", { level: 1, name: "Flower of the year" }).waitFor();
    await setup.context().close();
    const { id, manifest } = await told();
    expect(manifest.contests[0].method).toEqual({ rank: { points: [5, 2] } });
    const begun = new Board(secret("board"), organiser);
    begun.id = id;
    const members = [member("anna"), member("bert")];
    const enter = async () => {
      // Connections that ended while this process was computing are gone then.
      await new Promise((resolve) => setTimeout(resolve, 200));
      for (const line of begun.lines.splice(0)) {
        const { body, kind, signature } = JSON.parse(line);
        const headers = { "Content-Type": "application/json" };
        const entry = { method: "POST", headers, body: canonical({ body, kind, signature }) };
        expect((await fetch(`${address}/api/entries`, entry)).status).toBe(201);
      }
    };
    begun.register(members);
    begun.phase("open");
    await enter();
    const booth = async (name: string, options: object = {}) => {
      const page = await visit(await visitor(options), "vote", address);
      const own = { election: id, kind: "voter", secret: base64.encode(secret(name)), voter: name };
      await page.getByLabel("Or your credential as a file").setInputFiles(bytes(canonical(own)));
      await page.getByRole("group", { name: "Which flowers?" }).waitFor();
      return page;
    };
    const first = "Rank 1 (5 points)";
    const second = "Rank 2 (2 points)";

    // By keyboard alone: Crocuses, then Asters.
    const anna = await booth("anna");
    await anna.getByText("Put 2 of the 3 in order, the best first.").waitFor();
    await anna.getByText("for bees").waitFor();
    await anna.getByLabel(first).focus();
    for (const _ of NAMES.slice(0, 3)) await anna.keyboard.press("ArrowDown");
    await anna.getByText("Your order: 1. Crocuses, 2. –").waitFor();
    await anna.keyboard.press("Tab");
    await anna.keyboard.press("Tab");
    await anna.keyboard.press("Enter");
    await anna.getByText("One rank has nobody yet.").waitFor();
    expect(await anna.getByLabel(second).evaluate(isFocused)).toBe(true);
    await looked(anna, "vote-ranks-missing");
    for (const _ of NAMES.slice(0, 3)) await anna.keyboard.press("ArrowDown");
    await anna.getByText("Crocuses has two ranks.").waitFor();
    await anna.keyboard.press("Tab");
    await anna.keyboard.press("Enter");
    expect(await anna.getByLabel(second).evaluate(isFocused)).toBe(true);
    for (const _ of NAMES.slice(0, 2)) await anna.keyboard.press("ArrowUp");
    await anna.getByText("Your order: 1. Crocuses, 2. Asters").waitFor();
    expect(await anna.getByText("has two ranks").count()).toBe(0);
    await looked(anna, "vote-ranks");
    await anna.keyboard.press("Tab");
    await anna.keyboard.press("Enter");
    await anna.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    expect(await anna.locator("dl.chosen dd").innerText()).toBe("1. Crocuses, 2. Asters");
    // A change of mind finds the order as it was.
    await anna.getByRole("button", { name: "Change my choice" }).click();
    expect(await anna.getByLabel(first).locator("option:checked").innerText()).toBe("Crocuses");
    expect(await anna.getByLabel(second).locator("option:checked").innerText()).toBe("Asters");
    await anna.getByRole("button", { name: CONTINUE }).click();
    await anna.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    await cast(anna);
    await anna.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await anna.context().close();

    // On a phone: a challenged ballot shows its order, and another one counts.
    const bert = await booth("bert", { viewport: PHONE, hasTouch: true, isMobile: true });
    const chosen = async (...order: string[]) => {
      for (const [at, name] of order.entries())
        await bert.getByLabel(at === 0 ? first : second).selectOption(name);
      await bert.getByRole("button", { name: CONTINUE }).tap();
      await bert.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    };
    await chosen("Begonias", "Crocuses");
    await bert.getByRole("checkbox", { name: "I have noted the tracker." }).check();
    await bert.getByText(CHALLENGE).tap();
    await bert.getByRole("button", { name: "Open this ballot, do not count it" }).tap();
    await bert.getByRole("heading", { name: "You have NOT voted with it." }).waitFor();
    expect(await bert.locator("dl.chosen dd").innerText()).toBe("1. Begonias, 2. Crocuses");
    await bert.getByRole("link", { name: "Find it on the board" }).tap();
    await bert.getByText("This ballot was challenged").waitFor();
    expect(await bert.getByRole("definition").innerText()).toBe("1. Begonias, 2. Crocuses");
    await bert.context().close();
    const again = await booth("bert");
    for (const [label, name] of [
      [first, "Asters"],
      [second, "Crocuses"],
    ] as const)
      await again.getByLabel(label).selectOption(name);
    await again.getByRole("button", { name: CONTINUE }).click();
    await again.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    await cast(again);
    await again.getByRole("heading", { name: "Your ballot is cast." }).waitFor();
    await again.context().close();

    // Added up by the verifier's own code, decrypted, and shown with points.
    const record = async () => {
      const board = await (await fetch(`${address}/record/board/00000000.jsonl`)).text();
      return verifyRecord(board.trim().split("\n"), [], {}).state;
    };
    begun.phase("close");
    await enter();
    begun.byOrganiser("tally", tallyBody(await record()));
    await enter();
    const tallied = await record();
    const all = totals(tallied);
    for (const trustee of [1, 3]) {
      const body = shareBody(tallied, all, trustee, ceremony.secrets[trustee - 1] ?? 0n);
      begun.signed("share", body, trusteeKey(trustee));
    }
    await enter();
    // Crocuses 5 + 2, Asters 2 + 5.
    const contests = [[7, 0, 7, 1, 0, 1, 1, 0, 1]];
    begun.byOrganiser("result", { contests, election: id });
    await enter();
    const reader = await visit(await visitor(), "result", address);
    await reader.getByRole("button", { name: "Verify everything now" }).click();
    await reader.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    await reader.getByText("Tie for one seat: Asters, Crocuses").waitFor();
    const rows = await reader.locator("table.plot tr").allInnerTexts();
    expect(rows.map((row) => row.split(/\s+/).join(" "))).toEqual([
      "Asters rank 1: 1; rank 2: 1 7 points 70%",
      "Begonias rank 1: 0; rank 2: 0 0 points 0%",
      "Crocuses rank 1: 1; rank 2: 1 7 points 70%",
    ]);
    await looked(reader, "result-ranks");
    const [table] = await Promise.all([
      reader.waitForEvent("download"),
      reader.getByRole("button", { name: "Save as a table" }).click(),
    ]);
    expect(await read(table)).toContain("Which flowers?,Asters,2,70.0,tied,7,1;1\r\n");
    await reader.context().close();
    await held.stop();
  });
});

describe.runIf(chromiumIsThere)("what was tampered with", () => {
  const verified = async (page: Page) => {
    await page.getByRole("button", { name: "Verify everything now" }).click();
    await page.getByText("Something is wrong.").waitFor({ timeout: 60_000 });
    expect(await page.locator("table.plot").count()).toBe(0);
    return page
      .locator("li.fail")
      .evaluateAll((items) => items.map((item) => item.getAttribute("data-check")));
  };

  test("a board with an altered ballot does not verify", async () => {
    const page = await visit(await visitor(), "result");
    await page.route("**/record/board/*", async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replace('"voter":"bert"', '"voter":"cleo"');
      await route.fulfill({ response, body: text });
    });
    expect(await verified(page)).toContain("chain");
    await looked(page, "result-wrong");
    await page.context().close();
  });

  test("a board that is shorter than what was seen before does not verify, with a head of its own", async () => {
    const page = await visit(await visitor(), "result");
    await page.getByRole("button", { name: "Verify everything now" }).click();
    await page.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    const cut = (text: string) => `${text.trim().split("\n").slice(0, -1).join("\n")}\n`;
    await page.route("**/record/**", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: cut(await response.text()) });
    });
    expect(await verified(page)).toEqual(["memory"]);
    await page.context().close();
  });

  test("a server that answers for another ballot is not believed", async () => {
    const page = await visit(await visitor(), "board");
    await page.route("**/api/ballots/*", (route) => route.continue({ url: `${url}/api/ballots/${first}` }));
    await page.getByLabel("Tracker").fill("a".repeat(26));
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("a ballot that has another tracker").waitFor();
    await page.getByLabel("Tracker").fill("123");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("A code has 28 letters and digits. This one has 3.").waitFor();
    const wrong = shownCode(first, "tracker");
    const other = wrong.startsWith("a") ? "b" : "a";
    await page.getByLabel("Tracker").fill(other + wrong.slice(1));
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("There is a mistake in the code, probably in group 1.").waitFor();
    await page.context().close();
  });

  test("a server that shows another key is not believed", async () => {
    const other = hold(2, 3, LARGE).members;
    for (const id of ["said", "computed"]) {
      const page = await (await visitor()).newPage();
      await page.route("**/api/election", async (route) => {
        const answer = await (await route.fetch()).json();
        const manifest = { ...answer.manifest, ...other };
        const real = createHash("sha256").update(canonical(manifest)).digest("hex");
        await route.fulfill({
          json: { ...answer, manifest, id: id === "said" ? answer.id : real, phase: "open" },
        });
      });
      await page.goto(`${url}/#/vote`);
      if (id === "said") {
        await page
          .getByText("the election that the server sent does not have the ID that it states")
          .waitFor();
        expect(await page.getByLabel("Or your credential as a file").count()).toBe(0);
      } else {
        // A code gives another key under another manifest, which is none of the voters'.
        await page.getByLabel("Your voting code").fill(codes.get("anna") ?? "");
        await page.getByRole("button", { name: "Continue" }).click();
        await page.getByText("This code belongs to no voter in this election.").waitFor();
        // Voters hold the election's id, which is the hash of its key too.
        await page
          .getByLabel("Or your credential as a file")
          .setInputFiles(bytes(credentials.get("anna") ?? ""));
        await page.getByText("This file belongs to another election.").waitFor();
      }
      await page.context().close();
    }
  });

  test("a page that was altered has another hash, and its script does not run", async () => {
    const sums = readFileSync(`${DIST}SHA256SUMS`, "utf8");
    const html = readFileSync(`${DIST}index.html`, "utf8");
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(sums).toContain(`${digest(html)}  index.html`);
    const context = await visitor();
    const page = await context.newPage();
    const served = await (await fetch(url)).text();
    expect(digest(served)).toBe(digest(html));
    await page.route(`${url}/`, async (route) => {
      const response = await route.fetch();
      const body = html.replace("<script data-hearith>", "<script data-hearith>document.title='stolen';");
      expect(digest(body)).not.toBe(digest(html));
      await route.fulfill({ response, body });
    });
    await page.goto(url);
    expect(await page.title()).toBe("Election");
    expect(await page.getByRole("navigation").count()).toBe(0);
    await context.close();
  });
});

describe.runIf(chromiumIsThere)("the page by itself", () => {
  test("works without a network once it was loaded", async () => {
    const context = await visitor({ serviceWorkers: "allow" });
    const page = await visit(context, "board");
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await page.reload();
    await context.setOffline(true);
    await page.reload();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.getByText("The server cannot be reached.").waitFor();
    await context.close();
    complaints.splice(0);
  });

  /** The record, saved as files by the names that it is published under. */
  async function savedRecord(): Promise<{ name: string; mimeType: string; buffer: Buffer }[]> {
    const names = ["heads.jsonl", "board/00000000.jsonl"];
    return Promise.all(
      names.map(async (name) => ({
        name: name.replace("board/", ""),
        mimeType: "application/jsonl",
        buffer: Buffer.from(await (await fetch(`${url}/record/${name}`)).arrayBuffer()),
      })),
    );
  }

  test("saved, verifies a saved record without a network, and finds what is wrong with one", async () => {
    const files = await savedRecord();
    const context = await visitor();
    await context.setOffline(true);
    const page = await context.newPage();
    const asked: string[] = [];
    page.on("request", (request) => request.url().startsWith("http") && asked.push(request.url()));
    await page.goto(`file://${DIST}index.html#/result`);
    await page.getByText("The server cannot be reached.").waitFor();
    expect(await page.getByRole("button", { name: "Verify everything now" }).count()).toBe(0);
    const chooser = page.getByLabel("Files of the record");
    await chooser.setInputFiles(files);
    await page.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    await page.getByRole("heading", { name: `The record of: ${TITLE}` }).waitFor();
    expect(await page.locator("table.plot tr").first().innerText()).toMatch(/Asters\s+1 vote\s+20%/);
    await looked(page, "result-saved");

    const failing = () =>
      page.locator("li.fail").evaluateAll((items) => items.map((item) => item.getAttribute("data-check")));
    const altered = files.map((file) => ({
      ...file,
      buffer: Buffer.from(file.buffer.toString().replace('"voter":"bert"', '"voter":"cleo"')),
    }));
    await chooser.setInputFiles(altered);
    await page.getByText("Something is wrong.").waitFor({ timeout: 60_000 });
    expect(await failing()).toContain("chain");
    expect(await page.locator("table.plot").count()).toBe(0);
    // Without its heads nobody answers for the board.
    await chooser.setInputFiles(files.slice(1));
    await page.getByText("Something is wrong.").waitFor({ timeout: 60_000 });
    await expect.poll(failing, { timeout: 60_000 }).toEqual(["heads"]);
    await chooser.setInputFiles(files.slice(0, 1));
    await page.getByText("00000000.jsonl is missing").waitFor();
    // It asked for the server's overview, which it did not get, and for nothing else.
    expect(new Set(asked)).toEqual(new Set(["http://127.0.0.1:8080/api/election"]));
    complaints.splice(0);
    await context.close();
  });

  test("verifies a record when it is opened from a saved file", async () => {
    const context = await visitor();
    const page = await context.newPage();
    await page.goto(`file://${DIST}index.html?server=${encodeURIComponent(url)}#/result`);
    await page.getByRole("heading", { level: 1, name: TITLE }).waitFor();
    await page.getByRole("button", { name: "Verify everything now" }).click();
    await page.getByText("Everything holds.").waitFor({ timeout: 60_000 });
    await context.close();
  });
});
