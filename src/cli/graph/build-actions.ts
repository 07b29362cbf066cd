/** Building a graph: what it would take, and doing it. */
import { filter, firstValueFrom, merge, Observable, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import { buildRequestSchema } from '../../knowledge/graph/build/build-options.js';
import { toldBuild } from '../../knowledge/graph/build/graph-builds.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { EXIT } from '../command.js';
import { type GraphAction, type GraphWork, wholeOf } from './graph-action.js';

export const costAction: GraphAction = {
  help: ['', 'what a build would take; nothing is started'],
  takes: [0, 0],
  run: cost,
};

export const buildAction: GraphAction = {
  help: ['', 'reads names and relations of all documents; goes on where a build was stopped'],
  takes: [0, 0],
  run: build,
};

async function cost({ knowledge, datasetId, values, screen }: GraphWork): Promise<number> {
  const { layers, model } = requestOf(values);
  const told = await knowledge.builds.cost(LOCAL_TENANT, datasetId, { layers, model });
  const money = told.money === null ? 'money unknown' : `money ${told.money.toFixed(4)}`;
  const text = `${told.chunks} chunks to read, ${told.calls} calls, ${told.prompt_tokens} + ${told.completion_tokens} tokens, ${money}, about ${Math.ceil(told.ms / 1000)} s\n`;
  screen.answer(values.json === true ? `${JSON.stringify(told)}\n` : text);
  return EXIT.finished;
}

async function build({ knowledge, datasetId, values, screen, terminal }: GraphWork): Promise<number> {
  const { builds } = knowledge;
  const request = requestOf(values);
  const started = new Observable<never>((subscriber) => {
    builds.start(LOCAL_TENANT, datasetId, request).catch((error: unknown) => subscriber.error(error));
  });
  const ended$ = merge(builds.run(), started).pipe(
    filter((report) => report.datasetId === datasetId),
    tap(({ progress }) => screen.status(`${progress.message}: ${Math.round(100 * progress.progress)} %`)),
    filter(({ progress }) => progress.finishedAt !== null),
  );
  const stopped$ = new Observable<never>((subscriber) => {
    const stop = (): void => subscriber.error(terminal.signal.reason);
    terminal.signal.addEventListener('abort', stop, { once: true });
    return () => terminal.signal.removeEventListener('abort', stop);
  });
  await firstValueFrom(merge(ended$, stopped$));
  const record = await builds.find(LOCAL_TENANT, datasetId);
  if (record === undefined) return EXIT.failed;
  const told = toldBuild(record);
  const counts = await knowledge.base.graphs.ask(LOCAL_TENANT, datasetId, { kind: 'counts' }).catch(() => undefined);
  const size =
    counts === undefined
      ? 'no graph'
      : `${counts.entities} entities, ${counts.relations} relations, ${counts.communities} communities`;
  const lacking = told.missing.map((line) => `missing: ${line}\n`).join('');
  screen.answer(
    values.json === true ? `${JSON.stringify({ ...told, ...counts })}\n` : `${told.message}: ${size}\n${lacking}`,
  );
  return told.state === 'DONE' ? EXIT.finished : EXIT.failed;
}

function requestOf({ layers, tokens, calls }: GraphWork['values']) {
  const given = {
    ...(layers !== undefined && { layers: layers.split(',').map((layer) => layer.trim()) }),
    budget: {
      ...(tokens !== undefined && { tokens: wholeOf('--tokens', tokens) }),
      ...(calls !== undefined && { calls: wholeOf('--calls', calls) }),
    },
  };
  const { data, error } = buildRequestSchema.safeParse(given);
  if (data !== undefined) return data;
  throw new EngineError(
    'USAGE',
    `--layers takes links, rules, model; received "${layers}". ${error.issues[0]?.message ?? ''}`,
  );
}
