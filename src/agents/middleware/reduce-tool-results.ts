/** Results of tools that take too much of a conversation: cut at once, and cleared when they are old. */
import { defer, map, type Observable, of } from 'rxjs';
import { type ChatMessage, type ToolMessage, toolMessage } from '../../models/messages.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import {
  invalidOption,
  requireList,
  requireMethods,
  requireOptions,
  requireWhole,
} from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { type AgentMiddleware, defineMiddleware, type HookView, type RoundRequest } from '../loop/middleware.js';
import type { FileSpace } from './files/file-space.js';
import { offloading, resultPath } from './files/offload.js';
import { messageText, messageTokens } from './message-text.js';

/** See {@link reduceToolResults}. */
export interface ReduceToolResultsOptions {
  /** Characters of one result; longer ones are cut, or go into a file; `false` for never. @default 40_000 */
  readonly cutAt?: number | false;
  /** Estimated tokens of all results in a conversation; beyond it the oldest are cleared; `false` for never. @default 40_000 */
  readonly clearAt?: number | false;
  /** The newest results, which stay in any case. @default 4 */
  readonly keep?: number;
  /** Tools whose results stay as they are. @default none */
  readonly exempt?: readonly string[];
  /** Where the whole of what is cut or cleared goes. @default it is lost */
  readonly space?: Pick<FileSpace, 'write'>;
  /** Unique among the middlewares of an agent. @default 'reduceToolResults' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
}

const OPTIONS = ['cutAt', 'clearAt', 'keep', 'exempt', 'space', 'name', 'language'];

/**
 * Keeps results of tools from filling a conversation. A result that is too long is cut when it comes. Once all results have more than `clearAt` tokens
 * the oldest are replaced, for good, by a line that says so, until half of that is left; the newest `keep`, and those of exempt tools, stay. Calls
 * and results stay pairs. With a `space` the whole text goes into a file of `tool-results/` first, and the line names it; where the file cannot be
 * written the result stays, and `offload-failed` tells why. Give the agent tools that read the space (`files`). Stands before middlewares that change
 * the messages of single rounds.
 *
 * Events: `results-cleared` with how many, and with the tokens before and after; `offloaded` for each that was cut into a file.
 *
 * @throws EngineError OPTION_INVALID
 */
export function reduceToolResults(options: ReduceToolResultsOptions = {}): AgentMiddleware {
  const setup = readOptions(options);
  const { cutAt, language, space, name } = setup;
  return defineMiddleware<undefined>({
    name,
    toolNames: [...setup.exempt],
    ...(cutAt !== false && {
      wrapTool: (request, next) => {
        if (setup.exempt.has(request.name)) return next(request);
        return next(request).pipe(offloading({ space, request, at: cutAt, language }));
      },
    }),
    beforeModel: (request, view) => cleared(setup, request, view),
  }) as AgentMiddleware;
}

function cleared(setup: Setup, request: RoundRequest, view: HookView): Observable<RoundRequest> | undefined {
  const { messages } = view;
  const chosen = resultsToClear(setup, messages);
  if (chosen.length === 0) return undefined;
  const tokens = resultTokens(messages);
  return defer(() => writtenTo(setup, chosen, view)).pipe(
    map((instead) => {
      if (instead.size === 0) return request;
      const replace = (message: ChatMessage): ChatMessage => instead.get(message) ?? message;
      const after = messages.map(replace);
      view.replaceMessages(after);
      view.emit('results-cleared', {
        agent: view.agent,
        results: instead.size,
        tokens,
        tokensAfter: resultTokens(after),
      });
      return { ...request, messages: request.messages.map(replace) };
    }),
  );
}

/** The oldest results, until the others have half of what they may have. */
function resultsToClear({ clearAt, keep, exempt }: Setup, messages: readonly ChatMessage[]): readonly ToolMessage[] {
  if (clearAt === false) return [];
  const results = messages.filter((message) => message.role === 'tool');
  let tokens = resultTokens(results);
  if (tokens <= clearAt) return [];
  const chosen: ToolMessage[] = [];
  for (const result of results.slice(0, Math.max(0, results.length - keep))) {
    if (tokens <= clearAt / 2) break;
    if (result.extra?.cleared === true || (result.name !== undefined && exempt.has(result.name))) continue;
    const size = messageTokens(result);
    // A short one would not become shorter.
    if (size <= CLEARED_TOKENS) continue;
    chosen.push(result);
    tokens -= size - CLEARED_TOKENS;
  }
  return chosen;
}

/** About what the line has that stands in place of a result. */
const CLEARED_TOKENS = 60;

function resultTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + (message.role === 'tool' ? messageTokens(message) : 0), 0);
}

