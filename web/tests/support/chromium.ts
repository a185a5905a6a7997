/** The browser of the tests: what HEARITH_REQUIRE lists must be there; otherwise its tests are left out, and say so. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

function found(): string | undefined {
  const { CHROMIUM, PATH = "" } = process.env;
  const places = CHROMIUM ? [CHROMIUM] : PATH.split(delimiter).map((folder) => join(folder, "chromium"));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const CHROMIUM = found() ?? "";
export const chromiumIsThere = CHROMIUM !== "";

const required = (process.env.HEARITH_REQUIRE ?? "").split(",").some((name) => name.trim() === "chromium");
if (!chromiumIsThere && required) throw new Error("HEARITH_REQUIRE lists chromium, which is missing");
if (!chromiumIsThere) console.warn("without chromium: the tests of the pages in a browser are left out");
