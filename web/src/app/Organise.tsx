/** The organiser's page: each step of an election, of which the board takes only the one that comes next. */

import * as base64 from "hearith/base64.ts";
import { equal } from "hearith/bytes.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { publicKey } from "../protocol/signature.ts";
import { publish, RECORD } from "./api.ts";
import { readSecret, type Secret, save, secretText } from "./files.ts";
import { options } from "./memory.ts";
import { Register } from "./Register.tsx";
import { sharesReceived } from "./roll.ts";
import { Setup } from "./Setup.tsx";
import { Alert, explained, FileInput, Progress, Title, useAct, useShared, When } from "./state.tsx";
import { work } from "./tasks.ts";
import type { Signed } from "./worker.ts";

export function Organise(_: { rest: string }) {
  const { texts, election, overview } = useShared();
  const [key, setKey] = useState<Secret>();
  const [error, setError] = useState<string>();
  const [unsure, setUnsure] = useState(false);
  const use = (secret: Secret) => {
    const { organiser, registrar } = election ?? {};
    const known = secret.kind === "registrar" ? registrar : organiser;
    const right = !election || (known !== undefined && equal(publicKey(secret.secret), known));
    setError(right ? undefined : texts.otherElection);
    if (right) setKey(secret);
  };
  const read = (text: string) => {
    try {
      use(readSecret(text, "organiser", "registrar"));
    } catch (reason) {
      setError(`${texts.wrongFile}${texts.colon} ${explained(reason, texts)}`);
    }
  };
  const make = (kind: "organiser" | "registrar") => {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const made: Secret = { election: null, kind, secret, voter: null };
    save(`${kind}.json`, secretText(made));
    use(made);
  };
  /** Whose key lists voters. */
  const lists = election?.registrar === undefined ? "organiser" : "registrar";
  const phase = overview?.phase;
  const more = phase === "preparing" || (phase === "open" && election?.late === true);
  return (
    <>
      <Title>{texts.organise.title}</Title>
      {!key && (
        <section class="card">
          <FileInput label={texts.organise.key} help={texts.organise.keyHelp} onText={read} />
          {!election && (
            <p class="acts">
              <button type="button" class="second" onClick={() => make("organiser")}>
                {texts.organise.newKey}
              </button>
              <button type="button" class="quiet" onClick={() => make("registrar")}>
                {texts.organise.newRegistrar}
              </button>
            </p>
          )}
        </section>
      )}
      <Alert>{error}</Alert>
      {key?.kind === "organiser" && overview && !election && (
        <Setup board={overview.board} secret={key.secret} />
      )}
      {key?.kind === "registrar" && !election && (
        <section class="card">
          <p>
            {texts.organise.registrarPublic}
            {texts.colon} <code class="hash">{base64.encode(publicKey(key.secret))}</code>
          </p>
        </section>
      )}
      {key && election && key.kind === lists && (
        <Register secret={key.secret} more={more} onUnsure={setUnsure} />
      )}
      {key?.kind === "organiser" && election && <Acts secret={key.secret} unsure={unsure} />}
      {key && (
        <button type="button" class="quiet" onClick={() => setKey(undefined)}>
          {texts.forgetKey}
        </button>
      )}
    </>
  );
}

/** What can be done at this point of the election; it is not opened while voters are not known to be registered. */
function Acts({ secret, unsure }: { secret: Uint8Array; unsure: boolean }) {
  const { texts, overview, election } = useShared();
  const words = texts.organise;
  const body = { election: election?.id ?? "" };
  switch (overview?.phase) {
    case "preparing":
      return (
        <>
          <p>{words.registered(overview.voters)}</p>
          {election?.registrar && <p class="help">{words.byRegistrar}</p>}
          {election?.opens !== undefined && (
            <p>
              <When said={words.opensItself} date={election.opens} />
            </p>
          )}
          {election?.opens === undefined && (
            <Act
              title={words.open}
              help={election?.late ? words.openLateHelp : words.openHelp}
              sure={words.confirm}
              missing={unsure ? words.confirmFirst : overview.voters === 0 ? words.nobody : undefined}
              make={() => work.sign(["open", body, secret])}
            />
          )}
        </>
      );
    case "open":
      if (election?.closes !== undefined) {
        return (
          <p>
            <When said={words.closesItself} date={election.closes} />
          </p>
        );
      }
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
          make={(report) => work.tally([RECORD, options(body.election), secret], report)}
        />
      );
    case "tallied":
      return election?.trustees ? (
        <Shares needed={election.trustees.needed} all={election.trustees.keys.length} secret={secret} />
      ) : (
        <p>{words.oneHolder}</p>
      );
    default:
      return <Alert kind="good">{words.done}</Alert>;
  }
}

/** The shares that have come, and the result as soon as they are enough. */
function Shares({ needed, all, secret }: { needed: number; all: number; secret: Uint8Array }) {
  const { texts, overview, election, refresh } = useShared();
  const words = texts.organise;
  const [received, setReceived] = useState<ReadonlySet<number>>();
  const { busy, error, act } = useAct();
  const size = overview?.size ?? 0;
  useEffect(() => act(async () => setReceived(await sharesReceived(size))), [size]);
  const count = received?.size ?? 0;
  const id = election?.id ?? "";
  return (
    <>
      <section class="card">
        <h3>{words.shares}</h3>
        <p>{words.sharesHelp(needed, all)}</p>
        {received && (
          <p role="status">
            <strong>{words.received(count, needed)}</strong>
            {count > 0 && ` ${words.from([...received].sort((a, b) => a - b).join(", "))}`}
          </p>
        )}
        <button type="button" class="second" aria-disabled={busy} onClick={() => act(refresh)}>
          {words.look}
        </button>
        <Alert>{error}</Alert>
      </section>
      <Act
        title={words.result}
        help={words.resultHelp}
        missing={count < needed ? words.tooFew(needed - count) : undefined}
        make={(report) => work.result([RECORD, options(id), secret], report)}
      />
    </>
  );
}

/** One entry to publish, after a second thought where there is no way back. */
function Act(props: {
  title: string;
  help: string;
  sure?: string;
  /** Why it cannot be done yet. */
  missing?: string | undefined;
  make: (report: (done: number, all: number) => void) => Promise<Signed>;
  children?: ComponentChildren;
}) {
  const { texts, refresh } = useShared();
  const id = useId();
  const [sure, setSure] = useState(props.sure === undefined);
  const [early, setEarly] = useState(false);
  const { busy, error, progress, setProgress, act } = useAct();
  const missing = props.missing ?? (sure ? undefined : texts.organise.sureFirst);
  const run = () => {
    setEarly(missing !== undefined);
    if (busy || missing !== undefined) return;
    act(async () => {
      await publish(await props.make(setProgress));
      await refresh();
    });
  };
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
      <button type="button" aria-disabled={busy || props.missing !== undefined} onClick={run}>
        {props.title}
      </button>
      {props.missing !== undefined && <p class="help">{props.missing}</p>}
      <Alert>{early && missing}</Alert>
      {busy && <Progress label={texts.trustee.working} progress={progress} />}
      <Alert>{error}</Alert>
    </section>
  );
}
