import { firstValueFrom, type Observable, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Signals } from '../../../../src/records/coordination.js';
import { newId } from '../../../stores/support/records.js';

/** Signals as two processes see them. */
export interface SignalSubject {
  readonly here: Signals;
  readonly there: Signals;
}

/** What all {@link Signals} do. */
export function describeSignals(subject: () => SignalSubject): void {
  describe('Signals', () => {
    it.each(['here', 'there'] as const)('tells of a cancel that is requested %s', async (where) => {
      const task = newId();
      const told = firstValueFrom(subject().here.cancelOf(task), { defaultValue: undefined });
      await subject()[where].requestCancel(task);
      await told;
    });

    it('tells of a cancel from before, and emits once', async () => {
      const task = newId();
      await subject().there.requestCancel(task);
      await subject().there.requestCancel(task);
      const emitted = firstValueFrom(subject().here.cancelOf(task).pipe(take(1), toArray()));
      expect(await emitted).toHaveLength(1);
    });

    it('forgets a cancel, and tells nobody of that of another task', async () => {
      const [task, other] = [newId(), newId()];
      await subject().there.requestCancel(task);
      await subject().here.clearCancel(task);
      let isTold = false;
      const subscription = subject()
        .here.cancelOf(task)
        .subscribe(() => {
          isTold = true;
        });
      // What is asked for later is told later: when this one is told, the other would have been.
      const told = firstValueFrom(subject().here.cancelOf(other), { defaultValue: undefined });
      await subject().there.requestCancel(other);
      await told;
      expect(isTold).toBe(false);
      subscription.unsubscribe();
    });

    it.each(['here', 'there'] as const)('brings messages that are published %s, in order', async (where) => {
      const channel = newId();
      const heard = collect(subject().here.messages(channel), 3);
      await subject()[where].publish(`${channel} other`, 'not for this one');
      for (const message of ['1', 'zwei ü 😀', '']) await subject()[where].publish(channel, message);
      expect(await heard).toEqual(['1', 'zwei ü 😀', '']);
    });

    it('brings a message to everybody who listens, and to nobody from before', async () => {
      const channel = newId();
      const early = [subject().here, subject().there].map(({ messages }) => collect(messages(channel), 1));
      await subject().there.publish(channel, 'early');
      await Promise.all(early);
      const listeners = [subject().here, subject().here, subject().there].map(({ messages }) =>
        collect(messages(channel), 1),
      );
      await subject().there.publish(channel, 'now');
      expect(await Promise.all(listeners)).toEqual([['now'], ['now'], ['now']]);
    });
  });
}

function collect(messages: Observable<string>, count: number): Promise<string[]> {
  return firstValueFrom(messages.pipe(take(count), toArray()));
}
