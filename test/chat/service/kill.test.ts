import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BehaviorSubject, lastValueFrom, map, toArray } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import { toChatEvent } from '../../../src/chat/chat-frames.js';
import { createHost } from '../../../src/hosting/host.js';
import { openEmbedded } from '../../stores/support/open-stores.js';
import { temporaryFolder } from '../../stores/support/temporary-folder.js';
import { ofType } from './support/chat-host.js';
import { begin, say, startHeldServer } from './support/held-server.js';
import { chatServices } from './support/lost-chat.js';

/** Asks in a process of its own, which is killed with the first text; gives the id of the run. */
async function askAndKill(args: readonly string[]): Promise<string> {
  const file = fileURLToPath(new URL('./support/chatter.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line === 'node-delta') child.kill('SIGKILL');
  }
  await exit;
  return lines[0] ?? '';
}

it('a chat whose process was killed goes on, and its messages are stored once', { timeout: 120_000 }, async () => {
  const model = await startHeldServer();
  model.answers.set('chat_rewrite', say('{"rewrites": ["What is it?"]}'));
  model.answers.set('chat_intent', say('{"intents": [{"kind": "KB", "confidence": 0.9}]}'));
  model.answers.set('answer', begin('It is half an'));
  const dataDir = await temporaryFolder();
  const run = await askAndKill([dataDir, await prepareDatabase(), model.url]);

  model.answers.set('answer', say('It is a snapshot.'));
  const stores = await openEmbedded(dataDir);
  const services = await chatServices(model.url, stores.chats);
  const host = createHost({ stores, services, limits: { leaseMs: 1_000 } });
  onTestFinished(async () => {
    await host.close(0);
    await services.models.close();
    await stores.close();
  });
  host.recover();
  await host.whenOver('t', run, 60_000);
  const record = await host.record('t', run);
  const events = await lastValueFrom(
    host.follow('t', run, { after: 0, ready$: new BehaviorSubject(true), isExact: true }).pipe(
      map(({ source }) => source),
      toArray(),
    ),
  );
  const session = record?.sessionId as string;
  const told = events.flatMap((event) => toChatEvent(event, { sessionId: session, traceId: 't' }) ?? []);
  expect(ofType(told, 'session')).toHaveLength(1);
  const retracted = told.findLastIndex(({ type }) => type === 'retract');
  expect(told.slice(0, retracted)).toContainEqual({ type: 'token', content: 'It is half an' });
  const after = ofType(told.slice(retracted), 'token').map(({ content }) => content);
  expect(after.join('')).toBe('It is a snapshot.');
  expect(told.filter(({ type }) => type === 'final' || type === 'error')).toEqual([told.at(-1)]);
  expect(told.at(-1)).toMatchObject({ type: 'final', response: 'It is a snapshot.' });
  const stored = await stores.chats.messages('t', session, { limit: 10 });
  expect(stored.map(({ content }) => content)).toEqual(['What is it?', 'It is a snapshot.']);
  const messages = (await stores.sessions.find('t', session))?.messages ?? [];
  expect(messages.map(({ content }) => content)).toEqual(['What is it?', 'It is a snapshot.']);
});
