/** One script for both: the page, and the worker beside it, which is started with the same text. */

import { render } from "preact";
import { App } from "./app/App.tsx";
import { scriptUrl } from "./app/tasks.ts";
import { serve } from "./app/worker.ts";
import "./style.css";

function start(): void {
  const root = document.querySelector("#app");
  if (root) render(<App />, root);
  // Only a page that came from a server can be kept by the browser; one from a file is kept already.
  if ("serviceWorker" in navigator && location.protocol !== "file:" && !import.meta.env.DEV) {
    navigator.serviceWorker.register(scriptUrl("sw.js")).catch(() => {});
  }
}

if (typeof document === "undefined") serve();
else start();
