/**
 * The voter's page. A ballot is chosen, encrypted, and then either cast or challenged: two acts that look different,
 * are said in different words, and until one of them is done the page says that nothing has been cast.
 */

import { useEffect, useState } from "preact/hooks";
import { canonical } from "../protocol/canonical.ts";
import { type Contest, candidatesOf, limits } from "../protocol/contest.ts";
import { confirms, type Receipt } from "../protocol/receipt.ts";
import { grouped } from "../protocol/tracker.ts";
import { cast, challenge, INSECURE, Refused, tracked } from "./api.ts";
import { readSecret, type Secret, save } from "./files.ts";
import { rememberLeaf, rememberTracker } from "./memory.ts";
import { Qr } from "./Qr.tsx";
import { Alert, Chosen, explained, FileInput, Title, useAct, useShared } from "./state.tsx";
import { timed, work } from "./tasks.ts";
import type { Signed } from "./worker.ts";

type Choices = readonly ReadonlySet<number>[];

type Step =
  | { readonly name: "choose" }
  | { readonly name: "encrypted"; readonly tracker: string }
  | { readonly name: "sent"; readonly tracker: string; readonly signed: Signed; readonly values?: number[][] }
  | { readonly name: "refused"; readonly reason: string }
  | { readonly name: "cast"; readonly tracker: string; readonly receipt: Receipt; readonly holds: boolean }
  | {
      readonly name: "shown";
      readonly tracker: string;
      readonly values: number[][];
      readonly holds: boolean;
    };

export function Vote() {
  const { texts, election, overview } = useShared();
  const [credential, setCredential] = useState<Secret>();
  if (!election) return <Nothing />;
  return (
    <>
      <Title>{texts.vote.title}</Title>
      {overview?.phase !== "open" && <p>{texts.vote.notOpen}</p>}
      {overview?.phase === "open" && !credential && <Credential onSecret={setCredential} />}
      {overview?.phase === "open" && credential && (
        <Booth credential={credential} onLeave={() => setCredential(undefined)} />
      )}
    </>
  );
}

function Nothing() {
  const { texts } = useShared();
  return (
    <>
      <Title>{texts.vote.title}</Title>
      <p>{texts.noElection}</p>
    </>
  );
}

function Credential({ onSecret }: { onSecret: (secret: Secret) => void }) {
  const { texts, election } = useShared();
  const [error, setError] = useState<string>();
  const read = (text: string) => {
    try {
      const secret = readSecret(text, "voter");
      if (secret.election !== election?.id) throw new Error(texts.otherElection);
      onSecret(secret);
    } catch (reason) {
      setError(`${texts.wrongFile}: ${reason instanceof Error ? reason.message : reason}`);
    }
  };
  return (
    <section class="card">
      <FileInput label={texts.vote.credential} help={texts.vote.credentialHelp} onText={read} />
      <Alert>{error}</Alert>
    </section>
  );
}

/** From the choice to what was done with it. */
function Booth({ credential, onLeave }: { credential: Secret; onLeave: () => void }) {
  const { texts, election, overview, setPending } = useShared();
  const contests = election?.contests ?? [];
  const [choices, setChoices] = useState<Choices>(() => contests.map(() => new Set<number>()));
  const [step, setStep] = useState<Step>({ name: "choose" });
  const { busy, error, act } = useAct();
  const voter = credential.voter ?? "";

  useEffect(() => {
    if (election)
      timed("prepare", work.prepare([election.id, overview?.manifest ?? null, INSECURE])).catch(() => {});
    return () => {
      work.forget([]);
    };
  }, []);
  useEffect(() => {
    if (step.name !== "encrypted" && step.name !== "sent") return undefined;
    setPending(true);
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => {
      setPending(false);
      removeEventListener("beforeunload", warn);
    };
  }, [step.name]);
  if (!election) return null;

  const anew = () => {
    setChoices(contests.map(() => new Set<number>()));
    setStep({ name: "choose" });
  };
  const encrypt = () =>
    act(async () => {
      await work.prepare([election.id, overview?.manifest ?? null, INSECURE]);
      const { tracker, milliseconds } = await work.encrypt([election.id, voter, choices]);
      performance.measure("hearith-encrypt", {
        start: performance.now() - milliseconds,
        duration: milliseconds,
      });
      setStep({ name: "encrypted", tracker });
    });
  // From here on the ballot's openings are gone, or will be seen by all: it can be sent again, and nothing else.
  const decide = (tracker: string, act: "cast" | "challenge") => async () => {
    const { values, ...signed } = { values: undefined, ...(await work[act]([credential.secret])) };
    const sent = { name: "sent", tracker, signed, ...(values ? { values } : {}) } as const;
    setStep(sent);
    await send(sent);
  };
  const send = (sent: Extract<Step, { name: "sent" }>) =>
    deliver(sent).catch((error) => {
      if (!(error instanceof Refused && error.definite)) throw error;
      setStep({ name: "refused", reason: explained(error, texts) });
    });
  const deliver = async ({ tracker, signed, values }: Extract<Step, { name: "sent" }>) => {
    const receipt = await (values ? challenge : cast)(signed);
    rememberTracker(election.id, tracker);
    // A receipt for something else is as good as none: the board has to show what was sent.
    const shown = await tracked(tracker).catch(() => undefined);
    const holds = confirms(election, receipt, shown?.entry ?? null, signed);
    if (holds) rememberLeaf(election.id, receipt.hash, receipt.index);
    setStep(values ? { name: "shown", tracker, values, holds } : { name: "cast", tracker, receipt, holds });
  };

  return (
    <>
      <p class="who">
        {texts.vote.as} <strong>{voter}</strong>.{" "}
        <button type="button" class="quiet" onClick={onLeave}>
          {texts.forgetKey}
        </button>
      </p>
      <Steps step={step} />
      {step.name === "choose" && (
        <Choose contests={contests} choices={choices} onChoices={setChoices} busy={busy} onDone={encrypt} />
      )}
      {step.name === "encrypted" && (
        <Decide
          tracker={step.tracker}
          busy={busy}
          onCast={() => act(decide(step.tracker, "cast"))}
          onChallenge={() => act(decide(step.tracker, "challenge"))}
          onBack={() => {
            work.forget([]);
            setStep({ name: "choose" });
          }}
        />
      )}
      {step.name === "sent" && (
        <Sent
          challenged={step.values !== undefined}
          tracker={step.tracker}
          busy={busy}
          onRetry={() => act(() => send(step))}
          onAgain={anew}
        />
      )}
      {step.name === "refused" && <RefusedStep reason={step.reason} onAgain={anew} />}
      {step.name === "cast" && <Cast {...step} onAgain={election.revoting ? anew : undefined} />}
      {step.name === "shown" && <Shown {...step} contests={contests} onAgain={anew} />}
      <Alert>{error}</Alert>
    </>
  );
}

