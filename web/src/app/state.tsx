/** What all pages share: the language, the election as the server tells of it, and small parts of pages. */

import { type ComponentChildren, createContext, Fragment } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";
import { canonical } from "../protocol/canonical.ts";
import type { TypedCode } from "../protocol/checked.ts";
import type { Contest } from "../protocol/contest.ts";
import { type Election, readElection } from "../protocol/entry.ts";
import { hexHash } from "../protocol/hash.ts";
import { type Overview, Refused } from "./api.ts";
import { WrongFile } from "./files.ts";
import type { Language, Texts } from "./texts.ts";

export interface Shared {
  readonly texts: Texts;
  readonly language: Language;
  /** The election, if there is one. */
  readonly election: (Election & { readonly id: string }) | undefined;
  readonly overview: Overview | undefined;
  /** Told whether there is a ballot that is encrypted and not cast. */
  readonly setPending: (pending: boolean) => void;
  /** Asks the server anew. */
  readonly refresh: () => Promise<void>;
}

export const Context = createContext<Shared | undefined>(undefined);

export function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error("no context");
  return shared;
}

/** The election of an overview, read as strictly as everywhere. Its id is computed: a credential is for this key and no other. */
export function electionOf(overview: Overview): (Election & { readonly id: string }) | undefined {
  if (overview.id === null) return undefined;
  const id = hexHash(canonical(overview.manifest));
  if (id !== overview.id)
    throw new Error("the election that the server sent does not have the ID that it states");
  return { ...readElection(overview.manifest), id };
}

/** Codes that leave open what it is that is wrong. */
const VAGUE = new Set(["bad_request", "unproven", "internal", "unknown"]);

/** An error in the language of the page, as far as its code is known. */
export function explained(error: unknown, texts: Texts): string {
  if (error instanceof Refused) {
    if (error.code === undefined) return `${texts.offline} ${texts.unsure}`;
    const words = texts.errors[error.code];
    // What exactly is wrong only the server can say, in its language.
    if (words !== undefined) return VAGUE.has(error.code) ? `${words} (${error.message})` : words;
    return error.message;
  }
  if (error instanceof WrongFile) return texts.files[error.reason];
  return error instanceof Error ? error.message : String(error);
}

/** Why what was typed is no code of its kind. */
export function mistyped(typed: Extract<TypedCode, { wrong: string }>, texts: Texts): string {
  if (typed.wrong === "length") return texts.codes.length(typed.count);
  if (typed.wrong === "kind") return texts.codes.kind;
  return typed.group === undefined ? texts.codes.check : texts.codes.group(typed.group);
}

/** An act that takes a while: whether it runs, how far it is, and how it failed. */
export function useAct(): {
  busy: boolean;
  error: string | undefined;
  progress: readonly [number, number] | undefined;
  setProgress: (done: number, all: number) => void;
  act: (run: () => Promise<void>) => void;
} {
  const { texts } = useShared();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [progress, setShown] = useState<readonly [number, number]>();
  const act = (run: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    run()
      .catch((reason) => setError(explained(reason, texts)))
      .finally(() => {
        setBusy(false);
        setShown(undefined);
      });
  };
  return { busy, error, progress, setProgress: (done, all) => setShown([done, all]), act };
}

/** A message that screen readers say at once. */
export function Alert({
  children,
  kind = "error",
}: {
  children: ComponentChildren;
  kind?: "error" | "good" | "warn";
}) {
  if (!children) return null;
  return (
    <p class={`message ${kind}`} role={kind === "good" ? "status" : "alert"}>
      {children}
    </p>
  );
}

/** A title that takes the focus when it appears, so that whoever does not see the page hears that it has changed. */
export function Title({ children, level = 2 }: { children: ComponentChildren; level?: 1 | 2 }) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => element.current?.focus(), []);
  const Heading = `h${level}` as const;
  return (
    <Heading tabIndex={-1} ref={element}>
      {children}
    </Heading>
  );
}

/** A file to choose, read as text. */
export function FileInput(props: { label: string; help: string; onText: (text: string) => void }) {
  const read = async ([file]: readonly File[]) => {
    if (file !== undefined) props.onText(await file.text());
  };
  return <FilesInput label={props.label} help={props.help} onFiles={read} />;
}

/** Files to choose: one, or several together. */
export function FilesInput(props: {
  label: string;
  help: string;
  multiple?: boolean;
  busy?: boolean;
  onFiles: (files: readonly File[]) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <p class="help" id={`${id}-help`}>
        {props.help}
      </p>
      <input
        id={id}
        type="file"
        multiple={props.multiple ?? false}
        disabled={props.busy ?? false}
        aria-describedby={`${id}-help`}
        onClick={(event) => {
          // Files that are chosen again are read again.
          event.currentTarget.value = "";
        }}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          if (files.length > 0) props.onFiles(files);
        }}
      />
    </div>
  );
}

/** A date in the words of the page's language, in the time of this device, and where that is. */
export function When({ said, date }: { said: (when: string) => string; date: string }) {
  const { language } = useShared();
  const format = new Intl.DateTimeFormat(language, {
    weekday: "long",
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
  return <time dateTime={date}>{said(format.format(new Date(date)))}</time>;
}

/** What somebody wrote about something, on its lines, and where more is. */
export function About({ text, link }: { text: string | undefined; link?: string | undefined }) {
  const { texts } = useShared();
  if (text === undefined && link === undefined) return null;
  return (
    <div class="about">
      {text?.split("\n").map((line, at) => (
        <p key={`${at}`} dir="auto">
          {line}
        </p>
      ))}
      {link !== undefined && (
        <a href={link} target="_blank" rel="noopener noreferrer">
          {texts.more} ({new URL(link).host})
        </a>
      )}
    </div>
  );
}

/** How far something is. */
export function Progress({
  label,
  progress,
}: {
  label: string;
  progress: readonly [number, number] | undefined;
}) {
  const { texts } = useShared();
  const id = useId();
  const [done, all] = progress ?? [0, 0];
  return (
    <div class="progress" role="status">
      <label for={id}>
        {label} {progress && <span>({texts.result.progress(done, all)})</span>}
      </label>
      <progress id={id} value={progress ? done : undefined} max={progress ? Math.max(all, 1) : undefined} />
    </div>
  );
}

/** Candidates' names with commas between them. Each has the direction of its own script, and turns no other round. */
export function Names(props: { of: Contest; candidates: readonly number[]; ranked?: boolean }) {
  const { of, candidates, ranked = false } = props;
  return (
    <>
      {candidates.map((candidate, at) => (
        <Fragment key={candidate}>
          {at > 0 && ", "}
          {ranked && `${at + 1}. `}
          <bdi>{of.candidates[candidate]}</bdi>
        </Fragment>
      ))}
    </>
  );
}

/** What was chosen, contest by contest; ranked candidates in their order. */
export function Chosen({
  contests,
  chosen,
}: {
  contests: readonly Contest[];
  chosen: readonly (readonly number[])[];
}) {
  const { texts } = useShared();
  return (
    <dl class="chosen">
      {contests.map((contest, at) => (
        <div key={contest.title}>
          <dt>
            <bdi>{contest.title}</bdi>
          </dt>
          <dd>
            <Names of={contest} candidates={chosen[at] ?? []} ranked={contest.method.kind === "rank"} />
            {(chosen[at] ?? []).length === 0 && texts.board.nothing}
          </dd>
        </div>
      ))}
    </dl>
  );
}
