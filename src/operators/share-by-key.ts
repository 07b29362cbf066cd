import { defer, type Observable, Subscription, type Unsubscribable, using } from 'rxjs';

/** How resources are told apart and opened. */
export interface SharedResources<P, R extends Unsubscribable> {
  /** Places of the same key share one resource. */
  keyOf(place: P): string;
  open(place: P): R;
}

/** Lets work use the resource of a place; see {@link shareByKey}. */
export type UseShared<P, R> = <T>(place: P, work: (resource: R) => Observable<T>) => Observable<T>;

/**
 * Shares resources among those who use them at the same time: the first user of a key opens its resource, the last one closes it.
 *
 * ```text
 * user 1    --a--b--|
 * user 2    -----c-----d--!
 * resource  ^-------------!     (open for their key)
 * ```
 *
 * `open` is called when the first user subscribes; its resource is unsubscribed when no user is left, whether they completed,
 * failed or were unsubscribed. Cold: a user counts from its subscription on. Errors: those of `open` and of the work.
 */
export function shareByKey<P, R extends Unsubscribable>({ keyOf, open }: SharedResources<P, R>): UseShared<P, R> {
  const entries = new Map<string, Entry<R>>();
  return (place, work) =>
    using(
      () => enter(entries, keyOf(place), () => open(place)),
      // Deferred, so that work which throws at once still leaves.
      (used) => defer(() => work((used as Used<R>).resource)),
    );
}

interface Entry<R> {
  readonly resource: R;
  users: number;
}

type Used<R> = Subscription & { readonly resource: R };

function enter<R extends Unsubscribable>(entries: Map<string, Entry<R>>, key: string, open: () => R): Used<R> {
  const entry = entries.get(key) ?? { resource: open(), users: 0 };
  entries.set(key, entry);
  entry.users += 1;
  const leave = new Subscription(() => {
    entry.users -= 1;
    if (entry.users > 0) return;
    entries.delete(key);
    entry.resource.unsubscribe();
  });
  return Object.assign(leave, { resource: entry.resource });
}
