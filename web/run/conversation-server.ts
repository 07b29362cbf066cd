/** What a conversation asks the server, which has agents and chats in different places. */
import type { DescribedNode } from '../../src/canvas/picture/picture.js';
import type { Client } from '../api/client.js';
import { agentRun } from './paths.js';
import { RunStore } from './run-store.js';
import { readSession, type SessionRuns } from './session.js';
import { type RunItem, readRun, startTurn, type TurnInput } from './start-turn.js';

/** Its promises fail with ApiError. */
export interface ConversationServer {
  readRun(run: string): Promise<RunItem>;
  readSession(session: string): Promise<SessionRuns>;
  /** Starts a turn and gives the id of its run. */
  start(turn: TurnInput): Promise<string>;
  /** A run that is followed from `open` to `close`; `nodes` are those of the document that it runs. */
  store(run: string, nodes: readonly DescribedNode[]): RunStore;
}

/** Conversations with an agent. */
export function agentServer(client: Client, agent: string): ConversationServer {
  return {
    readRun: (run) => readRun(client, agent, run),
    readSession: (session) => readSession(client, agent, session),
    start: (turn) => startTurn(client, agent, turn),
    store: (run, nodes) => new RunStore({ client, place: agentRun(agent, run), nodes }),
  };
}
