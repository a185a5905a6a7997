/** The organiser's page: each step of an election, of which the board takes only the one that comes next. */

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import * as base64 from "../protocol/base64.ts";
import { equal } from "../protocol/bytes.ts";
import type { Json } from "../protocol/canonical.ts";
import { publicKey } from "../protocol/signature.ts";
import { publish, RECORD } from "./api.ts";
import { readSecret, type Secret, save, secretText } from "./files.ts";
import { options } from "./memory.ts";
import { Setup } from "./Setup.tsx";
import { Alert, FileInput, Progress, Title, useAct, useShared } from "./state.tsx";
import { work } from "./tasks.ts";
import type { Signed } from "./worker.ts";

/** Voters of one entry. */
const CHUNK = 1000;

export function Organise(_: { rest: string }) {
  const { texts, election, overview } = useShared();
  const [key, setKey] = useState<Secret>();
  const [error, setError] = useState<string>();
  const use = (secret: Secret) => {
    const right = !election || equal(publicKey(secret.secret), election.organiser);
    setError(right ? undefined : texts.otherElection);
    if (right) setKey(secret);
  };
  const read = (text: string) => {
    try {
      use(readSecret(text, "organiser"));
    } catch (reason) {
      setError(`${texts.wrongFile}: ${reason instanceof Error ? reason.message : reason}`);
    }
  };
  const make = () => {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const made: Secret = { election: null, kind: "organiser", secret, voter: null };
    save("organiser.json", secretText(made));
    use(made);
  };
  return (
    <>
      <Title>{texts.organise.title}</Title>
      {!key && (
        <section class="card">
          <FileInput label={texts.organise.key} help={texts.organise.keyHelp} onText={read} />
          {!election && (
            <button type="button" class="second" onClick={make}>
              {texts.organise.newKey}
            </button>
          )}
        </section>
      )}
      <Alert>{error}</Alert>
      {key && overview && !election && <Setup board={overview.board} secret={key.secret} />}
      {key && election && <Acts secret={key.secret} />}
      {key && (
        <button type="button" class="quiet" onClick={() => setKey(undefined)}>
          {texts.forgetKey}
        </button>
      )}
    </>
  );
}

/** What can be done at this point of the election. */
function Acts({ secret }: { secret: Uint8Array }) {
  const { texts, overview, election } = useShared();
  const words = texts.organise;
  const body = { election: election?.id ?? "" };
  switch (overview?.phase) {
    case "preparing":
      return (
        <>
          <p>{words.registered(overview.voters)}</p>
          <Register secret={secret} />
          <Act
            title={words.open}
            help={words.openHelp}
            sure={words.confirm}
            make={() => work.sign(["open", body, secret])}
          />
        </>
      );
    case "open":
      return (
        <Act
          title={words.close}
          help={words.closeHelp}
          sure={words.confirm}
          make={() => work.sign(["close", body, secret])}
        />
      );
    case "closed":
      return (
        <Act
          title={words.tally}
          help={words.tallyHelp}
          make={(told) => work.tally([RECORD, options(body.election), secret], told)}
        />
      );
    case "tallied":
      return election?.trustees ? (
        <>
          <section class="card">
            <h3>{words.shares}</h3>
            <p>{words.sharesHelp(election.trustees.needed, election.trustees.keys.length)}</p>
          </section>
          <Act
            title={words.result}
            help={words.resultHelp}
            make={(told) => work.result([RECORD, options(body.election), secret], told)}
          />
        </>
      ) : (
        <p>{words.oneHolder}</p>
      );
    default:
      return <Alert kind="good">{words.done}</Alert>;
  }
}

/** One entry to publish, after a second thought where there is no way back. */
function Act(props: {
  title: string;
  help: string;
  sure?: string;
  make: (told: (done: number, all: number) => void) => Promise<Signed>;
  children?: ComponentChildren;
}) {
  const { texts, refresh } = useShared();
  const id = useId();
  const [sure, setSure] = useState(props.sure === undefined);
  const { busy, error, progress, setProgress, act } = useAct();
  const run = () =>
    act(async () => {
      await publish(await props.make(setProgress));
      await refresh();
    });
  return (
    <section class="card">
      <h3>{props.title}</h3>
      <p class="help">{props.help}</p>
      {props.sure !== undefined && (
        <label class="choice" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={sure}
            onChange={(event) => setSure(event.currentTarget.checked)}
          />
          <span>{props.sure}</span>
        </label>
      )}
      <button type="button" disabled={busy || !sure} onClick={run}>
        {props.title}
      </button>
      {busy && <Progress label={texts.trustee.working} progress={progress} />}
      <Alert>{error}</Alert>
    </section>
  );
}

interface Person {
  readonly id: string;
  readonly weight: number;
}

/** Names and weights, one a line. */
function people(text: string): Person[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const [, id = line, weight = "1"] = /^(.*?)\s*,\s*(\d+)$/.exec(line) ?? [];
      return { id, weight: Number(weight) };
    });
}

/** Makes keys for voters: the board gets the public halves, the organiser a file with the others. */
function Register({ secret }: { secret: Uint8Array }) {
  const { texts, election, refresh } = useShared();
  const id = useId();
  const [text, setText] = useState("");
  const { busy, error, act } = useAct();
  const register = () =>
    act(async () => {
      const made = people(text).map((person) => ({
        ...person,
        secret: crypto.getRandomValues(new Uint8Array(32)),
      }));
      // Saved first: a key that is on the board and in no file is a vote lost.
      const lines = made.map(({ id, secret }) =>
        secretText({ election: election?.id ?? null, kind: "voter", secret, voter: id }),
      );
      save("credentials.jsonl", lines.map((line) => `${line}\n`).join(""));
      for (let first = 0; first < made.length; first += CHUNK) {
        const voters = made
          .slice(first, first + CHUNK)
          .map(({ id, weight, secret }) => ({ id, key: base64.encode(publicKey(secret)), weight }));
        const body: Json = { election: election?.id ?? "", voters };
        await publish(await work.sign(["voters", body, secret]));
      }
      setText("");
      await refresh();
    });
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        register();
      }}
    >
      <h3>{texts.organise.voters}</h3>
      <div class="field">
        <label for={id}>{texts.organise.list}</label>
        <p class="help" id={`${id}-help`}>
          {texts.organise.votersHelp}
        </p>
        <textarea
          id={id}
          rows={6}
          aria-describedby={`${id}-help`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <button type="submit" disabled={busy || people(text).length === 0}>
        {texts.organise.register}
      </button>
      <Alert>{error}</Alert>
    </form>
  );
}
