import { defineConfig } from "vitest/config";

/** Tests beside the command line, which HEARITH_COMMAND names, and in a real browser. */
export default defineConfig({
  test: { include: ["tests/*.peer.ts"], testTimeout: 180_000, hookTimeout: 120_000 },
});
