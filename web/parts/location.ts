/** The address of a screen as views read it, and how to leave it. */
import { useSyncExternalStore } from 'react';
import { addressParts } from '../address.js';

interface NavigateOptions {
  /** Takes the place of the present address, so that "back" does not return to it. */
  readonly replace?: boolean;
}

function subscribe(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  addEventListener('popstate', changed);
  return () => {
    removeEventListener('hashchange', changed);
    removeEventListener('popstate', changed);
  };
}

/** Goes to an address, such as `/agents?search=x`. */
export function navigate(to: string, { replace = false }: NavigateOptions = {}): void {
  const url = new URL(location.href);
  url.hash = to;
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** For the router: path and how to leave it. */
export function useHashPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => addressParts().path), navigate];
}
useHashPath.hrefs = (path: string): string => `#${path}`;

/** For the router: the query, without `?`. */
export function useHashQuery(): string {
  return useSyncExternalStore(subscribe, () => addressParts().query);
}

/** Values of a query that are to be others; undefined removes. */
export type QueryChange = Readonly<Record<string, string | number | undefined>>;

/** Changes values of the query. The address is replaced, so that "back" leaves the screen. */
export function changeQuery(wanted: QueryChange): void {
  const { path, query } = addressParts();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, String(value));
  }
  navigate(next.size === 0 ? path : `${path}?${next}`, { replace: true });
}

/** Values of the query, and {@link changeQuery}. */
export function useQueryValues(): [URLSearchParams, typeof changeQuery] {
  return [new URLSearchParams(useHashQuery()), changeQuery];
}
