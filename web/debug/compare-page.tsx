/** `#/agents/{id}/compare?a=&b=`: two runs of an agent side by side. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useParams } from 'wouter';
import type { DescribedNode } from '../../src/canvas/picture/picture.js';
import { readDocument } from '../../src/dsl/read.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useObservable } from '../parts/use-observable.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { agentPath, agentRun } from '../run/paths.js';
import { RunStore } from '../run/run-store.js';
import { readRun } from '../run/start-turn.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import style from './compare.module.css';
import { compareTexts } from './compare-texts.js';
import { ComparedRuns } from './compared-runs.js';
import { RunPicker } from './run-picker.js';

export function ComparePage() {
  const words = useTexts(compareTexts);
  const { agent = '' } = useParams<{ agent: string }>();
  const [query, change] = useQueryValues();
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['agent', agent],
    queryFn: ({ signal }) => client.call<AgentDetail>(agentPath(agent), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const nodes = useMemo(
    () => (data === undefined ? [] : Object.values(readDocument(data.dsl).document?.components ?? {})),
    [data],
  );
  const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  return (
    <div className={style.page}>
      <header className={style.head}>
        <h1>{words.title(data.title)}</h1>
        <RunPicker label={words.runA} agent={agent} run={a} onChoose={(run) => change({ a: run })} />
        <RunPicker label={words.runB} agent={agent} run={b} onChoose={(run) => change({ b: run })} />
      </header>
      {a === '' || b === '' ? (
        <EmptyNote title={words.choose} />
      ) : (
        <TwoRuns key={`${a} ${b}`} agent={agent} a={a} b={b} nodes={nodes} />
      )}
    </div>
  );
}

interface TwoRunsProps {
  readonly agent: string;
  readonly a: string;
  readonly b: string;
  readonly nodes: readonly DescribedNode[];
}

function TwoRuns({ agent, a, b, nodes }: TwoRunsProps) {
  const client = useClient();
  const [storeA, storeB] = [useFollowed(agent, a, nodes), useFollowed(agent, b, nodes)];
  const pictureA = useObservable(storeA.picture$, storeA.picture);
  const pictureB = useObservable(storeB.picture$, storeB.picture);
  const refusedA = useObservable(storeA.connection$, storeA.connection);
  const refusedB = useObservable(storeB.connection$, storeB.connection);
  const { data: record } = useQuery({
    queryKey: ['run', agent, b],
    queryFn: ({ signal }) => readRun(client, agent, b, signal),
  });
  for (const connection of [refusedA, refusedB]) {
    if (connection.is === 'refused') return <ErrorNote error={connection.error} />;
  }
  if (pictureA.lastSeq === 0 || pictureB.lastSeq === 0) return <LoadingNote />;
  const isFork = record?.parent_run_id === a && record.forked_at !== null;
  return (
    <ComparedRuns
      agent={agent}
      a={{ run: a, picture: pictureA }}
      b={{ run: b, picture: pictureB }}
      forkedAt={isFork ? (record.forked_at ?? undefined) : undefined}
    />
  );
}

/** A run that is followed as long as the component is there. */
function useFollowed(agent: string, run: string, nodes: readonly DescribedNode[]): RunStore {
  const client = useClient();
  const store = useMemo(
    () => new RunStore({ client, place: agentRun(agent, run), nodes }),
    [client, agent, run, nodes],
  );
  useEffect(() => {
    store.open();
    return () => store.close();
  }, [store]);
  return store;
}
