/** What a tool in code is: what a model is told of it, and one function. Steps call it for the calls of a model's message. */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import type { ToolOutputPart } from '../../models/content-parts.js';
import type { StandardSchema } from '../../standard-schema.js';
import type { Interrupt } from '../interrupt.js';
import type { StepActivation } from '../step.js';

/** What a tool gave, or a piece of it; the text of several pieces is joined, and so are their parts. */
export interface ToolContent {
  /** For the model; of parts, the text among them. */
  readonly text: string;
  /** Everything, where it is more than text. @default the text alone */
  readonly parts?: readonly ToolOutputPart[];
  /** Facts for readers of the conversation, never sent to a model. @default none */
  readonly extra?: JsonObject;
  /** Whether it says why the tool failed. @default false */
  readonly isError?: boolean;
}

/** What a call gives: pieces of content in order, or, alone, a question to the outside. */
export type ToolReply = ToolContent | Interrupt;

/**
 * What a tool sees of its call while it works: what a step sees, for this one call. Its path is `<path of the step>#<id>`, its key differs from
 * those of other calls, and `answer`, `answers` and `memo` belong to its own questions. `options` are those of the step's call options
 * `toolOptions`. `A` is the type of answers to its questions.
 */
export interface ToolActivation<A = unknown> extends StepActivation {
  /** Id of the call in the message of the model. */
  readonly id: string;
  /** The answer to the tool's own question, once the run was resumed with one. */
  readonly answer: A | undefined;
}

/** A tool that steps can call: made by `defineTool`, `toolOf`, `mcpTools` or `graphTool`, or written by hand. */
export interface StepTool extends ToolDefinition {
  /** What answers to its questions have to be. @default what each question says */
  readonly answer?: StandardSchema | undefined;
  /**
   * Cold: one subscription is one call, and unsubscribing stops it. `args` is what the model wrote, not checked yet.
   *
   * Errors: `TOOL_ARGUMENTS` for arguments that do not fit; anything that failed beyond.
   */
  call(args: JsonObject, call: ToolActivation): Observable<ToolReply>;
}

/** The part of a tool that models are told, as plain JSON. */
export function toolDefinition({ name, description, parameters, deferred }: ToolDefinition): ToolDefinition {
  return { name, description, parameters, ...(deferred === true && { deferred }) };
}
