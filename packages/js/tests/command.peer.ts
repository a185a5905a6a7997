/** The command line and the package, each decrypting what the other encrypted. HEARITH_COMMAND names the command line. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Encoding } from "../src/encoding.ts";
import { Encrypted } from "../src/encrypted.ts";
import { columnEntries, fromRows, integersFromPheJson, toPheJson, toRows } from "../src/exchange.ts";
import { PrivateKey, PublicKey } from "../src/keys.ts";

const { HEARITH_COMMAND: COMMAND, HEARITH_PHE_PYTHON } = process.env;
if (!COMMAND) throw new Error("HEARITH_COMMAND names the command line to test with");
const PYTHON = HEARITH_PHE_PYTHON ?? new URL("../../../.venv/bin/python", import.meta.url).pathname;

const folder = mkdtempSync(join(tmpdir(), "hearith-js-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const hearith = (...words: string[]) => execFileSync(COMMAND, [...words, "--quiet"], { encoding: "utf8" });
const python = (code: string, ...words: string[]) => execFileSync(PYTHON, ["-c", code, ...words]);

/** Writes cells into a table like another one: rows of bytes, with the description that the package gives. */
const WRITE = `
import json, sys, pyarrow as pa, pyarrow.parquet as pq
cells, width, entries, names, out = sys.argv[1:]
data, width, entries, names = open(cells, "rb").read(), int(width), json.loads(entries), json.loads(names)
rows = [data[at : at + width] for at in range(0, len(data), width)]
fields = [pa.field("packed", pa.binary(width), metadata=entries)]
fields += [pa.field(f"{name}.additions", pa.uint64(), nullable=False) for name in names]
columns = [pa.array(rows, pa.binary(width))] + [pa.array([1] * len(rows), pa.uint64()) for _ in names]
pq.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)), out)
`;
/** Writes the bytes of a table's first encrypted column, and prints its description. */
const READ = `
import json, sys, pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
field = next(field for field in table.schema if field.metadata and b"hearith.scheme" in field.metadata)
open(sys.argv[2], "wb").write(b"".join(table.column(field.name).to_pylist()))
print(json.dumps({key.decode(): value.decode() for key, value in field.metadata.items()}))
`;

describe.each(["djn", "standard", "subgroup"])("a %s key of the command line", (variant) => {
  let key: PrivateKey;
  const publicFile = at(`${variant}/public.json`);
  const privateFile = at(`${variant}/private.json`);

  beforeAll(async () => {
    hearith("keygen", "--bits", "2048", "--variant", variant, "--out", at(variant));
    key = await PrivateKey.read(readFileSync(privateFile, "utf8"));
  });

  test("is read, and written byte for byte", async () => {
    const text = readFileSync(publicFile, "utf8").trim();
    const found = await PublicKey.read(text);
    expect(found.variant).toBe(variant);
    expect(found.toJson()).toBe(text);
    expect(key.toJson()).toBe(readFileSync(privateFile, "utf8").trim());
    expect(hearith("inspect", publicFile)).toContain(found.id);
  });

  test("decrypts there what the package encrypts, adds and multiplies", () => {
    const encoding = new Encoding({ scale: 2, range: 1_000_000, maxAdditions: 1000 });
    const [a, b, c] = ["12.34", -999_999.99, "0"].map((value) => Encrypted.of(key.public, value, encoding));
    if (!a || !b || !c) throw new Error("three numbers");
    const numbers = [a, b, c, a.add(b), a.multiply(-7), b.rerandomise()];
    writeFileSync(at("numbers.json"), toPheJson([...numbers.map((one) => one.ciphertext), null]));
    const told = ["--column", "pay", "--scale", "2", "--range", "1000000", "--max-additions", "1000"];
    hearith(
      "import",
      "--key",
      publicFile,
      ...told,
      "--additions",
      "7",
      // The command line cannot see that they were made with the key's own randomisers.
      ...(variant === "subgroup" ? ["--any-randomiser"] : []),
      at("numbers.json"),
      "--out",
      at("in.parquet"),
    );
    const found = hearith("decrypt", "--key", privateFile, at("in.parquet"), "--format", "csv");
    const cells = found
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(",")[0]?.replaceAll('"', ""));
    expect(cells).toEqual(["12.34", "-999999.99", "0.00", "-999987.65", "-86.38", "-999999.99", ""]);
  });

  test("decrypts here what the command line encrypts", () => {
    writeFileSync(at("staff.csv"), "pay\n1.50\n-2.25\n\n0\n");
    const told = ["--column", "pay", "--scale", "2", at("staff.csv"), "--out", at("staff.parquet")];
    hearith("encrypt", "--key", publicFile, ...told);
    hearith("export", "--key", publicFile, "--column", "pay", at("staff.parquet"), "--out", at("staff.json"));
    const encoding = new Encoding({ scale: 2 });
    const text = readFileSync(at("staff.json"), "utf8");
    const read = integersFromPheJson(key.public, text);
    const numbers = read.map((one) => one && Encrypted.from(key.public, encoding, one).decrypt(key)[0]);
    expect(numbers).toEqual(["1.50", "-2.25", null, "0.00"]);
    expect(toPheJson(read)).toBe(text);
  });

  test("packs numbers as the package does, both ways", () => {
    writeFileSync(at("two.csv"), "a,b\n5,1.25\n-6,-0.75\n");
    const told = ["--column", "a,b", "--scale", "b=2", "--range", "1000", "--max-additions", "100", "--pack"];
    hearith("encrypt", "--key", publicFile, ...told, at("two.csv"), "--out", at("two.parquet"));
    const described = JSON.parse(python(READ, at("two.parquet"), at("cells")).toString());
    const encoding = new Encoding({ slots: 2, scale: [0, 2], range: 1000, maxAdditions: 100 });
    const entries = columnEntries(key.public, encoding, ["a", "b"]);
    expect(described).toMatchObject(entries);
    const rows = fromRows(key.public, readFileSync(at("cells")));
    const read = rows.map((one) => Encrypted.from(key.public, encoding, one).decrypt(key));
    expect(read).toEqual([
      ["5", "1.25"],
      ["-6", "-0.75"],
    ]);

    const mine = [
      ["-1000", "0.01"],
      [7, -1000],
    ].map((row) => Encrypted.of(key.public, row, encoding).ciphertext);
    writeFileSync(at("mine"), toRows(key.public, mine));
    const names = JSON.stringify(["a", "b"]);
    python(WRITE, at("mine"), "512", JSON.stringify(entries), names, at("mine.parquet"));
    const found = hearith("decrypt", "--key", privateFile, at("mine.parquet"), "--format", "csv");
    const [first, ...lines] = found
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    const cell = (line: string[] | undefined, name: string) => line?.[first?.indexOf(name) ?? -1];
    const cells = lines.map((line) => [cell(line, "a"), cell(line, "b")]);
    expect(cells).toEqual([
      ["-1000", "0.01"],
      ["7", "-1000.00"],
    ]);
  });
});

test("a key that a passphrase protects is named as such", async () => {
  writeFileSync(at("word"), "a passphrase\n");
  hearith("keygen", "--bits", "2048", "--passphrase-file", at("word"), "--out", at("kept"));
  await expect(PrivateKey.read(readFileSync(at("kept/private.json"), "utf8"))).rejects.toThrow(
    "is encrypted",
  );
});
