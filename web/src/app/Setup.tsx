/** An election to set up: what is voted on, how, and under which key. */

import * as base64 from "hearith/base64.ts";
import { useId, useState } from "preact/hooks";
import type { Json } from "../protocol/canonical.ts";
import { readElection } from "../protocol/entry.ts";
import { publicKey } from "../protocol/signature.ts";
import { publish } from "./api.ts";
import { Alert, FileInput, useAct, useShared } from "./state.tsx";
import { work } from "./tasks.ts";

const METHODS = ["plurality", "exactly", "at_most", "approval", "yes_no"] as const;

interface Draft {
  readonly id: number;
  readonly title: string;
  readonly candidates: string;
  readonly method: (typeof METHODS)[number];
  readonly choose: number;
}

function contest({ title, candidates, method, choose }: Draft): Json {
  const names = candidates.split("\n").map((name) => name.trim());
  const chosen = method === "exactly" || method === "at_most" ? { choose: { [method]: choose } } : method;
  return { candidates: names.filter((name) => name !== ""), method: chosen, title: title.trim() };
}

interface Ceremony {
  readonly key?: Json;
  readonly trustees?: Json;
}

/** The public part of a ceremony, key and trustees: by itself, or in the first line of the record that it began. */
function ceremony(text: string): Ceremony {
  const first = JSON.parse(
    text.includes('"kind":"election"') ? (text.split("\n")[0] ?? "") : text,
  ) as Ceremony & {
    body?: Ceremony;
  };
  const { key = null, trustees = null } = first.body ?? first;
  return { key, trustees };
}

export function Setup({ board, secret }: { board: string; secret: Uint8Array }) {
  const { texts, refresh } = useShared();
  const words = texts.organise;
  const [name, setName] = useState("");
  const [revoting, setRevoting] = useState(true);
  const [drafts, setDrafts] = useState<readonly Draft[]>([fresh(0)]);
  const [key, setKey] = useState<string>();
  const { busy, error, act } = useAct();
  const ids = [useId(), useId()];
  const change = (id: number, part: Partial<Draft>) =>
    setDrafts(drafts.map((draft) => (draft.id === id ? { ...draft, ...part } : draft)));
  const send = () =>
    act(async () => {
      const body: Json = {
        board,
        contests: drafts.map(contest),
        ...ceremony(key ?? "{}"),
        organiser: base64.encode(publicKey(secret)),
        revoting,
        title: name.trim(),
      };
      // What everybody will refuse to read is not sent.
      readElection(body);
      await publish(await work.sign(["election", body, secret]));
      await refresh();
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <section class="card">
        <h3>{words.setup}</h3>
        <p>
          {words.public}: <code class="hash">{base64.encode(publicKey(secret))}</code>
        </p>
        <div class="field">
          <label for={ids[0]}>{words.name}</label>
          <input id={ids[0]} required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </div>
        <label class="choice" for={ids[1]}>
          <input
            id={ids[1]}
            type="checkbox"
            checked={revoting}
            onChange={(event) => setRevoting(event.currentTarget.checked)}
          />
          <span>{words.revoting}</span>
        </label>
        <FileInput label={words.ceremony} help={words.ceremonyHelp} onText={setKey} />
      </section>
      {drafts.map((draft, at) => (
        <ContestForm
          key={draft.id}
          at={at + 1}
          draft={draft}
          onChange={(part) => change(draft.id, part)}
          onRemove={drafts.length > 1 ? () => setDrafts(drafts.filter((one) => one !== draft)) : undefined}
        />
      ))}
      <p>
        <button
          type="button"
          class="second"
          onClick={() => setDrafts([...drafts, fresh(Math.max(...drafts.map((one) => one.id)) + 1)])}
        >
          {words.addContest}
        </button>
      </p>
      <button type="submit" disabled={busy || key === undefined}>
        {words.publish}
      </button>
      <Alert>{error}</Alert>
    </form>
  );
}

function fresh(id: number): Draft {
  return { id, title: "", candidates: "", method: "plurality", choose: 1 };
}

function ContestForm(props: {
  at: number;
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
  onRemove: (() => void) | undefined;
}) {
  const { texts } = useShared();
  const words = texts.organise;
  const { draft, onChange } = props;
  const ids = [useId(), useId(), useId(), useId()];
  return (
    <fieldset class="card">
      <legend>{words.contest(props.at)}</legend>
      <div class="field">
        <label for={ids[0]}>{words.question}</label>
        <input
          id={ids[0]}
          required
          value={draft.title}
          onInput={(event) => onChange({ title: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for={ids[1]}>{words.candidates}</label>
        <textarea
          id={ids[1]}
          rows={4}
          required
          value={draft.candidates}
          onInput={(event) => onChange({ candidates: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for={ids[2]}>{words.method}</label>
        <select
          id={ids[2]}
          value={draft.method}
          onChange={(event) =>
            onChange({ method: METHODS.find((one) => one === event.currentTarget.value) ?? "plurality" })
          }
        >
          {METHODS.map((method) => (
            <option key={method} value={method}>
              {words.methods[method]}
            </option>
          ))}
        </select>
      </div>
      {(draft.method === "exactly" || draft.method === "at_most") && (
        <div class="field">
          <label for={ids[3]}>{words.number}</label>
          <input
            id={ids[3]}
            type="number"
            min={1}
            value={draft.choose}
            onInput={(event) => onChange({ choose: event.currentTarget.valueAsNumber })}
          />
        </div>
      )}
      {props.onRemove && (
        <button type="button" class="quiet" onClick={props.onRemove}>
          {words.removeContest}
        </button>
      )}
    </fieldset>
  );
}
