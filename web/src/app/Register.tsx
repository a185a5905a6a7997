/**
 * Voters to register. Their keys are made once, saved, and kept until the board shows them: where an answer is lost the
 * same voters are sent again with the same keys, and those that the board has are not sent twice.
 */

import { useEffect, useId, useState } from "preact/hooks";
import type { Json } from "../protocol/canonical.ts";
import { visible } from "../protocol/names.ts";
import { publish } from "./api.ts";
import { type Batch, keepBatch, keptBatch } from "./batch.ts";
import { alias, make } from "./credential.ts";
import { save, secretText } from "./files.ts";
import { Letters, lettersTable } from "./Letters.tsx";
import { type Person, type Problem, people, problems } from "./people.ts";
import { registered } from "./roll.ts";
import { Alert, useAct, useShared } from "./state.tsx";
import { work } from "./tasks.ts";
import type { Texts } from "./texts.ts";

/** Voters of one entry. */
const CHUNK = 1000;

/** The file of all credentials, a line a voter, as the command line reads them. */
function credentialsFile({ election, made }: Batch): string {
  const lines = made.map(({ id, secret }) => secretText({ election, kind: "voter", secret, voter: id }));
  return lines.map((line) => `${line}\n`).join("");
}

/**
 * Sends those that the board does not have. Fails, with nothing sent, where it has one of them with another key that is
 * not to be replaced.
 */
async function deliver(batch: Batch, secret: Uint8Array, late: boolean, texts: Texts): Promise<void> {
  const { election, made, replaces } = batch;
  const there = await registered(late);
  const missing = made.filter(({ id, key }) => there.get(id) !== key);
  const taken = missing.filter(({ id }) => there.has(id)).map(({ id }) => id);
  if (taken.length > 0 && !replaces) throw new Error(texts.organise.problems.registered(taken.join(", ")));
  // In the order of the list they would tell whose the aliases are.
  const sent = made.some(({ name }) => name !== undefined)
    ? missing.sort((a, b) => (a.id < b.id ? -1 : 1))
    : missing;
  for (let first = 0; first < sent.length; first += CHUNK) {
    const voters = sent.slice(first, first + CHUNK).map(({ id, key, weight }) => ({ id, key, weight }));
    const keys = voters.map(({ id, key }) => ({ id, key }));
    const body: Json = { election, voters: replaces ? keys : voters };
    await publish(await work.sign([replaces ? "replace" : "voters", body, secret]));
  }
}

function said(found: readonly Problem[], texts: Texts): string {
  const kinds = [...new Set(found.map(({ kind }) => kind))];
  const names = (kind: Problem["kind"]) =>
    found.filter((one) => one.kind === kind).map(({ id }) => visible(id));
  return kinds.map((kind) => texts.organise.problems[kind](names(kind).join(", "))).join(" ");
}

