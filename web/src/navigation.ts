// Pages have addresses with all that they show, so that each can be sent to a colleague.
import { useEffect, useState } from "preact/hooks";

export const slicePath = (slice: string) => `/console/slice?slice=${encodeURIComponent(slice)}`;

export function go(path: string): void {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
  scrollTo(0, 0);
}

export function useAddress(): URL {
  const [address, setAddress] = useState(location.href);
  useEffect(() => {
    const moved = () => setAddress(location.href);
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, []);
  return new URL(address);
}

/** A click on a link of ours changes the page without loading it; new tabs and other sites are the browser's. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.("a");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.target || link.origin !== location.origin || event.defaultPrevented) return;
  if (!link.pathname.startsWith("/console/")) return;
  event.preventDefault();
  go(link.href);
}
