/** What is voted on, as an organiser types it, and as the draft of a file that `hearith election init` writes too. */

import type { Json } from "../protocol/canonical.ts";
import { type Contest, type Detail, readContest } from "../protocol/contest.ts";
import * as read from "../protocol/readers.ts";

export const METHODS = ["plurality", "exactly", "at_most", "approval", "yes_no", "rank"] as const;

/** A contest being typed. */
export interface Question {
  readonly id: number;
  readonly title: string;
  readonly about: string;
  /** A candidate a line: the name, and after bars a description and a link. */
  readonly candidates: string;
  readonly method: (typeof METHODS)[number];
  readonly choose: number;
  /** What ranks are worth, between commas; empty if all candidates are ranked, the last for one point. */
  readonly points: string;
  /** What the blank vote is called; empty if there is none. */
  readonly blank: string;
  readonly shuffled: boolean;
}

/** An election being typed. */
export interface Draft {
  readonly title: string;
  readonly about: string;
  readonly revoting: boolean;
  readonly trial: boolean;
  readonly late: boolean;
  /** Dates as the browser's fields have them: local, without a zone; empty if there are none. */
  readonly opens: string;
  readonly closes: string;
  readonly registrar: string;
  readonly questions: readonly Question[];
}

export function question(id: number): Question {
  return {
    id,
    title: "",
    about: "",
    candidates: "",
    method: "plurality",
    choose: 1,
    points: "",
    blank: "",
    shuffled: false,
  };
}

export const EMPTY: Draft = {
  title: "",
  about: "",
  revoting: true,
  trial: false,
  late: false,
  opens: "",
  closes: "",
  registrar: "",
  questions: [question(0)],
};

/** Methods with a blank vote: of the others one can choose nothing, or the two candidates say it. */
export function takesBlank({ method }: Pick<Question, "method">): boolean {
  return method !== "approval" && method !== "yes_no" && method !== "rank";
}

/** What ranks are worth. What is no number stays as it is, for the reader to refuse. */
function worth(points: string, candidates: number): Json[] {
  const parts = points.split(/[\s,;]+/).filter((part) => part !== "");
  if (parts.length === 0) return Array.from({ length: candidates }, (_, rank) => candidates - rank);
  return parts.map((part) => (/^\d{1,15}$/.test(part) ? Number(part) : part));
}

function methodOf({ method, choose, points }: Question, candidates: number): Json {
  if (method === "rank") return { rank: { points: worth(points, candidates) } };
  return method === "exactly" || method === "at_most" ? { choose: { [method]: choose } } : method;
}

/** A candidate of a line. */
function candidate(line: string): { name: string; detail: Detail } {
  const [name = "", ...rest] = line.split("|").map((part) => part.trim());
  const link = rest.find((part) => part.startsWith("https://"));
  const about = rest.find((part) => part !== "" && part !== link);
  return {
    name,
    detail: { ...(about === undefined ? {} : { about }), ...(link === undefined ? {} : { link }) },
  };
}

function contestOf(one: Question): Json {
  const { title, about, candidates, shuffled } = one;
  const lines = candidates.split("\n").map((line) => line.trim());
  const known = lines.filter((line) => line !== "").map(candidate);
  const blank = takesBlank(one) ? one.blank.trim() : "";
  if (blank !== "") known.push({ name: blank, detail: {} });
  const described = known.some(({ detail }) => Object.keys(detail).length > 0);
  return {
    ...(about.trim() === "" ? {} : { about: about.trim() }),
    ...(blank === "" ? {} : { blank: true }),
    candidates: known.map(({ name }) => name),
    ...(described ? { details: known.map(({ detail }) => ({ ...detail })) } : {}),
    method: methodOf(one, known.length),
    ...(shuffled ? { shuffled: true } : {}),
    title: title.trim(),
  };
}

/** A local time as heads write times. */
function utc(local: string): string {
  return new Date(local).toISOString().replace(/\.\d+Z$/, "Z");
}

/** A time as the browser's fields have it. */
function local(time: string): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The members of a manifest that a draft says. */
export function members(draft: Draft): { [name: string]: Json } {
  const { title, about, revoting, trial, late, opens, closes, registrar, questions } = draft;
  return {
    ...(about.trim() === "" ? {} : { about: about.trim() }),
    ...(closes === "" ? {} : { closes: utc(closes) }),
    contests: questions.map(contestOf),
    ...(late ? { late: true } : {}),
    ...(opens === "" ? {} : { opens: utc(opens) }),
    ...(registrar.trim() === "" ? {} : { registrar: registrar.trim() }),
    revoting,
    title: title.trim(),
    ...(trial ? { trial: true } : {}),
  };
}

const DRAFT = read.object(
  { contests: read.list(readContest, 1, 64), revoting: read.flag, title: read.text },
  {
    about: read.text,
    closes: read.text,
    late: read.flag,
    opens: read.text,
    registrar: read.text,
    trial: read.flag,
  },
);

function questionOf(contest: Contest, id: number): Question {
  const { title, about = "", candidates, details, method, blank, shuffled } = contest;
  const lines = candidates.map((name, at) => {
    const parts = [name, details?.[at]?.about?.replaceAll("\n", " "), details?.[at]?.link];
    return parts.filter((part) => part !== undefined).join(" | ");
  });
  const last = blank ? (candidates.at(-1) ?? "") : "";
  return {
    id,
    title,
    about,
    candidates: (blank ? lines.slice(0, -1) : lines).join("\n"),
    method: method.kind,
    choose: "choose" in method ? method.choose : 1,
    points: method.kind === "rank" ? method.points.join(", ") : "",
    blank: last,
    shuffled: shuffled ?? false,
  };
}

/** The draft of a file, whichever program wrote it. */
export function readDraft(text: string): Draft {
  const found = DRAFT(JSON.parse(text) as Json, "draft");
  const { title, about = "", revoting, trial = false, late = false, opens, closes, registrar = "" } = found;
  return {
    title,
    about,
    revoting,
    trial,
    late,
    opens: opens === undefined ? "" : local(opens),
    closes: closes === undefined ? "" : local(closes),
    registrar,
    questions: found.contests.map(questionOf),
  };
}
