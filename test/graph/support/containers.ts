/** A container for tests: passes one after the other or side by side, kept over resumes by their keys. */
import { concatMap, defer, from, map, mergeMap, Observable, of, reduce, takeWhile } from 'rxjs';
import type { Activation, BodyEnd, NodeFunction } from '../../../src/graph/node.js';
import { interrupt, type NodeEvent, settled } from '../../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../../src/json.js';

export interface PassesOptions {
  readonly rounds: number;
  readonly isParallel: boolean;
  readonly isIsolated: boolean;
  /** Output of the body that a pass gives, as `node@name`. */
  readonly result: readonly [node: string, name: string];
  /** What the passes see as `item`. */
  readonly itemOf: (at: Activation, round: number) => Json;
}

/** Settles with what each pass gave, by key; waits as soon as nothing but waiting passes is left. */
export function passes({ rounds, isParallel, isIsolated, result, itemOf }: PassesOptions): NodeFunction {
  return (at) =>
    new Observable<NodeEvent>((subscriber) => {
      let done = (at.nodeState ?? {}) as JsonObject;
      const pass = (round: number) =>
        defer(() => {
          const key = String(round);
          if (Object.hasOwn(done, key)) return of(true);
          const aliases = { item: itemOf(at, round), index: round };
          return at.runBody({ key, aliases, isolated: isIsolated, fresh: true }).pipe(
            map((end) => {
              if (end.status === 'interrupted') return false;
              done = { ...done, [key]: read(end, result) };
              subscriber.next({ type: 'progress', nodeState: done });
              return true;
            }),
          );
        });
      const keys$ = from(Array.from({ length: rounds }, (_, at) => at));
      const ends$ = isParallel
        ? keys$.pipe(mergeMap(pass))
        : keys$.pipe(
            concatMap(pass),
            takeWhile((isDone) => isDone, true),
          );
      return ends$
        .pipe(
          reduce((all, isDone) => all && isDone, true),
          map((isDone) => (isDone ? settled({ value: Object.values(done) }) : interrupt())),
        )
        .subscribe(subscriber);
    });
}

function read({ source }: BodyEnd, [node, name]: PassesOptions['result']): Json {
  const found = source.output(node, name);
  return found.status === 'found' ? found.value : null;
}
