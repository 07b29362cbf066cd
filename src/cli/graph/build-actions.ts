/** Building a graph: what it would take, and doing it. */
import { filter, firstValueFrom, merge, Observable, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import { BUILD_LAYERS, type BuildRequest, buildRequestSchema } from '../../knowledge/graph/build/build-options.js';
import { toldBuild } from '../../knowledge/graph/build/graph-builds.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { EXIT } from '../command.js';
import { type GraphAction, type GraphWork, modelOf, namesOf, wholeOf } from './graph-action.js';

export const costAction: GraphAction = {
  help: ['', 'what a build would take; nothing is started'],
  takes: [0, 0],
  options: ['layers', 'reports', 'model', 'sample'],
  run: cost,
};

export const buildAction: GraphAction = {
  help: ['', 'reads names and relations of all documents; goes on where a build was stopped'],
  takes: [0, 0],
  options: ['layers', 'reports', 'model', 'types', 'tokens', 'calls', 'money', 'ms'],
  run: build,
};

async function cost({ knowledge, datasetId, values, screen, terminal }: GraphWork): Promise<number> {
  const asked = { ...requestOf(values), sample: values.sample === true };
  const told = await knowledge.builds.cost(LOCAL_TENANT, datasetId, asked, terminal.signal);
  const money = told.money === null ? 'money unknown' : `money ${told.money.toFixed(4)}`;
  const reports = told.reports === 0 ? '' : ` ${told.reports} reports to write,`;
  const text = `${told.chunks} chunks to read,${reports} ${told.calls} calls, ${told.prompt_tokens} + ${told.completion_tokens} tokens, ${money}, about ${Math.ceil(told.ms / 1000)} s\n`;
  screen.answer(values.json === true ? `${JSON.stringify(told)}\n` : text);
  if (told.sampled !== null) {
    const { chunks, calls, prompt_tokens: read, completion_tokens: written } = told.sampled;
    screen.remark(`measured with ${chunks} of the chunks, which took ${calls} calls and ${read} + ${written} tokens`);
  }
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

/** @throws EngineError USAGE for an option that holds no such value */
function requestOf(values: GraphWork['values']): BuildRequest {
  const { layers, reports, model, types, tokens, calls, money, ms } = values;
  const given = {
    ...(layers !== undefined && { layers: namesOf('--layers', layers).map(layerOf) }),
    ...(reports !== undefined && { reports: answerOf(reports) }),
    ...(model !== undefined && { model: modelOf(model) }),
    ...(types !== undefined && { entity_types: namesOf('--types', types) }),
    budget: {
      ...(tokens !== undefined && { tokens: wholeOf('--tokens', tokens) }),
      ...(calls !== undefined && { calls: wholeOf('--calls', calls) }),
      ...(money !== undefined && { money: amountOf(money) }),
      ...(ms !== undefined && { ms: wholeOf('--ms', ms) }),
    },
  };
  const { data, error } = buildRequestSchema.safeParse(given);
  if (data !== undefined) return data;
  const { path = [], message } = error.issues[0] ?? {};
  throw new EngineError('USAGE', `The build cannot be asked for so: ${path.join('.')}: ${message}.`);
}

function layerOf(given: string): (typeof BUILD_LAYERS)[number] {
  const layer = BUILD_LAYERS.find((one) => one === given);
  if (layer !== undefined) return layer;
  throw new EngineError('USAGE', `--layers takes ${BUILD_LAYERS.join(', ')}; received "${given}".`);
}

function answerOf(given: string): boolean {
  if (given === 'yes' || given === 'no') return given === 'yes';
  throw new EngineError('USAGE', `--reports takes yes or no; received "${given}".`);
}

function amountOf(given: string): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new EngineError('USAGE', `--money takes an amount in the currency of the prices; received "${given}".`);
}
