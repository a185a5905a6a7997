/**
 * The voter's page. A ballot is chosen, encrypted, and then either cast or challenged: two acts that look different,
 * are said in different words, and until one of them is done the page says that nothing has been cast.
 */

import * as base64 from "hearith/base64.ts";
import { Fragment } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { canonical } from "../protocol/canonical.ts";
import { shownCode, typedCode } from "../protocol/checked.ts";
import { blankOf, type Contest, candidatesOf, fits, limits } from "../protocol/contest.ts";
import { confirms, type Receipt } from "../protocol/receipt.ts";
import { publicKey } from "../protocol/signature.ts";
import type { Phase } from "../protocol/state.ts";
import { boardUrl, cast, challenge, INSECURE, Refused, type Standing, standing, tracked } from "./api.ts";
import { secretOf, seedOf } from "./credential.ts";
import { readSecret, type Secret, save } from "./files.ts";
import { Keep } from "./Keep.tsx";
import { rememberLeaf, rememberTracker } from "./memory.ts";
import { Qr } from "./Qr.tsx";
import { registered } from "./roll.ts";
import { shuffled } from "./shuffled.ts";
import {
  About,
  Alert,
  Chosen,
  explained,
  FileInput,
  mistyped,
  Title,
  useAct,
  useShared,
  When,
} from "./state.tsx";
import { timed, work } from "./tasks.ts";
import type { Texts } from "./texts.ts";
import type { Signed } from "./worker.ts";

type Choices = readonly ReadonlySet<number>[];

type Step =
  | { readonly name: "choose" }
  | { readonly name: "encrypted"; readonly tracker: string }
  | { readonly name: "sent"; readonly tracker: string; readonly signed: Signed; readonly values?: number[][] }
  | { readonly name: "refused"; readonly reason: string; readonly closed: boolean }
  | { readonly name: "cast"; readonly tracker: string; readonly receipt: Receipt; readonly holds: boolean }
  | {
      readonly name: "shown";
      readonly tracker: string;
      readonly values: number[][];
      readonly holds: boolean;
    };

export function Vote({ code }: { code: string }) {
  const { texts, election, overview } = useShared();
  const [credential, setCredential] = useState<Secret>();
  const [linked, setLinked] = useState("");
  useEffect(() => {
    if (code === "") return;
    // A link's code is a key: it stays neither in the address nor in what the back button finds.
    history.replaceState(null, "", "#/vote");
    setLinked(code);
  }, [code]);
  const leave = () => {
    setLinked("");
    setCredential(undefined);
  };
  if (!election || !overview) return <NoElection />;
  if (overview.phase !== "open") return <NotOpen phase={overview.phase} />;
  return (
    <>
      <Title>{texts.vote.title}</Title>
      {election.closes !== undefined && (
        <p>
          <When said={texts.vote.closesAt} date={election.closes} />
        </p>
      )}
      <About text={election.about} />
      {!credential && <Credential key={linked} linked={linked} onSecret={setCredential} />}
      {credential && <Admission credential={credential} onLeave={leave} />}
    </>
  );
}

/** Before and after: when ballots are taken, or where the result is. */
function NotOpen({ phase }: { phase: Phase }) {
  const { texts, election } = useShared();
  if (phase === "preparing") {
    return (
      <>
        <Title>{texts.vote.title}</Title>
        <p>
          {election?.opens === undefined ? (
            texts.vote.notOpenYet
          ) : (
            <When said={texts.vote.opensAt} date={election.opens} />
          )}
        </p>
        <About text={election?.about} />
      </>
    );
  }
  return (
    <>
      <Title>{texts.vote.closed}</Title>
      <p>
        {phase === "finished" ? texts.vote.resultThere : texts.vote.resultLater}{" "}
        <a href="#/result">{texts.vote.toResult}</a>
      </p>
    </>
  );
}

