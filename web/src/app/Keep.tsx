/** Ways to keep a text that a voter will need again: copied, or printed with the page. */

import { useState } from "preact/hooks";
import { useShared } from "./state.tsx";

export function Keep({ text }: { text: string }) {
  const { texts } = useShared();
  const [said, setSaid] = useState<string>();
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid(texts.copied),
      () => setSaid(texts.notCopied),
    );
  return (
    <p class="keep">
      <button type="button" class="second" onClick={copy}>
        {texts.copy}
      </button>
      <button type="button" class="second" onClick={() => print()}>
        {texts.print}
      </button>
      <span role="status">{said}</span>
    </p>
  );
}
