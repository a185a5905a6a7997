/** The package as others get it. */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { expect, test } from "vitest";

const path = (name: string) => new URL(`../${name}`, import.meta.url).pathname;

test("everything of it is below 30 kB, minified and compressed", async () => {
  const entry = ["index", "pool.browser", "worker.browser"].map((name) => path(`dist/${name}.js`));
  const bundle = await build({
    configFile: false,
    logLevel: "silent",
    root: path("."),
    build: { write: false, minify: true, rollupOptions: { input: entry, preserveEntrySignatures: "strict" } },
  });
  const output = (Array.isArray(bundle) ? bundle : [bundle]).flatMap((one) =>
    "output" in one ? one.output : [],
  );
  const code = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : String(chunk.source)));
  const size = gzipSync(code.join("\n")).length;
  console.log(`${code.length} files, ${size} bytes compressed`);
  expect(code.join("").length).toBeGreaterThan(5000);
  expect(size).toBeLessThan(30_000);
});

test("it depends on nothing, and imports nothing but itself and Node's own modules", () => {
  const about = JSON.parse(readFileSync(path("package.json"), "utf8"));
  expect(Object.keys(about).filter((name) => /dependencies/i.test(name))).toEqual([]);
  for (const name of ["index", "keys", "core", "pool", "pool.node", "pool.browser", "worker.node", "tasks"]) {
    const text = readFileSync(path(`dist/${name}.js`), "utf8");
    const imports = [...text.matchAll(/ from "([^"]+)"/g)].map(([, from]) => from ?? "");
    expect(imports.filter((from) => !from.startsWith("./") && !from.startsWith("node:"))).toEqual([]);
    const node = imports.some((from) => from.startsWith("node:"));
    expect(node).toBe(name.endsWith(".node"));
  }
});
