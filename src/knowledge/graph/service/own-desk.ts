import { createDesk, type DeskAnswers, type DeskRequest } from './graph-desk.js';
import type { GraphDesk } from './open-desk.js';

/** Opens a desk in the calling thread, for tests and small programs. */
export function openOwnDesk(): GraphDesk {
  const make = (): ReturnType<typeof createDesk> => createDesk(async () => (text) => text);
  let desk = make();
  return {
    answer<D extends DeskRequest['do']>(request: Extract<DeskRequest, { do: D }>) {
      return desk(request) as Promise<DeskAnswers[D]>;
    },
    async close() {
      desk = make();
    },
  };
}
