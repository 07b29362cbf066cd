/** A conversation stored in a file between two calls of `runnel run`. */

import { constants, createReadStream } from 'node:fs';
import { access, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Session } from '../canvas/turn.js';
import { jsonObject } from '../dsl/json-object.js';
import { EngineError } from '../errors.js';
import { createId } from '../hosting/ids.js';
import { parseOwnJson } from '../json.js';
import { cannot } from './command.js';
import { readText } from './read-source.js';

/** Far more than a conversation of 2000 turns has. */
const MAX_SESSION_BYTES = 256 * 1024 * 1024;

const sessionSchema = z.strictObject({
  version: z.literal(1),
  id: z.string().min(1),
  variables: jsonObject,
  // Read by the engine, which checks it against the plan.
  waiting: jsonObject.optional(),
});

/** What the file holds: the conversation and its id. */
export interface StoredSession {
  readonly id: string;
  /** Undefined for a new conversation. */
  readonly session: Session | undefined;
}

/**
 * Reads the conversation; without a file it is a new one.
 *
 * @throws EngineError USAGE when the file is there but is no session, or cannot be written.
 */
export async function readSession(path: string | undefined): Promise<StoredSession> {
  if (path !== undefined) await checkFolder(path);
  const text = path === undefined ? undefined : await readIfThere(path);
  if (text === undefined) return { id: createId(), session: undefined };
  const value = parseOwnJson(text);
  const parsed = sessionSchema.safeParse(value);
  if (parsed.success) {
    const { id, ...session } = parsed.data;
    return { id, session: session as unknown as Session };
  }
  const problems = parsed.error.issues.map((issue) => `${['$', ...issue.path].join('.')}: ${issue.message}`);
  const why = value === undefined ? 'it is not valid JSON' : problems.join('; ');
  throw new EngineError(
    'USAGE',
    `"${path}" is not a session file (${why}); name another file to start a new conversation.`,
  );
}

/**
 * Writes the conversation; a crash leaves the old file or the new one, never half of it.
 *
 * @throws EngineError USAGE when the file cannot be written.
 */
export async function writeSession(path: string, id: string, session: Session): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    await writeFile(part, `${JSON.stringify({ ...session, id })}\n`, { mode: 0o600 });
    await rename(part, path);
  } catch (cause) {
    throw cannot(`write the session file "${path}"`, cause);
  }
}

/** Checked before the run, which may cost money, as its result could not be stored otherwise. */
async function checkFolder(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw cannot(`write the session file "${path}"`, cause);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readText(createReadStream(path), `the session file "${path}"`, MAX_SESSION_BYTES);
  } catch (error) {
    const cause = EngineError.is(error) ? error.cause : undefined;
    if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
    throw error;
  }
}
