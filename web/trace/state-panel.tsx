/** The values of a run at the chosen moment: where its tokens are, open passes, outputs by component, variables. */
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { Json, JsonObject } from '../../src/json.js';
import { JsonView } from '../parts/json-view.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { readState } from './read-state.js';
import type { RunSource } from './run-source.js';
import { Scrubber } from './scrubber.js';
import { BodyList, OmittedList, TokenList } from './state-lists.js';
import style from './state-panel.module.css';
import { stateTexts } from './state-texts.js';
import { tokenStates } from './token-states.js';
import { useRun } from './use-run.js';

export function StatePanel({ store }: { readonly store: RunSource }) {
  const words = useTexts(stateTexts);
  const run = useRun(store);
  const { shown } = run;
  const client = useClient();
  // While the user drags, the moments in between are not asked for.
  const seq = useDeferredValue(shown.lastSeq);
  const { data, error } = useQuery({
    queryKey: ['state', store.agent, store.run, seq],
    queryFn: ({ signal }) => readState(client, store, seq, signal),
    enabled: seq > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
    retry: false,
  });
  const value = useMemo<Json>(
    () => ({
      [words.outputs]: data?.outputs ?? outputsOf(shown),
      ...(data !== undefined && { [words.variables]: data.variables }),
      ...(shown.input !== undefined && { [words.input]: shown.input }),
    }),
    [data, shown, words],
  );
  const tokens = useMemo(() => tokenStates(shown, data?.tokens), [shown, data]);
  const nameOf = (id: string) => shown.nodes.get(id)?.name || id;
  return (
    <div className={style.panel}>
      <div className={style.tree}>
        <p className={style.note}>{words.at(shown.lastSeq)}</p>
        {error !== null && data === undefined && <p className={style.note}>{words.fromLog}</p>}
        <TokenList tokens={tokens} nameOf={nameOf} />
        <BodyList bodies={data?.bodies ?? []} nameOf={nameOf} />
        <OmittedList omitted={data?.omitted ?? []} nameOf={nameOf} />
        <JsonView value={value} label={words.state} isSearchable levels={3} />
      </div>
      <Scrubber store={store} {...run} />
    </div>
  );
}

/** What nodes gave, of each the last activation that gave something. */
function outputsOf({ nodes }: RunPicture): JsonObject {
  const outputs: Record<string, Json> = {};
  for (const [id, { activations }] of nodes) {
    const last = activations.findLast((one) => one.outputs !== undefined)?.outputs;
    if (last !== undefined) outputs[id] = last;
  }
  return outputs;
}
