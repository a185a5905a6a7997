import { defineConfig } from "vitest/config";

/** Tests in a real browser, over the pages as they are built. */
export default defineConfig({
  test: { include: ["tests/*.browser.ts"], testTimeout: 60_000, hookTimeout: 60_000, bail: 1 },
});