/** Says at once to somebody who has voted that this was done; everybody else chooses. */
function Admission({ credential, onLeave }: { credential: Secret; onLeave: () => void }) {
  const { texts, election } = useShared();
  const [found, setFound] = useState<Standing>();
  const voter = credential.voter ?? "";
  useEffect(() => {
    // If the server does not say, it will when the ballot is sent.
    standing(voter).then(setFound, () => setFound("unknown"));
  }, [voter]);
  return (
    <>
      <p class="who">
        {texts.vote.as}{" "}
        <strong>
          <bdi>{voter}</bdi>
        </strong>
        .{" "}
        <button type="button" class="quiet" onClick={onLeave}>
          {texts.forgetKey}
        </button>
      </p>
      {found === undefined && <p role="status">{texts.vote.looking}</p>}
      {found === "stranger" && <Alert>{texts.vote.stranger}</Alert>}
      {found === "voted" && !election?.revoting && (
        <div class="banner" role="alert">
          <Title>{texts.vote.voted}</Title>
          <p>{texts.vote.votedOnce}</p>
          <p>
            <a href="#/board">{texts.vote.toBoard}</a>
          </p>
        </div>
      )}
      {found === "voted" && election?.revoting && <Alert kind="warn">{texts.vote.votedBefore}</Alert>}
      {(found === "new" || found === "unknown" || (found === "voted" && election?.revoting)) && (
        <VotingFlow credential={credential} />
      )}
    </>
  );
}

function NoElection() {
  const { texts } = useShared();
  return (
    <>
      <Title>{texts.vote.title}</Title>
      <p>{texts.noElection}</p>
    </>
  );
}

/** Asks for the voter's key: as a code, which a link may have brought, or as a file. */
function Credential(props: { linked: string; onSecret: (secret: Secret) => void }) {
  const { texts, election } = useShared();
  const { linked, onSecret } = props;
  const id = useId();
  const [text, setText] = useState(linked);
  const [error, setError] = useState<string>();
  const { busy, error: failed, act } = useAct();
  const use = (text: string) =>
    act(async () => {
      setError(undefined);
      const typed = typedCode(text, "credential");
      if ("wrong" in typed) throw new Error(mistyped(typed, texts));
      const secret = secretOf(election?.id ?? "", seedOf(typed.code));
      const key = base64.encode(publicKey(secret));
      // The code itself says of which voter it is to nobody: the list is read, and the key looked for in it.
      const found = [...(await registered(election?.late ?? false))].find(([, other]) => other === key);
      if (!found) throw new Error(texts.vote.codeUnknown);
      onSecret({ election: election?.id ?? null, kind: "voter", secret, voter: found[0] });
    });
  useEffect(() => {
    if (linked !== "") use(linked);
  }, []);
  const read = (text: string) => {
    try {
      const secret = readSecret(text, "voter");
      if (secret.election !== election?.id) throw new Error(texts.otherElection);
      onSecret(secret);
    } catch (reason) {
      setError(`${texts.wrongFile}${texts.colon} ${explained(reason, texts)}`);
    }
  };
  return (
    <>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) use(text);
        }}
      >
        <div class="field">
          <label for={id}>{texts.vote.code}</label>
          <p class="help" id={`${id}-help`}>
            {texts.vote.codeHelp}
          </p>
          <input
            id={id}
            class="code"
            value={text}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="none"
            placeholder="xxxx xxxx xxxx xxxx xxxx xxxx xxxx"
            aria-describedby={`${id}-help`}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" aria-disabled={busy}>
          {busy ? texts.loading : texts.vote.useCode}
        </button>
        <Alert>{failed}</Alert>
      </form>
      <section class="card">
        <FileInput label={texts.vote.credential} help={texts.vote.credentialHelp} onText={read} />
        <Alert>{error}</Alert>
      </section>
    </>
  );
}

