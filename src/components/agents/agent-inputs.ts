/** What people say to the agents of a run while it works, as changes of the run. */
import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import type { CallContext } from '../../agents/call-context.js';
import type { NodeInput } from '../../agents/node-inputs.js';

/** An input as it is stored, among other changes of its run. */
export const saidSchema = z.object({
  action: z.literal('say'),
  id: z.string().min(1).max(200),
  content: z.string().trim().min(1).max(10_000),
  /** Id of the node that it is for. @default every agent of the run */
  to: z.string().min(1).max(255).exactOptional(),
});

/** An input of a run. */
export type SaidToRun = Readonly<z.output<typeof saidSchema>>;

/**
 * What an agent of a node is told while it works: first a list of what was said before, then what comes. What is said to no node in particular is for every
 * agent that is at work then or begins later in the run; agents inside of others are told nothing. Undefined where nothing keeps changes of runs.
 */
export function inputsOf({
  services: { steers },
  run,
  node,
}: CallContext): Observable<readonly NodeInput[]> | undefined {
  return steers?.of(run).pipe(
    map((changes) =>
      changes.flatMap((change): NodeInput[] => {
        const { success, data } = saidSchema.safeParse(change);
        return success && (data.to === undefined || data.to === node) ? [{ id: data.id, content: data.content }] : [];
      }),
    ),
  );
}
