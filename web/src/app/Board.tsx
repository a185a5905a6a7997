/** The board's page: finds a ballot by its tracker, and says who voted. */

import { useEffect, useId, useState } from "preact/hooks";
import { readChallenge } from "../protocol/ballot.ts";
import { shownCode, typedCode } from "../protocol/checked.ts";
import { candidatesOf } from "../protocol/contest.ts";
import { ballotOf } from "../protocol/state.ts";
import { tracker as trackerOf } from "../protocol/tracker.ts";
import { voters as askVoters, type Found, Refused, tracked, type VoterPage } from "./api.ts";
import { Alert, Chosen, mistyped, Title, useAct, useShared } from "./state.tsx";

export function Board({ rest }: { rest: string }) {
  const { texts, election } = useShared();
  return (
    <>
      <Title>{texts.board.title}</Title>
      {election ? (
        <>
          <Search key={rest} first={rest} />
          <Voters />
        </>
      ) : (
        <p>{texts.noElection}</p>
      )}
    </>
  );
}

function Search({ first }: { first: string }) {
  const { texts } = useShared();
  const id = useId();
  const [text, setText] = useState(() => shownTracker(first));
  const [found, setFound] = useState<Found>();
  const { busy, error, act } = useAct();
  const search = (text: string) =>
    act(async () => {
      setFound(undefined);
      const typed = typedCode(text, "tracker");
      if ("wrong" in typed) throw new Error(mistyped(typed, texts));
      const tracker = typed.code;
      const answer = await tracked(tracker).catch((reason) => {
        throw reason instanceof Refused && reason.code === "not_found" ? new Error(texts.board.none) : reason;
      });
      const { body, kind } = answer.entry;
      // What was asked for is computed again: the server is not believed.
      const right =
        (kind === "ballot" || kind === "challenge") && trackerOf(ballotOf({ kind, body })) === tracker;
      if (!right) throw new Error(texts.board.wrong);
      setFound(answer);
    });
  useEffect(() => {
    if (first) search(first);
  }, []);
  return (
    <section class="card">
      <h3>{texts.board.find}</h3>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search(text);
        }}
      >
        <div class="field">
          <label for={id}>{texts.board.tracker}</label>
          <p class="help" id={`${id}-help`}>
            {texts.board.trackerHelp}
          </p>
          <input
            id={id}
            class="code"
            value={text}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="none"
            aria-describedby={`${id}-help`}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" disabled={busy}>
          {texts.board.search}
        </button>
      </form>
      <Alert>{error}</Alert>
      {found && <Ballot found={found} />}
    </section>
  );
}

/** A tracker of an address, as voters see it. */
function shownTracker(text: string): string {
  const typed = typedCode(text, "tracker");
  return "wrong" in typed ? text : shownCode(typed.code, "tracker");
}

function Ballot({ found }: { found: Found }) {
  const { texts, election } = useShared();
  const { entry } = found;
  if (!election) return null;
  if (entry.kind === "ballot") {
    return (
      <Alert kind="good">
        {texts.board.there} {texts.board.entry(entry.index)}. {texts.board.fate}
      </Alert>
    );
  }
  let chosen: number[][];
  try {
    const { ballot, values } = readChallenge(election, entry.body);
    ballot.claims();
    chosen = election.contests.map((contest, at) => candidatesOf(contest, values[at] ?? []));
  } catch (error) {
    return <Alert>{error instanceof Error ? error.message : String(error)}</Alert>;
  }
  return (
    <>
      <Alert kind="warn">
        {texts.board.challenged} {texts.board.entry(entry.index)}. {texts.board.opened}
      </Alert>
      <h4>{texts.board.contents}</h4>
      <Chosen contests={election.contests} chosen={chosen} />
    </>
  );
}

function Voters() {
  const { texts, overview } = useShared();
  const id = useId();
  const [voters, setVoters] = useState<VoterPage>();
  const [filter, setFilter] = useState("");
  const { busy, error, act } = useAct();
  const more = () =>
    act(async () => {
      const page = await askVoters(voters?.next ?? 0);
      setVoters({ next: page.next, voters: [...(voters?.voters ?? []), ...page.voters] });
    });
  useEffect(more, []);
  const shown = voters?.voters.filter((voter) => voter.id.toLowerCase().includes(filter.toLowerCase())) ?? [];
  return (
    <section class="card">
      <h3>{texts.board.voters}</h3>
      <p class="help">{texts.board.votersHelp}</p>
      {overview && <p>{texts.board.turnout(overview.voted, overview.voters)}</p>}
      <div class="field">
        <label for={id}>{texts.board.filter}</label>
        <input id={id} value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.board.voter}</th>
            <th scope="col">{texts.board.status}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((voter) => (
            <tr key={voter.id}>
              <th scope="row">
                <bdi>{voter.id}</bdi>
              </th>
              <td>{voter.voted ? texts.board.voted : texts.board.notVoted}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {voters?.next != null && (
        <button type="button" class="second" disabled={busy} onClick={more}>
          {texts.board.more}
        </button>
      )}
      <Alert>{error}</Alert>
    </section>
  );
}