/** From the choice to what was done with it. */
function VotingFlow({ credential }: { credential: Secret }) {
  const { texts, election, overview, setPending } = useShared();
  const contests = election?.contests ?? [];
  // The same order as long as this ballot is being made, also after a change of mind.
  const [orders] = useState(() => contests.map(shuffled));
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
      const closed = error.code === "phase";
      setStep({ name: "refused", closed, reason: closed ? texts.vote.closed : explained(error, texts) });
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
      <Steps step={step} />
      {step.name === "choose" && (
        <Choose
          contests={contests}
          orders={orders}
          choices={choices}
          onChoices={setChoices}
          busy={busy}
          onDone={encrypt}
        />
      )}
      {step.name === "encrypted" && (
        <Decide
          tracker={step.tracker}
          contests={contests}
          choices={choices}
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
        <Submitting
          challenged={step.values !== undefined}
          tracker={step.tracker}
          busy={busy}
          onRetry={() => act(() => send(step))}
          onAgain={anew}
        />
      )}
      {step.name === "refused" && <RefusedStep {...step} onAgain={anew} />}
      {step.name === "cast" && <Cast {...step} onAgain={election.revoting ? anew : undefined} />}
      {step.name === "shown" && <ChallengeResult {...step} contests={contests} onAgain={anew} />}
      <Alert>{error}</Alert>
    </>
  );
}

function Steps({ step }: { step: Step }) {
  const { texts } = useShared();
  const at = { choose: 0, encrypted: 1, sent: 2, refused: 2, cast: 3, shown: 3 }[step.name];
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
  orders: readonly (readonly number[])[];
  choices: Choices;
  onChoices: (choices: Choices) => void;
  busy: boolean;
  onDone: () => void;
}) {
  const { texts } = useShared();
  const { contests, choices, onChoices } = props;
  const [asked, setAsked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const wrong = contests.map((contest, at) => missing(contest, choices[at] ?? new Set(), texts));
  const submit = () => {
    if (props.busy) return;
    const at = wrong.findIndex((one) => one !== undefined);
    if (at < 0) return props.onDone();
    setAsked(true);
    // Of ranks the first one that has nobody, or somebody who has another.
    const field = (more = "") => form.current?.querySelector<HTMLElement>(`[name="contest-${at}"]${more}`);
    (field("[data-open]") ?? field())?.focus();
  };
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {contests.map((contest, at) => {
        const Part = contest.method.kind === "rank" ? Ranking : Question;
        return (
          <Part
            key={contest.title}
            contest={contest}
            order={props.orders[at] ?? []}
            name={`contest-${at}`}
            chosen={choices[at] ?? new Set()}
            missing={asked || (choices[at]?.size ?? 0) > limits(contest).most ? wrong[at] : undefined}
            onChosen={(chosen) => onChoices(choices.map((one, other) => (other === at ? chosen : one)))}
          />
        );
      })}
      <button type="submit" aria-disabled={props.busy}>
        {props.busy ? texts.vote.encrypting : texts.vote.encrypt}
      </button>
    </form>
  );
}

/** What is still wrong with these chosen; undefined if nothing is. */
function missing(contest: Contest, chosen: ReadonlySet<number>, texts: Texts): string | undefined {
  const { least, most } = limits(contest);
  const count = chosen.size;
  if (fits(contest, chosen)) return undefined;
  if (contest.method.kind === "rank") return texts.vote.missingRanks(least - count);
  if (count > most) return texts.vote.tooMany(count - most);
  if (count < least) return least === 1 ? texts.vote.missingOne : texts.vote.missing(least - count);
  return undefined;
}

interface Asked {
  contest: Contest;
  /** The candidates in the order in which they are shown. */
  order: readonly number[];
  name: string;
  /** Who is chosen; if they are ranked, the first of the set at the first rank. */
  chosen: ReadonlySet<number>;
  missing: string | undefined;
  onChosen: (chosen: ReadonlySet<number>) => void;
}

