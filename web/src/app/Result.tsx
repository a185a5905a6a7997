/** The result's page: votes as bars, and a verifier that believes nobody. */

import { useState } from "preact/hooks";
import { shownCode } from "../protocol/checked.ts";
import { atRanks, blankOf, type Contest, mostOf } from "../protocol/contest.ts";
import type { Verdict } from "../protocol/verify.ts";
import { RECORD } from "./api.ts";
import { elected } from "./elected.ts";
import { save } from "./files.ts";
import { options, rememberHead } from "./memory.ts";
import { electionIn, type Source } from "./record.ts";
import { resultTable } from "./resultTable.ts";
import { Alert, FilesInput, Names, Progress, Title, useAct, useShared } from "./state.tsx";
import { timed, work } from "./tasks.ts";
import type { Language } from "./texts.ts";
import type { Verified } from "./worker.ts";

export function Result(_: { rest: string }) {
  const { texts, election, overview } = useShared();
  const [verified, setVerified] = useState<Verified>();
  const { busy, error, progress, setProgress, act } = useAct();
  /** The server's record, or one in files, which may be of another election. */
  const verify = (source: Source) =>
    act(async () => {
      setVerified(undefined);
      const id = typeof source === "string" && election ? election.id : await electionIn(source);
      const found = await timed("verify", work.verify([source, options(id)], setProgress));
      if (found.report.good) rememberHead(id, found.root, found.size);
      setVerified(found);
    });
  const result = verified?.report.result;
  return (
    <>
      <Title>{texts.result.title}</Title>
      {verified && !verified.report.good && <Alert>{texts.result.wrong}</Alert>}
      {result && <Alert kind="good">{texts.result.verified}</Alert>}
      {result && <Turnout {...verified.turnout} />}
      {result &&
        verified.election?.contests.map((contest, at) => (
          <Plot
            key={contest.title}
            contest={contest}
            votes={result[at] ?? []}
            weight={verified.turnout.weight}
          />
        ))}
      {result && <p class="help">{texts.result.rules}</p>}
      {result && verified.election?.contests.some(({ method }) => method.kind === "rank") && (
        <p class="help">{texts.result.rankRules}</p>
      )}
      {result && (
        <p class="keep">
          <button
            type="button"
            class="second"
            onClick={() => save("result.csv", resultTable(verified, result))}
          >
            {texts.result.saveTable}
          </button>
          <button type="button" class="second" onClick={() => print()}>
            {texts.result.printPage}
          </button>
        </p>
      )}
      {verified && <Changes changes={verified.changes} />}
      {!result && !verified && <p>{standing()}</p>}
      {election && (
        <section class="card">
          <h3>{texts.result.verify}</h3>
          <p class="help">{texts.result.verifyHelp}</p>
          <button type="button" disabled={busy} onClick={() => verify(RECORD)}>
            {texts.result.verify}
          </button>
        </section>
      )}
      <section class="card">
        <h3>{texts.result.saved}</h3>
        <FilesInput
          multiple
          label={texts.result.files}
          help={texts.result.filesHelp}
          busy={busy}
          onFiles={verify}
        />
      </section>
      {busy && <Progress label={texts.result.verifying} progress={progress} />}
      <Alert>{error}</Alert>
      {verified && <Verdicts verified={verified} />}
    </>
  );

  /** What is known before anything was verified. */
  function standing(): string {
    if (!election) return texts.noElection;
    return overview?.phase === "finished" ? texts.result.unverified : texts.result.none;
  }
}

