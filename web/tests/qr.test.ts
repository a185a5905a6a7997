/** The tracker's QR code says the tracker. */

import { expect, test } from "vitest";
import { Qr } from "../src/app/Qr.tsx";
import { decodeQr } from "./support/qr.ts";

/** What is drawn, module by module, without the border of two. */
function drawn(text: string): boolean[][] {
  const { props } = Qr({ text, label: "the tracker" }) as unknown as {
    props: { viewBox: string; children: { props: { d?: string } }[] };
  };
  const size = Number(props.viewBox.split(" ")[2]) - 4;
  const path = props.children.map((child) => child.props.d ?? "").join("");
  const dark = new Set([...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`));
  return Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (_, x) => dark.has(`${x + 2} ${y + 2}`)),
  );
}

test.each([
  "abcd efgh ijkl mnop qrst uvwx yz",
  "7a2zq4",
  "https://election.example/#/board/mfrggzdfmztwq2lknnwg23tpoa",
])("says %s", (text) => {
  expect(decodeQr(drawn(text))).toBe(text);
});

test("says another thing with a module altered", () => {
  const text = "mfrggzdfmztwq2lknnwg23tpoa";
  const modules = drawn(text);
  const last = modules.at(-3) as boolean[];
  last[last.length - 1] = !last.at(-1);
  let said = "";
  try {
    said = decodeQr(modules);
  } catch {}
  expect(said).not.toBe(text);
});
