/** The frame of all pages: title, languages, and which page is shown, which the address says after its `#`. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { overview as askOverview, type Overview, SERVER } from "./api.ts";
import { Board } from "./Board.tsx";
import { Organise } from "./Organise.tsx";
import { Result } from "./Result.tsx";
import { Alert, Context, electionOf, type Shared } from "./state.tsx";
import { Trustee } from "./Trustee.tsx";
import { LANGUAGES, type Language } from "./texts.ts";
import { Vote } from "./Vote.tsx";

/** A key with fewer bits than this hides nothing for long. */
const LEAST_BITS = 2048;

const PAGES = { vote: Vote, board: Board, result: Result, organise: Organise, trustee: Trustee };
type Page = keyof typeof PAGES;

/** The page and what more the address says, such as a tracker. */
function address(): [Page, string] {
  const [name = "", rest = ""] = location.hash.replace(/^#\/?/, "").split("/");
  return [name in PAGES ? (name as Page) : "vote", decodeURIComponent(rest)];
}

function firstLanguage(): Language {
  const known = localStorage.getItem("hearith-language") ?? navigator.language.slice(0, 2);
  return known === "de" ? "de" : "en";
}

export function App() {
  const [language, setLanguage] = useState(firstLanguage);
  const [[page, rest], setAddress] = useState(address);
  const [overview, setOverview] = useState<Overview>();
  const [fault, setFault] = useState<"offline" | string>();
  const texts = LANGUAGES[language];

  const refresh = useCallback(async () => {
    try {
      setOverview(await askOverview());
      setFault(undefined);
    } catch {
      setFault("offline");
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
    localStorage.setItem("hearith-language", language);
  }, [language]);

  const election = useMemo(() => {
    try {
      return overview && electionOf(overview);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }, [overview]);
  useEffect(() => {
    document.title = `${texts.nav[page]} – ${election?.title ?? texts.title}`;
  }, [texts, page, election]);

  const bits = election ? 8 * election.key.bytes : 0;
  const shared: Shared = { texts, language, election, overview, refresh };
  const Shown = PAGES[page];
  return (
    <Context.Provider value={shared}>
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        {texts.skip}
      </button>
      <header>
        <div class="top">
          <h1>{election?.title ?? texts.title}</h1>
          <button
            type="button"
            class="quiet"
            lang={language === "en" ? "de" : "en"}
            onClick={() => setLanguage(language === "en" ? "de" : "en")}
          >
            {texts.language}
          </button>
        </div>
        {overview && (
          <p class="phase">
            {texts.phase} <strong>{texts.phases[overview.phase] ?? overview.phase}</strong>.
          </p>
        )}
        <nav aria-label={texts.navigation}>
          {(Object.keys(PAGES) as Page[]).map((name) => (
            <a key={name} href={`#/${name}`} aria-current={name === page ? "page" : undefined}>
              {texts.nav[name]}
            </a>
          ))}
        </nav>
      </header>
      <main tabIndex={-1}>
        <Alert kind="warn">{fault === "offline" ? texts.offline : fault}</Alert>
        {bits > 0 && bits < LEAST_BITS && <Alert kind="warn">{texts.weakKey(bits)}</Alert>}
        {overview || fault ? <Shown key={page} rest={rest} /> : <p role="status">{texts.loading}</p>}
      </main>
      <footer>
        <p>{texts.footer}</p>
        <p>
          <code>{SERVER}</code>
        </p>
      </footer>
    </Context.Provider>
  );
}
