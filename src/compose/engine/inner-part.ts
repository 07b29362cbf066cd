/** Parts of a step that it reports itself, for observers. */
import { isObservable, Observable, tap } from 'rxjs';
import { Interrupt } from '../interrupt.js';
import type { InnerPartOptions, StepKind } from '../step.js';
import type { RunContext } from './context.js';
import type { StepWatch, WatchedActivation } from './watch.js';

/** The step that a part belongs to. */
interface PartOwner {
  /** Path from the outermost run, without rounds. */
  readonly place: string;
  readonly context: Pick<RunContext, 'observers' | 'inside' | 'place'>;
  partAt(suffix: string): WatchedActivation;
}

/**
 * Does a piece of work, and tells observers of it as of a step: its beginning before `work` is called, and its end when the value, or all of the
 * stream, that it returned has come. An Observable that is subscribed to again is told of again.
 */
export function innerPart<T>(
  at: PartOwner,
  kind: StepKind,
  name: string,
  input: unknown,
  work: () => T,
  { id, chunks: rule }: InnerPartOptions = {},
): T {
  const { observers } = at.context;
  if (observers === undefined) return work();
  const suffix = id === undefined ? `/${name}` : `#${id}`;
  at.context.inside?.seen(`${at.place}${suffix}`);
  const step = { name, kind, path: `${at.place.slice(at.context.place.length)}${suffix}`, rule };
  const watched = (): StepWatch | undefined => {
    const watch = observers.watchPart(step, at.partAt(suffix));
    watch?.start(input);
    return watch;
  };
  const watch = watched();
  if (watch === undefined) return work();
  let result: T;
  try {
    result = work();
  } catch (error) {
    watch.error(error);
    throw error;
  }
  return watchedWork(result, watch, watched) as T;
}

function watchedWork(result: unknown, first: StepWatch, again: () => StepWatch | undefined): unknown {
  if (isObservable(result)) {
    let unused: StepWatch | undefined = first;
    return new Observable((subscriber) => {
      const watch = unused ?? again();
      unused = undefined;
      if (watch === undefined) return result.subscribe(subscriber);
      subscriber.add(() => watch.closed());
      return failing(watch.outputs(result), watch).subscribe(subscriber);
    });
  }
  if (typeof result !== 'object' || result === null) return ended(result, first);
  if (Symbol.asyncIterator in result) return pulled(result as AsyncIterable<unknown>, first);
  if (!('then' in result) || typeof result.then !== 'function') return ended(result, first);
  return (result as unknown as PromiseLike<unknown>).then(
    (value) => ended(value, first),
    (error: unknown) => {
      first.error(error);
      throw error;
    },
  );
}

function ended(value: unknown, watch: StepWatch): unknown {
  if (value instanceof Interrupt) watch.interrupted();
  else watch.end(value);
  return value;
}

/** Failures are told also where nothing reads what comes out. */
function failing(chunks: Observable<unknown>, watch: StepWatch): Observable<unknown> {
  return chunks.pipe(tap({ error: (error: unknown) => watch.error(error), complete: () => watch.ended() }));
}

async function* pulled(chunks: AsyncIterable<unknown>, watch: StepWatch): AsyncGenerator<unknown> {
  try {
    for await (const chunk of watch.pulledOutputs(chunks)) yield chunk;
    watch.ended();
  } catch (error) {
    watch.error(error);
    throw error;
  } finally {
    watch.closed();
  }
}
