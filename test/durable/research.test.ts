/** A research by a plan whose server is killed in the middle of it. */
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { lastValueFrom, reduce } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { readCollection } from '../../src/knowledge/evaluation/read-collection.js';
import type { ChatModel } from '../../src/models/chat-model.js';
import { createScriptedPlanner } from '../../src/research/evaluation/scripted-planner.js';
import { SCRIPTS, WORLD } from '../research/support/world.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { openStream } from '../transport/support/event-stream.js';
import { call, environment, startProcess } from './support/server-process.js';

const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';
/** Its four tasks wait for one another; the call that reads the third one is where the server is killed. */
const READ = 'On which island is Marrow Bay?';

it('a research goes on behind kill -9: no model is asked again, and one report stands on what was read', {
  timeout: 900_000,
}, async () => {
  const { documents } = await readCollection(WORLD);
  const passages = new Set(
    SCRIPTS.find(({ question }) => question === QUESTION)?.steps.flatMap((step) => step.passages),
  );
  const folder = path.join(await temporaryFolder(), 'world');
  await mkdir(folder);
  const texts = documents.filter(({ id }) => passages.has(id));
  for (const { id, text: content } of texts) await writeFile(path.join(folder, `${id}.txt`), content);
  const planner = await startPlanner(createScriptedPlanner(SCRIPTS));
  const env = await environment({
    OPENAI_BASE_URL: planner.url,
    RUNNEL_DATASETS_DIR: path.dirname(folder),
    RUNNEL_EMBEDDINGS: 'off',
  });
  let server = await startProcess(env);
  const api = (): string => `${server.url}/api/v1/research`;
  const body = { question: QUESTION, llm_id: 'planner', plan: true, approve: true, clarify: false };
  const begun = await openStream(api(), { body: body as never });
  const run = (await begun.next())?.json.run_id;
  await expect.poll(async () => (await call(`${api()}/${run}/plan`)).code, { timeout: 300_000 }).toBe(0);
  await call(`${api()}/${run}/steer`, { action: 'approve' });
  await planner.isSilent;
  const findings = async (): Promise<number> => {
    const { data } = await call(`${api()}/${run}`);
    return data.questions.filter(({ status }: { status: string }) => status === 'answered').length;
  };
  // What is read from the log is what is kept.
  await expect.poll(findings, { timeout: 300_000 }).toBe(2);
  await server.kill();
  const before = [...planner.answered];
  expect(before.filter((name) => name.includes('research_read'))).toHaveLength(2);

  planner.speak();
  server = await startProcess(env);
  const told = await (await openStream(`${api()}/${run}/events`)).rest();
  const events = told.flatMap(({ json }) => (json === undefined ? [] : [json]));
  const finals = events.filter(({ type }) => type === 'final');
  expect(finals).toHaveLength(1);
  expect(finals[0].report).toContain('Cade Brennick');
  expect(finals[0]).toMatchObject({ outcome: 'answer', unsupported: 0 });
  const read = new Set((await call(`${api()}/${run}/evidence`)).data.map(({ id }: { id: string }) => id));
  expect(finals[0].sources.length).toBeGreaterThan(0);
  expect(finals[0].sources.every(({ id }: { id: string }) => read.has(id))).toBe(true);
  expect(new Set(planner.answered).size).toBe(planner.answered.length);
  expect(planner.answered.slice(0, before.length)).toEqual(before);
});

/** The planner as a server of OpenAI's chat completions; silent about {@link READ} until it is told to speak. */
async function startPlanner(planner: ChatModel) {
  const answered: string[] = [];
  let isSpeaking = false;
  let fallSilent = (): void => {};
  const isSilent = new Promise<void>((resolve) => {
    fallSilent = resolve;
  });
  const server = createServer(async (request, response) => {
    const { messages, response_format } = JSON.parse(await text(request));
    const jsonSchema = response_format?.json_schema;
    const asked = String(messages.at(-1)?.content);
    if (!isSpeaking && jsonSchema?.name === 'research_read' && asked.includes(READ)) {
      fallSilent();
      return;
    }
    const chat$ = planner.chat({ model: 'planner', messages, ...(jsonSchema && { jsonSchema }) });
    const content = await lastValueFrom(
      chat$.pipe(reduce((said, piece) => (piece.type === 'text' ? said + piece.text : said), '')),
    );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [delta, finish_reason] of [[{ content }, null] as const, [{}, 'stop'] as const]) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    }
    answered.push(`${jsonSchema?.name ?? 'write'} ${asked}`);
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    answered,
    isSilent,
    speak: () => {
      isSpeaking = true;
    },
  };
}
