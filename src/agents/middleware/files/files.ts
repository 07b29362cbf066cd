/** Tools by which a model works with files, and a place for what is too large for a conversation. */
import { map } from 'rxjs';
import { z } from 'zod';
import type { CodeResult, CodeRunner } from '../../../adapters/sandbox/code-runner.js';
import { defineTool } from '../../../compose/tools/define-tool.js';
import type { StepTool, ToolContent } from '../../../compose/tools/step-tool.js';
import { EngineError } from '../../../errors.js';
import type { ToolOutputPart } from '../../../models/content-parts.js';
import { invalidOption, requireMethods, requireOptions, requireWhole } from '../../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../../language.js';
import { type AgentMiddleware, defineMiddleware } from '../../loop/middleware.js';
import { startOf } from '../instructions.js';
import { type FileSpace, filePathInSpace } from './file-space.js';
import { fileTexts } from './file-texts.js';
import { offloading } from './offload.js';

/** See {@link files}. */
export interface FilesOptions {
  readonly space: FileSpace;
  /** Without tools that change files. @default false */
  readonly readOnly?: boolean;
  /** Runs scripts for the tool `run`; they cannot see the files. @default there is no such tool */
  readonly executor?: Pick<CodeRunner, 'run'>;
  /** Results of other tools with more characters go into a file; `false` for never. @default 40_000 */
  readonly offloadAt?: number | false;
  /** Characters that one call of a tool here gives. @default 40_000 */
  readonly maxCharacters?: number;
  /** Bytes of a picture or PDF that the model is shown. @default 5_242_880 */
  readonly maxMediaBytes?: number;
  /** Unique among the middlewares of an agent. @default 'files' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
}

const OPTIONS = ['space', 'readOnly', 'executor', 'offloadAt', 'maxCharacters', 'maxMediaBytes', 'name', 'language'];

/**
 * Gives the model the tools `ls`, `read_file`, `glob` and `grep`, `write_file` and `edit_file` unless `readOnly`, and `run` with an executor. Pictures
 * and PDFs that it reads are parts of the result. Results of other tools that are too long go into files of `tool-results/`, and the model gets their
 * beginning and the path; where the file cannot be written, the result stays as it is and the event `offload-failed` tells why.
 *
 * Events: `file-changed` with `path`, `offloaded` with `tool`, `path` and `characters`.
 *
 * @throws EngineError OPTION_INVALID
 */
export function files(options: FilesOptions): AgentMiddleware {
  requireOptions('files', options, OPTIONS, 'an object with "space"');
  const { space, readOnly = false, executor, offloadAt = 40_000, maxCharacters = 40_000 } = options;
  const { maxMediaBytes = 5_242_880, name = 'files', language = 'en' } = options;
  requireMethods(
    'files',
    'space',
    space,
    ['list', 'read', 'readBytes', 'write', 'edit', 'glob', 'grep'],
    'a FileSpace',
  );
  if (executor !== undefined) requireMethods('files', 'executor', executor, ['run'], 'what runs code');
  if (typeof readOnly !== 'boolean') throw invalidOption('files', 'readOnly', 'true or false', readOnly);
  if (offloadAt !== false) requireWhole('files', 'offloadAt', offloadAt, 1);
  requireWhole('files', 'maxCharacters', maxCharacters, 1);
  requireWhole('files', 'maxMediaBytes', maxMediaBytes, 1);
  requireLanguage('files', language);
  const setup = { space, maxCharacters, maxMediaBytes, texts: fileTexts(language) };
  const tools = [
    ...readers(setup),
    ...(readOnly ? [] : writers(setup)),
    ...(executor === undefined ? [] : [runTool(setup, executor)]),
  ];
  // The reader of an offloaded result must not have it offloaded again.
  const exempt = new Set(tools.map((tool) => tool.name).filter((tool) => tool !== 'run'));
  return defineMiddleware<undefined>({
    name,
    tools,
    instructions: setup.texts.use,
    ...(offloadAt !== false && {
      wrapTool: (request, next) =>
        exempt.has(request.name)
          ? next(request)
          : next(request).pipe(offloading({ space, request, at: offloadAt, language })),
    }),
  }) as AgentMiddleware;
}

interface Setup {
  readonly space: FileSpace;
  readonly maxCharacters: number;
  readonly maxMediaBytes: number;
  readonly texts: ReturnType<typeof fileTexts>;
}

function readers({ space, maxCharacters, maxMediaBytes, texts }: Setup): StepTool[] {
  const bounded = (lines: readonly string[], isCut: boolean): string => {
    if (lines.length === 0) return isCut ? texts.cut : texts.nothing;
    const text = lines.join('\n');
    const isLong = text.length > maxCharacters;
    return `${isLong ? startOf(text, maxCharacters) : text}${isLong || isCut ? `\n${texts.cut}` : ''}`;
  };
  const ls = defineTool({
    name: 'ls',
    description: texts.ls,
    input: z.object({ path: z.string().optional() }),
    run: async ({ path }) => {
      const { found, isCut } = await space.list(path);
      return bounded(
        found.map((entry) => (entry.type === 'folder' ? `${entry.path}/` : `${entry.path}\t${entry.bytes}`)),
        isCut,
      );
    },
  });
  const read = defineTool({
    name: 'read_file',
    description: texts.read,
    input: z.object({
      path: z.string(),
      offset: z.int().min(0).optional(),
      limit: z.int().min(1).max(10_000).optional(),
    }),
    run: async ({ path, offset = 0, limit = 2_000 }): Promise<ToolContent> => {
      const mimeType = MEDIA[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
      if (mimeType !== undefined) return mediaOf(path, mimeType, await space.readBytes(path), maxMediaBytes);
      const { lines, totalLines } = await space.read(path, { offset, limit });
      const numbered = lines.map((line, index) => `${offset + index + 1}\t${line}`);
      const rest = totalLines - offset - lines.length;
      const text = bounded(numbered, false);
      return { text: rest > 0 ? `${text}\n${texts.more(rest, offset + lines.length)}` : text };
    },
    output: (content) => content,
  });
  const glob = defineTool({
    name: 'glob',
    description: texts.glob,
    input: z.object({ pattern: z.string(), folder: z.string().optional() }),
    run: async ({ pattern, folder = '' }, { signal }) => {
      const { found, isCut } = await space.glob(pattern, { folder, signal });
      return bounded(found, isCut);
    },
  });
  const grep = defineTool({
    name: 'grep',
    description: texts.grep,
    input: z.object({
      pattern: z.string(),
      folder: z.string().optional(),
      glob: z.string().optional(),
      ignore_case: z.boolean().optional(),
    }),
    run: async ({ pattern, folder = '', glob: named, ignore_case: ignoreCase = false }, { signal }) => {
      const where = { folder, ignoreCase, signal, ...(named !== undefined && { glob: named }) };
      const { found, isCut } = await space.grep(pattern, where);
      return bounded(
        found.map(({ path, line, text }) => `${path}:${line}: ${text}`),
        isCut,
      );
    },
  });
  return [ls, read, glob, grep];
}

function writers({ space, texts }: Setup): StepTool[] {
  const write = defineTool({
    name: 'write_file',
    description: texts.write,
    input: z.object({ path: z.string(), content: z.string() }),
    run: async ({ path, content }, call) => {
      await space.write(path, content);
      call.emit('file-changed', { path: filePathInSpace(path) });
      return texts.written(path);
    },
  });
  const edit = defineTool({
    name: 'edit_file',
    description: texts.edit,
    input: z.object({ path: z.string(), find: z.string(), replace: z.string(), all: z.boolean().optional() }),
    run: async ({ path, find, replace, all = false }, call) => {
      const places = await space.edit(path, { find, replace, all });
      call.emit('file-changed', { path: filePathInSpace(path) });
      return texts.edited(path, places);
    },
  });
  return [write, edit];
}

function runTool({ texts, maxCharacters }: Setup, executor: Pick<CodeRunner, 'run'>): StepTool {
  return defineTool({
    name: 'run',
    description: texts.run,
    input: z.object({ language: z.enum(['python', 'nodejs']), source: z.string() }),
    run: ({ language, source }) => executor.run({ language, source, args: {} }).pipe(map(resultText(maxCharacters))),
    output: (content: ToolContent) => content,
  });
}

function resultText(maxCharacters: number): (result: CodeResult) => ToolContent {
  return ({ status, stdout, stderr, detail, result }) => {
    const told = [
      result === undefined ? '' : JSON.stringify(result.value),
      stdout === '' ? '' : `stdout:\n${startOf(stdout, maxCharacters)}`,
      stderr === '' ? '' : `stderr:\n${startOf(stderr, maxCharacters)}`,
      status === 'success' ? '' : `${status}${detail === undefined ? '' : `: ${detail}`}`,
    ].filter((text) => text !== '');
    return { text: told.join('\n\n'), ...(status !== 'success' && { isError: true }) };
  };
}

const MEDIA: Readonly<Record<string, string | undefined>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
};

function mediaOf(path: string, mimeType: string, bytes: Uint8Array, maxBytes: number): ToolContent {
  if (bytes.length > maxBytes) {
    throw new EngineError('LIMIT_REACHED', `"${path}" has ${bytes.length} bytes; at most ${maxBytes} can be shown.`);
  }
  const data = Buffer.from(bytes).toString('base64');
  const part: ToolOutputPart =
    mimeType === 'application/pdf'
      ? { type: 'file', data, mimeType, name: path.slice(path.lastIndexOf('/') + 1) }
      : { type: 'image', data, mimeType };
  const text = `${path} (${mimeType}, ${bytes.length} bytes)`;
  return { text, parts: [{ type: 'text', text }, part] };
}
