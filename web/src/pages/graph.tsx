// What needs what: by groups or all as one picture, in the colours of a day, now or as it was known at a past time.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EntityGraph, GraphPicture, GraphStates } from "../api";
import { useAnswer } from "../answer";
import { GroupedGraph } from "../graph/grouped";
import { GLYPHS, GraphModel, LETTER_CLASSES } from "../graph/model";
import { WholeGraph } from "../graph/whole";
import type { Change } from "../live";
import { Loading, Trouble } from "../parts";

const DAYS = 60;
const DAY_MS = 86_400_000;
const NOBODY: ReadonlySet<number> = new Set();

type View = { by: string; search: string; open: string[]; whole: boolean; at: string; asOf: string; entity: string; to: string };

export function graphViewOf({ searchParams: asked }: URL): View {
  const of = (name: string) => asked.get(name) ?? "";
  return { by: of("by") || "layer", search: of("search"), open: asked.getAll("open"), whole: asked.has("whole"), at: of("at"), asOf: of("as_of"), entity: of("entity"), to: of("to") };
}

function addressOf({ by, search, open, whole, at, asOf, entity, to }: View): string {
  const told = new URLSearchParams({ by, ...(search && { search }), ...(whole && { whole: "1" }), ...(at && { at }), ...(asOf && { as_of: asOf }), ...(entity && { entity }), ...(to && { to }) });
  open.forEach((value) => told.append("open", value));
  return `/console/graph?${told}`;
}

function show(view: View): void {
  history.replaceState(null, "", addressOf(view));
  dispatchEvent(new PopStateEvent("popstate"));
}

const query = (parts: Record<string, string>) => new URLSearchParams(Object.entries(parts).filter(([, value]) => value)).toString();
const today = () => new Date().toISOString().slice(0, 10);
const plus = (day: string, days: number) => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

export function GraphPage(props: { view: View; refused: () => void; onChanges: (take: (changes: Change[] | null) => void) => () => void }) {
  const { view, refused, onChanges } = props;
  const asOf = view.asOf && `${view.asOf}Z`;
  const picture = useAnswer<GraphPicture>(`/v1/graph/picture?${query({ as_of: asOf })}`, refused);
  const told = useAnswer<GraphStates>(`/v1/graph/states?${query({ at: view.at, as_of: asOf })}`, refused);
  const states = useLast(told.data);
  useEffect(() => {
    let timer: number | undefined;
    const stop = onChanges(() => (timer ??= window.setTimeout(() => ((timer = undefined), told.again()), 1000)));
    return () => (window.clearTimeout(timer), stop());
  }, [told.again]);
  useEffect(() => {
    document.title = "Graph · Tidemark";
  }, []);
  const model = useMemo(() => picture.data && new GraphModel(picture.data), [picture.data]);
  const matching = useMemo(() => model?.matching(view.search), [model, view.search]);
  const way = useAnswer<EntityGraph>(view.to && `/v1/graph?${query({ entity: view.entity, to: view.to })}`, refused);
  const chosen = useMemo(() => chosenOf(model, view, way.data), [model, view.entity, view.to, way.data]);
  const open = useMemo(() => new Set(view.open), [view.open.join("\n")]);
  const select = (at: number) => model && show({ ...view, entity: model.name(at), to: "" });
  const toggle = (value: string) => show({ ...view, open: open.has(value) ? view.open.filter((other) => other !== value) : [...view.open, value] });
  const error = picture.error ?? told.error;
  const shown = { letters: states?.words ?? {}, states: states?.states.length === model?.count ? (states?.states ?? "") : "" };
  return (
    <article class="graph-page">
      {error && <Trouble error={error} again={() => (picture.again(), told.again())} />}
      <header class="page-head">
        <h1>Graph</h1>
        <label class="filter">
          <span class="visually-hidden">Filter by name, layer, owner or tag</span>
          <input type="search" placeholder="Filter by name, layer, owner or tag=value" value={view.search} onInput={(event) => show({ ...view, search: event.currentTarget.value })} />
        </label>
        <label class="by">by <select value={view.by} disabled={view.whole} onChange={(event) => show({ ...view, by: event.currentTarget.value, open: [] })}>
          {(picture.data?.facets ?? [{ name: view.by }]).map(({ name }) => <option key={name} value={name}>{name.replace(/^tag /, "")}</option>)}
        </select></label>
        <span class="zooms" role="group" aria-label="Show">
          <button type="button" class="quiet" aria-pressed={!view.whole} onClick={() => show({ ...view, whole: false })}>groups</button>
          <button type="button" class="quiet" aria-pressed={view.whole} onClick={() => show({ ...view, whole: true })}>all entities</button>
        </span>
        {model && matching && <p class="note" role="status">{count(model, matching)}</p>}
      </header>
      <Times view={view} zoneDay={states?.at ?? ""} />
      {!model || !matching ? !error && <Loading what="the graph" /> : model.count === 0 ? <p class="empty">{view.asOf ? "No entity had been computed by then." : "The project has no entities."}</p> : (
        <div class="with-panel">
          {view.whole ? <WholeGraph key={view.asOf} day={states?.at ?? ""} model={model} matching={matching} states={shown.states} chosen={chosen} select={select} /> : <GroupedGraph {...shown} model={model} by={view.by} matching={matching} open={open} chosen={chosen} toggle={toggle} select={select} />}
          {view.entity && <Panel view={view} model={model} state={shown.letters[shown.states[model.number.get(view.entity) ?? -1] ?? ""] ?? ""} day={states?.at ?? ""} way={view.to ? way : null} refused={refused} />}
        </div>
      )}
      {states && <Legend words={states.words} />}
    </article>
  );
}

