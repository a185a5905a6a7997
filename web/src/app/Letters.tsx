/** What each voter is sent: the code, its link and its QR code, to print or as a table. */

import { useEffect, useState } from "preact/hooks";
import { shownCode, withChecks } from "../protocol/checked.ts";
import { SERVER, voteUrl } from "./api.ts";
import type { Made } from "./credential.ts";
import { Qr } from "./Qr.tsx";
import { useShared } from "./state.tsx";

function link(code: string): string {
  return voteUrl(withChecks(code, "credential"));
}

/** A table (RFC 4180) of names, codes and links. */
export function lettersTable(made: readonly Made[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const named = made.some(({ name }) => name !== undefined);
  const rows = made.map(({ id, name, code }) => {
    return [id, ...(named ? [name ?? id] : []), shownCode(code, "credential"), link(code)];
  });
  const header = ["voter", ...(named ? ["name"] : []), "code", "link"];
  return [header, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/** A button that prints a letter a voter. The letters are in the page while they are printed, and only on paper. */
export function Letters({ made, onPrinted }: { made: readonly Made[]; onPrinted: () => void }) {
  const { texts, election } = useShared();
  const words = texts.organise;
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!shown) return;
    const done = () => {
      setShown(false);
      onPrinted();
    };
    addEventListener("afterprint", done);
    print();
    return () => removeEventListener("afterprint", done);
  }, [shown]);
  return (
    <>
      <button type="button" class="second" onClick={() => setShown(true)}>
        {words.printLetters}
      </button>
      {shown && (
        <div class="letters">
          {made.map(({ id, name = id, code }) => (
            <section key={id}>
              <h2>
                <bdi>{election?.title}</bdi>
              </h2>
              <p>
                {words.letterFor}{" "}
                <strong>
                  <bdi>{name}</bdi>
                </strong>
              </p>
              <p>{words.letter}</p>
              <Qr text={link(code)} label={words.letterQr} />
              <p>
                {words.letterAddress} <strong>{SERVER}</strong>
              </p>
              <p>
                {texts.vote.code}: <code>{shownCode(code, "credential")}</code>
              </p>
              <p class="help">{words.letterSecret}</p>
            </section>
          ))}
        </div>
      )}
    </>
  );
}