/** What stands in place of results, once the whole of each is in its file; those that could not be written are left out. */
function writtenTo(
  { space, language }: Setup,
  chosen: readonly ToolMessage[],
  view: HookView,
): Observable<ReadonlyMap<ChatMessage, ToolMessage>> {
  const instead = new Map<ChatMessage, ToolMessage>();
  const put = (result: ToolMessage, path?: string): void => {
    const { toolCallId, name, id, extra, isError } = result;
    instead.set(result, {
      ...toolMessage(TEXTS[language].cleared(path), toolCallId, name === undefined ? {} : { name }),
      ...(id !== undefined && { id }),
      ...(isError !== undefined && { isError }),
      extra: { ...extra, cleared: true },
    });
  };
  if (space === undefined) {
    for (const result of chosen) put(result);
    return of(instead);
  }
  return fromAbortable(async (signal) => {
    for (const [index, result] of chosen.entries()) {
      signal.throwIfAborted();
      const path = resultPath(result.name ?? 'tool', `${view.key}/${index}/${result.toolCallId}`);
      try {
        await space.write(path, messageText(result));
        put(result, path);
      } catch (error) {
        view.emit('offload-failed', { tool: result.name ?? '', message: String(error) });
      }
    }
    return instead;
  });
}

interface Setup {
  readonly cutAt: number | false;
  readonly clearAt: number | false;
  readonly keep: number;
  readonly exempt: ReadonlySet<string>;
  readonly space: Pick<FileSpace, 'write'> | undefined;
  readonly name: string;
  readonly language: Language;
}

function readOptions(options: ReduceToolResultsOptions): Setup {
  const owner = 'reduceToolResults';
  requireOptions(owner, options, OPTIONS);
  const { cutAt = 40_000, clearAt = 40_000, keep = 4, exempt = [], space, name = owner, language = 'en' } = options;
  if (cutAt !== false) requireWhole(owner, 'cutAt', cutAt, 1);
  if (clearAt !== false) requireWhole(owner, 'clearAt', clearAt, 1);
  requireWhole(owner, 'keep', keep, 0);
  requireList(owner, 'exempt', exempt, 'a list of names of tools');
  if (!exempt.every((tool) => typeof tool === 'string'))
    throw invalidOption(owner, 'exempt', 'a list of names of tools', exempt);
  if (space !== undefined) requireMethods(owner, 'space', space, ['write'], 'a FileSpace');
  requireLanguage(owner, language);
  return { cutAt, clearAt, keep, exempt: new Set(exempt), space, name, language };
}

const TEXTS: Readonly<Record<Language, { cleared(path: string | undefined): string }>> = {
  en: {
    cleared: (path) =>
      path === undefined
        ? '[The result of this call is old and left out. Make the call again if you need it.]'
        : `[The result of this call is old and left out. It is in the file ${path}.]`,
  },
  zh: {
    cleared: (path) =>
      path === undefined
        ? '[此调用的结果较旧，已省略。如有需要请重新调用。]'
        : `[此调用的结果较旧，已省略。内容在文件 ${path} 中。]`,
  },
};
