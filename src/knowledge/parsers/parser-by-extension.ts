import { endingOf, fileKind } from '../../documents/reading/file-kind.js';
import { invalidOption, requireOptions } from '../../operators/invalid-option.js';
import type { ParseFunction, ParserInput } from '../ports.js';
import { csvParser } from './csv-parser.js';
import { type FileParserOptions, fileParser, storedFile } from './file-parser.js';
import { htmlParser } from './html-parser.js';
import { jsonParser } from './json-parser.js';
import { fileNameOf } from './parsed.js';
import { markdownParser, textParser } from './text-parser.js';

/** Which parser reads what. */
export interface ParserByExtensionOptions extends FileParserOptions {
  /** Parsers by ending, with or without its dot, in any case; they come before those that are built in. @default none */
  readonly parsers?: Readonly<Record<string, ParseFunction>>;
  /** Reads what no other parser reads. @default refuses it with `FILE_UNREADABLE` and what to give instead */
  readonly fallback?: ParseFunction;
}

const OPTIONS = ['parsers', 'fallback', 'maxCharacters', 'threads'];

/** The parser of a source by its ending; undefined when there is none. */
export interface ParserByExtension extends ParseFunction {
  /** The endings with a parser of their own, in lower case and without dots. */
  readonly extensions: readonly string[];
}

/** Endings of texts whose structure has a parser. */
const TEXTS: Readonly<Record<string, 'csv' | 'json' | 'markdown'>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'markdown',
};

/** Media types of the same. */
const TEXT_TYPES: readonly (readonly [pattern: RegExp, parser: 'csv' | 'json' | 'markdown'])[] = [
  [/^\s*text\/(?:csv|tab-separated-values)\b/i, 'csv'],
  [/^\s*application\/(?:json|jsonl|x-ndjson)\b|\+json\b/i, 'json'],
  [/^\s*text\/(?:x-)?markdown\b/i, 'markdown'],
];

/**
 * A parser that chooses another one: yours by the ending of the URI; else, by media type, ending and content, that for CSV, JSON,
 * Markdown, HTML, PDF, Word, Excel or plain text; else the fallback, if what there is cannot be read as any of these.
 *
 * Errors of a call: those of the parsers.
 *
 * @throws EngineError OPTION_INVALID for a parser that is no function, and for two of one ending.
 */
export function parserByExtension(options: ParserByExtensionOptions = {}): ParserByExtension {
  requireOptions('parserByExtension', options, OPTIONS);
  const { parsers = {}, fallback, ...reading } = options;
  const own = new Map<string, ParseFunction>();
  for (const [written, parser] of Object.entries(parsers)) {
    const ending = written.replace(/^\./, '').toLowerCase();
    if (typeof parser !== 'function')
      throw invalidOption('parserByExtension', `parsers.${written}`, 'a function', parser);
    if (own.has(ending)) throw invalidOption('parserByExtension', 'parsers', 'one parser per ending', written);
    own.set(ending, parser);
  }
  const files = fileParser(reading);
  const builtIn = { csv: csvParser(), json: jsonParser(), markdown: markdownParser(), text: textParser() };
  const html = htmlParser({ threads: reading.threads });
  const choose = (input: ParserInput): ParseFunction => {
    const ending = endingOf(fileNameOf(input.uri));
    const known = own.get(ending);
    if (known !== undefined) return known;
    const kind = fileKind(storedFile(input));
    if (kind === 'text') return builtIn[textKind(ending, input.mimeType ?? '')];
    if (kind === 'html') return html;
    return kind === 'pdf' || kind === 'docx' || kind === 'xlsx' ? files : (fallback ?? files);
  };
  const parse: ParseFunction = async (input, call) => await choose(input)(input, call);
  return Object.assign(parse, { extensions: [...own.keys()] });
}

function textKind(ending: string, mimeType: string): 'csv' | 'json' | 'markdown' | 'text' {
  const byType = TEXT_TYPES.find(([pattern]) => pattern.test(mimeType))?.[1];
  return byType ?? (Object.hasOwn(TEXTS, ending) ? TEXTS[ending] : undefined) ?? 'text';
}
