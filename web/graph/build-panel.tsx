/** Builds a graph: what it takes, stands first; then how far it is, and what is missing in the end. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { Button } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { BuildProgress, LastBuild } from './build-progress.js';
import { buildTexts } from './build-texts.js';
import { CostLine } from './cost-line.js';
import style from './graph.module.css';
import {
  type BuildOrder,
  type GraphBuild,
  refreshGraph,
  startBuild,
  stopBuild,
  useBuild,
  useBuildCost,
} from './graph-data.js';

const FREE = ['links', 'rules'] as const;
const ALL = ['links', 'rules', 'model'] as const;

export function BuildPanel({ dataset }: { readonly dataset: string }) {
  const words = useTexts(buildTexts);
  const heading = useId();
  const client = useClient();
  const queries = useQueryClient();
  const { data: build, error } = useBuild(dataset);
  const start = useMutation({
    mutationFn: (order: BuildOrder) => startBuild(client, dataset, order),
    onSettled: () => refreshGraph(queries, dataset),
  });
  const stop = useMutation({
    mutationFn: () => stopBuild(client, dataset),
    onSettled: () => refreshGraph(queries, dataset),
  });
  useRefreshAtEnd(dataset, build);
  const failure = start.error ?? stop.error ?? error;
  const isRunning = build?.state === 'RUNNING';
  return (
    <section className={style.build} aria-labelledby={heading}>
      <h2 id={heading}>{words.title}</h2>
      {isRunning ? (
        <BuildProgress build={build} isBusy={stop.isPending} onStop={() => stop.mutate()} />
      ) : (
        <>
          {build !== null && build !== undefined && <LastBuild build={build} />}
          <BuildForm
            dataset={dataset}
            isFirst={build === null}
            isBusy={start.isPending || build === undefined}
            onStart={start.mutate}
          />
        </>
      )}
      {failure !== null && <FailureLine error={failure} />}
    </section>
  );
}

/** What is shown of a graph is asked for again when a build is over. */
function useRefreshAtEnd(dataset: string, build: GraphBuild | null | undefined): void {
  const queries = useQueryClient();
  const state = build?.state;
  const [before, setBefore] = useState(state);
  useEffect(() => {
    if (state === before) return;
    setBefore(state);
    if (before === 'RUNNING') void refreshGraph(queries, dataset);
  }, [state, before, queries, dataset]);
}

interface BuildFormProps {
  readonly dataset: string;
  readonly isFirst: boolean;
  readonly isBusy: boolean;
  readonly onStart: (order: BuildOrder) => void;
}

function BuildForm({ dataset, isFirst, isBusy, onStart }: BuildFormProps) {
  const words = useTexts(buildTexts);
  const field = useId();
  const [withModel, setWithModel] = useState(false);
  const free = useBuildCost(dataset, FREE);
  const all = useBuildCost(dataset, ALL);
  const start = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const bound = (name: 'tokens' | 'calls') => {
      const text = String(form.get(name) ?? '').trim();
      return text === '' ? {} : { [name]: Number(text) };
    };
    onStart(
      withModel ? { layers: ALL, budget: { ...bound('tokens'), ...bound('calls') } } : { layers: FREE, budget: {} },
    );
  };
  const model = all.data?.model ?? null;
  const name = withModel ? words.buildAll : words.build;
  return (
    <form className={style.build} onSubmit={start}>
      <h3>{words.cost}</h3>
      {free.error !== null && <FailureLine error={free.error} />}
      {free.data !== undefined && <CostLine name={words.free} cost={free.data} />}
      {all.data !== undefined && model !== null && <CostLine name={words.byModel(model)} cost={all.data} />}
      {all.data !== undefined && model === null && <p className={style.hint}>{words.noModel}</p>}
      {isFirst && free.data?.chunks === 0 && <p role="status">{words.empty}</p>}
      {model !== null && (
        <div className={style.form}>
          <label>
            <input type="checkbox" checked={withModel} onChange={({ target }) => setWithModel(target.checked)} />
            {words.withModel}
          </label>
          {withModel &&
            (['tokens', 'calls'] as const).map((one) => (
              <span key={one} className={style.line}>
                <label htmlFor={field + one}>{one === 'tokens' ? words.maxTokens : words.maxCalls}</label>
                <input
                  id={field + one}
                  name={one}
                  type="number"
                  min={0}
                  step={1}
                  className={`${style.field} ${style.number}`}
                />
              </span>
            ))}
        </div>
      )}
      <div className={style.line}>
        <Button type="submit" look="main" disabled={isBusy || free.data === undefined}>
          {isFirst || withModel ? name : words.again}
        </Button>
      </div>
    </form>
  );
}
