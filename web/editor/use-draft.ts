/** The draft that a screen edits, from its first drawing to its last. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { fromEvent, type Observable, shareReplay, skip } from 'rxjs';
import type { Document } from '../../src/dsl/document.js';
import { readDocument } from '../../src/dsl/read.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { useClient } from '../shell/studio.js';
import { DraftSaver, isSameJson } from './model/draft-saver.js';
import { EditorStore } from './model/editor-store.js';
import { forgetDraft, keptDraft } from './model/kept-draft.js';
import { type Issue, problemsOf } from './model/problems.js';

/** What runs need of an editor. */
export interface EditorHandle {
  readonly documents$: Observable<Document>;
  /** Saves what is not saved: runs take the draft of the server. */
  readonly flush: () => Promise<void>;
}

export interface Draft {
  readonly store: EditorStore;
  readonly saver: DraftSaver;
  readonly issues$: Observable<readonly Issue[]>;
}

export function useDraft(
  agent: AgentDetail,
  document: Document,
  onHandle: (handle: EditorHandle | undefined) => void,
): Draft {
  const client = useClient();
  const queries = useQueryClient();
  const [{ draft, isRestored }] = useState(() => {
    const { id, dsl, update_time: updateTime } = agent;
    const kept = keptBy(id, dsl);
    const store = new EditorStore({ dsl, document }, kept?.document);
    const wake$ = fromEvent(window, 'online');
    const given = { client, agent: id, updateTime: kept?.updateTime ?? updateTime, storage: sessionStorage, wake$ };
    const saver = new DraftSaver({ ...given, dsl: () => store.dsl });
    const issues$ = problemsOf(store, client).pipe(shareReplay({ bufferSize: 1, refCount: true }));
    return { draft: { store, saver, issues$ }, isRestored: kept !== undefined };
  });
  useEffect(() => {
    const { store, saver } = draft;
    const close = saver.open();
    if (isRestored) saver.edited();
    const edits = store.documents$.pipe(skip(1)).subscribe(() => saver.edited());
    const leave = () => saver.leave();
    addEventListener('pagehide', leave);
    onHandle({ documents$: store.documents$, flush: () => saver.flush() });
    return () => {
      onHandle(undefined);
      removeEventListener('pagehide', leave);
      edits.unsubscribe();
      void close().then(() => {
        const key = ['agent', agent.id];
        // The next screen loads what is stored by then; one that is still here goes on with what was edited.
        queries.removeQueries({ queryKey: key, exact: true, type: 'inactive' });
        if (saver.state.is !== 'saved') return;
        const { dsl } = store;
        queries.setQueryData<AgentDetail>(key, (old) => old && { ...old, dsl, update_time: saver.updateTime });
      });
    };
  }, [draft, isRestored, onHandle, queries, agent.id]);
  return draft;
}

/** What was typed before a reload, unless the server has it. */
function keptBy(agent: string, stored: AgentDetail['dsl']) {
  const kept = keptDraft(sessionStorage, agent);
  const { document } = kept === undefined ? {} : readDocument(kept.dsl);
  if (kept === undefined || document === undefined || isSameJson(kept.dsl, stored)) {
    forgetDraft(sessionStorage, agent);
    return undefined;
  }
  return { document, updateTime: kept.updateTime };
}
