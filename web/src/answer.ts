// A question to the server that is asked again when something happens; what was known stays while it is.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "./api";

export type Answer<T> = { data: T | null; error: ApiError | null; at: number; again: () => void };

/** The answer of a path; an empty path asks nothing. */
export function useAnswer<T>(path: string, refused: () => void): Answer<T> {
  const [told, setTold] = useState<{ path: string; data: T | null; error: ApiError | null; at: number }>({
    path,
    data: null,
    error: null,
    at: 0,
  });
  const round = useRef(0);
  const again = useCallback(() => {
    if (!path) return;
    const mine = ++round.current;
    get<T>(path).then(
      (data) => mine === round.current && setTold({ path, data, error: null, at: Date.now() }),
      (error: ApiError) => {
        if (mine !== round.current) return;
        if (error.status === 401) refused();
        setTold((before) => ({ path, data: before.path === path ? before.data : null, error, at: before.at }));
      },
    );
  }, [path]);
  useEffect(again, [again]);
  const isOfPath = told.path === path;
  return { data: isOfPath ? told.data : null, error: isOfPath ? told.error : null, at: told.at, again };
}
