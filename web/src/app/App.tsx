/** The frame of all pages: title, languages, and which page is shown, which the address says after its `#`. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { LEAST_BITS } from "../protocol/keycheck.ts";
import { overview as askOverview, INSECURE, type Overview, SERVER } from "./api.ts";
import { Board } from "./Board.tsx";
import { keepSetting, setting } from "./memory.ts";
import { Organise } from "./Organise.tsx";
import { Result } from "./Result.tsx";
import { Alert, Context, electionOf, type Shared, useShared } from "./state.tsx";
import { Trustee } from "./Trustee.tsx";
import { LANGUAGE_NAMES, LANGUAGES, type Language } from "./texts.ts";
import { Vote } from "./Vote.tsx";

const PAGES = { vote: Vote, board: Board, result: Result, organise: Organise, trustee: Trustee };
type Page = keyof typeof PAGES;

/** The page and what more the address says, such as a tracker. */
function address(): [Page, string] {
  const [name = "", rest = ""] = location.hash.replace(/^#\/?/, "").split("/");
  return [Object.hasOwn(PAGES, name) ? (name as Page) : "vote", rest];
}

function firstLanguage(): Language {
  const known = setting("language") ?? navigator.language.slice(0, 2);
  return Object.hasOwn(LANGUAGES, known) ? (known as Language) : "en";
}

/** Languages by the names that they have for themselves. */
function Languages({ language, onLanguage }: { language: Language; onLanguage: (one: Language) => void }) {
  const { texts } = useShared();
  return (
    <select
      class="language"
      aria-label={texts.language}
      value={language}
      onChange={(event) => onLanguage(event.currentTarget.value as Language)}
    >
      {(Object.keys(LANGUAGES) as Language[]).map((one) => (
        <option key={one} value={one} lang={one}>
          {LANGUAGE_NAMES[one]}
        </option>
      ))}
    </select>
  );
}

/** The election of an overview, or what is wrong with it. */
function read(overview: Overview | undefined): { election?: Shared["election"]; wrong?: string } {
  try {
    return { election: overview && electionOf(overview) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

function Links({ pages, page }: { pages: readonly Page[]; page: Page }) {
  const { texts } = useShared();
  return (
    <>
      {pages.map((name) => (
        <a key={name} href={`#/${name}`} aria-current={name === page ? "page" : undefined}>
          {texts.nav[name]}
        </a>
      ))}
    </>
  );
}

export function App() {
  const [language, setLanguage] = useState(firstLanguage);
  const [[page, rest], setAddress] = useState(address);
  const [overview, setOverview] = useState<Overview>();
  const [offline, setOffline] = useState(false);
  const [pending, setPending] = useState(false);
  const texts = LANGUAGES[language];

  const refresh = useCallback(async () => {
    try {
      setOverview(await askOverview());
      setOffline(false);
    } catch {
      setOffline(true);
    }
  }, []);
  useEffect(() => {
    const moved = () => {
      setAddress(address());
      refresh();
    };
    addEventListener("hashchange", moved);
    refresh();
    return () => removeEventListener("hashchange", moved);
  }, [refresh]);
  useEffect(() => {
    document.documentElement.lang = language;
    keepSetting("language", language);
  }, [language]);

  const { election, wrong } = useMemo(() => read(overview), [overview]);
  useEffect(() => {
    document.title = `${texts.nav[page]} – ${election?.title ?? texts.title}`;
  }, [texts, page, election]);

  const bits = election ? 8 * election.key.bytes : 0;
  const shared: Shared = { texts, language, election, overview, setPending, refresh };
  const Page = page === "vote" ? undefined : PAGES[page];
  return (
    <Context.Provider value={shared}>
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        {texts.skip}
      </button>
      <header>
        <div class="top">
          <h1>
            <bdi>{election?.title ?? texts.title}</bdi>
          </h1>
          <Languages language={language} onLanguage={setLanguage} />
        </div>
        {overview && (
          <p class="phase">
            {texts.phase} <strong>{texts.phases[overview.phase] ?? overview.phase}</strong>.
          </p>
        )}
        <nav aria-label={texts.navigation}>
          <Links pages={["vote", "board", "result"]} page={page} />
        </nav>
      </header>
      <main tabIndex={-1}>
        <Alert kind="warn">{offline && texts.offline}</Alert>
        <Alert kind="warn">{election?.trial && texts.trial}</Alert>
        <Alert>{wrong}</Alert>
        {bits > 0 && bits < LEAST_BITS && (
          <Alert kind={INSECURE ? "warn" : "error"}>{texts.weakKey(bits)}</Alert>
        )}
        {!overview && !offline && <p role="status">{texts.loading}</p>}
        {pending && page !== "vote" && (
          <Alert kind="warn">
            {texts.vote.leave} <a href="#/vote">{texts.vote.return}</a>
          </Alert>
        )}
        {/* A ballot that is being made is not lost by a look at another page. */}
        <div hidden={page !== "vote"}>
          <Vote code={page === "vote" ? rest : ""} />
        </div>
        {Page && <Page key={page} rest={rest} />}
      </main>
      <footer>
        <nav aria-label={texts.officials}>
          <span>
            {texts.officials}
            {texts.colon}
          </span>
          <Links pages={["organise", "trustee"]} page={page} />
        </nav>
        <p>{texts.footer}</p>
        <p>
          <code>{SERVER}</code>
        </p>
      </footer>
    </Context.Provider>
  );
}
