/** `runnel convert`: a document in the other version. */
import { formatDocument, toV1, toV2 } from '../dsl/convert.js';
import { parseDocument } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import { isJsonObject } from '../json.js';
import { type Command, EXIT, parse } from './command.js';
import { readSource } from './read-source.js';

export const convertCommand: Command = {
  usage: 'convert <file> --to v1|v2',
  summary: 'write a document in the other version of the DSL',
  help: `  <file>             the document, version 1 or 2; "-" reads it from the standard input
  --to v1|v2         the version to write to the standard output

Version 2 has no place for variables, the conversation and the editor's layout; what is left out is named on the
standard error. Exit codes: 0 written, 2 the document is invalid or cannot be said in the other version.`,
  async run(args, terminal) {
    const { values, positionals } = parse(convertCommand, args, { to: { type: 'string' } }, { least: 1, most: 1 });
    const { to } = values;
    if (to !== 'v1' && to !== 'v2') {
      throw new EngineError('USAGE', `--to takes v1 or v2; received ${to === undefined ? 'nothing' : `"${to}"`}.`);
    }
    const document = parseDocument(await readSource(positionals[0] as string, terminal));
    if (to === 'v1') {
      terminal.out.write(formatDocument(toV1(document)));
      return EXIT.finished;
    }
    const { canvas, sidecar } = toV2(document);
    terminal.out.write(formatDocument(canvas));
    const { keys: _, ...rest } = sidecar;
    const left = Object.entries(rest).flatMap(([name, value]) => (isEmpty(value) ? [] : [name]));
    if (left.length > 0) terminal.err.write(`left out, as version 2 has no place for it: ${left.join(', ')}\n`);
    return EXIT.finished;
  },
};

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.keys(value).length === 0 : value === undefined || value === null;
}
