// Entities by business time: each cell shows the worst of the slices that begin in its column.
import { useEffect } from "preact/hooks";
import type { Matrix, MatrixCell, MatrixRow } from "../api";
import { useAnswer } from "../answer";
import type { Change } from "../live";
import { slicePath } from "../navigation";
import { decode, Loading, Trouble } from "../parts";
import { impactPath } from "./backfills";

const ZOOMS = ["hour", "day", "month", "year"] as const;
type Zoom = (typeof ZOOMS)[number];
const COLUMNS: Record<Zoom, number> = { hour: 24, day: 31, month: 24, year: 10 };
const GLYPHS: Record<string, string> = { completed: "✓", failed: "✕", waiting: "…", ready: "▸", launched: "▸", running: "▸", absent: "–", "to come": "·" };
const BAD = ["invalid", "tainted", "foreign"];

type View = { search: string; by: Zoom; until: string };

export function viewOf(address: URL): View {
  const by = address.searchParams.get("by") as Zoom;
  return {
    search: address.searchParams.get("search") ?? "",
    by: ZOOMS.includes(by) ? by : "day",
    until: address.searchParams.get("until") ?? "",
  };
}

const query = ({ search, by, until }: View) =>
  new URLSearchParams({ ...(search && { search }), by, ...(until && { until }) }).toString();

function show(view: View): void {
  history.replaceState(null, "", `/console/slices?${query(view)}`);
  dispatchEvent(new PopStateEvent("popstate"));
}

export function SlicesPage(props: { view: View; refused: () => void; onChanges: (take: (changes: Change[] | null) => void) => () => void }) {
  const { view, refused, onChanges } = props;
  const { data, error, again } = useAnswer<Matrix>(`/v1/matrix?${query(view)}&columns=${COLUMNS[view.by]}`, refused);
  useEffect(() => {
    let timer: number | undefined;
    const stop = onChanges(() => (timer ??= window.setTimeout(() => ((timer = undefined), again()), 1000)));
    return () => (window.clearTimeout(timer), stop());
  }, [again]);
  useEffect(() => {
    document.title = "Slices · Tidemark";
  }, []);
  return (
    <article class="matrix-page">
      {error && <Trouble error={error} again={again} />}
      <header class="page-head">
        <h1>Slices</h1>
        <label class="filter">
          <span class="visually-hidden">Filter by name, layer, owner or tag</span>
          <input type="search" placeholder="Filter by name, layer, owner or tag" value={view.search} onInput={(event) => show({ ...view, search: event.currentTarget.value })} />
        </label>
        <span class="zooms" role="group" aria-label="A column is">
          {ZOOMS.map((zoom) => (
            <button key={zoom} type="button" class="quiet" aria-pressed={zoom === view.by} onClick={() => show({ ...view, by: zoom, until: "" })}>{zoom}</button>
          ))}
        </span>
        <span class="moves">
          <button type="button" class="quiet" disabled={!data} onClick={() => data && show({ ...view, until: data.columns[0] ?? "" })}>Earlier</button>
          <button type="button" class="quiet" disabled={!view.until} onClick={() => show({ ...view, until: "" })}>Now</button>
        </span>
        {data && <p class="note" role="status">{data.rows.length === data.found ? data.found : `the first ${data.rows.length} of ${data.found}`} {data.found === 1 ? "entity" : "entities"}</p>}
      </header>
      {!data ? !error && <Loading what="slices" /> : data.found === 0 ? <p class="empty">No entity has this in its name, layer, owner or tags.</p> : <MatrixTable told={data} />}
      {data && data.too_fine.length > 0 && <p class="note">Too many slices for columns of a {view.by}: <bdi>{data.too_fine.map(decode).join(", ")}</bdi>. Choose shorter columns.</p>}
      <Legend />
    </article>
  );
}

function MatrixTable({ told }: { told: Matrix }) {
  return (
    <div class="scroll card">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">Entity</th>
            {told.columns.map((key, at) => (
              <th key={key} scope="col" title={key}>{label(key, told.columns[at - 1])}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {told.rows.map((row) => (
            <tr key={row.entity}>
              <th scope="row" title={`${decode(row.entity)}, each ${row.period}, layer ${row.layer}: what these slices touch`}><a href={impactPath(`table=${row.entity}&&dt=${compact(told.columns[0])}..${compact(told.columns.at(-1))}`)}><bdi>{row.entity}</bdi></a></th>
              {row.cells.map((cell, at) => <td key={told.columns[at]}>{cell && <Cell cell={cell} row={row} />}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const compact = (key: string | undefined) => (key ?? "").replace(/\D/g, "");

/** What differs from the column before: the month and day of the first and of each new month, then the day or hour. */
function label(key: string, before: string | undefined): string {
  if (key.length <= 7) return key;
  const [date, hour] = key.split("T");
  const [dateBefore] = (before ?? "").split("T");
  if (hour !== undefined) return date === dateBefore ? hour : `${date?.slice(5)} ${hour}`;
  return key.slice(0, 7) === before?.slice(0, 7) ? key.slice(8) : key.slice(5);
}

function Cell({ cell, row }: { cell: MatrixCell; row: MatrixRow }) {
  const isBad = !["failed", "absent"].includes(cell.state) && cell.flags.some((flag) => BAD.includes(flag));
  const isLate = cell.flags.includes("late");
  const many = cell.slices > 1 ? `${cell.completed} of ${cell.slices} slices completed, ` : "";
  const told = `${decode(cell.slice)}: ${many}${[cell.state, ...cell.flags].join(", ")}`;
  return (
    <a class={`cell is-${cell.state.replace(" ", "-")}${isBad ? " is-flagged" : ""}${isLate ? " is-late" : ""}`} href={slicePath(cell.slice)} title={told} aria-label={told} data-entity={row.entity}>
      {isBad ? "!" : (GLYPHS[cell.state] ?? "?")}
    </a>
  );
}

const Legend = () => (
  <p class="note legend">
    {["completed", "running", "waiting", "failed", "absent", "to come"].map((state) => (
      <span key={state}><i class={`cell is-${state.replace(" ", "-")}`} aria-hidden="true">{GLYPHS[state]}</i> {state}</span>
    ))}
    <span><i class="cell is-completed is-flagged" aria-hidden="true">!</i> invalid, tainted or foreign</span>
    <span><i class="cell is-waiting is-late" aria-hidden="true">…</i> late</span>
    <span>A cell opens the worst slice of its column.</span>
  </p>
);
