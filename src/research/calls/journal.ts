/** What a research remembers of its steps, also in another process. */
import type { Json } from '../../json.js';

/** Results of steps that are over, by what was asked: a research that goes on in another process repeats none of them. */
export interface Journal {
  /** What was kept last under a key. */
  find(key: string): Json | undefined;
  keep(key: string, value: Json): void;
  /** A promise that resolves when all that was kept so far is stored. @default undefined: it is stored at once, or nowhere */
  stored?(): Promise<void> | undefined;
}
