import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { components } from '../../../src/components/index.js';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment, readConfig } from '../../../src/settings/read-settings.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { createServer } from '../../../src/transport/server.js';
import { bytesOf, type CaseFile, type ConformanceCase, type ModelCall, mimeTypeOf, replaceText } from '../case.js';
import { FIXTURE_ORIGIN, startFixtureServer } from '../fixture-server.js';
import { Gate } from './gate.js';
import { MODEL, startOpenaiServer } from './openai-server.js';

/** A case as a server sees it: its agent stored, its files uploaded, its model and its web behind sockets of their own. */
export interface Stage {
  /** Address of the server. */
  readonly url: string;
  /** Id of the agent that the document was stored as. */
  readonly agent: string;
  /** The runs of the case, with real addresses and ids of files. */
  readonly runs: ConformanceCase['runs'];
  /** Calls that reached the model's server. */
  readonly calls: readonly ModelCall[];
  readonly gate: Gate;
  /** What the server logged as an error. */
  readonly errors: readonly unknown[];
  /** The value with addresses and ids of files written as cases write them. */
  restore<T>(value: T): T;
  close(): Promise<void>;
}

/** Builds the stage of a case; close it whatever happens. */
export async function openStage(given: ConformanceCase): Promise<Stage> {
  const gate = new Gate();
  const web = await startFixtureServer(given.http ?? []);
  const model = await startOpenaiServer(given.model, { beforePiece: gate.beforePiece });
  const models = createModels(await modelsFromEnvironment(MODEL_SETTINGS, async () => modelsFile(model.baseUrl)));
  const errors: unknown[] = [];
  const server = createServer({
    config: readConfig({ RUNNEL_PORT: '0', RUNNEL_SHUTDOWN_GRACE_MS: '0' }),
    stores: createMemoryStores(),
    services: { models, http: createEgressClient({ allowPrivateNetwork: true }) },
    registry: gate.guard(components),
    log: { info: () => {}, warn: () => {}, error: (fields, message) => errors.push({ message, ...fields }) },
  });
  const url = await server.listen();
  const close = async (): Promise<void> => {
    await server.close();
    await models.close();
    await model.close();
    await web.close();
  };
  try {
    const { dsl, runs } = replaceText({ dsl: given.dsl, runs: given.runs }, FIXTURE_ORIGIN, web.origin);
    const agent = await createAgent(url, given.name, withModelServer(dsl));
    const names = await upload(`${url}/api/v1/agents/${agent}/upload`, given.files ?? []);
    return {
      url,
      agent,
      runs: names.reduce((named, { ours, given: theirs }) => replaceText(named, theirs, ours), runs),
      calls: model.calls,
      gate,
      errors,
      restore: (value) =>
        names.reduce(
          (restored, { ours, given: theirs }) => replaceText(restored, ours, theirs),
          replaceText(value, web.origin, FIXTURE_ORIGIN),
        ),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `scripted` alone is always the built-in model; with a factory it lies behind the network. */
const MODEL_ID = `${MODEL.name}@${MODEL.factory}`;
const MODEL_SETTINGS = { RUNNEL_MODELS: 'models.json', LLM_BASE_DELAY: '0' };

function modelsFile(baseUrl: string): string {
  return JSON.stringify({ factories: { [MODEL.factory]: { base_url: baseUrl, api_key: MODEL.key } } });
}

function withModelServer<T>(dsl: T): T {
  return replaceText(dsl, '"llm_id":"scripted"', `"llm_id":"${MODEL_ID}"`);
}

async function createAgent(url: string, title: string, dsl: unknown): Promise<string> {
  const data = await post(`${url}/api/v1/agents`, JSON.stringify({ title, dsl }), 'application/json');
  return idOf(data);
}

/** Uploads the files; gives their ids, in quotes, as the server and as the case writes them. */
async function upload(
  url: string,
  files: readonly CaseFile[],
): Promise<readonly { readonly ours: string; readonly given: string }[]> {
  const names = [];
  for (const file of files) {
    const form = new FormData();
    form.set('file', new File([bytesOf(file)], file.name, { type: mimeTypeOf(file) }));
    names.push({ ours: `"${idOf(await post(url, form))}"`, given: `"${file.id}"` });
  }
  return names;
}

/** The data of a successful answer. */
async function post(url: string, body: string | FormData, type?: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  });
  const { code, message, data } = (await response.json()) as { code: number; message?: string; data: unknown };
  if (code !== 0) throw new Error(`${url}: ${message}`);
  return data;
}

function idOf(data: unknown): string {
  return (data as { readonly id: string }).id;
}
