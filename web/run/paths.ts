/** Paths of the API below which things of an agent and of a run lie. */

export const agentPath = (agent: string): string => `/agents/${encodeURIComponent(agent)}`;
export const runPath = (agent: string, run: string): string => `${agentPath(agent)}/runs/${encodeURIComponent(run)}`;
