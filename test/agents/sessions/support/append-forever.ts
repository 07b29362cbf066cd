/**
 * A process that appends to a session until it is killed, or `rounds` times: `append-forever.ts <folder> <session> <name> [rounds]`. Each
 * append has two facts; it says a number once the append is stored.
 */

import { fileSessions } from '../../../../src/agents/sessions/file-sessions.js';
import { loadSession } from '../../../../src/agents/sessions/fold-session.js';
import { EngineError } from '../../../../src/errors.js';

const [folder = '', session = '', name = '', rounds = 'Infinity'] = process.argv.slice(2);
const log = fileSessions(folder);
let state = await loadSession(log, session);
for (let round = 1; round <= Number(rounds); ) {
  const facts = ['first', 'second'].map((half) => ({
    type: 'input-accepted' as const,
    input: { id: `${name}-${round}-${half}`, content: 'x'.repeat(200) },
  }));
  try {
    await log.append(session, facts, state.newest);
    process.stdout.write(`${round}\n`);
    round += 1;
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'SESSION_BUSY') throw error;
  }
  state = await loadSession(log, session, state);
}
