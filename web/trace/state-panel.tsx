/** The values of a run at the chosen moment: outputs by component, variables, and where its tokens are. */
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import type { Json, JsonObject } from '../../src/json.js';
import { JsonView } from '../parts/json-view.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { readState } from './read-state.js';
import type { RunSource } from './run-source.js';
import { Scrubber } from './scrubber.js';
import style from './state-panel.module.css';
import { useRun } from './use-run.js';

const texts = defineTexts({
  en: {
    state: 'State of the run',
    at: (seq: number) => `After event ${seq.toLocaleString('en')}`,
    outputs: 'outputs',
    variables: 'variables',
    tokens: 'tokens',
    input: 'input',
    fromLog: 'The server could not be asked: what the events say is shown, which is without variables.',
  },
  zh: {
    state: '运行状态',
    at: (seq: number) => `事件 ${seq.toLocaleString('zh')} 之后`,
    outputs: '输出',
    variables: '变量',
    tokens: '令牌',
    input: '输入',
    fromLog: '无法询问服务器：显示的是事件所含的内容，不包括变量。',
  },
});

export function StatePanel({ store }: { readonly store: RunSource }) {
  const words = useTexts(texts);
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
      [words.tokens]: data?.tokens ?? tokensOf(shown),
      ...(shown.input !== undefined && { [words.input]: shown.input }),
    }),
    [data, shown, words],
  );
  return (
    <div className={style.panel}>
      <div className={style.tree}>
        <p className={style.note}>{words.at(shown.lastSeq)}</p>
        {error !== null && data === undefined && <p className={style.note}>{words.fromLog}</p>}
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

/** Where the run is at work, or waits. */
function tokensOf({ nodes }: RunPicture): Json {
  return [...nodes.values()].flatMap(({ id, status, activations }): JsonObject[] => {
    if (status === 'queued') return [{ node: id, status }];
    return activations
      .filter((one) => one.status === 'open' || one.status === 'waiting')
      .map(({ token, within = null, ...one }) => ({ node: id, status: one.status, token, within }));
  });
}