/** Credentials that were made, for as long as they are not handed out, and while there may be more a form for them. */
export function Register(props: {
  secret: Uint8Array;
  more: boolean;
  /** Told whether there are credentials that the board has not confirmed. */
  onUnsure: (unsure: boolean) => void;
}) {
  const { secret, more, onUnsure } = props;
  const { texts, election, overview, refresh } = useShared();
  const words = texts.organise;
  const [id, aliasId, lostId] = [useId(), useId(), useId()];
  const [text, setText] = useState("");
  const [aliases, setAliases] = useState(false);
  const [lost, setLost] = useState("");
  const late = (election?.late ?? false) && overview?.phase === "open";
  const [current, setCurrent] = useState(keptBatch(election?.id));
  const { busy, error, act } = useAct();
  const keep = (next: Batch | undefined) => {
    keepBatch(next);
    setCurrent(next);
  };
  const unsure = current !== undefined && !current.confirmed;
  const unkept = current !== undefined && !current.kept;
  useEffect(() => onUnsure(unsure), [unsure]);
  useEffect(() => {
    if (!unsure && !unkept) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [unsure, unkept]);

  /** The batch as it is now, of which what is drawn may not know yet. */
  const latest = () => keptBatch(election?.id);
  const handOut = () => {
    const one = latest();
    if (one) keep({ ...one, kept: true });
  };
  const forget = () => {
    if (!unkept || confirm(words.unkept)) keep(undefined);
  };
  const send = async (one: Batch) => {
    await deliver(one, secret, late, texts);
    keep({ ...(latest() ?? one), confirmed: true });
    setText("");
    setLost("");
    await refresh();
  };
  const register = () =>
    act(async () => {
      const list = people(text);
      if (list.length === 0) throw new Error(words.noVoters);
      const found = problems(list, (await registered(late)).keys());
      if (found.length > 0) throw new Error(said(found, texts));
      const id = election?.id ?? "";
      const named = (each: Person) => make(id, alias(), each.weight, each.id);
      const plain = (each: Person) => make(id, each.id, each.weight);
      await begin({
        election: id,
        replaces: false,
        made: list.map(aliases ? named : plain),
        confirmed: false,
        kept: false,
      });
    });
  const replace = () =>
    act(async () => {
      const names = lost
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
      if (names.length === 0) throw new Error(words.noVoters);
      const there = await registered(late);
      const unknown = names.filter((name) => !there.has(name));
      if (unknown.length > 0) throw new Error(words.problems.unknown(unknown.map(visible).join(", ")));
      const id = election?.id ?? "";
      const made = [...new Set(names)].map((name) => make(id, name, 1));
      await begin({ election: id, replaces: true, made, confirmed: false, kept: false });
    });
  const begin = async (one: Batch) => {
    // Saved first: a key that is on the board and in no file is a vote lost.
    keep(one);
    save("credentials.jsonl", credentialsFile(one));
    await send(one);
  };

  return (
    <>
      {current && (
        <section class="card has-letters">
          <h3>{words.made(current.made.length)}</h3>
          {unsure && !busy && <Alert>{words.unconfirmed}</Alert>}
          {unsure && (
            <p>
              <button type="button" aria-disabled={busy} onClick={() => busy || act(() => send(current))}>
                {words.sendAgain}
              </button>
            </p>
          )}
          {!unsure && <Alert kind="good">{words.confirmed}</Alert>}
          {!unsure && unkept && <Alert kind="warn">{words.unkept}</Alert>}
          <p class="help">{words.madeHelp}</p>
          <p class="keep">
            <button
              type="button"
              class="second"
              onClick={() => save("credentials.jsonl", credentialsFile(current))}
            >
              {words.saveFile}
            </button>
            <button
              type="button"
              class="second"
              onClick={() => {
                save("codes.csv", lettersTable(current.made));
                handOut();
              }}
            >
              {words.saveCodes}
            </button>
            <Letters made={current.made} onPrinted={handOut} />
          </p>
          {!unsure && (
            <button type="button" class="quiet" onClick={forget}>
              {words.forgetCodes}
            </button>
          )}
        </section>
      )}
      {more && !unsure && (
        <form
          class="card"
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy) register();
          }}
        >
          <h3>{words.voters}</h3>
          <div class="field">
            <label for={id}>{words.list}</label>
            <p class="help" id={`${id}-help`}>
              {words.votersHelp}
            </p>
            <textarea
              id={id}
              rows={6}
              aria-describedby={`${id}-help`}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
          <label class="choice" for={aliasId}>
            <input
              id={aliasId}
              type="checkbox"
              checked={aliases}
              onChange={(event) => setAliases(event.currentTarget.checked)}
            />
            <span>{words.aliases}</span>
          </label>
          <button type="submit" aria-disabled={busy}>
            {words.register}
          </button>
        </form>
      )}
      {more && !unsure && (overview?.voters ?? 0) > 0 && (
        <details class="card">
          <summary>{words.lost}</summary>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (!busy) replace();
            }}
          >
            <div class="field">
              <label for={lostId}>{words.lostList}</label>
              <p class="help" id={`${lostId}-help`}>
                {words.lostHelp}
              </p>
              <textarea
                id={lostId}
                rows={3}
                aria-describedby={`${lostId}-help`}
                value={lost}
                onInput={(event) => setLost(event.currentTarget.value)}
              />
            </div>
            <button type="submit" class="second" aria-disabled={busy}>
              {words.replace}
            </button>
          </form>
        </details>
      )}
      <Alert>{error}</Alert>
    </>
  );
}
