/** The process that goes on with a research when the first one is gone. */
import { BehaviorSubject, lastValueFrom, map, toArray } from 'rxjs';
import { onTestFinished } from 'vitest';
import type { Services } from '../../../src/agents/call-context.js';
import { createHost } from '../../../src/hosting/host.js';
import type { ResearchEvent } from '../../../src/research/research-events.js';
import { toResearchEvent } from '../../../src/research/service/research-frames.js';
import type { openEmbedded } from '../../stores/support/open-stores.js';

/** Recovers a research to its end; gives all that it told, in both processes. Closes the stores, and models, with the test. */
export async function toldBySecond(
  stores: Awaited<ReturnType<typeof openEmbedded>>,
  services: Services,
  run: string,
): Promise<readonly ResearchEvent[]> {
  const second = createHost({ stores, services });
  onTestFinished(async () => {
    await second.close(0);
    await services.models?.close();
    await stores.close();
  });
  second.recover();
  await second.whenOver('t', run, 120_000);
  const events = await lastValueFrom(
    second.follow('t', run, { after: 0, ready$: new BehaviorSubject(true), isExact: true }).pipe(
      map(({ source }) => toResearchEvent(source, 's')),
      toArray(),
    ),
  );
  return events.flatMap((event) => event ?? []);
}
