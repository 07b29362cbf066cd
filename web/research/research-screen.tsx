/** One research: what it does, how it is changed, and its report. */
import { useEffect, useState } from 'react';
import { runFeed } from '../api/run-feed.js';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useObservable } from '../parts/use-observable.js';
import { useClient } from '../shell/studio.js';
import { NOTHING_SHOWN } from './research-picture.js';
import { type ResearchItem, researchPlace, useResearchItem } from './research-server.js';
import { ResearchStore } from './research-store.js';
import { ResearchView } from './research-view.js';

export function ResearchScreen({ run }: { readonly run: string }) {
  const { data, error, refetch } = useResearchItem(run);
  if (data !== undefined) return <Followed item={data} />;
  return error === null ? <LoadingNote /> : <ErrorNote error={error} onRetry={() => void refetch()} />;
}

/** Its events are followed as long as it is shown. */
function Followed({ item }: { readonly item: ResearchItem }) {
  const client = useClient();
  const [store] = useState(() => new ResearchStore(runFeed(client, researchPlace(item))));
  useEffect(() => {
    store.open();
    return () => store.close();
  }, [store]);
  const shown = useObservable(store.shown$, NOTHING_SHOWN);
  const connection = useObservable(store.connection$, store.connection);
  return <ResearchView item={item} store={store} shown={shown} connection={connection} />;
}
