import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, logIn, logOut, session } from "./api";
import { follow, type Change, type LiveState } from "./live";
import { followLinks, go, slicePath, useAddress } from "./navigation";
import { BackfillsPage, backfillViewOf } from "./pages/backfills";
import { EntitiesPage } from "./pages/entities";
import { GraphPage, graphViewOf } from "./pages/graph";
import { SlicePage } from "./pages/slice";
import { SlicesPage, viewOf } from "./pages/slices";
import { TodayPage } from "./pages/today";
import { Loading, Trouble } from "./parts";
import "./style.css";

const PAGES = ["slices", "entities", "graph", "backfills"] as const;

type Door = { is: "asking" } | { is: "out"; why: string } | { is: "in"; who: string; hasSession: boolean } | { is: "down"; error: ApiError };
type Take = (changes: Change[] | null) => void;

function App() {
  const [door, setDoor] = useState<Door>({ is: "asking" });
  const knock = useCallback(() => {
    session().then(
      (told) => setDoor({ is: "in", ...told }),
      (error: ApiError) => setDoor(error.status === 401 ? { is: "out", why: "" } : { is: "down", error }),
    );
  }, []);
  useEffect(knock, []);
  const refused = useCallback(() => setDoor({ is: "out", why: "The session has ended. Log in again." }), []);
  if (door.is === "asking") return <main class="page"><Loading what="the console" /></main>;
  if (door.is === "down") return <main class="page"><Trouble error={door.error} again={knock} /></main>;
  if (door.is === "out") return <LogIn why={door.why} done={knock} />;
  return <Pages who={door.who} hasSession={door.hasSession} refused={refused} left={() => setDoor({ is: "out", why: "You are logged out." })} />;
}

function LogIn({ why, done }: { why: string; done: () => void }) {
  const [token, setToken] = useState("");
  const [trouble, setTrouble] = useState(why);
  const submit = (event: Event) => {
    event.preventDefault();
    logIn(token.trim()).then(done, (error: ApiError) =>
      setTrouble(error.status === 401 ? "This token is not known here." : `${error.message} ${error.hint}`),
    );
  };
  return (
    <main class="login">
      <form class="card" onSubmit={submit}>
        <h1><Mark /> Tidemark</h1>
        <label>
          Token
          <input name="token" type="password" autocomplete="current-password" required value={token} onInput={(event) => setToken(event.currentTarget.value)} autofocus />
        </label>
        {trouble && <p class="problem" role="alert">{trouble}</p>}
        <button type="submit" class="primary">Log in</button>
        <p class="note">A token of <code>tidemark token create</code>, or the one that the center was started with. The browser keeps a session of it for at most 12 hours, not the token.</p>
      </form>
    </main>
  );
}

const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" />
    <path d="M6 12h20" />
    <path class="wave" d="M6 20c3.3-3 6.6-3 10 0s6.6 3 10 0" />
  </svg>
);

function Pages({ who, hasSession, refused, left }: { who: string; hasSession: boolean; refused: () => void; left: () => void }) {
  const address = useAddress();
  const [live, setLive] = useState<LiveState>("connecting");
  const takers = useRef(new Set<Take>());
  const onChanges = useCallback((take: Take) => {
    takers.current.add(take);
    return () => void takers.current.delete(take);
  }, []);
  useEffect(() => follow((changes) => takers.current.forEach((take) => take(changes)), setLive), []);
  const slice = address.searchParams.get("slice");
  const page = address.pathname === "/console/slice" && slice ? "slice" : (PAGES.find((name) => address.pathname === `/console/${name}`) ?? "today");
  return (
    <>
      <a class="skip" href="#content">Skip to the content</a>
      <header class="top">
        <a class="home" href="/console/"><Mark /> Tidemark</a>
        <nav aria-label="Pages">
          <a href="/console/" aria-current={page === "today" ? "page" : undefined}>Today</a>
          <a href="/console/slices" aria-current={page === "slices" ? "page" : undefined}>Slices</a>
          <a href="/console/graph" aria-current={page === "graph" ? "page" : undefined}>Graph</a>
          <a href="/console/backfills" aria-current={page === "backfills" ? "page" : undefined}>Backfills</a>
          <a href="/console/entities" aria-current={page === "entities" ? "page" : undefined}>Entities</a>
        </nav>
        <OpenSlice />
        <Live state={live} />
        <ThemeButton />
        {who !== "anonymous" && <bdi class="note who" title={`The server knows you as ${who}`}>{who}</bdi>}
        {hasSession && <button type="button" class="quiet" onClick={() => void logOut().then(left, left)}>Log out</button>}
      </header>
      {live === "lost" && <div class="lost" role="alert">The connection to the server is lost. What you see is as it was; the page goes on by itself once the server answers.</div>}
      <main class="page" id="content" tabIndex={-1}>
        {page === "slice" && slice && <SlicePage key={slice} slice={slice} refused={refused} onChanges={onChanges} />}
        {page === "entities" && <EntitiesPage search={address.searchParams.get("search") ?? ""} refused={refused} onChanges={onChanges} />}
        {page === "slices" && <SlicesPage view={viewOf(address)} refused={refused} onChanges={onChanges} />}
        {page === "graph" && <GraphPage view={graphViewOf(address)} refused={refused} onChanges={onChanges} />}
        {page === "backfills" && <BackfillsPage view={backfillViewOf(address)} refused={refused} onChanges={onChanges} />}
        {page === "today" && <TodayPage refused={refused} onChanges={onChanges} />}
      </main>
    </>
  );
}

function OpenSlice() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element).matches?.("input, textarea");
      if ((event.key === "/" && !isTyping) || (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey))) {
        event.preventDefault();
        field.current?.select();
      }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? "";
    if (text) go(text.includes("@") ? slicePath(text) : `/console/entities?search=${encodeURIComponent(text)}`);
    field.current?.blur();
  };
  return (
    <form class="open" role="search" onSubmit={submit}>
      <label>
        <span class="visually-hidden">Open a slice, or find an entity</span>
        <input ref={field} type="search" placeholder="ods_orders@2026-03-29, or a name" spellcheck={false} />
      </label>
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

function Live({ state }: { state: LiveState }) {
  const words = { connecting: "Connecting", live: "Live", lost: "Connection lost" }[state];
  return <span class={`live is-${state}`} role="status">{words}</span>;
}

function ThemeButton() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "auto");
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const next = { auto: "dark", dark: "light", light: "auto" }[theme] ?? "auto";
  return <button type="button" class="quiet" onClick={() => setTheme(next)} title={`Change to ${next}`}>Theme: {theme}</button>;
}

document.addEventListener("click", followLinks);
render(<App />, document.getElementById("app") as HTMLElement);
