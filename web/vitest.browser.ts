import { defineConfig } from "vitest/config";
import { hearith } from "./alias.ts";

/** Tests in a real browser, over the pages as they are built; with BENCH set what is measured there. */
export default defineConfig({
  resolve: { alias: [hearith] },
  test: {
    include: [process.env.BENCH ? "bench/*.ts" : "tests/*.browser.ts"],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    bail: 1,
  },
});
