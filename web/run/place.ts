/** Addresses of an agent's screens: what they show, and how they are written. */

/** What the page of an agent shows: a run, a conversation, or a new one. */
export interface RunAddress {
  readonly agent: string;
  readonly run?: string;
  readonly session?: string;
}

/** Reads `/agents/{id}`, `/agents/{id}/runs/{run}` and `/agents/{id}/chat/{session}`; what is behind them is passed over. */
export function readAddress(path: string): RunAddress | undefined {
  const [place, agent, kind, id] = path.split('/').filter(Boolean).map(decoded);
  if (place !== 'agents' || agent === undefined) return undefined;
  if (kind === 'runs' && id !== undefined) return { agent, run: id };
  if (kind === 'chat' && id !== undefined) return { agent, session: id };
  return { agent };
}

export const agentAddress = (agent: string): string => `/agents/${encodeURIComponent(agent)}`;
export const runAddress = (agent: string, run: string): string =>
  `${agentAddress(agent)}/runs/${encodeURIComponent(run)}`;
export const chatAddress = (agent: string, session: string): string =>
  `${agentAddress(agent)}/chat/${encodeURIComponent(session)}`;
export const versionsAddress = (agent: string): string => `${agentAddress(agent)}/versions`;

/** Addresses are typed by people, too. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
