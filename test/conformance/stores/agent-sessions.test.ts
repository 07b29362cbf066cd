import { afterAll, beforeAll, describe } from 'vitest';
import { fileSessions } from '../../../src/agents/sessions/file-sessions.js';
import { memorySessions } from '../../../src/agents/sessions/memory-sessions.js';
import type { SessionStore } from '../../../src/agents/sessions/session-store.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { describeSessionLog } from './suites/session-log.js';

const BOUNDS = { maxEntryBytes: 5_000, maxEntries: 1_200 };

describe('sessions of agents in memory', () => {
  const sessions = memorySessions(BOUNDS);
  describeSessionLog(() => sessions);
});

describe('sessions of agents in files', () => {
  let folder: string;
  let sessions: SessionStore;
  beforeAll(async () => {
    folder = await makeFolder();
    sessions = fileSessions(folder, BOUNDS);
  });
  afterAll(() => removeFolder(folder));
  describeSessionLog(() => sessions);
});

describe('sessions of agents in files, each call as from another process', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeFolder();
  });
  afterAll(() => removeFolder(folder));
  describeSessionLog(() => fileSessions(folder, BOUNDS));
});
