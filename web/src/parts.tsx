// What all pages are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError, Status } from "./api";
import { slicePath } from "./navigation";
import { ago, timeIn, viewerZone } from "./time";

const SHAPES: Record<string, string> = {
  completed: "M3.5 8.5l3 3 6-7",
  failed: "M4 4l8 8M12 4l-8 8",
  waiting: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M8 4.5V8l2.5 1.5",
  ready: "M5.5 3.5v9l7-4.5z",
  launched: "M5.5 3.5v9l7-4.5z",
  running: "M5.5 3.5v9l7-4.5z",
  absent: "M4 8h8",
};

/** A state by word, colour and shape: colour alone tells nobody anything. */
export function State({ of, quiet = false }: { of: string; quiet?: boolean }) {
  return (
    <span class={`state is-${of}${quiet ? " is-quiet" : ""}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[of] ?? "M8 8h.01"} />
      </svg>
      {of}
    </span>
  );
}

/** What nobody may overlook of a slice that is there. */
export function Flags({ status }: { status: Status }) {
  const flags = [
    status.issues.length > 0 && "invalid",
    status.tainted && "tainted",
    status.states.includes("foreign") && "foreign",
    status.states.includes("partial") && "partial",
    status.run_state === "completed" && status.quality === "unknown" && "not checked",
    status.quality === "ignored" && "quality ignored",
  ].filter((flag): flag is string => Boolean(flag));
  return (
    <>
      {flags.map((flag) => (
        <span key={flag} class={`flag${["invalid", "tainted", "foreign"].includes(flag) ? " is-bad" : ""}`}>
          {flag}
        </span>
      ))}
    </>
  );
}

export function SliceLink({ slice, short = false }: { slice: string; short?: boolean }) {
  const [entity, key] = [slice.slice(0, slice.indexOf("@")), slice.slice(slice.indexOf("@") + 1)];
  return (
    <a class="slice-link" href={slicePath(slice)} title={slice}>
      {!short && <bdi>{decode(entity)}</bdi>}
      {!short && <span class="at">@</span>}
      <bdi class="key">{decode(key)}</bdi>
    </a>
  );
}

/** A sentence of the server's: a plain word at its begin gets a capital, and what is to be typed stands out. */
export function Sentence({ text }: { text: string }) {
  const capital = text.replace(/^[a-z](?=[a-z']*[ ,:] ?)/, (letter) => letter.toUpperCase());
  const words = capital.split(/(`[^`]+`)/);
  return <bdi>{words.map((word) => (/^`[^`]+`$/.test(word) ? <code key={word}>{word.slice(1, -1)}</code> : word))}</bdi>;
}

export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A time in a zone; where the viewer's own is another, that stands behind it. */
export function Time({ at, zone, seconds = false }: { at: string; zone: string; seconds?: boolean }) {
  const there = timeIn(zone, at, seconds);
  const here = timeIn(viewerZone, at, seconds);
  const title = here === there ? `${zone}; ${ago(at, Date.now())}` : `${zone}; here ${here} (${viewerZone})`;
  return (
    <time dateTime={at} title={title}>
      {there}
    </time>
  );
}

export function Card({ title, note, children }: { title: string; note?: ComponentChildren; children: ComponentChildren }) {
  const id = `card-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note && <div class="note">{note}</div>}
      </header>
      {children}
    </section>
  );
}

export function Trouble({ error, again }: { error: ApiError; again: () => void }) {
  return (
    <div class="trouble" role="alert">
      <strong>{error.message}</strong> <span>{error.hint}</span>{" "}
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}</span>
      <div class="bone" />
      <div class="bone" />
      <div class="bone is-short" />
    </div>
  );
}

export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    const timer = isDone ? window.setTimeout(() => setDone(false), 1500) : undefined;
    return () => window.clearTimeout(timer);
  }, [isDone]);
  const copy = () => navigator.clipboard.writeText(text()).then(() => setDone(true));
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {isDone ? "Copied" : label}
    </button>
  );
}
