import { describe, expect, it } from 'vitest';
import type { Rate, RateAnswer } from '../../../../src/records/rates.js';
import { newId } from '../../../stores/support/records.js';

/** A counter, and a way to let its time pass. */
export interface RateSubject {
  readonly take: (rates: readonly Rate[]) => RateAnswer | Promise<RateAnswer>;
  readonly pass: (ms: number) => void | Promise<void>;
}

/** What every counter of rates does. */
export function describeRateCounter(subject: () => RateSubject): void {
  const second = (key: string, most: number): Rate => ({ kind: 'second', key, most });
  const bucket = (key: string, most: number): Rate => ({ kind: 'bucket', key, most });
  const take = async (...rates: Rate[]): Promise<RateAnswer> => subject().take(rates);
  const takeOften = async (count: number, ...rates: Rate[]): Promise<boolean[]> => {
    const taken: boolean[] = [];
    for (let at = 0; at < count; at += 1) taken.push((await take(...rates)).isTaken);
    return taken;
  };

  describe('RateCounter', () => {
    it('takes as many of a second as it may, says how many are left, and then how long to wait', async () => {
      const rate = second(newId(), 3);
      const answers = [await take(rate), await take(rate), await take(rate), await take(rate)];
      expect(answers.slice(0, 3)).toEqual([2, 1, 0].map((left) => ({ isTaken: true, left: [left] })));
      expect(answers[3]).toMatchObject({ isTaken: false, refused: 0 });
      const { waitMs } = answers[3] as Extract<RateAnswer, { isTaken: false }>;
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(1_000);
      await subject().pass(waitMs);
      expect((await take(rate)).isTaken).toBe(true);
    });

    it('takes as many of a bucket, too, and is full again a second later', async () => {
      const rate = bucket(newId(), 4);
      expect(await takeOften(5, rate)).toEqual([true, true, true, true, false]);
      await subject().pass(1_001);
      expect(await takeOften(4, rate)).toEqual([true, true, true, true]);
    });

    it('takes all rates or none, and names the one without room', async () => {
      const [session, user, tenant] = [second(newId(), 2), second(newId(), 9), bucket(newId(), 3)];
      const other = second(newId(), 9);
      expect(await takeOften(2, session, user, tenant)).toEqual([true, true]);
      expect(await take(session, user, tenant)).toMatchObject({ isTaken: false, refused: 0 });
      expect(await take(other, user, tenant)).toEqual({ isTaken: true, left: [8, 6, 0] });
      // The tenant has none left, so the others are not counted.
      expect(await take(other, user, tenant)).toMatchObject({ isTaken: false, refused: 2 });
      expect(await take(other, user)).toEqual({ isTaken: true, left: [7, 5] });
    });

    it('keeps keys apart, and takes of many at once exactly as many as it may', async () => {
      const [one, two] = [second(newId(), 5), second(`${newId()}:ü`, 5)];
      const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => take(at % 2 === 0 ? one : two)));
      const taken = (from: number) => answers.filter(({ isTaken }, at) => isTaken && at % 2 === from).length;
      expect([taken(0), taken(1)]).toEqual([5, 5]);
      expect(await take()).toEqual({ isTaken: true, left: [] });
    });
  });
}
