/** Whether the agents of a run can be told something while they work, and how. */
import { useMemo, useState } from 'react';
import { NEVER } from 'rxjs';
import type { NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';
import type { Document, DocumentComponent } from '../../src/dsl/document.js';
import { useHearingTypes } from '../canvas/catalogue.js';
import { toolsOf } from '../canvas/describe.js';
import { useObservable } from '../parts/use-observable.js';
import type { RunStore } from '../run/run-store.js';

/** What a person may say to a run at work. */
export interface Telling {
  /** Why there is no one to tell: the canvas has no agent with tools, or those that it has are done. */
  readonly whyNot?: 'none' | 'over';
  /** Resolves when the server keeps it. @throws ApiError */
  readonly say: (content: string) => Promise<void>;
}

export function useTelling(document: Document | undefined, store: RunStore | undefined): Telling | undefined {
  const types = useHearingTypes();
  const picture = useObservable(store?.picture$ ?? NEVER, store?.picture);
  const hearers = useMemo(() => hearersIn(document, types), [document, types]);
  const whyNot = picture === undefined ? undefined : whyNotHeard(hearers, picture);
  return useMemo(() => {
    if (store === undefined) return undefined;
    return { ...(whyNot !== undefined && { whyNot }), say: (content) => store.inputs.say(content) };
  }, [store, whyNot]);
}

/** Components that hear: those of a type that does, with tools. */
export function hearersIn(document: Document | undefined, types: ReadonlySet<string>): readonly DocumentComponent[] {
  return Object.values(document?.components ?? {}).filter(
    ({ type, params }) => types.has(type.trim().toLowerCase()) && toolsOf(params).length > 0,
  );
}

/** One that has not begun hears what was said before, and one in a body may begin again. */
export function whyNotHeard(
  hearers: readonly DocumentComponent[],
  { nodes }: Pick<RunPicture, 'nodes'>,
): Telling['whyNot'] {
  if (hearers.length === 0) return 'none';
  const mayHear = hearers.some(({ id, parent }) => parent !== undefined || !isOver(nodes.get(id)));
  return mayHear ? undefined : 'over';
}

const OVER: ReadonlySet<string> = new Set(['done', 'failed', 'skipped', 'stopped']);

function isOver(node: NodePicture | undefined): boolean {
  return node !== undefined && OVER.has(node.status);
}

/** Tells the agents at work; what was typed stays until the server keeps it. */
export function useTell(
  telling: Telling | undefined,
  setText: (change: (text: string) => string) => void,
): [unknown, (content: string) => Promise<void>] {
  const [error, setError] = useState<unknown>();
  const tell = async (content: string) => {
    if (telling === undefined || content === '') return;
    setError(undefined);
    try {
      await telling.say(content);
      setText((now) => (now.trim() === content ? '' : now));
    } catch (failure) {
      setError(failure);
    }
  };
  return [error, tell];
}
