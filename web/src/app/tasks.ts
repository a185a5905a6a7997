/** Calls into the worker, which runs the page's own script: nothing else is loaded. */

import type { Progress } from "./record.ts";
import type { Answer, Request, Tasks } from "./worker.ts";

type Without<Args> = Args extends [...infer Rest, Progress] ? Rest : Args;
type Call<Task> = Task extends (...args: infer Args) => infer Value
  ? (args: Without<Args>, progress?: Progress) => Promise<Awaited<Value>>
  : never;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly progress: Progress | undefined;
}

const waiting = new Map<number, Waiting>();
let worker: Worker | undefined;
let count = 0;

/** Script addresses must come from a policy, where the browser enforces that; this page has two of them. */
const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): unknown } };
};
const policy = trustedTypes?.createPolicy("hearith", { createScriptURL: (url: string) => url });

/** An address of a script of ours. */
export function scriptUrl(url: string): string {
  return (policy?.createScriptURL(url) as string | undefined) ?? url;
}

function start(): Worker {
  // While developing, the script has an address of its own.
  const served = document.querySelector<HTMLScriptElement>('script[src*="main.tsx"]');
  if (served) return new Worker(scriptUrl(served.src), { type: "module" });
  const text = document.querySelector("script[data-hearith]")?.textContent ?? "";
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return new Worker(scriptUrl(url));
}

function listening(): Worker {
  const started = start();
  started.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
    const one = waiting.get(data.id);
    if (!one) return;
    if ("progress" in data) {
      one.progress?.(...data.progress);
      return;
    }
    waiting.delete(data.id);
    if ("error" in data) one.reject(new Error(data.error));
    else one.resolve(data.value);
  });
  return started;
}

function call(task: keyof Tasks) {
  return (args: readonly unknown[], progress?: Progress) =>
    new Promise<unknown>((resolve, reject) => {
      worker ??= listening();
      const id = count++;
      waiting.set(id, { resolve, reject, progress });
      worker.postMessage({ id, task, args } satisfies Request);
    });
}

const NAMES: readonly (keyof Tasks)[] = [
  "prepare",
  "encrypt",
  "cast",
  "challenge",
  "forget",
  "sign",
  "verify",
  "tally",
  "share",
  "result",
];

/** Every task of the worker, by its name. */
export const work = Object.fromEntries(NAMES.map((name) => [name, call(name)])) as unknown as {
  [Name in keyof Tasks]: Call<Tasks[Name]>;
};

/** The same task, with how long it took among the browser's measurements. */
export async function timed<T>(name: string, task: Promise<T>): Promise<T> {
  const start = performance.now();
  const value = await task;
  performance.measure(`hearith-${name}`, { start });
  return value;
}
