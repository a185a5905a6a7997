/** Pools of Node's threads. */

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { PrivateKey, PublicKey } from "./keys.ts";
import { Pool, type PoolOptions, type Port } from "./pool.ts";

export type { BatchOptions, Pool, PoolOptions } from "./pool.ts";

/** Starts a pool of workers for a key. An open pool keeps the process alive: close it. */
export function startPool(key: PublicKey | PrivateKey, options?: PoolOptions): Pool {
  return new Pool(key, port, { workers: Math.min(availableParallelism(), 8), ...options });
}

function port(): Port {
  const worker = new Worker(new URL("./worker.node.js", import.meta.url));
  return {
    post: (request) => worker.postMessage(request),
    listen(hear) {
      worker.on("message", hear);
      worker.on("error", () => hear(undefined));
      worker.on("exit", () => hear(undefined));
    },
    end: () => void worker.terminate(),
  };
}
