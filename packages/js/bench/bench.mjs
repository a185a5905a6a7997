/** Measures the package as it is built beside paillier-bigint, and writes bench/results/js.md. Usage: bench.mjs [--quick] */

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import * as theirs from "paillier-bigint";
import { PrivateKey } from "../dist/index.js";
import { startPool } from "../dist/pool.node.js";

const QUICK = process.argv.includes("--quick");
const ROUNDS = QUICK ? 3 : 25;
const VECTORS = JSON.parse(
  readFileSync(new URL("../../../crates/paillier/tests/vectors/vectors.json", import.meta.url), "utf8"),
);
const vector = VECTORS.djn.find((one) => one.bits === 2048);
const encoded = (hex) =>
  Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex").toString("base64url");
const pub = { kty: "DAJ", alg: "PAI-GN1", key_ops: ["encrypt"], n: encoded(vector.n), h: encoded(vector.h) };
const json = (key) =>
  JSON.stringify({ kty: "DAJ", key_ops: ["decrypt"], p: encoded(vector.p), q: encoded(vector.q), pub: key });

/** Milliseconds of processor time, which other programs on the machine lengthen less than the clock's. */
function now() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
function timed(work) {
  const start = now();
  work();
  return now() - start;
}

/** Milliseconds of each of several kinds of work: the middle of rounds in which each has its turn, and the least. */
function measured(works) {
  const times = works.map(() => []);
  for (let round = 0; round < ROUNDS; round++)
    works.forEach(({ work, count }, at) => {
      times[at].push(timed(() => Array.from({ length: count }, work)) / count);
    });
  return times.map((all) => {
    all.sort((a, b) => a - b);
    return { middle: all[all.length >> 1], least: all[0] };
  });
}

const start = now();
const djn = await PrivateKey.read(json(pub));
const reading = now() - start;
const fresh = djn.public;
const first = timed(() => fresh.encrypt(1n));
const second = timed(() => fresh.encrypt(1n));
const building = timed(() => fresh.prepare());
const { h: _, ...without } = pub;
const standard = (await PrivateKey.read(json(without))).public;

const [n, p, q] = [vector.n, vector.p, vector.q].map((hex) => BigInt(`0x${hex}`));
const theirPublic = new theirs.PublicKey(n, n + 1n);
const lambda = ((p - 1n) * (q - 1n)) / 2n;
// As its generateRandomKeys makes it of g = n + 1, with the primes, so that it decrypts by the remainder theorem.
const inverse = (a, m) => {
  let [x, y, u, v] = [((a % m) + m) % m, m, 1n, 0n];
  while (y) [x, y, u, v] = [y, x % y, v, u - (x / y) * v];
  return ((u % m) + m) % m;
};
const theirPrivate = new theirs.PrivateKey(lambda, inverse(lambda, n), theirPublic, p, q);

const [a, b] = [fresh.encrypt(5n), fresh.encrypt(-3n)];
for (const key of [djn, theirPrivate])
  if (key.decrypt(fresh.add(a, b)) !== 2n) throw new Error("a wrong sum");
if (djn.decrypt(theirPublic.encrypt(7n)) !== 7n) throw new Error("a wrong decryption");

const drawn = (key) => () => (key.plain(12_345n) * key.randomiser()) % key.squared;
const works = [
  { name: "encrypt, paillier-bigint", work: () => theirPublic.encrypt(12_345n), count: 1 },
  { name: "encrypt, DJN key, table", work: drawn(fresh), count: 10 },
  { name: "encrypt, DJN key, stock", work: () => fresh.encrypt(12_345n), count: 20 },
  { name: "encrypt, standard key", work: drawn(standard), count: 1 },
  { name: "decrypt, paillier-bigint", work: () => theirPrivate.decrypt(a), count: 2 },
  { name: "decrypt", work: () => djn.decrypt(a), count: 2 },
  { name: "add, paillier-bigint", work: () => theirPublic.addition(a, b), count: 200 },
  { name: "add", work: () => fresh.add(a, b), count: 200 },
  { name: "multiply by 1000, paillier-bigint", work: () => theirPublic.multiply(a, 1000n), count: 20 },
  { name: "multiply by 1000, deterministic", work: () => fresh.multiplyDeterministic(a, 1000n), count: 20 },
];
// Once, so that everything is compiled.
for (const { work } of works) work();
fresh.stock(20 * ROUNDS);
const found = measured(works);
if (fresh.stocked !== 0) throw new Error("the stock was not used up");

const pool = startPool(fresh, { workers: 2 });
await pool.encrypt([1n, 2n]);
const batch = Array.from({ length: QUICK ? 64 : 1000 }, (_, at) => BigInt(at));
const pooled = performance.now();
await pool.encrypt(batch);
const perSecond = batch.length / ((performance.now() - pooled) / 1000);
pool.close();

const of = (name) => found[works.findIndex((one) => one.name === name)];
const ms = (time) => (time < 1 ? time.toFixed(4) : time.toFixed(2));
const times = (slow, fast) => `${(of(slow).middle / of(fast).middle).toFixed(1)}`;
const against = {
  "encrypt, DJN key, table": "encrypt, paillier-bigint",
  "encrypt, DJN key, stock": "encrypt, paillier-bigint",
  "encrypt, standard key": "encrypt, paillier-bigint",
  decrypt: "decrypt, paillier-bigint",
  add: "add, paillier-bigint",
  "multiply by 1000, deterministic": "multiply by 1000, paillier-bigint",
};
const table = works.map(({ name }) => {
  const { middle, least } = of(name);
  const ratio = against[name] ? times(against[name], name) : "";
  return `| ${name} | ${ms(middle)} | ${ms(least)} | ${(1000 / middle).toFixed(0)} | ${ratio} |`;
});
const text = `# The JavaScript package

Made by \`make bench-js\` (\`packages/js/bench/bench.mjs\`): the built package and paillier-bigint 3.4.3 in one
process.

- Machine: ${cpus()[0].model}, ${availableParallelism()} hardware threads, load ${loadavg()[0].toFixed(1)}; Node ${process.version}, V8 ${process.versions.v8}
- Date: ${new Date().toISOString().slice(0, 10)}
- Method: a key of 2048 bits; ${ROUNDS} rounds, each with every operation once; the median and the lowest.
  Processor time, including garbage collection; wall-clock time for the pool.

| operation | ms | least | per second | times as fast |
| --- | ---: | ---: | ---: | ---: |
${table.join("\n")}

| once | ms |
| --- | ---: |
| read and check the private key | ${ms(reading)} |
| the first encryption, without a table | ${ms(first)} |
| a further encryption, without a table | ${ms(second)} |
| build the table | ${ms(building)} |

A pool of two threads encrypts ${perSecond.toFixed(0)} numbers per second.
`;
if (!QUICK) writeFileSync(new URL("../../../bench/results/js.md", import.meta.url), text);
console.log(text);
