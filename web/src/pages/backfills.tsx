// What a repair of slices touches, its plan, and the backfills that are under way: follow, pause, resume, cancel.
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, type Backfill, type BackfillPage, type Backfills, type Impact, post } from "../api";
import { useAnswer } from "../answer";
import type { Change } from "../live";
import { go } from "../navigation";
import { Card, decode, Loading, SliceLink, State, Trouble } from "../parts";
import { ago, timeIn, viewerZone } from "../time";
import { ComputeAgain } from "./again";

const SHOWN = 300;
const OPEN = ["pending", "asking", "requested"];
const BAD = ["failed", "blocked"];
const ACTIONS: Record<string, string[]> = { planned: ["approve", "cancel"], running: ["pause", "cancel"], paused: ["resume", "cancel"] };

type View = { subject: string; number: string };
type Subscribe = (take: (changes: Change[] | null) => void) => () => void;

export const backfillViewOf = ({ searchParams: asked }: URL): View => ({ subject: asked.get("subject") ?? "", number: asked.get("number") ?? "" });
export const impactPath = (subject: string) => `/console/backfills?subject=${encodeURIComponent(subject)}`;

export function BackfillsPage({ view, refused, onChanges }: { view: View; refused: () => void; onChanges: Subscribe }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = "Backfills · Tidemark";
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const subject = field.current?.value.trim() ?? "";
    go(subject ? impactPath(subject) : "/console/backfills");
  };
  return (
    <article class="backfills-page">
      <header class="page-head">
        <h1>Backfills</h1>
        <form class="filter" onSubmit={submit}>
          <label>
            <span class="visually-hidden">See what slices touch</span>
            <input ref={field} key={view.subject} type="search" defaultValue={view.subject} placeholder="ods_orders@2026-03-29, or table=ods_orders&&dt=20260301..20260329" spellcheck={false} maxLength={4000} />
          </label>
        </form>
        <p class="note">Enter shows what these slices touch.</p>
      </header>
      {view.subject && <ImpactOf key={view.subject} subject={view.subject} refused={refused} onChanges={onChanges} />}
      {view.number && <OneBackfill key={view.number} number={view.number} refused={refused} onChanges={onChanges} />}
      <Newest refused={refused} onChanges={onChanges} />
    </article>
  );
}

/** Asks again at most once a second when slices have changed. */
function useLive(again: () => void, onChanges: Subscribe): void {
  useEffect(() => {
    let timer: number | undefined;
    const stop = onChanges(() => (timer ??= window.setTimeout(() => ((timer = undefined), again()), 1000)));
    return () => (window.clearTimeout(timer), stop());
  }, [again]);
}

function ImpactOf({ subject, refused, onChanges }: { subject: string; refused: () => void; onChanges: Subscribe }) {
  const { data, error, again } = useAnswer<Impact>(`/v1/impact?subject=${encodeURIComponent(subject)}`, refused);
  useLive(again, onChanges);
  if (!data) return error ? <Trouble error={error} again={again} /> : <Loading what="the impact" />;
  const needs = ["clear", "start", "nothing"].map((need) => `${data.downstream.filter((each) => each.need === need).length.toLocaleString("en")} ${WORDS[need]}`);
  return (
    <Card title="Impact" note={data.causes.length > 0 && <ComputeAgain slice={subject} />}>
      {error && <Trouble error={error} again={again} />}
      <p class="impact-of">
        {data.causes.length.toLocaleString("en")} {data.causes.length === 1 ? "slice" : "slices"}: {data.causes.slice(0, 4).map((slice) => <span key={slice}><SliceLink slice={slice} /> </span>)}
        {data.causes.length > 4 && "…"}
      </p>
      <p role="status">{data.downstream.length === 0 ? "Nothing was computed from them." : `${data.downstream.length.toLocaleString("en")} slices are computed from them: ${needs.join(", ")}.`}</p>
      {data.downstream.length > 0 && (
        <div class="scroll">
          <table>
            <thead><tr><th scope="col">Slice</th><th scope="col">State</th><th scope="col">Needs</th><th scope="col">Why</th></tr></thead>
            <tbody>
              {data.downstream.slice(0, SHOWN).map((each) => (
                <tr key={each.slice}>
                  <th scope="row"><SliceLink slice={each.slice} /></th>
                  <td><State of={each.run_state} quiet />{each.tainted && <span class="flag is-bad">tainted</span>}</td>
                  <td>{WORDS[each.need] ?? each.need}</td>
                  <td><bdi>{each.because}</bdi></td>
                </tr>
              ))}
            </tbody>
          </table>
          {data.downstream.length > SHOWN && <p class="empty">The first {SHOWN}.</p>}
        </div>
      )}
    </Card>
  );
}

const WORDS: Record<string, string> = { clear: "to compute again", start: "to start", nothing: "need nothing" };

