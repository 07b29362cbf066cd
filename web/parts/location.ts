/** The address of a screen, all of it behind `#`, path and query: `#/agents/a1/runs/r1?at=12`. Any path prefix before it works. */
import { useSyncExternalStore } from 'react';

interface NavigateOptions {
  /** Takes the place of the present address, so that "back" does not return to it. */
  readonly replace?: boolean;
}

function parts(): { readonly path: string; readonly query: string } {
  const [path = '', query = ''] = location.hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return { path: `/${path}`, query };
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
  return [useSyncExternalStore(subscribe, () => parts().path), navigate];
}
useHashPath.hrefs = (path: string): string => `#${path}`;

/** For the router: the query, without `?`. */
export function useHashQuery(): string {
  return useSyncExternalStore(subscribe, () => parts().query);
}

/** Values of the query, and how to change some of them: undefined removes. Changes replace the address. */
export function useQueryValues(): [
  URLSearchParams,
  (change: Readonly<Record<string, string | number | undefined>>) => void,
] {
  const values = new URLSearchParams(useHashQuery());
  const change = (wanted: Readonly<Record<string, string | number | undefined>>) => {
    const { path, query } = parts();
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(wanted)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, String(value));
    }
    navigate(next.size === 0 ? path : `${path}?${next}`, { replace: true });
  };
  return [values, change];
}
