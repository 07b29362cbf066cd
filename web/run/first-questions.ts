/** What the page of an agent asks the server first, whatever it shows. */
import type { EarlyQuestion } from '../api/client.js';
import { agentPath, RUN_ALONE, runPath } from './paths.js';
import { readAddress } from './place.js';

/** For an address such as `/agents/a1/runs/r1`: the agent, the types of components, the run. */
export function firstQuestions(path: string): readonly EarlyQuestion[] {
  const { agent, run } = readAddress(path) ?? {};
  if (agent === undefined) return [];
  const always = [{ path: agentPath(agent) }, { path: '/components' }];
  return run === undefined ? always : [...always, { path: runPath(agent, run), query: RUN_ALONE }];
}
