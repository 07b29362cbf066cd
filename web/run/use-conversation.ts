/** The conversation of a screen, and the run that its canvas shows. */
import { useEffect, useState } from 'react';
import { combineLatest, map, type Observable, of } from 'rxjs';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { Document } from '../../src/dsl/document.js';
import { LiveRun } from '../canvas/live/live-run.js';
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

/** The run that a canvas shows. */
export interface ShownRun {
  readonly store: RunStore | undefined;
  /** Its picture, for the canvas. The same object on one screen, whichever run is shown. */
  readonly live: LiveRun;
}

/** What a canvas shows at a moment. */
interface ShownPicture {
  readonly picture: RunPicture | undefined;
  /** The run goes on at this moment. */
  readonly isLive: boolean;
}

const NOTHING: ShownPicture = { picture: undefined, isLive: false };

/** The run that is shown: now, or after its event `at`. Its pictures go to the canvas and draw nothing else anew. */
export function useShownRun(
  conversation: Conversation,
  state: ConversationState,
  run: string | undefined,
  at: string | null,
): ShownRun {
  const turn = run === undefined ? undefined : state.turns.find((one) => one.run === run);
  const { store } = turn ?? {};
  const [live] = useState(() => new LiveRun());
  useEffect(() => {
    const seq = at === null ? Number.NaN : Number(at);
    const subscription = picturesOf(conversation, store, seq).subscribe(({ picture, isLive }) =>
      live.show(picture, isLive),
    );
    return () => subscription.unsubscribe();
  }, [conversation, store, at, live]);
  return { store, live };
}

/** Of a run with those that it goes on with, or of its past, which changes only while its events are still coming. */
function picturesOf(conversation: Conversation, store: RunStore | undefined, seq: number): Observable<ShownPicture> {
  if (store === undefined) return of(NOTHING);
  const isPast = Number.isSafeInteger(seq) && seq >= 0;
  const stores = conversation.chainOf(store.run).flatMap((one) => one.store ?? []);
  return combineLatest(stores.map((one) => one.picture$)).pipe(
    map(joinPictures),
    map((now) => {
      if (isPast && now !== undefined) return { picture: store.at(seq), isLive: false };
      return { picture: now, isLive: now?.status === 'running' || now?.status === 'stopping' };
    }),
  );
}
