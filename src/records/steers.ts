/** What people change of runs at work, kept before it is acknowledged. */
import type { Observable } from 'rxjs';
import { z } from 'zod';
import type { JsonObject } from '../json.js';
import { type Query, type Repository, resource } from './repository.js';

const steerSchema = z.object({
  id: z.string(),
  run: z.string(),
  /** In which words, the run knows. */
  change: z.record(z.string(), z.json()),
  createdAt: z.number(),
});

/** A change of a run. Times are milliseconds since 1970. */
export type SteerRecord = Readonly<z.infer<typeof steerSchema>>;

/** Which changes, the earliest first unless it is said otherwise. */
export interface SteerQuery extends Query {
  readonly run?: string;
}

/** Where changes of runs are stored. */
export type SteerStore = Pick<Repository<SteerRecord, SteerQuery>, 'insert' | 'list'>;

export const steers = resource<SteerRecord, SteerQuery>({
  name: 'steers',
  singular: 'Steer',
  schema: steerSchema,
  id: ({ id }) => id,
  columns: {
    run: { type: 'text', of: ({ run }) => run },
    created_at: { type: 'number', of: ({ createdAt }) => createdAt },
  },
  owner: { resource: 'runs', column: 'run' },
  filters: { run: ['is', 'run'] },
  orders: { createdAt: 'created_at' },
  indexes: [['tenant', 'run', 'position']],
  memory: { maxCount: 100_000, maxBytes: 32 * 1024 ** 2 },
});

/** The changes of the runs of one tenant. */
export interface RunSteers {
  /** The same for another tenant. */
  forTenant(tenant: string): RunSteers;
  /** Keeps a change; resolves when it is stored. @throws EngineError LIMIT_REACHED for a run that has had too many; as the store */
  put(run: string, change: JsonObject): Promise<void>;
  /** Changes of a run, each once: first a list of those that there are, which may be empty, then what comes; ends with its subscription alone. */
  of(run: string): Observable<readonly JsonObject[]>;
}