/** A menu for each rank. None of them changes another: arrow keys pass by candidates who are elsewhere. */
function Ranking(props: Asked) {
  const { texts } = useShared();
  const { contest, name, order, onChosen } = props;
  const id = useId();
  const { method } = contest;
  const points = method.kind === "rank" ? method.points : [];
  const [ranks, setRanks] = useState<readonly (number | undefined)[]>(() => {
    const known = [...props.chosen];
    return points.map((_, rank) => known[rank]);
  });
  const put = (rank: number, candidate: number | undefined) => {
    const changed = ranks.map((one, other) => (other === rank ? candidate : one));
    setRanks(changed);
    // What is no order has fewer candidates than ranks: the ranks themselves are kept here.
    onChosen(new Set(changed.filter((one) => one !== undefined)));
  };
  const isOpen = (rank: number) => ranks[rank] === undefined || ranks.indexOf(ranks[rank]) < rank;
  const doubled = ranks.find((one, rank) => one !== undefined && isOpen(rank));
  const full = ranks.every((one) => one !== undefined);
  const wrong =
    doubled !== undefined && (full || props.missing !== undefined)
      ? texts.vote.doubled(contest.candidates[doubled] ?? "")
      : props.missing;
  const described = order.filter((at) => Object.keys(contest.details?.[at] ?? {}).length > 0);
  return (
    <fieldset class="card" aria-describedby={`${id}-rule ${id}-missing`}>
      <legend>
        <bdi>{contest.title}</bdi>
      </legend>
      <About text={contest.about} />
      <p class="help" id={`${id}-rule`}>
        {texts.vote.ranks(points.length, contest.candidates.length)}
      </p>
      {described.map((at) => (
        <div key={at}>
          <bdi>{contest.candidates[at]}</bdi>
          <About text={contest.details?.[at]?.about} link={contest.details?.[at]?.link} />
        </div>
      ))}
      <ol class="ranking">
        {points.map((worth, rank) => (
          <li key={worth}>
            <label for={`${id}-${rank}`}>{texts.vote.rank(rank + 1, worth)}</label>
            <select
              id={`${id}-${rank}`}
              name={name}
              data-open={isOpen(rank) ? "" : undefined}
              value={ranks[rank] === undefined ? "" : `${ranks[rank]}`}
              onChange={({ currentTarget: { value } }) => put(rank, value === "" ? undefined : Number(value))}
            >
              <option value="">{texts.vote.noRank}</option>
              {order.map((at) => (
                <option key={at} value={`${at}`} dir="auto">
                  {contest.candidates[at]}
                </option>
              ))}
            </select>
          </li>
        ))}
      </ol>
      <p>
        <output>
          {texts.vote.order}{" "}
          {ranks.map((candidate, rank) => (
            <Fragment key={points[rank]}>
              {rank > 0 && ", "}
              {rank + 1}. {candidate === undefined ? "–" : <bdi>{contest.candidates[candidate]}</bdi>}
            </Fragment>
          ))}
        </output>
      </p>
      <div id={`${id}-missing`}>
        <Alert>{wrong}</Alert>
      </div>
    </fieldset>
  );
}

function Question(props: Asked) {
  const { texts } = useShared();
  const { contest, name, chosen, onChosen } = props;
  const id = useId();
  const { least, most } = limits(contest);
  const single = least === 1 && most === 1;
  const { method } = contest;
  const rule = single
    ? texts.vote.one
    : "choose" in method
      ? texts.vote[method.kind === "exactly" ? "exactly" : contest.blank ? "upTo" : "atMost"](method.choose)
      : texts.vote.approval;
  const blank = blankOf(contest);
  const change = (candidate: number, on: boolean) => {
    if (single) return onChosen(new Set([candidate]));
    // The blank vote stands alone.
    const remaining = on ? [...chosen].filter((one) => (one === blank) === (candidate === blank)) : chosen;
    const changed = new Set(remaining);
    if (on) changed.add(candidate);
    else changed.delete(candidate);
    onChosen(changed);
  };
  return (
    <fieldset class="card" aria-describedby={`${id}-rule ${id}-missing`}>
      <legend>
        <bdi>{contest.title}</bdi>
      </legend>
      <About text={contest.about} />
      <p class="help" id={`${id}-rule`}>
        {rule} {blank !== undefined && !single && texts.vote.orBlank}{" "}
        {!single && <output>{texts.vote.chosen(chosen.size, most)}</output>}
      </p>
      {props.order.map((at) => (
        <div key={at} class={at === blank ? "blank" : undefined}>
          <label class="choice">
            <input
              type={single ? "radio" : "checkbox"}
              name={name}
              checked={chosen.has(at)}
              onChange={(event) => change(at, event.currentTarget.checked)}
            />
            <bdi>{contest.candidates[at]}</bdi>
          </label>
          <About text={contest.details?.[at]?.about} link={contest.details?.[at]?.link} />
        </div>
      ))}
      <div id={`${id}-missing`}>
        <Alert>{props.missing}</Alert>
      </div>
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
          <code data-testid="tracker">{shownCode(tracker, "tracker")}</code>
        </p>
        <Keep text={shownCode(tracker, "tracker")} />
      </div>
      <figure>
        <Qr text={boardUrl(tracker)} label={texts.vote.qr} />
        <figcaption class="help">{texts.vote.qrHelp}</figcaption>
      </figure>
    </div>
  );
}