function Steps({ step }: { step: Step }) {
  const { texts } = useShared();
  const at = { choose: 0, encrypted: 2, sent: 2, refused: 2, cast: 3, shown: 3 }[step.name];
  return (
    <ol class="steps">
      {texts.vote.steps.map((name, index) => (
        <li key={name} class={index < at ? "past" : ""} aria-current={index === at ? "step" : undefined}>
          {name}
        </li>
      ))}
    </ol>
  );
}

function Choose(props: {
  contests: readonly Contest[];
  choices: Choices;
  onChoices: (choices: Choices) => void;
  busy: boolean;
  onDone: () => void;
}) {
  const { texts } = useShared();
  const { contests, choices, onChoices } = props;
  const complete = contests.every((contest, at) => {
    const { least, most } = limits(contest);
    const count = choices[at]?.size ?? 0;
    return count >= least && count <= most;
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (complete && !props.busy) props.onDone();
      }}
    >
      {contests.map((contest, at) => (
        <Question
          key={contest.title}
          contest={contest}
          name={`contest-${at}`}
          chosen={choices[at] ?? new Set()}
          onChosen={(chosen) => onChoices(choices.map((one, other) => (other === at ? chosen : one)))}
        />
      ))}
      <p class="help">{texts.vote.encryptHelp}</p>
      <button type="submit" disabled={!complete || props.busy}>
        {props.busy ? texts.vote.encrypting : texts.vote.encrypt}
      </button>
    </form>
  );
}

function Question(props: {
  contest: Contest;
  name: string;
  chosen: ReadonlySet<number>;
  onChosen: (chosen: ReadonlySet<number>) => void;
}) {
  const { texts } = useShared();
  const { contest, name, chosen, onChosen } = props;
  const { least, most } = limits(contest);
  const single = least === 1 && most === 1;
  const { method } = contest;
  const rule = single
    ? texts.vote.one
    : "choose" in method
      ? texts.vote[method.kind === "exactly" ? "exactly" : "atMost"](method.choose)
      : texts.vote.approval;
  const change = (candidate: number, on: boolean) => {
    if (single) return onChosen(new Set([candidate]));
    const changed = new Set(chosen);
    if (on) changed.add(candidate);
    else changed.delete(candidate);
    onChosen(changed);
  };
  return (
    <fieldset class="card">
      <legend>{contest.title}</legend>
      <p class="help">
        {rule} {!single && <output>{texts.vote.chosen(chosen.size, most)}</output>}
      </p>
      {contest.candidates.map((candidate, at) => {
        const on = chosen.has(at);
        return (
          <label key={candidate} class="choice">
            <input
              type={single ? "radio" : "checkbox"}
              name={name}
              checked={on}
              disabled={!single && !on && chosen.size >= most}
              onChange={(event) => change(at, event.currentTarget.checked)}
            />
            <span>{candidate}</span>
          </label>
        );
      })}
    </fieldset>
  );
}

function Tracker({ tracker }: { tracker: string }) {
  const { texts } = useShared();
  return (
    <div class="tracker">
      <div>
        <h3>{texts.vote.tracker}</h3>
        <p>
          <code data-testid="tracker">{grouped(tracker)}</code>
        </p>
      </div>
      <Qr text={tracker} label={texts.vote.qr} />
    </div>
  );
}

