/** Pools of the browser's workers. */

import type { PrivateKey, PublicKey } from "./keys.ts";
import { Pool, type PoolOptions, type Port } from "./pool.ts";
import type { Reply } from "./tasks.ts";

export type { BatchOptions, Pool, PoolOptions } from "./pool.ts";

/** Starts a pool of workers for a key. */
export function startPool(key: PublicKey | PrivateKey, options?: PoolOptions): Pool {
  return new Pool(key, port, options);
}

function port(): Port {
  const worker = new Worker(new URL("./worker.browser.js", import.meta.url), { type: "module" });
  return {
    post: (request) => worker.postMessage(request),
    listen(hear) {
      worker.onmessage = ({ data }: MessageEvent<Reply>) => hear(data);
      worker.onerror = worker.onmessageerror = () => hear(undefined);
    },
    end: () => worker.terminate(),
  };
}
