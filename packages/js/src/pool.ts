/** Workers that share batches: each takes the next piece when it has done one. */

import { TABLE_WIDTH } from "./core.ts";
import { ensure, Fault } from "./errors.ts";
import { PrivateKey, type PublicKey } from "./keys.ts";
import type { KeyNumbers, Operation, Reply, Request } from "./tasks.ts";

/** Numbers that a worker takes at a time: some 30 ms at 2048 bits, so that progress and abort are not far. */
const PIECE = 16;
/** Most workers of a pool: each builds a table of its own. */
const MAX_WORKERS = 256;

/** A worker thread, of a browser or of Node. */
export interface Port {
  post(request: Request): void;
  /** Called with each reply, and with undefined when the worker fails. */
  listen(hear: (reply: Reply | undefined) => void): void;
  end(): void;
}

export interface PoolOptions {
  /** Workers. By default one a core, at most 8. */
  readonly workers?: number;
  /** Bits of a digit of each worker's table: `PublicKey.prepare`. */
  readonly tableWidth?: number;
}

export interface BatchOptions {
  /** Called after each piece with how many numbers are done, of how many. */
  readonly progress?: (done: number, total: number) => void;
  /** Ends the batch early: it is rejected with the signal's reason, and nothing of it is given out. */
  readonly signal?: AbortSignal;
}

/** What is left of a batch, and what is done. */
interface Batch {
  readonly operation: Operation;
  readonly numbers: readonly bigint[];
  readonly results: bigint[];
  readonly options: BatchOptions;
  readonly resolve: (results: bigint[]) => void;
  readonly reject: (reason: unknown) => void;
  next: number;
  done: number;
}

/** One thread: what it computes now, if anything. */
interface Worker {
  readonly port: Port;
  /** The piece that it computes, and its first number's place; undefined of batches that ended early. */
  piece: { batch: Batch; from: number } | undefined;
  busy: boolean;
}

/** A pool of workers for one key. Batches are computed in the order in which they come. */
export class Pool {
  readonly #workers: Worker[];
  #batches: Batch[] = [];
  #closed: Fault | undefined;

  /** Starts the workers. Use `Pool.start` of `hearith/pool`, which knows how to start one. */
  constructor(key: PublicKey | PrivateKey, create: () => Port, options: PoolOptions = {}) {
    const cores = globalThis.navigator?.hardwareConcurrency ?? 4;
    const { workers = Math.min(cores, 8), tableWidth = TABLE_WIDTH } = options;
    ensure(
      Number.isInteger(workers) && workers >= 1 && workers <= MAX_WORKERS,
      `a pool must have 1 to ${MAX_WORKERS} workers`,
    );
    const numbers = keyNumbers(key, tableWidth);
    this.#workers = Array.from({ length: workers }, () => this.#started(create(), numbers));
  }

  /** Ciphertexts of residues, such as `Encoding.encode` gives, in their order. */
  encrypt(residues: readonly bigint[], options: BatchOptions = {}): Promise<bigint[]> {
    return this.#run("encrypt", residues, options);
  }

  /** Other ciphertexts of the same residues. */
  rerandomise(ciphertexts: readonly bigint[], options: BatchOptions = {}): Promise<bigint[]> {
    return this.#run("rerandomise", ciphertexts, options);
  }

  /** The residues of ciphertexts; the pool's key is a private one. */
  decrypt(ciphertexts: readonly bigint[], options: BatchOptions = {}): Promise<bigint[]> {
    return this.#run("decrypt", ciphertexts, options);
  }

  /** Ends all workers. Batches that are not done are rejected. */
  close(): void {
    this.#fail(new Fault("the pool is closed"));
  }

  #started(port: Port, key: KeyNumbers): Worker {
    const worker: Worker = { port, piece: undefined, busy: true };
    port.listen((reply) => this.#hear(worker, reply));
    port.post({ key });
    return worker;
  }

  #run(operation: Operation, numbers: readonly bigint[], options: BatchOptions): Promise<bigint[]> {
    const { signal } = options;
    if (numbers.length === 0 && !this.#closed && !signal?.aborted) return Promise.resolve([]);
    return new Promise<bigint[]>((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed) throw this.#closed;
      const copy = numbers.slice();
      const results: bigint[] = new Array(copy.length);
      const batch = { operation, numbers: copy, results, options, resolve, reject, next: 0, done: 0 };
      const abort = () => this.#drop(batch, signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      batch.resolve = (found) => {
        signal?.removeEventListener("abort", abort);
        resolve(found);
      };
      batch.reject = (reason) => {
        signal?.removeEventListener("abort", abort);
        reject(reason);
      };
      this.#batches.push(batch);
      for (const worker of this.#workers) if (!worker.busy) this.#give(worker);
    });
  }

  /** The next piece of the first batch that has one. */
  #give(worker: Worker): void {
    const batch = this.#batches.find((one) => one.next < one.numbers.length);
    worker.busy = batch !== undefined;
    worker.piece = undefined;
    if (!batch) return;
    const from = batch.next;
    batch.next = Math.min(from + PIECE, batch.numbers.length);
    worker.piece = { batch, from };
    worker.port.post({ operation: batch.operation, numbers: batch.numbers.slice(from, batch.next) });
  }

  #hear(worker: Worker, reply: Reply | undefined): void {
    if (this.#closed) return;
    const { piece } = worker;
    if (!reply) {
      this.#fail(new Fault("a worker of the pool has failed"));
    } else if ("fault" in reply) {
      if (piece) this.#drop(piece.batch, new Fault(reply.fault));
      else this.#fail(new Fault(reply.fault));
    } else if (piece && "numbers" in reply) {
      this.#keep(piece.batch, piece.from, reply.numbers);
    }
    if (!this.#closed) this.#give(worker);
  }

  #keep(batch: Batch, from: number, numbers: readonly bigint[]): void {
    // It may have ended early.
    if (!this.#batches.includes(batch)) return;
    for (const [at, number] of numbers.entries()) batch.results[from + at] = number;
    batch.done += numbers.length;
    try {
      batch.options.progress?.(batch.done, batch.numbers.length);
    } catch (error) {
      this.#drop(batch, error);
    }
    // The caller may have aborted just now.
    if (batch.done < batch.numbers.length || !this.#batches.includes(batch)) return;
    this.#batches = this.#batches.filter((one) => one !== batch);
    batch.resolve(batch.results);
  }

  #drop(batch: Batch, reason: unknown): void {
    this.#batches = this.#batches.filter((one) => one !== batch);
    batch.reject(reason);
  }

  #fail(reason: Fault): void {
    this.#closed ??= reason;
    for (const { port } of this.#workers) port.end();
    for (const batch of this.#batches) batch.reject(reason);
    this.#batches = [];
  }
}

function keyNumbers(key: PublicKey | PrivateKey, tableWidth: number): KeyNumbers {
  const { n, generator, exponentBits } = key instanceof PrivateKey ? key.public : key;
  const numbers = { n, generator, exponentBits, tableWidth };
  if (!(key instanceof PrivateKey)) return { ...numbers, primes: undefined, orders: undefined };
  const orders = key.decryptsAny ? undefined : key.subgroupPrimes();
  return { ...numbers, primes: key.primes(), orders };
}
