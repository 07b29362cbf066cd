import { describe } from 'vitest';
import { memorySessions } from '../../../src/agents/sessions/memory-sessions.js';
import { describeSessionLog } from './suites/session-log.js';

describe('sessions of agents in memory', () => {
  const sessions = memorySessions({ maxEntryBytes: 5_000, maxEntries: 1_200 });
  describeSessionLog(() => sessions);
});