function Decide(props: {
  tracker: string;
  contests: readonly Contest[];
  choices: Choices;
  busy: boolean;
  onCast: () => void;
  onChallenge: () => void;
  onBack: () => void;
}) {
  const { texts, election } = useShared();
  const [noted, setNoted] = useState(false);
  /** Which act was asked for before the tracker was noted. */
  const [early, setEarly] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const once = (act: () => void) => () => {
    if (props.busy) return;
    if (noted) return act();
    setEarly(true);
    box.current?.focus();
  };
  return (
    <>
      <div class="banner" role="alert">
        <Title>{texts.vote.notCast}</Title>
        <p>{texts.vote.notCastHelp}</p>
      </div>
      {/* The tracker may lie about on paper, the choice may not. */}
      <section class="card no-print">
        <h3>{texts.vote.yours}</h3>
        <Chosen
          contests={props.contests}
          chosen={props.choices.map((chosen, at) =>
            props.contests[at]?.method.kind === "rank" ? [...chosen] : [...chosen].sort((a, b) => a - b),
          )}
        />
        <button type="button" class="second" aria-disabled={props.busy} onClick={props.onBack}>
          {texts.vote.back}
        </button>
      </section>
      <section class="card">
        <Tracker tracker={props.tracker} />
        <p class="help">{texts.vote.trackerHelp}</p>
        <label class="choice">
          <input
            ref={box}
            type="checkbox"
            checked={noted}
            onChange={(event) => {
              setNoted(event.currentTarget.checked);
              setEarly(false);
            }}
          />
          <span>{texts.vote.noted}</span>
        </label>
        <Alert>{early && texts.vote.noteFirst}</Alert>
      </section>
      <section class="card cast">
        <h3>{texts.vote.castTitle}</h3>
        <p>{texts.vote.castHelp}</p>
        <p>{election?.revoting ? texts.vote.castRevoting : texts.vote.castOnce}</p>
        <button type="button" class="large" aria-disabled={props.busy} onClick={once(props.onCast)}>
          {texts.vote.cast}
        </button>
      </section>
      <details class="card challenge">
        <summary>{texts.vote.challengeTitle}</summary>
        <p>{texts.vote.challengeHelp}</p>
        <button type="button" class="second" aria-disabled={props.busy} onClick={once(props.onChallenge)}>
          {texts.vote.challenge}
        </button>
      </details>
    </>
  );
}

/** While a ballot is on its way, and when it is not known whether it arrived. */
function Submitting(props: {
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
        <p>{texts.vote.unsureHelp}</p>
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
function RefusedStep(props: { reason: string; closed: boolean; onAgain: () => void }) {
  const { texts } = useShared();
  const { reason, closed, onAgain } = props;
  return (
    <>
      <div class="banner" role="alert">
        <Title>{texts.vote.refused}</Title>
        <p>
          {reason} {closed && <a href="#/result">{texts.vote.toResult}</a>}
        </p>
      </div>
      {!closed && (
        <button type="button" class="second" onClick={onAgain}>
          {texts.vote.next}
        </button>
      )}
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

function ChallengeResult(props: {
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