/** The last answer stays while the next one is on its way: a picture that blinks cannot be read. */
function useLast<T>(data: T | null): T | null {
  const last = useRef<T | null>(null);
  last.current = data ?? last.current;
  return last.current;
}

function count(model: GraphModel, matching: Uint8Array): string {
  const found = matching.reduce((sum, is) => sum + is, 0);
  const all = model.count.toLocaleString("en");
  return `${found === model.count ? all : `${found.toLocaleString("en")} of ${all}`} entities, ${model.picture.up.length.toLocaleString("en")} dependencies`;
}

function chosenOf(model: GraphModel | null, view: View, way: EntityGraph | null): ReadonlySet<number> {
  if (!model || !view.entity) return NOBODY;
  const names = view.to && way ? way.entities.map(({ name }) => name) : [view.entity];
  return new Set(names.map((name) => model.number.get(name) ?? -1).filter((at) => at >= 0));
}

/** The day of business time by a slider, and the past time at which all this was known. */
function Times({ view, zoneDay }: { view: View; zoneDay: string }) {
  const day = view.at || zoneDay || today();
  const [last, setLast] = useState("");
  const end = last || (plus(day, DAYS / 2) < today() ? plus(day, DAYS / 2) : today());
  useEffect(() => {
    if (!last && zoneDay) setLast(end);
  }, [zoneDay]);
  const back = Math.min(DAYS, Math.max(0, Math.round((Date.parse(end) - Date.parse(day)) / DAY_MS)));
  const to = (at: string) => show({ ...view, at });
  return (
    <div class="times">
      <label>Day <input type="date" value={day} onChange={(event) => event.currentTarget.value && (setLast(""), to(event.currentTarget.value))} /></label>
      <label class="slide">
        <span class="visually-hidden">Day of business time, {plus(end, -DAYS)} to {end}</span>
        <input type="range" min={-DAYS} max={0} value={-back} aria-valuetext={day} onInput={(event) => to(plus(end, Number(event.currentTarget.value)))} />
      </label>
      <label>As known at (UTC) <input type="datetime-local" value={view.asOf} onChange={(event) => show({ ...view, asOf: event.currentTarget.value })} /></label>
      {view.asOf && <button type="button" class="quiet" onClick={() => show({ ...view, asOf: "" })}>Now</button>}
    </div>
  );
}

function Panel(props: { view: View; model: GraphModel; state: string; day: string; way: { data: EntityGraph | null; error: { message: string; hint: string } | null } | null; refused: () => void }) {
  const { view, model, state, day, way, refused } = props;
  const near = useAnswer<EntityGraph>(`/v1/graph?${query({ entity: view.entity, up: "1", down: "1" })}`, refused);
  const at = model.number.get(view.entity);
  const arrows = near.data?.dependencies ?? [];
  const goto = (entity: string) => show({ ...view, entity, to: "" });
  return (
    <aside class="card panel" aria-label="The chosen entity">
      <header>
        <h2><bdi>{view.entity}</bdi></h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => show({ ...view, entity: "", to: "" })}>✕</button>
      </header>
      {at === undefined && <p class="problem">The graph has no such entity{view.asOf && " at this time"}.</p>}
      <dl class="facts">
        {state && <div><dt>{day}</dt><dd>{state}</dd></div>}
        {at !== undefined && model.facetsOf(at).map(({ name, value }) => <div key={name}><dt>{name.replace(/^tag /, "")}</dt><dd><bdi>{value}</bdi></dd></div>)}
      </dl>
      <p><a href={`/console/slices?${query({ search: view.entity, until: day })}`}>Slices over time</a></p>
      <Near title="Reads" names={arrows.filter(({ down, up }) => down === view.entity && up !== down).map(({ up, offset, strength }) => ({ name: up, offset, strength }))} goto={goto} />
      <Near title="Read by" names={arrows.filter(({ up, down }) => up === view.entity && up !== down).map(({ down, offset, strength }) => ({ name: down, offset, strength }))} goto={goto} />
      <form onSubmit={(event) => (event.preventDefault(), show({ ...view, to: (new FormData(event.currentTarget).get("to") as string).trim() }))}>
        <label>All ways from here down to <input name="to" key={view.to} defaultValue={view.to} placeholder="an entity" spellcheck={false} maxLength={4000} /></label>
      </form>
      {way?.error && <p class="problem">{way.error.message} {way.error.hint}</p>}
      {way?.data && (way.data.entities.length === 0 ? <p role="status" class="way">No way leads there.</p> : (
        <div role="status" class="way">
          <p>{way.data.entities.length} entities on the ways:</p>
          <ol>{way.data.entities.slice(0, 60).map(({ name }) => <li key={name}><bdi>{name}</bdi></li>)}</ol>
        </div>
      ))}
    </aside>
  );
}

function Near({ title, names, goto }: { title: string; names: { name: string; offset: string; strength: string }[]; goto: (name: string) => void }) {
  return (
    <>
      <h3>{title} {names.length === 0 && <span class="none">nothing</span>}</h3>
      <ul>
        {names.slice(0, 60).map(({ name, offset, strength }, index) => (
          <li key={index}><button type="button" class="link" onClick={() => goto(name)}><bdi>{name}</bdi></button> <span class="note">{offset}{strength !== "strong" && `, ${strength}`}</span></li>
        ))}
        {names.length > 60 && <li class="more">and {names.length - 60} more</li>}
      </ul>
    </>
  );
}

const Legend = ({ words }: { words: Record<string, string> }) => (
  <p class="note legend">
    {Object.entries(words).map(([letter, word]) => (
      <span key={letter}><i class={`cell is-${LETTER_CLASSES[letter]}`} aria-hidden="true">{GLYPHS[letter]}</i> {word}</span>
    ))}
    <span>The state at the end of the day, of the slice that contains it.</span>
  </p>
);
