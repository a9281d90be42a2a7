// Compute a slice again: first what that would touch and how long it takes, then the decision of a person.
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, type PlannedBackfill, post } from "../api";
import { decode, SliceLink } from "../parts";

const BACKFILLS = "/v1/backfills";
const SHOWN = 12;

export function ComputeAgain({ slice }: { slice: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet again" onClick={() => setOpen(true)}>
        Compute again…
      </button>
      {isOpen && <Preview slice={slice} close={() => setOpen(false)} />}
    </>
  );
}

function Preview({ slice, close }: { slice: string; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [planned, setPlanned] = useState<PlannedBackfill | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [why, setWhy] = useState("");
  const [isAsking, setAsking] = useState(false);
  const key = useRef(`console-${Date.now()}-${Math.random().toString(36).slice(2)}`);
  const ask = (order: Record<string, unknown>) => {
    setAsking(true);
    setError(null);
    post<PlannedBackfill>(BACKFILLS, { subject: slice, ...order })
      .then(setPlanned, setError)
      .finally(() => setAsking(false));
  };
  useEffect(() => {
    dialog.current?.showModal();
    ask({ dry_run: true });
  }, []);
  const plan = (approve: boolean) => ask({ who: "console", why, approve, event_id: key.current });
  const isDone = planned?.number != null;
  return (
    <dialog ref={dialog} class="card" aria-labelledby="again-title" onClose={close}>
      <h2 id="again-title">Compute <bdi>{decode(slice)}</bdi> again</h2>
      {!planned && !error && <p role="status">Working out what that touches…</p>}
      {error && <p class="problem" role="alert">{error.message} {error.hint}</p>}
      {planned && !isDone && <Touched planned={planned} />}
      {isDone && (
        <p role="status" class="done">
          <a href={`/console/backfills?number=${planned.number}`}>Backfill {planned.number}</a> is {planned.phase}.
        </p>
      )}
      {planned && !isDone && (
        <label>
          Why
          <input value={why} onInput={(event) => setWhy(event.currentTarget.value)} placeholder="Kept with the backfill" maxLength={4000} />
        </label>
      )}
      <div class="choices">
        {planned && !isDone && <button type="button" class="primary" disabled={isAsking} onClick={() => plan(true)}>Begin now</button>}
        {planned && !isDone && <button type="button" disabled={isAsking} onClick={() => plan(false)}>Only plan it</button>}
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{isDone ? "Close" : "Cancel"}</button>
      </div>
    </dialog>
  );
}

function Touched({ planned }: { planned: PlannedBackfill }) {
  const { slices, waves, runs, estimate } = planned;
  const others = Object.entries(planned.also_in);
  return (
    <>
      <p>
        {count(slices.length, "slice")} in {count(waves, "wave")}, {count(runs, "run")}: {duration(estimate.p50_seconds)} as a rule,{" "}
        {duration(estimate.p90_seconds)} in one of ten cases.
      </p>
      {others.length > 0 && <p class="note">Goes on already: {others.map(([number, many]) => `${many} of them in backfill ${number}`).join(", ")}.</p>}
      <ul class="touched">
        {slices.slice(0, SHOWN).map((each) => (
          <li key={each.slice}>
            <SliceLink slice={each.slice} /> <span class="note">wave {each.wave}{each.policy !== "auto" && `, ${each.policy}`}</span>
          </li>
        ))}
        {slices.length > SHOWN && <li class="more">and {slices.length - SHOWN} more</li>}
      </ul>
    </>
  );
}

const count = (many: number, word: string) => `${many.toLocaleString("en")} ${word}${many === 1 ? "" : "s"}`;
const duration = (seconds: number) => (seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);
