/** Graphs that are held in the calling thread. */
import type { DeskAnswers, DeskRequest } from './graph-desk.js';
import type { GraphDesk } from './open-desk.js';

/** Opens a desk in the calling thread, for tests and small programs; what it is made of is loaded with the first request. */
export function openOwnDesk(): GraphDesk {
  const make = async () => (await import('./graph-desk.js')).createDesk(async () => (text) => text);
  let desk: ReturnType<typeof make> | undefined;
  return {
    async answer<D extends DeskRequest['do']>(request: Extract<DeskRequest, { do: D }>) {
      desk ??= make();
      return (await (
        await desk
      )(request)) as DeskAnswers[D];
    },
    async close() {
      desk = undefined;
    },
  };
}
