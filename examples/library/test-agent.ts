/** A test of an agent in virtual time: a slow tool, a model that fails once, and a person who takes an hour. */
import { agent, approve } from 'runnel/agents';
import { eventOf, inVirtualTime, toolCall } from 'runnel/testing';
import { z } from 'zod';

const HOUR = 3_600_000;

inVirtualTime(({ model, tool, person, run, expectEvents, expectSubscriptions, time }) => {
  const send = tool({ name: 'send', description: 'Sends.', input: z.object({ to: z.string() }) }, ['----r|'], {
    r: 'Sent.',
  });
  const clerk = model(['-#', '-c|', '--a|'], { c: toolCall('send', { to: 'Ada' }), a: 'Done.' });
  const boss = person([` ${HOUR}ms y|`], { y: { approved: true } });
  const guide = agent({
    name: 'guide',
    model: clerk,
    tools: [send],
    use: [approve(['send'])],
    retry: { attempts: 2, delayMs: 10 },
  });

  expectEvents(run(guide, 'Tell Ada.', { person: boss }), {
    q: 'run-interrupted',
    e: eventOf('run-settled', { value: 'Done.' }),
  }).toBe(` 13ms q ${HOUR - 1 + 5 + 3}ms (e|)`);
  expectSubscriptions(clerk.subscriptions[1] ?? []).toBe('-----------^-!');
  console.log(`${time('-|')} ms is a column; the test took ${HOUR / 60_000} virtual minutes.`);
});
