/** Records with everything that a test does not care about. */
import { randomUUID } from 'node:crypto';
import type { Checkpoint } from '../../../src/graph/state.js';
import type { AgentRecord } from '../../../src/records/agents.js';
import type { LoggedEvent } from '../../../src/records/run-log.js';
import type { RunRecord } from '../../../src/records/runs.js';
import type { SessionRecord } from '../../../src/records/sessions.js';
import type { VersionRecord } from '../../../src/records/versions.js';

/** A tenant that nobody else has, so that tests may share a store. */
export function newTenant(): string {
  return `tenant-${randomUUID()}`;
}

export function newId(): string {
  return randomUUID().replaceAll('-', '');
}

export function agentRecord(change: Partial<AgentRecord> = {}): AgentRecord {
  const id = change.id ?? newId();
  return {
    id,
    title: `Agent ${id}`,
    description: null,
    avatar: null,
    permission: 'me',
    canvasType: null,
    canvasCategory: 'agent_canvas',
    tags: '',
    dsl: { components: {} },
    createdAt: 1_000,
    updatedAt: 1_000,
    ...change,
  };
}

export function versionRecord(agentId: string, change: Partial<VersionRecord> = {}): VersionRecord {
  return { id: newId(), agentId, title: 'v', description: null, dsl: { components: {} }, createdAt: 1_000, ...change };
}

export function sessionRecord(agentId: string, change: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: newId(),
    agentId,
    name: 'session',
    userId: 'user',
    source: 'agent',
    messages: [],
    references: [],
    dsl: { components: {} },
    tokens: 0,
    durationMs: 0,
    round: 0,
    errors: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...change,
  };
}

export function runRecord(agentId: string, change: Partial<RunRecord> = {}): RunRecord {
  return {
    id: newId(),
    agentId,
    sessionId: 'session',
    messageId: 'message',
    status: 'running',
    startedAt: 1_000,
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 },
    lastSeq: 0,
    ...change,
  };
}

/** The events numbered `first` to `last`. */
export function events(first: number, last: number): LoggedEvent[] {
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const seq = first + at;
    return { seq, event: 'message', json: `{"event":"message","data":{"content":"no. ${seq}"}}` };
  });
}

export function checkpoint(run: string, seq: number): Checkpoint {
  return { version: 1, run, planHash: 'plan', at: 1_000, seq, state: { step: seq } };
}
