/** What the calls of a round give: texts for the model, passages to cite, files that were made, and where inner agents stand. */
import type { References } from '../adapters/tool-event.js';
import type { ToolMessage } from '../models/messages.js';
import { mergeReferences } from '../tools/results.js';
import type { Artifact, ToolResult } from '../tools/tool.js';
import type { AgentState, InnerState, PendingCall } from './agent-events.js';
import type { AgentTool } from './agent-tool.js';

/** Characters of a result for the model; the longest result of a search is about as long. */
const MAX_RESULT = 400_000;

/** The result of a tool that gave nothing. */
export const NO_RESULT = 'The tool gave no result.';

/** What a round has given so far; filled while its calls are made. */
export class RoundResults {
  /** By position of the call. */
  readonly texts: string[] = [];
  /** Ids of calls that failed or were declined. */
  readonly failed: string[] = [];
  readonly artifacts: Artifact[] = [];
  /** States of inner agents, by position of the call. */
  readonly inner: Map<number, AgentState>;
  /** Text of a tool whose result is the answer. */
  terminal: string | undefined;
  #references: References;

  constructor({ references, inner = [] }: Pick<AgentState, 'references' | 'inner'>) {
    this.#references = references;
    this.inner = new Map(inner.map(({ at, state }) => [at, state]));
  }

  /** Those of the rounds before, too. */
  get references(): References {
    return this.#references;
  }

  get innerStates(): readonly InnerState[] {
    return [...this.inner].map(([at, state]) => ({ at, state }));
  }

  /** Keeps what a result has beside its text, and gives its text for the model. */
  take(result: ToolResult, { isTerminal = false }: Pick<AgentTool, 'isTerminal'>): string {
    if (result.references !== undefined) this.#references = mergeReferences(this.#references, result.references);
    if (result.artifacts !== undefined) this.artifacts.push(...result.artifacts);
    const text = result.text === '' ? outputText(result) : result.text;
    if (isTerminal) this.terminal ??= text;
    return cut(text);
  }

  /** The results as messages, in the order of the calls. */
  messages(calls: readonly PendingCall[]): ToolMessage[] {
    return calls.map(({ id }, index) => ({ role: 'tool', toolCallId: id, content: this.texts[index] ?? '' }));
  }
}

/** The text of a result without one: its `content`, else all of its outputs. */
function outputText({ outputs }: ToolResult): string {
  const { content } = outputs;
  if (typeof content === 'string' && content !== '') return content;
  const given = Object.entries(outputs).filter(
    ([name, value]) => !name.startsWith('_') && value !== '' && value !== null,
  );
  return given.length === 0 ? NO_RESULT : JSON.stringify(Object.fromEntries(given));
}

function cut(text: string): string {
  if (text.length <= MAX_RESULT) return text;
  return `${text.slice(0, MAX_RESULT)}\n(The result is longer; this is its beginning.)`;
}
