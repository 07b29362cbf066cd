/** What the examples share: a conversation with the canvas in a folder, whose models answer as `models.json` beside it says. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  createModels,
  loadCanvas,
  modelsFromEnvironment,
  runTurn,
  type Session,
  type Turn,
  toWireEvents,
  type WireEvent,
} from 'runnel';
import { createEmbeddedRunner } from 'runnel/adapters';
import { lastValueFrom, toArray } from 'rxjs';

/** Opens the canvas of `folder`; every call of the function it gives is one turn of one conversation, whose answer it prints. */
export async function openExample(folder: string): Promise<(turn: Turn) => Promise<readonly WireEvent[]>> {
  const canvas = loadCanvas(await readFile(path.join(folder, 'canvas.json'), 'utf8'));
  const script = path.join(folder, 'models.json');
  const settings = await modelsFromEnvironment(existsSync(script) ? { RUNNEL_MODELS: script } : {}, (file) =>
    readFile(file, 'utf8'),
  );
  // No spare threads: an example ends with its answer.
  const services = { models: createModels(settings), code: createEmbeddedRunner({ maxSpares: 0 }) };
  let session: Session | undefined;
  return async (turn) => {
    const events$ = runTurn(canvas, turn, {
      services,
      onSession: (next) => {
        session = next;
      },
      ...(session === undefined ? {} : { session }),
    });
    const events = await lastValueFrom(
      events$.pipe(toWireEvents({ plan: canvas.plan, messageId: 'message', sessionId: 'session' }), toArray()),
    );
    console.log(answerOf(events) || questionOf(events));
    return events;
  };
}

/** What a run that waits for the user asks. */
function questionOf(events: readonly WireEvent[]): string {
  return String(events.findLast(({ event }) => event === 'user_inputs')?.data.tips ?? '');
}

/** The text of the answer, without the thinking. */
export function answerOf(events: readonly WireEvent[]): string {
  let isThinking = false;
  let answer = '';
  for (const { event, data } of events) {
    if (event !== 'message') continue;
    if (data.start_to_think === true) isThinking = true;
    if (data.end_to_think === true) isThinking = false;
    if (!isThinking) answer += String(data.content);
  }
  return answer;
}
