/**
 * What a tool is: something a model may call, and a canvas component of its own.
 *
 * A tool is data plus one function. One file defines it with {@link defineTool}, one line in `index.ts` lists it; that
 * makes it a component (`src/components/tool-component.ts`), a function of every Agent, and a page of `docs/tools.md`.
 */
import type { Observable } from 'rxjs';
import type { z } from 'zod';
import { type Artifact, type ToolEvent, type ToolResult, toolResult } from '../adapters/tool-event.js';
import type { ValueSource } from '../dsl/resolve.js';
import type { Port } from '../graph/plan.js';
import type { Json, JsonObject } from '../json.js';
import type { TraceContext } from '../trace-context.js';
import type { ToolServices } from './tool-services.js';

export type { Artifact, ToolEvent, ToolResult };
export { toolResult };

/** How often a call is tried, when the document says so; it takes the place of what a tool does on its own. */
export interface ToolRetries {
  /** Attempts in all, at least 1. */
  readonly attempts: number;
  /** Milliseconds between two of them. */
  readonly delayMs: number;
}

/** The context of a call of a tool. `P`: its parameters in the document, references in texts already replaced. */
export interface ToolCall<P = JsonObject> {
  readonly params: P;
  readonly services: ToolServices;
  /** Where references are read, for tools whose parameters hold more than texts. */
  readonly source: ValueSource;
  /** Equal for every repetition of this call, also after a crash; offered upstream as an idempotency key. */
  readonly key: string;
  /** What every request of the call passes on; empty without a trace. */
  readonly trace?: TraceContext;
  /** Undefined: the tool's own retries. */
  readonly retries?: ToolRetries;
  /** Milliseconds since 1970. */
  now(): number;
  /** Uniform in [0, 1). */
  random(): number;
}

/** Named fields and their schemas; every one is described, with unit and default. */
export type Shape = Readonly<Record<string, z.ZodType>>;

/** What a shape gives after validation. */
export type ShapeOutput<S extends Shape> = { readonly [K in keyof S]: z.output<S[K]> };

/** A tool. `A`: what the caller (a model, or a node) passes with each call; `P`: what the document sets once. */
export interface Tool<A extends Shape = Shape, P extends Shape = Shape> {
  /** Its name as a component, such as `TavilySearch`. */
  readonly component: string;
  /** Its name as a function, such as `tavily_search`. */
  readonly name: string;
  /** Other names of either kind. */
  readonly aliases?: readonly string[];
  /** One sentence: what it does, for people and for models alike. */
  readonly summary: string;
  /** What a model should know beside the summary: when to use it, how to phrase arguments. @default nothing */
  readonly advice?: string;
  readonly arguments: A;
  readonly params: P;
  /** Arguments that a node takes from elsewhere when its document does not set them, such as `{ query: '{sys.query}' }`. */
  readonly nodeDefaults?: Readonly<Record<string, Json>>;
  /** Parameters and arguments of a node in which nothing is replaced, such as a script. @default none */
  readonly verbatim?: readonly string[];
  readonly outputs: Readonly<Record<string, Port>>;
  /** Outputs that a node has by its parameters beside those. @default none */
  ownOutputs?(params: ShapeOutput<P>): readonly string[];
  /** Output that a default value (`exception_method: comment`) goes to. @default 'formalized_content' */
  readonly primaryOutput?: string;
  /** Seconds that one call may take, all attempts included. */
  readonly timeoutSeconds: number;
  /** Whether a failed call may be tried again; not so where it may have had an effect. @default true */
  readonly isRepeatable?: boolean;
  /** Whether a result follows from the arguments alone, so that it is no source of anything. @default false */
  readonly isCalculation?: boolean;
  /** Problems that no single field shows, such as a mode that needs a key; found when the document is read. */
  check?(params: ShapeOutput<P>): readonly string[];
  /** What an author should look at although the tool works, found when the document is read. */
  advise?(params: ShapeOutput<P>): readonly string[];
  /**
   * Cold: one subscription is one call. Emits at most one result, last; unsubscribing stops it at once.
   * Errors: `TOOL_FAILED` with what failed upstream, or those of `EgressClient`; texts hold no secrets.
   */
  call(args: ShapeOutput<A>, call: ToolCall<ShapeOutput<P>>): Observable<ToolEvent>;
}

/** A tool of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: tools of different shapes share lists
export type AnyTool = Tool<any, any>;

/** Types a tool literal without losing its shapes. */
export function defineTool<A extends Shape, P extends Shape>(tool: Tool<A, P>): Tool<A, P> {
  return tool;
}

/** Finds a tool of a list by its name as a component, as a function or by an alias, in any case. */
export function findTool(tools: readonly AnyTool[], name: string): AnyTool | undefined {
  const wanted = name.trim().toLowerCase();
  return tools.find((tool) => namesOf(tool).some((one) => one.toLowerCase() === wanted));
}

/** Every name of a tool, as a component first. */
export function namesOf({ component, name, aliases = [] }: AnyTool): readonly string[] {
  return [component, name, ...aliases];
}
