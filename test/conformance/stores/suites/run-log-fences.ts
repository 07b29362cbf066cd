import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../../../src/graph/state.js';
import { FIRST_EPOCH, type LogBatch, type LoggedEvent, type RunLog } from '../../../../src/records/run-log.js';
import { checkpoint, events, newTenant } from '../../../stores/support/records.js';
import { property, type Random } from '../../../support/random.js';
import type { Given } from './given.js';

const MANY = { maxEvents: 10_000, maxBytes: 10_000_000 };
const REFUSED = { code: 'CONFLICT' };

/** What every {@link RunLog} does with processes that take a run from each other: `here` and `there` are two of them. */
export function describeRunLogFences(here: () => RunLog, there: () => RunLog, given: Given): void {
  describe('fences of a RunLog', () => {
    const newRun = async (): Promise<readonly [tenant: string, run: string]> => {
      const tenant = newTenant();
      return [tenant, await given.run(tenant)];
    };
    /** A store may refuse at once or by its promise. */
    const append = async (log: RunLog, [tenant, run]: readonly [string, string], batch: LogBatch): Promise<void> =>
      log.append(tenant, run, batch);

    it('a claim raises the epoch each time, whether there was a log before or not', async () => {
      const run = await newRun();
      expect(await here().claim(...run)).toBe(FIRST_EPOCH + 1);
      expect(await there().claim(...run)).toBe(FIRST_EPOCH + 2);
      expect(await here().read(...run, 0, MANY)).toBeUndefined();
      const other = await newRun();
      await append(here(), other, { events: events(1, 1) });
      expect(await there().claim(...other)).toBe(FIRST_EPOCH + 1);
    });

    it.each<[string, (run: string) => LogBatch]>([
      ['events', () => ({ events: events(3, 4) })],
      ['a snapshot alone', (run) => ({ events: [], snapshot: at(run, 2) })],
      ['events and a snapshot', (run) => ({ events: events(3, 3), snapshot: at(run, 3) })],
    ])('refuses %s of a process that has lost the run, and changes nothing', async (_what, batchOf) => {
      const run = await newRun();
      await append(here(), run, { events: [], snapshot: at(run[1], 0) });
      await append(here(), run, { events: events(1, 2) });
      const epoch = await there().claim(...run);
      await expect(append(here(), run, batchOf(run[1]))).rejects.toMatchObject(REFUSED);
      await expect(here().end(...run)).rejects.toMatchObject(REFUSED);
      expect(await there().read(...run, 0, MANY)).toEqual(events(1, 2));
      expect(await there().snapshot(...run)).toEqual(at(run[1], 0));
      await append(there(), run, { epoch, events: events(3, 3), snapshot: at(run[1], 3) });
      expect(await here().read(...run, 0, MANY)).toEqual(events(1, 3));
      await there().end(...run, epoch);
    });

    it('leaves the run to its claimant before that has written anything', async () => {
      const run = await newRun();
      await append(here(), run, { events: events(1, 1) });
      const late = await there().claim(...run);
      const epoch = await here().claim(...run);
      // It never wrote, and has lost the run all the same.
      await expect(append(there(), run, { epoch: late, events: events(2, 2) })).rejects.toMatchObject(REFUSED);
      await append(here(), run, { epoch, events: events(2, 2) });
      await expect(append(there(), run, { epoch: late, events: events(3, 3) })).rejects.toMatchObject(REFUSED);
      await append(here(), run, { epoch, events: events(3, 3) });
    });

    it('lets no first event in behind a claim', async () => {
      const run = await newRun();
      const epoch = await there().claim(...run);
      await expect(append(here(), run, { events: events(1, 1) })).rejects.toMatchObject(REFUSED);
      await expect(append(here(), run, { events: [], snapshot: at(run[1], 0) })).rejects.toMatchObject(REFUSED);
      await append(there(), run, { epoch, events: [], snapshot: at(run[1], 0) });
      await append(there(), run, { epoch, events: events(1, 2), snapshot: at(run[1], 2) });
      expect(await here().snapshot(...run, 1)).toEqual(at(run[1], 0));
      expect(await here().snapshot(...run)).toEqual(at(run[1], 2));
    });

    it('keeps the first snapshot of a run that was claimed before its first write, in whatever group it comes', async () => {
      const run = await newRun();
      const epoch = await there().claim(...run);
      await Promise.all([
        append(there(), run, { epoch, events: [], snapshot: at(run[1], 0) }),
        append(there(), run, { epoch, events: events(1, 2) }),
        append(there(), run, { epoch, events: events(3, 3), snapshot: at(run[1], 3) }),
      ]);
      expect((await here().snapshot(...run, 2))?.seq).toBe(0);
      expect((await here().snapshot(...run))?.seq).toBe(3);
    });

    it('refuses an epoch that was never given', async () => {
      const run = await newRun();
      await append(here(), run, { events: events(1, 1) });
      await expect(append(here(), run, { epoch: 9, events: events(2, 2) })).rejects.toThrow();
      expect(await here().read(...run, 0, MANY)).toEqual(events(1, 1));
    });

    property('a run has one writer, however two owners claim, read, write and end it', 25, async (random) => {
      const run = await newRun();
      await new Race(random, run, [here(), there()]).play();
    });
  });
}

