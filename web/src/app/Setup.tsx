/** An election to set up: what is voted on, how, when, and under which key. */

import * as base64 from "hearith/base64.ts";
import { useId, useState } from "preact/hooks";
import { canonical, type Json } from "../protocol/canonical.ts";
import { readElection } from "../protocol/entry.ts";
import { publicKey } from "../protocol/signature.ts";
import { publish } from "./api.ts";
import {
  type Draft,
  EMPTY,
  METHODS,
  members,
  type Question,
  question,
  readDraft,
  takesBlank,
} from "./draft.ts";
import { save } from "./files.ts";
import { Alert, explained, FileInput, useAct, useShared } from "./state.tsx";
import { work } from "./tasks.ts";

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
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [key, setKey] = useState<string>();
  const [wrong, setWrong] = useState<string>();
  const { busy, error, act } = useAct();
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const { questions } = draft;
  const changeQuestion = (id: number, part: Partial<Question>) =>
    change({ questions: questions.map((one) => (one.id === id ? { ...one, ...part } : one)) });
  const load = (text: string) => {
    try {
      setDraft(readDraft(text));
      setWrong(undefined);
    } catch (reason) {
      setWrong(`${texts.wrongFile}${texts.colon} ${explained(reason, texts)}`);
    }
  };
  const send = () =>
    act(async () => {
      if (key === undefined) throw new Error(words.ceremonyFirst);
      const body: Json = {
        ...members(draft),
        board,
        ...ceremony(key),
        organiser: base64.encode(publicKey(secret)),
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
        if (!busy) send();
      }}
    >
      <section class="card">
        <h3>{words.setup}</h3>
        <p>
          {words.public}
          {texts.colon} <code class="hash">{base64.encode(publicKey(secret))}</code>
        </p>
        <FileInput label={words.openDraft} help={words.draftHelp} onText={load} />
        <Alert>{wrong}</Alert>
        <Text label={words.name} required value={draft.title} onValue={(title) => change({ title })} />
        <Text label={words.about} rows={3} value={draft.about} onValue={(about) => change({ about })} />
        <Flag label={words.revoting} value={draft.revoting} onValue={(revoting) => change({ revoting })} />
        <Flag label={words.late} value={draft.late} onValue={(late) => change({ late })} />
        <Flag label={words.trial} value={draft.trial} onValue={(trial) => change({ trial })} />
        <p class="help">{words.datesHelp}</p>
        <Text
          label={words.opens}
          type="datetime-local"
          value={draft.opens}
          onValue={(opens) => change({ opens })}
        />
        <Text
          label={words.closes}
          type="datetime-local"
          value={draft.closes}
          onValue={(closes) => change({ closes })}
        />
        <Text
          label={words.registrar}
          help={words.registrarHelp}
          value={draft.registrar}
          onValue={(registrar) => change({ registrar })}
        />
        <FileInput label={words.ceremony} help={words.ceremonyHelp} onText={setKey} />
      </section>
      {questions.map((one, at) => (
        <ContestForm
          key={one.id}
          at={at + 1}
          question={one}
          onChange={(part) => changeQuestion(one.id, part)}
          onRemove={
            questions.length > 1
              ? () => change({ questions: questions.filter((other) => other !== one) })
              : undefined
          }
        />
      ))}
      <p class="acts">
        <button
          type="button"
          class="second"
          onClick={() =>
            change({ questions: [...questions, question(Math.max(...questions.map((one) => one.id)) + 1)] })
          }
        >
          {words.addContest}
        </button>
        <button
          type="button"
          class="second"
          onClick={() => save("draft.json", canonical(members(draft) as Json))}
        >
          {words.saveDraft}
        </button>
      </p>
      <button type="submit" aria-disabled={busy}>
        {words.publish}
      </button>
      <Alert>{error}</Alert>
    </form>
  );
}

/** A field of text: on one line, on several, or a date. */
function Text(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  help?: string;
  required?: boolean;
  rows?: number;
  type?: "datetime-local";
}) {
  const { label, value, onValue, help, required = false, rows, type } = props;
  const id = useId();
  const more = {
    id,
    required,
    value,
    ...(help === undefined ? {} : { "aria-describedby": `${id}-help` }),
    onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onValue(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {rows !== undefined && <textarea rows={rows} {...more} />}
      {rows === undefined && type === undefined && <input type="text" {...more} />}
      {rows === undefined && type !== undefined && <input type={type} {...more} />}
    </div>
  );
}

function Flag(props: { label: string; value: boolean; onValue: (value: boolean) => void }) {
  const id = useId();
  return (
    <label class="choice" for={id}>
      <input
        id={id}
        type="checkbox"
        checked={props.value}
        onChange={(event) => props.onValue(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}

function ContestForm(props: {
  at: number;
  question: Question;
  onChange: (part: Partial<Question>) => void;
  onRemove: (() => void) | undefined;
}) {
  const { texts } = useShared();
  const words = texts.organise;
  const { question: one, onChange } = props;
  const ids = [useId(), useId()];
  return (
    <fieldset class="card">
      <legend>{words.contest(props.at)}</legend>
      <Text label={words.question} required value={one.title} onValue={(title) => onChange({ title })} />
      <Text label={words.aboutQuestion} rows={2} value={one.about} onValue={(about) => onChange({ about })} />
      <Text
        label={words.candidates}
        help={words.candidatesHelp}
        required
        rows={4}
        value={one.candidates}
        onValue={(candidates) => onChange({ candidates })}
      />
      <div class="field">
        <label for={ids[0]}>{words.method}</label>
        <select
          id={ids[0]}
          value={one.method}
          onChange={(event) =>
            onChange({ method: METHODS.find((each) => each === event.currentTarget.value) ?? "plurality" })
          }
        >
          {METHODS.map((method) => (
            <option key={method} value={method}>
              {words.methods[method]}
            </option>
          ))}
        </select>
      </div>
      {(one.method === "exactly" || one.method === "at_most") && (
        <div class="field">
          <label for={ids[1]}>{words.number}</label>
          <input
            id={ids[1]}
            type="number"
            min={1}
            value={one.choose}
            onInput={(event) => onChange({ choose: event.currentTarget.valueAsNumber })}
          />
        </div>
      )}
      {one.method === "rank" && (
        <Text
          label={words.points}
          help={words.pointsHelp}
          value={one.points}
          onValue={(points) => onChange({ points })}
        />
      )}
      {takesBlank(one) && (
        <Flag
          label={words.blank}
          value={one.blank !== ""}
          onValue={(on) => onChange({ blank: on ? words.blankName : "" })}
        />
      )}
      {takesBlank(one) && one.blank !== "" && (
        <Text label={words.blankCalled} value={one.blank} onValue={(blank) => onChange({ blank })} />
      )}
      <Flag label={words.shuffled} value={one.shuffled} onValue={(shuffled) => onChange({ shuffled })} />
      {props.onRemove && (
        <button type="button" class="quiet" onClick={props.onRemove}>
          {words.removeContest}
        </button>
      )}
    </fieldset>
  );
}