function Newest({ refused, onChanges }: { refused: () => void; onChanges: Subscribe }) {
  const { data, error, again } = useAnswer<Backfills>("/v1/backfills", refused);
  useLive(again, onChanges);
  if (!data) return error ? <Trouble error={error} again={again} /> : <Loading what="backfills" />;
  return (
    <Card title="Newest backfills">
      {error && <Trouble error={error} again={again} />}
      {data.backfills.length === 0 ? <p class="empty">No backfill was planned yet.</p> : (
        <div class="scroll">
          <table class="backfills">
            <thead><tr><th scope="col">Backfill</th><th scope="col">Phase</th><th scope="col">Slices</th><th scope="col">By</th><th scope="col">Why</th><th scope="col">Planned</th></tr></thead>
            <tbody>
              {data.backfills.map((each) => (
                <tr key={each.number}>
                  <th scope="row"><a href={`/console/backfills?number=${each.number}`}>{each.number}: <bdi>{decode(each.asked)}</bdi></a></th>
                  <td><Phase of={each.phase} /></td>
                  <td><Done of={each} /></td>
                  <td><bdi>{each.who}</bdi></td>
                  <td><bdi>{each.why}</bdi></td>
                  <td><time dateTime={each.planned_at} title={timeIn(viewerZone, each.planned_at)}>{ago(each.planned_at, Date.now())}</time></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function Phase({ of }: { of: string }) {
  const kind = { done: "is-good", running: "is-work", planned: "is-warm", paused: "is-warm", cancelling: "is-warm" }[of] ?? "";
  return <span class={`flag ${kind}`}>{of}</span>;
}

/** How many slices are over, as a bar and in words. */
function Done({ of }: { of: Backfill }) {
  const all = Object.values(of.slices).reduce((sum, many) => sum + many, 0);
  const open = OPEN.reduce((sum, word) => sum + (of.slices[word] ?? 0), 0);
  const words = Object.entries(of.slices).map(([word, many]) => `${many.toLocaleString("en")} ${word}`).join(", ");
  return (
    <span class={`done-share${BAD.some((word) => of.slices[word]) ? " is-bad" : ""}`}>
      <progress max={Math.max(all, 1)} value={all - open} aria-label={words} /> {words}
    </span>
  );
}

function OneBackfill({ number, refused, onChanges }: { number: string; refused: () => void; onChanges: Subscribe }) {
  const { data, error, again } = useAnswer<BackfillPage>(`/v1/backfills/${encodeURIComponent(number)}?limit=${SHOWN}`, refused);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [isActing, setActing] = useState(false);
  useLive(again, onChanges);
  const act = (action: string, body: object = {}) => {
    setActing(true);
    setFailed(null);
    post(`/v1/backfills/${encodeURIComponent(number)}/${action}`, body).then(again, setFailed).finally(() => setActing(false));
  };
  if (!data) return error ? <Trouble error={error} again={again} /> : <Loading what="the backfill" />;
  const total = Object.values(data.slices).reduce((sum, many) => sum + many, 0);
  return (
    <Card title={`Backfill ${data.number}`} note={<Phase of={data.phase} />}>
      <p><bdi>{decode(data.asked)}</bdi>, by <bdi>{data.who}</bdi>{data.why && <>: <bdi>{data.why}</bdi></>}</p>
      <p role="status"><Done of={data} /></p>
      {(failed ?? error) && <p class="problem" role="alert">{(failed ?? error)?.message} {(failed ?? error)?.hint}</p>}
      <div class="choices acts">
        {(ACTIONS[data.phase] ?? []).map((action) => (
          <button key={action} type="button" class={action === "approve" || action === "resume" ? "primary" : ""} disabled={isActing} onClick={() => act(action)}>{LABELS[action]}</button>
        ))}
      </div>
      {(data.slices["asking"] ?? 0) > 0 && (
        <div class="choices acts">
          <p>Inputs of {data.slices["asking"]} slices with the policy <code>ask</code> have changed:</p>
          <button type="button" disabled={isActing} onClick={() => act("decide", { rebuild: true })}>Rebuild them</button>
          <button type="button" disabled={isActing} onClick={() => act("decide", { rebuild: false })}>Keep them</button>
        </div>
      )}
      <div class="scroll">
        <table class="progress">
          <thead><tr><th scope="col">Slice</th><th scope="col" class="number">Wave</th><th scope="col">Progress</th><th scope="col">Why</th></tr></thead>
          <tbody>
            {data.progress.map((each) => (
              <tr key={each.slice}>
                <th scope="row"><SliceLink slice={each.slice} /></th>
                <td class="number">{each.wave}</td>
                <td class={BAD.includes(each.progress) ? "problem" : undefined}>{each.progress}</td>
                <td><bdi>{each.why}</bdi>{each.after !== null && <> after <a href={`/console/backfills?number=${each.after}`}>backfill {each.after}</a></>}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {total > data.progress.length && <p class="empty">The first {data.progress.length} of {total.toLocaleString("en")}.</p>}
      </div>
    </Card>
  );
}

const LABELS: Record<string, string> = { approve: "Begin", pause: "Pause", resume: "Resume", cancel: "Cancel the backfill" };
