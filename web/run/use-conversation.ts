/** The conversation of a screen, and the picture that its canvas shows. */
import { useEffect, useMemo, useState } from 'react';
import { combineLatest, map, of } from 'rxjs';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { Document } from '../../src/dsl/document.js';
import { useObservable } from '../parts/use-observable.js';
import { useClient } from '../shell/studio.js';
import { Conversation, type ConversationState } from './conversation.js';
import { agentServer } from './conversation-server.js';
import { joinPictures } from './join-pictures.js';
import type { RunAddress } from './place.js';
import type { RunStore } from './run-store.js';

/** The conversation that an address names; it is left when the screen goes. */
export function useConversation(
  agent: string,
  document: Document | undefined,
  address: RunAddress | undefined,
): { readonly conversation: Conversation; readonly state: ConversationState } {
  const client = useClient();
  const [conversation] = useState(
    () => new Conversation(agentServer(client, agent), Object.values(document?.components ?? {})),
  );
  const { run, session } = address ?? {};
  useEffect(() => {
    void conversation.show({ ...(run !== undefined && { run }), ...(session !== undefined && { session }) });
  }, [conversation, run, session]);
  useEffect(() => () => conversation.clear(), [conversation]);
  return { conversation, state: useObservable(conversation.state$, conversation.state) };
}

/** What a canvas shows. */
export interface ShownPicture {
  readonly store: RunStore | undefined;
  readonly picture: RunPicture | undefined;
  /** The run goes on at this moment. */
  readonly isLive: boolean;
}

/** The run that is shown, and its picture: now, or after its event `at`. */
export function useShownPicture(
  conversation: Conversation,
  state: ConversationState,
  run: string | undefined,
  at: string | null,
): ShownPicture {
  const turn = run === undefined ? undefined : state.turns.find((one) => one.run === run);
  const { store } = turn ?? {};
  const picture$ = useMemo(() => {
    if (store === undefined) return of(undefined);
    const stores = conversation.chainOf(store.run).flatMap((one) => one.store ?? []);
    return combineLatest(stores.map((one) => one.picture$)).pipe(map(joinPictures));
  }, [conversation, store]);
  const live = useObservable<RunPicture | undefined>(picture$, undefined);
  const seq = at === null ? Number.NaN : Number(at);
  const past = useMemo(
    // A picture of the past changes only while its events are still coming.
    () =>
      store !== undefined && Number.isSafeInteger(seq) && seq >= 0 && live !== undefined ? store.at(seq) : undefined,
    [store, seq, live],
  );
  const isAtWork = live?.status === 'running' || live?.status === 'stopping';
  return { store, picture: past ?? live, isLive: isAtWork && past === undefined };
}
