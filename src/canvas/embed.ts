/** A canvas as a step: its answer, live, with its forms as questions of the step. */
import { Observable } from 'rxjs';
import { z } from 'zod';
import type { Interrupt } from '../compose/interrupt.js';
import { makeStep, requireName } from '../compose/make-step.js';
import type { Step, StepActivation } from '../compose/step.js';
import { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import { findNode } from '../graph/plan.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { invalidOption, requireOptions } from '../operators/invalid-option.js';
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
 * with any turn, or the value alone for the only field of the only form; another answer is ANSWER_INVALID. A canvas that fails fails the step with
 * the same code. The run of the canvas ends with the step.
 *
 * @throws EngineError OPTION_INVALID for something else than a canvas, and for names that are no options; PLAN_INVALID for a name that cannot be one.
 */
export function embed(canvas: Canvas, options: EmbedOptions = {}): Step<CanvasInput, string> {
  requireCanvas(canvas);
  requireOptions('embed', options, ['name', 'services']);
  const { name = 'canvas', services } = options;
  requireName('A canvas as a step', name);
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

/** @throws EngineError OPTION_INVALID; a document, which is the likely mistake, has no plan */
function requireCanvas(canvas: unknown): void {
  const { plan } = isJsonObject(canvas) ? (canvas as Partial<Canvas>) : {};
  if (isJsonObject(plan) && 'nodes' in plan) return;
  throw invalidOption('embed', 'canvas', 'what loadCanvas(document) gives', canvas);
}

/** What answers a form by its fields. */
const BY_FIELDS = z.looseObject({});

/** What may also answer the only field. */
const BY_VALUE = z.union([z.string(), z.number(), z.boolean(), BY_FIELDS]);

/** In the place of a chunk it ends the activation. */
function waitWith(at: StepActivation, kept: Kept): never {
  const answer = onlyField(kept) === undefined ? BY_FIELDS : BY_VALUE;
  const asked: Interrupt = at.interrupt(kept.question, { memo: kept, answer });
  return asked as never;
}

/** The field of a form that is alone, and waits alone: a value without a name can only be for that. */
function onlyField({ question }: Kept): string | undefined {
  const pending = question.pending as unknown as readonly { readonly payload: JsonObject }[];
  const inputs = pending.length === 1 ? pending[0]?.payload.inputs : undefined;
  const fields = isJsonObject(inputs) ? Object.keys(inputs) : [];
  return fields.length === 1 ? fields[0] : undefined;
}

function turnOf(input: CanvasInput, { answer }: StepActivation, kept: Kept | undefined): Turn {
  if (kept === undefined) return typeof input === 'string' ? { query: input } : input;
  const field = onlyField(kept);
  if (!isJsonObject(answer)) return { inputs: field === undefined ? {} : { [field]: answer as Json } };
  const { query, inputs } = answer as Turn;
  if (inputs !== undefined) return answer as Turn;
  if (query === undefined) return { inputs: answer as JsonObject };
  return field === undefined ? (answer as Turn) : { ...answer, inputs: { [field]: query } };
}

function isSpoken({ plan }: Canvas, node: string): boolean {
  return findNode(plan, node)?.speaks === true;
}

function report(at: StepActivation, event: Extract<RunEvent, { readonly type: 'node-usage' }>): void {
  const { promptTokens, completionTokens, totalTokens } = event;
  at.report({ type: 'usage', promptTokens, completionTokens, totalTokens });
}
