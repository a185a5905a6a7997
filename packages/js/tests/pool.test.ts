/** Pools of Node's threads, from the package as it is built. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { PrivateKey } from "../src/keys.ts";
import type { Pool } from "../src/pool.ts";
import { number, privateMembers, SUBGROUPS, subgroupMembers, VECTORS } from "./support/vectors.ts";

interface Built {
  readonly index: typeof import("../src/index.ts");
  readonly start: typeof import("../src/pool.node.ts").startPool;
}

let built: Built;
let key: PrivateKey;
let pool: Pool;
let owner: Pool;
beforeAll(async () => {
  const load = (name: string) => import(new URL(`../dist/${name}`, import.meta.url).href);
  built = { index: await load("index.js"), start: (await load("pool.node.js")).startPool };
  const vector = VECTORS.djn.find((one) => one.bits === 512);
  if (!vector) throw new Error("no key");
  key = await built.index.PrivateKey.read(JSON.stringify(privateMembers(vector)), { insecure: true });
  pool = built.start(key.public, { workers: 2, tableWidth: 4 });
  owner = built.start(key, { workers: 2 });
});
afterAll(() => {
  pool.close();
  owner.close();
});

test("batches come back in order, with progress", async () => {
  const numbers = Array.from({ length: 100 }, (_, at) => BigInt(at));
  const seen: number[] = [];
  const progress = (done: number, total: number) => {
    expect(total).toBe(100);
    seen.push(done);
  };
  const [encrypted, others] = await Promise.all([pool.encrypt(numbers, { progress }), pool.encrypt(numbers)]);
  expect(encrypted.map((one) => key.decrypt(one))).toEqual(numbers);
  expect(await owner.decrypt(await pool.rerandomise(others))).toEqual(numbers);
  expect(new Set([...encrypted, ...others]).size).toBe(200);
  expect(seen.at(-1)).toBe(100);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(await pool.encrypt([])).toEqual([]);
});

test("a batch is given up, and the next one is computed", async () => {
  const control = new AbortController();
  const numbers = Array.from({ length: 1000 }, () => 1n);
  const progress = () => control.abort(new Error("enough"));
  await expect(pool.encrypt(numbers, { signal: control.signal, progress })).rejects.toThrow("enough");
  await expect(pool.encrypt(numbers, { signal: control.signal })).rejects.toThrow("enough");
  const thrown = () => {
    throw new Error("of the caller");
  };
  await expect(pool.encrypt(numbers, { progress: thrown })).rejects.toThrow("of the caller");
  expect(key.decrypt((await pool.encrypt([7n]))[0] ?? 0n)).toBe(7n);
});

test("what is wrong is said, and the pool goes on", async () => {
  await expect(owner.decrypt([1n, 0n])).rejects.toThrow("the ciphertext is not above 0");
  await expect(pool.decrypt([1n])).rejects.toThrow("a pool with a public key cannot decrypt");
  expect(await owner.decrypt([1n])).toEqual([0n]);
  expect(() => built.start(key.public, { workers: 0 })).toThrow("1 to 256 workers");
  const closed = built.start(key.public, { workers: 1 });
  const waiting = closed.encrypt([1n]);
  closed.close();
  await expect(waiting).rejects.toThrow("closed");
  await expect(closed.encrypt([1n])).rejects.toThrow("closed");
  const failing = built.start(key.public, { workers: 1, tableWidth: 99 });
  await expect(failing.encrypt([1n])).rejects.toThrow("digits of 1 to 12 bits");
});

test("subgroup keys encrypt and decrypt with short exponents, or for any randomiser", async () => {
  const [vector] = SUBGROUPS;
  if (!vector) throw new Error("no key");
  const text = JSON.stringify(subgroupMembers(vector));
  const short = await built.index.PrivateKey.read(text, { insecure: true });
  const pools = [short.public, short, short.anyRandomiser()].map((one) =>
    built.start(one, { workers: 1, tableWidth: 4 }),
  );
  const [anybody, holder, any] = pools;
  if (!anybody || !holder || !any) throw new Error("three pools");
  const own = await anybody.encrypt([1n, 2n]);
  const foreign = vector.foreign.slice(0, 2);
  expect(await holder.decrypt(own)).toEqual([1n, 2n]);
  const theirs = foreign.map(({ c }) => number(c));
  await expect(holder.decrypt(theirs)).rejects.toThrow("subgroup key's randomisers");
  expect(await any.decrypt(theirs)).toEqual(foreign.map(({ m }) => number(m)));
  for (const one of pools) one.close();
});