/** One process, as it sees the run. */
interface Owner {
  readonly log: RunLog;
  epoch: number | undefined;
  /** Number of the last event that it knows of. */
  last: number;
}

/** Random steps of two owners, of which some are under way when the next begins. */
class Race {
  readonly #random: Random;
  readonly #run: readonly [tenant: string, run: string];
  readonly #owners: readonly Owner[];
  readonly #pending: Promise<void>[] = [];
  /** Events whose append was confirmed. */
  readonly #confirmed: LoggedEvent[] = [];
  readonly #refused = new Set<string>();
  /** What each claimant read first. */
  readonly #found: { readonly epoch: number; readonly last: number }[] = [];
  #written = 0;

  constructor(random: Random, run: readonly [string, string], logs: readonly RunLog[]) {
    this.#random = random;
    this.#run = run;
    this.#owners = logs.map((log, at) => ({ log, epoch: at === 0 ? FIRST_EPOCH : undefined, last: 0 }));
  }

  async play(): Promise<void> {
    for (let step = 0; step < 60; step += 1) {
      const owner = this.#random.pick(this.#owners);
      if (owner.epoch === undefined || this.#random.chance(0.08)) await this.#claim(owner);
      else if (this.#random.chance(0.1)) await this.#read(owner);
      else if (this.#random.chance(0.03)) this.#do(() => owner.log.end(...this.#run, owner.epoch), []);
      else this.#write(owner, owner.epoch);
      if (this.#random.chance(0.4)) await Promise.all(this.#pending.splice(0));
    }
    await Promise.all(this.#pending.splice(0));
    await this.#expectOneWriter();
  }

  /** First the epoch, then what is there. */
  async #claim(owner: Owner): Promise<void> {
    owner.epoch = await owner.log.claim(...this.#run);
    await this.#read(owner);
    this.#found.push({ epoch: owner.epoch, last: owner.last });
  }

  async #read(owner: Owner): Promise<void> {
    owner.last = (await owner.log.read(...this.#run, 0, MANY))?.length ?? 0;
  }

  #write(owner: Owner, epoch: number): void {
    const [, run] = this.#run;
    const added = Array.from({ length: this.#random.int(4) }, (_, at): LoggedEvent => {
      this.#written += 1;
      const seq = owner.last + at + 1;
      return { seq, event: 'message', json: JSON.stringify({ epoch, number: this.#written }) };
    });
    owner.last += added.length;
    const isTaken = added.length === 0 || this.#random.chance(0.3);
    const snapshot = { ...at(run, owner.last), state: { epoch } };
    this.#do(async () => owner.log.append(...this.#run, { epoch, events: added, ...(isTaken && { snapshot }) }), added);
  }

  #do(work: () => Promise<void>, added: readonly LoggedEvent[]): void {
    const done = work().then(
      () => void this.#confirmed.push(...added),
      (error: unknown) => {
        expect(error).toMatchObject(REFUSED);
        for (const { json } of added) this.#refused.add(json);
      },
    );
    this.#pending.push(done);
  }

  async #expectOneWriter(): Promise<void> {
    const [first] = this.#owners as [Owner];
    const kept = (await first.log.read(...this.#run, 0, MANY)) ?? [];
    expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => index + 1));
    for (const event of this.#confirmed) expect(kept[event.seq - 1]).toEqual(event);
    expect(kept.filter(({ json }) => this.#refused.has(json))).toEqual([]);
    const epochs = kept.map(({ json }) => (JSON.parse(json) as { readonly epoch: number }).epoch);
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    // What a claimant read was all that earlier writers had to say.
    for (const { epoch, last } of this.#found) {
      expect(epochs.slice(0, last).every((one) => one <= epoch)).toBe(true);
      expect(epochs.slice(last).every((one) => one >= epoch)).toBe(true);
    }
    const newest = Math.max(FIRST_EPOCH, ...this.#found.map(({ epoch }) => epoch));
    for (const owner of this.#owners) {
      const { log, epoch = 0 } = owner;
      const last = { seq: kept.length + 1, event: 'message', json: JSON.stringify({ epoch, isLast: true }) };
      const ending = async (): Promise<void> => {
        await log.append(...this.#run, { epoch, events: [last] });
        await log.end(...this.#run, epoch);
      };
      if (epoch === newest) await ending();
      else await expect(ending()).rejects.toMatchObject(REFUSED);
    }
  }
}

function at(run: string, seq: number): Checkpoint {
  return { ...checkpoint(run, seq), seq };
}
