/** An agent with tools, an answer in a form, and a person who approves a call. */
import { createScriptedModel, defineTool } from 'runnel';
import { agent, approve, createRunner } from 'runnel/agents';
import { lastValueFrom } from 'rxjs';
import { z } from 'zod';

const search = defineTool({
  name: 'search',
  description: 'Finds addresses.',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `${name.toLowerCase()}@example.org`,
});
const send = defineTool({
  name: 'send',
  description: 'Sends a mail.',
  input: z.object({ to: z.string() }),
  run: ({ to }) => `Sent to ${to}.`,
});
const model = createScriptedModel({
  rules: [
    { when: { user: 'Invite' }, tool_calls: [{ name: 'search', arguments: { name: 'Ada' } }], times: 1 },
    { when: {}, tool_calls: [{ name: 'send', arguments: { to: 'ada@example.org' } }], times: 1 },
    { when: {}, reply: '{"invited": ["Ada"]}' },
  ],
});
const output = z.object({ invited: z.array(z.string()) });
const host = agent({ name: 'host', model, tools: [search, send], output, use: [approve(['send'])] });
const runner = createRunner({ agent: host });

const waiting = await lastValueFrom(runner.run('Invite Ada.', { session: 's1' }));
if (waiting.type !== 'turn-ended' || waiting.status !== 'waiting') throw new Error('The agent should wait.');
const [question] = waiting.questions;
console.log(question?.address, question?.question);
const end = await lastValueFrom(runner.resume('s1', { [String(question?.address)]: { approved: true } }));
if (end.type === 'turn-ended' && end.status === 'succeeded') console.log(end.value);
