/** A worker of Node's pool. */

import { parentPort } from "node:worker_threads";
import { type Request, Tasks } from "./tasks.ts";

const tasks = new Tasks();
parentPort?.on("message", (request: Request) => parentPort?.postMessage(tasks.answer(request)));
