import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { createRateLimits } from '../../../src/chat/limits/rate-limits.js';
import { embedderRoute } from '../../../src/transport/http/route.js';
import { startServer } from '../support/server.js';

it('answers a request that is refused for its rate with 429, code 103, Retry-After and X-RateLimit-*', async () => {
  const limits = createRateLimits({ rates: { session: 2 }, maxWaiting: 0, now: () => 0 });
  const limited = embedderRoute('GET /limited', {
    summary: 'Limited',
    handle: async () => {
      await lastValueFrom(limits.admit({ tenant: 't', user: 'u', session: 's' }));
      return { code: 0 };
    },
  });
  const { call } = await startServer({ routes: [{ name: 'test', description: 'For the test.', routes: [limited] }] });
  const answers = [];
  for (let at = 0; at < 3; at += 1) answers.push(await call('GET', '/api/v1/limited'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  const [, , refused] = answers;
  expect(refused?.body).toMatchObject({
    code: 103,
    message: expect.stringMatching(/^Too many requests: 2 a second are allowed for one session/),
  });
  const header = (name: string) => refused?.headers.get(name);
  expect(['retry-after', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map(header)).toEqual([
    '1',
    '2',
    '0',
    '1',
  ]);
});