function Decide(props: {
  tracker: string;
  busy: boolean;
  onCast: () => void;
  onChallenge: () => void;
  onBack: () => void;
}) {
  const { texts, election } = useShared();
  const [noted, setNoted] = useState(false);
  const blocked = !noted || props.busy;
  return (
    <>
      <div class="banner" role="alert">
        <Title>{texts.vote.notCast}</Title>
        <p>{texts.vote.notCastHelp}</p>
      </div>
      <section class="card">
        <Tracker tracker={props.tracker} />
        <p class="help">{texts.vote.trackerHelp}</p>
        <label class="choice">
          <input
            type="checkbox"
            checked={noted}
            onChange={(event) => setNoted(event.currentTarget.checked)}
          />
          <span>{texts.vote.noted}</span>
        </label>
      </section>
      <div class="acts">
        <section class="card cast">
          <h3>{texts.vote.castTitle}</h3>
          <p>{texts.vote.castHelp}</p>
          <p>{election?.revoting ? texts.vote.castRevoting : texts.vote.castOnce}</p>
          <button type="button" disabled={blocked} onClick={props.onCast}>
            {texts.vote.cast}
          </button>
        </section>
        <section class="card challenge">
          <h3>{texts.vote.challengeTitle}</h3>
          <p>{texts.vote.challengeHelp}</p>
          <button type="button" class="second" disabled={blocked} onClick={props.onChallenge}>
            {texts.vote.challenge}
          </button>
        </section>
      </div>
      <p>
        <button type="button" class="quiet" disabled={props.busy} onClick={props.onBack}>
          {texts.vote.back}
        </button>
      </p>
    </>
  );
}

/** While a ballot is on its way, and when it is not known whether it arrived. */
function Sent(props: {
  challenged: boolean;
  tracker: string;
  busy: boolean;
  onRetry: () => void;
  onAgain: () => void;
}) {
  const { texts } = useShared();
  if (props.busy)
    return <p role="status">{props.challenged ? texts.vote.challenging : texts.vote.casting}</p>;
  return (
    <>
      <div class="banner" role="alert">
        <Title>{texts.vote.unsure}</Title>
      </div>
      <section class="card">
        <Tracker tracker={props.tracker} />
        <p class="acts">
          <button type="button" onClick={props.onRetry}>
            {texts.vote.retry}
          </button>
          <button type="button" class="quiet" onClick={props.onAgain}>
            {texts.vote.back}
          </button>
        </p>
      </section>
    </>
  );
}

/** When the server has said no: nothing was cast. */
function RefusedStep({ reason, onAgain }: { reason: string; onAgain: () => void }) {
  const { texts } = useShared();
  return (
    <>
      <div class="banner" role="alert">
        <Title>{texts.vote.refused}</Title>
        <p>{reason}</p>
      </div>
      <button type="button" class="second" onClick={onAgain}>
        {texts.vote.next}
      </button>
    </>
  );
}

function Cast(props: {
  tracker: string;
  receipt: Receipt;
  holds: boolean;
  onAgain: (() => void) | undefined;
}) {
  const { texts } = useShared();
  const { tracker, receipt, holds } = props;
  return (
    <>
      {holds ? (
        <div class="banner good" role="status">
          <Title>{texts.vote.done}</Title>
          <p>{texts.vote.doneHelp(receipt.index)}</p>
        </div>
      ) : (
        <Alert>{texts.vote.badReceipt}</Alert>
      )}
      <section class="card">
        <Tracker tracker={tracker} />
        <p>
          <a href={`#/board/${tracker}`}>{texts.vote.find}</a>
        </p>
        <button
          type="button"
          class="second"
          onClick={() => save(`receipt-${receipt.index}.json`, canonical({ ...receipt }))}
        >
          {texts.vote.saveReceipt}
        </button>
      </section>
      {props.onAgain && (
        <button type="button" class="quiet" onClick={props.onAgain}>
          {texts.vote.again}
        </button>
      )}
    </>
  );
}

function Shown(props: {
  tracker: string;
  values: number[][];
  holds: boolean;
  contests: readonly Contest[];
  onAgain: () => void;
}) {
  const { texts } = useShared();
  const chosen = props.contests.map((contest, at) => candidatesOf(contest, props.values[at] ?? []));
  return (
    <>
      <Alert>{!props.holds && texts.vote.badReceipt}</Alert>
      <div class="banner" role="alert">
        <Title>{texts.vote.shown}</Title>
        <p>{texts.vote.shownHelp}</p>
      </div>
      <section class="card">
        <h3>{texts.vote.contents}</h3>
        <Chosen contests={props.contests} chosen={chosen} />
        <Tracker tracker={props.tracker} />
        <p>
          <a href={`#/board/${props.tracker}`}>{texts.vote.find}</a>
        </p>
      </section>
      <button type="button" onClick={props.onAgain}>
        {texts.vote.next}
      </button>
    </>
  );
}
