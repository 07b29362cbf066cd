/** Many runs of the calling canvas, in the middle of which something happens. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, type Random } from '../../support/random.js';
import { callingCanvas, MODELS } from './canvas.js';
import { type Follower, startRun } from './follower.js';
import { type Ledger, startLedger } from './ledger.js';
import { call, environment, type ServerEnvironment } from './server-process.js';

export interface Trial {
  /** Of its servers. */
  readonly env: ServerEnvironment;
  readonly ledger: Ledger;
}

export async function prepareTrial(settings: ServerEnvironment, random: Random = createRandom(1)): Promise<Trial> {
  const given = await environment(settings);
  const ledger = await startLedger(random, 60);
  const models = path.join(given.RUNNEL_DATA_DIR as string, 'models.json');
  await writeFile(models, JSON.stringify(MODELS));
  return { env: { ...given, RUNNEL_MODELS: models }, ledger };
}

export async function createCalls(url: string, ledger: Ledger): Promise<string> {
  return (await call(`${url}/api/v1/agents`, { title: 'Calls', dsl: callingCanvas(ledger.url) })).data.id;
}

/** Starts runs one after another, this far apart; each resolves when its server has taken it, with undefined when it has not. */
export function startRuns(
  urlNow: () => string,
  agent: string,
  { count, apartMs }: { readonly count: number; readonly apartMs: number },
): readonly Promise<Follower | undefined>[] {
  return Array.from({ length: count }, async (_, at) => {
    await pause(at * apartMs);
    return startRun(urlNow, agent);
  });
}
