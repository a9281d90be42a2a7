// Every entity with how its slices stand, to find one by any part of its name, layer or owner.
import { useEffect, useMemo } from "preact/hooks";
import type { Catalog, CatalogEntry } from "../api";
import { useAnswer } from "../answer";
import type { Change } from "../live";
import { go } from "../navigation";
import { Loading, SliceLink, Trouble } from "../parts";

const SHOWN = 300;
const FIGURES = ["completed", "failed", "invalid", "tainted", "absent", "running"] as const;

export function EntitiesPage(props: { search: string; refused: () => void; onChanges: (take: (changes: Change[] | null) => void) => () => void }) {
  const { search, refused, onChanges } = props;
  const { data, error, again } = useAnswer<Catalog>("/v1/catalog", refused);
  useEffect(() => {
    let timer: number | undefined;
    const stop = onChanges(() => (timer ??= window.setTimeout(() => ((timer = undefined), again()), 1000)));
    return () => (window.clearTimeout(timer), stop());
  }, [again]);
  useEffect(() => {
    document.title = "Entities · Tidemark";
  }, []);
  const found = useMemo(() => (data?.entities ?? []).filter(matching(search)), [data, search]);
  if (!data) return error ? <Trouble error={error} again={again} /> : <Loading what="entities" />;
  return (
    <article>
      {error && <Trouble error={error} again={again} />}
      <header class="page-head">
        <h1>Entities</h1>
        <label class="filter">
          <span class="visually-hidden">Filter by name, layer or owner</span>
          <input
            type="search"
            placeholder="Filter by name, layer or owner"
            value={search}
            onInput={(event) => history.replaceState(null, "", address(event.currentTarget.value)) ?? dispatchEvent(new PopStateEvent("popstate"))}
            onKeyDown={(event) => event.key === "Enter" && found[0]?.slices.newest && go(`/console/slice?slice=${encodeURIComponent(newest(found[0]))}`)}
          />
        </label>
        <p class="note" role="status">
          {found.length === data.entities.length ? `${found.length}` : `${found.length} of ${data.entities.length}`} entities
        </p>
      </header>
      {found.length === 0 ? <p class="empty">No entity has this in its name, layer or owner.</p> : <EntityTable entries={found} />}
    </article>
  );
}

const address = (search: string) => `/console/entities${search ? `?search=${encodeURIComponent(search)}` : ""}`;
const newest = (entry: CatalogEntry) => `${encodeURIComponent(entry.entity)}@${entry.slices.newest}`;

function matching(search: string): (entry: CatalogEntry) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (entry) => {
    const text = `${entry.entity} ${entry.layer} ${entry.owner} ${entry.kind}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

function EntityTable({ entries }: { entries: CatalogEntry[] }) {
  return (
    <div class="scroll card">
      <table class="entities">
        <thead>
          <tr>
            <th scope="col">Entity</th>
            <th scope="col">Layer</th>
            <th scope="col">Owner</th>
            <th scope="col">Newest slice</th>
            {FIGURES.map((name) => (
              <th key={name} scope="col" class="number">{name}</th>
            ))}
            <th scope="col" class="number">rows</th>
          </tr>
        </thead>
        <tbody>
          {entries.slice(0, SHOWN).map((entry) => (
            <tr key={entry.entity}>
              <th scope="row"><bdi>{entry.entity}</bdi><small>{entry.kind}</small></th>
              <td><bdi>{entry.layer}</bdi></td>
              <td><bdi>{entry.owner}</bdi></td>
              <td>{entry.slices.newest ? <SliceLink slice={newest(entry)} short /> : <span class="more">none yet</span>}</td>
              {FIGURES.map((name) => (
                <td key={name} class={`number${entry.slices[name] && !["completed", "running"].includes(name) ? " is-bad" : ""}`}>
                  {entry.slices[name] || <span class="none">0</span>}
                </td>
              ))}
              <td class="number">{entry.rows === null ? <span class="none">?</span> : entry.rows.toLocaleString("en")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {entries.length > SHOWN && <p class="empty">The first {SHOWN}: filter to see others.</p>}
    </div>
  );
}
