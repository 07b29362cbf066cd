/** When the editor of an agent is loaded: at once, but behind what an address asks for when that is a run to look at. */
import { startTransition, useEffect, useState } from 'react';
import { auditTime, filter, map, Observable, of, switchMap, take } from 'rxjs';
import { keptDraft } from '../editor/model/kept-draft.js';
import type { Conversation, ConversationState } from './conversation.js';
import type { Connection } from './run-store.js';

/** An idle moment is waited for so long, in milliseconds; browsers that tell of none get the editor after the second one. */
const IDLE_MS = 2_000;
const WITHOUT_IDLE_MS = 200;

export interface EditorDueOptions {
  readonly conversation: Conversation;
  /** Id of the agent. */
  readonly agent: string;
  /** Whether the address names a run or a conversation, which is shown first. */
  readonly isRead: boolean;
  /** Whether something is chosen, whose form the editor has. */
  readonly isChosen: boolean;
}

/**
 * Whether the editor may take its time and room now; once true, it stays so.
 *
 * A run that has ended is read and drawn first, as its events and the editor would be in each other's way. An agent without a run, a run at work,
 * a draft that the server does not have yet, and a node that is chosen get the editor at once.
 */
export function useEditorDue({ conversation, agent, isRead, isChosen }: EditorDueOptions): boolean {
  const [isDue, setIsDue] = useState(() => !isRead || keptDraft(sessionStorage, agent) !== undefined);
  useEffect(() => {
    if (isDue) return undefined;
    // The canvas that is there stays until the editor can take its place.
    const due$ = isChosen ? of(true) : whenRead(conversation.state$);
    const subscription = due$.subscribe(() => startTransition(() => setIsDue(true)));
    return () => subscription.unsubscribe();
  }, [conversation, isDue, isChosen]);
  return isDue;
}

/** Emits once: when the run that a conversation shows has been read to its end, or will not be, and the browser has nothing better to do. */
export function whenRead(state$: Observable<ConversationState>): Observable<unknown> {
  return state$.pipe(
    // A conversation is shown in steps that follow each other at once.
    auditTime(0),
    switchMap(readyOf),
    filter((isReady) => isReady),
    take(1),
    switchMap(() => idle$),
  );
}

function readyOf({ session, turns, sending, isLoading, error }: ConversationState): Observable<boolean> {
  if (error !== undefined || sending !== undefined) return of(true);
  if (isLoading || (session === undefined && turns.length === 0)) return of(false);
  const { store, isAtWork = false } = turns.findLast((turn) => turn.store !== undefined) ?? {};
  if (store === undefined || isAtWork) return of(true);
  return store.connection$.pipe(map(isSettled));
}

/** While a connection is lost, the files of the editor cannot be had either. */
const isSettled = ({ is }: Connection): boolean => is === 'ended' || is === 'refused';

/** Emits once, when the browser has drawn and waits. */
const idle$ = new Observable<void>((subscriber) => {
  const told = (): void => {
    subscriber.next();
    subscriber.complete();
  };
  if (typeof requestIdleCallback === 'function') {
    const request = requestIdleCallback(told, { timeout: IDLE_MS });
    return () => cancelIdleCallback(request);
  }
  const timer = setTimeout(told, WITHOUT_IDLE_MS);
  return () => clearTimeout(timer);
});
