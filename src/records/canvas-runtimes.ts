import { z } from 'zod';
import { type PageRequest, type Repository, resource } from './repository.js';

/** Which engine runs a tenant's canvases; what the names mean is the caller's business. */
export interface CanvasRuntimeStore {
  /** Stays until it is changed. */
  save(tenant: string, runtime: string): Promise<void>;
  /** Undefined when nothing was chosen. */
  find(tenant: string): Promise<string | undefined>;
  /** Back to the default. */
  delete(tenant: string): Promise<void>;
}

const choiceSchema = z.object({ runtime: z.string() });
type Choice = Readonly<z.infer<typeof choiceSchema>>;

/** A tenant has one choice. */
const ID = 'canvas';

export const canvasRuntimes = resource<Choice, PageRequest>({
  name: 'canvas_runtimes',
  singular: 'Canvas runtime',
  schema: choiceSchema,
  id: () => ID,
  columns: {},
  filters: {},
  orders: { inserted: 'position' },
  memory: { maxCount: 100_000 },
});

/** Choices over their repository. */
export function createCanvasRuntimeStore(repository: Repository<Choice, PageRequest>): CanvasRuntimeStore {
  return {
    save: (tenant, runtime) => repository.save(tenant, { runtime }),
    find: async (tenant) => (await repository.find(tenant, ID))?.runtime,
    delete: async (tenant) => void (await repository.delete(tenant, ID)),
  };
}
