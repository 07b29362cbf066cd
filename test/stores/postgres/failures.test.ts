import { describe, expect, it } from 'vitest';
import { retryUnreachable } from '../../../src/stores/postgres/failures.js';

const failing = (code: string) => Object.assign(new Error(`failed with ${code}`), { code });

/** Work that fails with these codes, one after the other, then gives the number of attempts. */
function work(...codes: readonly string[]) {
  let attempts = 0;
  return async (): Promise<number> => {
    const code = codes[attempts];
    attempts += 1;
    if (code !== undefined) throw failing(code);
    return attempts;
  };
}

describe('work on a database that fails', () => {
  const waited: unknown[] = [];
  const patience = { patienceMs: 10_000, onWait: (error: unknown) => void waited.push(error) };

  it.each([
    ['was not sent', 'ECONNREFUSED', false, 2],
    ['met a server that starts', '57P03', false, 2],
    ['was not sent, though it may be repeated', 'ENOENT', true, 2],
    ['was lost and may be repeated', 'CONNECTION_CLOSED', true, 2],
    ['met a server that stops and may be repeated', '57P01', true, 2],
    ['met a deadlock and may be repeated', '40P01', true, 2],
  ])('is done again when it %s', async (_name, code, afterLoss, attempts) => {
    expect(await retryUnreachable(work(code), { ...patience, afterLoss })).toBe(attempts);
  });

  it('says once that it waits', async () => {
    waited.length = 0;
    await retryUnreachable(work('ECONNREFUSED', 'ECONNREFUSED'), { ...patience, afterLoss: false });
    expect(waited).toHaveLength(1);
  });

  it('is not done again when it may have been done', async () => {
    const lost = retryUnreachable(work('CONNECTION_CLOSED'), { ...patience, afterLoss: false });
    await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  });

  it('fails when patience ends, and says what to look at', async () => {
    const away = retryUnreachable(work('ECONNREFUSED'), { ...patience, patienceMs: 0, afterLoss: true });
    await expect(away).rejects.toThrow('cannot be reached (ECONNREFUSED). Is it running?');
  });

  it.each([
    ['23505', 'INTERNAL'],
    ['22021', 'BAD_REQUEST'],
    ['22P05', 'BAD_REQUEST'],
    ['CONNECTION_ENDED', 'INTERNAL'],
  ])('fails at once with %s as %s', async (code, expected) => {
    const refused = retryUnreachable(work(code), { ...patience, afterLoss: true });
    await expect(refused).rejects.toMatchObject({ code: expected, retryable: false, cause: { code } });
  });
});
