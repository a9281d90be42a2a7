// One subscription a page to what happens to slices. The browser opens it again by itself, where it was.
export type Change = { slice: string; event: string; run_state: string };
export type LiveState = "connecting" | "live" | "lost";

const SILENT_MS = 15_000; // the server says every five seconds that it is there
const LOST_MS = 2_500; // a stream that ends and begins again within this time is nothing to speak of
const AGAIN_MS = 2_000;

/** Calls `changed` with what happened, null where too much did or some of it may be missing; ends by the result. */
export function follow(changed: (changes: Change[] | null) => void, state: (now: LiveState) => void): () => void {
  let source: EventSource | undefined;
  let lost: number | undefined;
  let silent: number | undefined;
  let again: number | undefined;
  let isLost = false;

  const isHere = () => {
    window.clearTimeout(lost);
    window.clearTimeout(silent);
    lost = undefined;
    silent = window.setTimeout(open, SILENT_MS);
    state("live");
    if (isLost) changed(null);
    isLost = false;
  };
  const isGone = () => {
    lost ??= window.setTimeout(() => {
      isLost = true;
      state("lost");
    }, LOST_MS);
    // A refused connection is not tried again by the browser.
    if (source?.readyState === EventSource.CLOSED) {
      window.clearTimeout(again);
      again = window.setTimeout(open, AGAIN_MS);
    }
  };
  function open() {
    source?.close();
    source = new EventSource("/v1/changes");
    source.addEventListener("here", isHere);
    source.addEventListener("reset", () => (isHere(), changed(null)));
    source.addEventListener("changes", (event) => {
      isHere();
      changed((JSON.parse(event.data as string) as { changes: Change[] }).changes);
    });
    source.onerror = isGone;
  }
  // The browser may keep a page that was left, with its subscription: a server takes only few connections of one browser.
  const isLeft = () => source?.close();
  const isBack = (event: PageTransitionEvent) => event.persisted && open();
  addEventListener("pagehide", isLeft);
  addEventListener("pageshow", isBack);
  open();
  return () => {
    removeEventListener("pagehide", isLeft);
    removeEventListener("pageshow", isBack);
    source?.close();
    [lost, silent, again].forEach((timer) => window.clearTimeout(timer));
  };
}
