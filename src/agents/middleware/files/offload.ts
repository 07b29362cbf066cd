/** Results that are too long for a conversation, in files. */
import { createHash } from 'node:crypto';
import { catchError, concatMap, map, type Observable, type OperatorFunction, of } from 'rxjs';
import { Interrupt } from '../../../compose/interrupt.js';
import type { ToolRequest } from '../../../compose/tools/run-tool-call.js';
import type { ToolReply } from '../../../compose/tools/step-tool.js';
import { wholeReply } from '../../../compose/tools/tool-output.js';
import { toEngineError } from '../../../errors.js';
import { fromAbortable } from '../../../operators/from-abortable.js';
import type { Language } from '../../language.js';
import { startOf } from '../instructions.js';
import type { FileSpace } from './file-space.js';

/** How a result is put into a file. */
export interface Offloading {
  /** Undefined: the rest of the text is lost. */
  readonly space: Pick<FileSpace, 'write'> | undefined;
  readonly request: ToolRequest;
  /** Characters that stay in the conversation. */
  readonly at: number;
  readonly language: Language;
}

/** Characters of an offloaded result that the model is shown. */
const SHOWN = 2_000;

/**
 * Puts a text that is too long into a file, and tells the model its beginning and the path.
 *
 * ```text
 * replies    --a--b--|
 * write               ---|
 * result     ------------(c|)
 * ```
 *
 * A result with other parts than text, an error and a question stay as they are, and so does everything when the file cannot be written.
 */
export function offloading(setup: Offloading): OperatorFunction<ToolReply, ToolReply> {
  return (replies$) =>
    replies$.pipe(
      wholeReply(),
      concatMap((reply) => offloaded(setup, reply)),
    );
}

function offloaded({ space, request, at, language }: Offloading, reply: ToolReply): Observable<ToolReply> {
  if (reply instanceof Interrupt || reply.isError === true || reply.text.length <= at) return of(reply);
  if (reply.parts?.some(({ type }) => type !== 'text') === true) return of(reply);
  const { parts: _, ...rest } = reply;
  if (space === undefined)
    return of({ ...rest, text: `${startOf(reply.text, at)}\n${CUT[language](reply.text.length)}` });
  const path = resultPath(request.name, request.at.key);
  const characters = reply.text.length;
  return fromAbortable(() => space.write(path, reply.text)).pipe(
    map((): ToolReply => {
      request.at.emit('offloaded', { tool: request.name, path, characters });
      return { ...rest, text: offloadedText(language, path, reply.text, Math.min(SHOWN, at)) };
    }),
    catchError((thrown: unknown) => {
      const { code, message } = toEngineError(thrown, 'TOOL_FAILED');
      request.at.emit('offload-failed', { tool: request.name, code, message });
      return of(reply);
    }),
  );
}

/** Where the result of a call is kept: the same place when the call is repeated after a crash. */
export function resultPath(tool: string, key: string): string {
  const id = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return `tool-results/${tool.replace(/[^A-Za-z0-9_-]/g, '_')}-${id}.txt`;
}

/** What the model is told of an offloaded result. */
export function offloadedText(language: Language, path: string, text: string, shown: number): string {
  return `${startOf(text, shown)}\n${TEXTS[language](path, text.length)}`;
}

const TEXTS: Readonly<Record<Language, (path: string, characters: number) => string>> = {
  en: (path, characters) =>
    `[The result has ${characters} characters; this is its beginning. All of it is in the file ${path}; read what you need with read_file or grep.]`,
  zh: (path, characters) =>
    `[结果共 ${characters} 个字符，以上是开头。全部内容在文件 ${path} 中；请用 read_file 或 grep 读取需要的部分。]`,
};

const CUT: Readonly<Record<Language, (characters: number) => string>> = {
  en: (characters) => `[The result has ${characters} characters; the rest is left out. Ask for less at a time.]`,
  zh: (characters) => `[结果共 ${characters} 个字符，其余已省略。请缩小范围。]`,
};