/** Who came late or got a new credential: what whoever lists voters could do wrong, everybody sees. */
function Changes({ changes }: { changes: Verified["changes"] }) {
  const { texts } = useShared();
  if (changes.length === 0) return null;
  return (
    <details class="card">
      <summary>
        {texts.result.changes} ({changes.length})
      </summary>
      <p class="help">{texts.result.changesHelp}</p>
      <ul>
        {changes.map(({ index, late, replaced, voter }) => (
          <li key={`${index} ${voter}`}>
            {texts.board.entry(index)}: <bdi>{voter}</bdi>,{" "}
            {replaced ? texts.result.renewed(late) : texts.result.added}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** How many of the voters have voted, and by which weight if votes weigh differently. */
function Turnout({ counted, voters, weight, allWeight }: Verified["turnout"]) {
  const { texts, language } = useShared();
  return (
    <section class="card">
      <h3>{texts.result.turnout}</h3>
      <p>{texts.result.turnoutOf(counted, voters, percent(counted, voters, language))}</p>
      {allWeight !== voters && (
        <p>{texts.result.weightOf(weight, allWeight, percent(weight, allWeight, language))}</p>
      )}
    </section>
  );
}

/** A part of a whole in per cent; of nothing it is 0. */
function percent(part: number, whole: number, language: Language): string {
  const shown = { style: "percent", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language, shown).format(whole === 0 ? 0 : part / whole);
}

/** Who is elected, and between whom the votes do not decide. */
function Winners({ contest, votes }: { contest: Contest; votes: readonly number[] }) {
  const { texts } = useShared();
  const found = elected(contest, votes);
  const [said, tie] =
    contest.method.kind === "yes_no"
      ? [texts.result.most, texts.result.even]
      : [texts.result.elected, texts.result.tie];
  return (
    <>
      {found.elected.length > 0 && (
        <p>
          {said}:{" "}
          <strong>
            <Names of={contest} candidates={found.elected} />
          </strong>
        </p>
      )}
      {found.tied.length > 0 && (
        <p>
          {tie(found.open)}:{" "}
          <strong>
            <Names of={contest} candidates={found.tied} />
          </strong>
        </p>
      )}
      {found.elected.length + found.tied.length === 0 && <p>{texts.result.nobody}</p>}
    </>
  );
}

/** Votes of a contest, or points, as bars: text says all that they show. */
function Plot(props: { contest: Contest; votes: readonly number[]; weight: number }) {
  const { texts, language } = useShared();
  const { contest, votes, weight } = props;
  const ranked = contest.method.kind === "rank";
  const most = Math.max(...votes.slice(0, contest.candidates.length), 1);
  return (
    <section class="card">
      <h3>
        <bdi>{contest.title}</bdi>
      </h3>
      <Winners contest={contest} votes={votes} />
      <table class="plot">
        <tbody>
          {contest.candidates.map((candidate, at) => {
            const count = votes[at] ?? 0;
            return (
              <tr key={candidate}>
                <th scope="row">
                  <bdi>{candidate}</bdi>
                  {at === blankOf(contest) && ` (${texts.result.blank})`}
                  {ranked && (
                    <span class="help at-ranks">
                      {atRanks(contest, votes, at)
                        .map((count, rank) => texts.result.rank(rank + 1, count))
                        .join("; ")}
                    </span>
                  )}
                </th>
                <td class="bar">
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                    <rect class={count === most ? "first" : ""} width={(100 * count) / most} height="8" />
                  </svg>
                </td>
                <td>{ranked ? texts.result.points(count) : texts.result.votes(count)}</td>
                <td>{percent(count, mostOf(contest, weight), language)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Verdicts({ verified }: { verified: Verified }) {
  const { texts } = useShared();
  const { report, election, size, root, own } = verified;
  return (
    <section class="card">
      {election && <h3>{texts.result.of(election.title)}</h3>}
      <Alert kind={report.good ? "good" : "error"}>
        {report.good ? texts.result.right : texts.result.failed}
      </Alert>
      <ul class="verdicts">
        {report.verdicts.map((verdict) => (
          <Line key={verdict.check} verdict={verdict} good={report.good} />
        ))}
      </ul>
      {own.length > 0 && (
        <>
          <h4>{texts.result.own}</h4>
          <ul>
            {own.map(({ tracker, index, fate }) => (
              <li key={tracker}>
                <code>{shownCode(tracker, "tracker")}</code>: {texts.board.entry(index)},{" "}
                {texts.result.fates[fate]}
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {texts.result.size(size)}. {texts.result.root}: <code class="hash">{root}</code>
      </p>
      <p class="help">{texts.result.rootHelp}</p>
    </section>
  );
}

function Line({ verdict, good }: { verdict: Verdict; good: boolean }) {
  const { texts } = useShared();
  const { check, count, fault } = verdict;
  const kind = fault !== undefined ? "fail" : count > 0 ? "pass" : good ? "empty" : "skipped";
  return (
    <li class={kind} data-check={check}>
      <span class="mark" aria-hidden="true">
        {{ fail: "✗", empty: "–", skipped: "–", pass: "✓" }[kind]}
      </span>
      <span>
        {texts.result.checks[check]}: <strong>{texts.result[kind]}</strong>
        {kind === "pass" && ` (${count})`}
        {fault !== undefined && <span class="fault">{fault}</span>}
      </span>
    </li>
  );
}
