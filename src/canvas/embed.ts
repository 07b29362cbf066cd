/** A canvas as a step: its answer, live, with its forms as questions of the step. */
import { Observable } from 'rxjs';
import type { Interrupt } from '../compose/interrupt.js';
import { makeStep } from '../compose/make-step.js';
import type { Step, StepActivation } from '../compose/step.js';
import { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import { findNode } from '../graph/plan.js';
import type { JsonObject } from '../json.js';
import type { Canvas } from './load-canvas.js';
import { runTurn, type Session, type Turn } from './turn.js';

/** What a canvas is asked: a question, or a whole turn. */
export type CanvasInput = string | Pick<Turn, 'query' | 'inputs' | 'files' | 'userId' | 'variables'>;

/** Options of {@link embed}. */
export interface EmbedOptions {
  /** Name of the step. @default 'canvas' */
  readonly name?: string;
  /** What the components of the canvas get as `activation.services`. @default the services of the run around */
  readonly services?: unknown;
}

/** What the step keeps while the canvas waits. */
interface Kept {
  readonly session: Session;
  /** What the canvas had said by then. */
  readonly text: string;
  readonly question: JsonObject;
}

/**
 * Makes a step of a canvas: a question in, the text of its Message components out, piece by piece.
 *
 * ```text
 * canvas    --message: Hel--message: lo--|
 * step      --Hel-----------lo-----------|
 * ```
 *
 * A form of the canvas interrupts the run: its question is `{ pending: [{ node, payload }] }`, its answer `{ inputs: { field: value } }` as
 * with any turn. A canvas that fails fails the step with the same code. The run of the canvas ends with the step.
 */
export function embed(canvas: Canvas, options: EmbedOptions = {}): Step<CanvasInput, string> {
  const { name = 'canvas', services } = options;
  const run = (input: CanvasInput, at: StepActivation): Observable<string> =>
    new Observable((subscriber) => {
      const kept = at.memo as Kept | undefined;
      if (kept !== undefined && at.answer === undefined) {
        subscriber.next(waitWith(at, kept));
        subscriber.complete();
        return undefined;
      }
      let text = kept?.text ?? '';
      if (text !== '') subscriber.next(text);
      let session: Session | undefined;
      const say = (piece: string): void => {
        text += piece;
        subscriber.next(piece);
      };
      const end = (event: RunEvent): void => {
        if (event.type === 'run-interrupted') {
          const pending = event.pending.map(({ node, payload }): JsonObject => ({ node, payload }));
          subscriber.next(waitWith(at, { session: session as Session, text, question: { pending } }));
        } else if (event.type === 'run-failed') {
          const { code, message, node } = event.error;
          subscriber.error(
            new EngineError(code, `Canvas "${at.path}": ${message}`, node === undefined ? {} : { node }),
          );
        }
      };
      const events = runTurn(canvas, turnOf(input, at, kept), {
        services: services ?? at.services,
        now: () => at.now(),
        random: () => at.random(),
        ...(kept === undefined ? {} : { session: kept.session }),
        onSession: (left) => {
          session = left;
        },
      });
      return events.subscribe({
        next: (event) => {
          if (event.type === 'node-delta' && isSpoken(canvas, event.node) && event.port !== 'thinking') say(event.text);
          else if (event.type === 'node-usage') report(at, event);
          else end(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
  return makeStep(name, { type: 'function', run: run as never, options: { kind: 'canvas' } });
}

/** In the place of a chunk it ends the activation. */
function waitWith(at: StepActivation, kept: Kept): never {
  const asked: Interrupt = at.interrupt(kept.question, { memo: kept });
  return asked as never;
}

function turnOf(input: CanvasInput, { answer }: StepActivation, kept: Kept | undefined): Turn {
  if (kept === undefined) return typeof input === 'string' ? { query: input } : input;
  if (typeof answer === 'string') return { query: answer };
  const isTurn = typeof answer === 'object' && answer !== null && ('inputs' in answer || 'query' in answer);
  return isTurn ? (answer as Turn) : { inputs: answer as JsonObject };
}

function isSpoken({ plan }: Canvas, node: string): boolean {
  return findNode(plan, node)?.speaks === true;
}

function report(at: StepActivation, event: Extract<RunEvent, { readonly type: 'node-usage' }>): void {
  const { promptTokens, completionTokens, totalTokens } = event;
  at.report({ type: 'usage', promptTokens, completionTokens, totalTokens });
}
