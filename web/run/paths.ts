/** Paths of the API below which things of an agent and of a run lie. */
import type { RunPlace } from '../api/socket-link.js';

export const agentPath = (agent: string): string => `/agents/${encodeURIComponent(agent)}`;
export const runPath = (agent: string, run: string): string => `${agentPath(agent)}/runs/${encodeURIComponent(run)}`;

/** Of a run without what its nodes did: that would be read from all its events. */
export const RUN_ALONE = { nodes: false } as const;

/** Where a run of an agent lies. */
export const agentRun = (agent: string, run: string): RunPlace => ({
  agent,
  run,
  live: `${agentPath(agent)}/live`,
  path: runPath(agent, run),
});
