/** Builds one file that can be saved, hashed and checked: script and style are in the page, and its policy names their hashes. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { hearith } from "./alias.ts";

function digest(text: string, algorithm: "base64" | "hex"): string {
  return createHash("sha256").update(text).digest(algorithm);
}

/** What the page may do: its own script and style and no others, no frames, no forms; it asks servers by fetching alone. */
function policy(script: string, style: string, connect: string): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${digest(script, "base64")}'`,
    `style-src 'sha256-${digest(style, "base64")}'`,
    "img-src data:",
    `connect-src ${connect}`,
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types hearith",
  ].join("; ");
}

/** The licences of what is in the page: they ask to go with it. */
function licences(root: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; version: string }>;
  };
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);
  const texts = shipped.map(([path, { version }]) => {
    const text = readFileSync(join(root, path, "LICENSE"), "utf8").trim();
    return `${path.replace("node_modules/", "")} ${version}\n\n${text}`;
  });
  return texts.join(`\n\n${"-".repeat(80)}\n\n`);
}

/** Puts script and style into the page, when both are written. */
function oneFile(): Plugin {
  let root = ".";
  let folder = "dist";
  const read = (name: string) => readFileSync(join(folder, name), "utf8").trim();
  const only = (ending: string) => {
    const names = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(ending));
    if (names.length !== 1) throw new Error(`one file ${ending} was to be built, not ${names.length}`);
    return `\n${read(join("assets", names[0] ?? ""))}\n`;
  };
  return {
    name: "hearith-one-file",
    apply: "build",
    configResolved(config) {
      root = config.root;
      folder = join(root, config.build.outDir);
    },
    closeBundle() {
      // Nothing in the script may end it.
      const script = only(".js").replaceAll("</script", "<\\/script");
      const style = only(".css");
      const own = policy(script, style, "'self' https: http://localhost:* http://127.0.0.1:*");
      const page = read("index.html")
        .replace(/<script type="module"[^>]*><\/script>\s*/, "")
        .replace(/<link rel="stylesheet"[^>]*>\s*/, "")
        .replace(
          "<title>",
          () => `<meta http-equiv="Content-Security-Policy" content="${own}" />\n    <title>`,
        )
        .replace("</head>", () => `<style>${style}</style>\n  </head>`)
        .replace("</body>", () => `<script data-hearith>${script}</script>\n  </body>`);
      const write = (name: string, text: string) => writeFileSync(join(folder, name), `${text}\n`);
      write("index.html", page);
      write("LICENSES.txt", licences(root));
      write("csp.txt", `${policy(script, style, "'self'")}; frame-ancestors 'none'`);
      const sums = ["index.html", "sw.js"].map((name) => `${digest(`${read(name)}\n`, "hex")}  ${name}`);
      write("SHA256SUMS", sums.join("\n"));
      rmSync(join(folder, "assets"), { recursive: true });
      console.log(sums.join("\n"));
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [oneFile()],
  resolve: { alias: [hearith] },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: { output: { format: "iife" } },
  },
  server: {
    fs: { allow: [".", "../packages/js/src"] },
    proxy: { "/api": "http://127.0.0.1:8080", "/record": "http://127.0.0.1:8080" },
  },
  test: { include: ["tests/*.test.ts"], testTimeout: 60_000 },
});
