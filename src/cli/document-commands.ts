/** The commands that look at documents and node types, without running anything. */

import { drawDocument } from '../canvas/draw.js';
import { checkCanvas } from '../canvas/load-canvas.js';
import { componentPage, describeComponent, formatComponent } from '../components/catalogue.js';
import { createRegistry } from '../components/component.js';
import { components } from '../components/index.js';
import { formatDocument, toV1, toV2 } from '../dsl/convert.js';
import type { DocumentIssue } from '../dsl/document.js';
import { parseDocument } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import { isJsonObject } from '../json.js';
import { didYouMean } from '../nearest-name.js';
import { type Command, EXIT, parse } from './command.js';
import { readSource } from './read-source.js';
import type { Terminal } from './terminal.js';

/** `runnel validate`: everything that is wrong with documents. */
export const validateCommand: Command = {
  usage: 'validate <canvas.json …> [--json]',
  summary: 'report every problem of documents with its path',
  help: `  <canvas.json …>    the documents, version 1 or 2; "-" reads one from the standard input
  --json             prints {"valid": …, "version": …, "components": …, "issues": […]} instead of lines;
                     of several documents a list of these, each with its "file"

Warnings are about names that nothing answers to: parameters that resemble one of the node type, variables and outputs that
do not exist. Exit codes: 0 the documents can run (warnings are allowed), 2 one of them cannot.`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      validateCommand,
      args,
      { json: { type: 'boolean' } },
      { least: 1, most: MAX_FILES },
    );
    const checked: CheckedFile[] = [];
    for (const file of positionals) {
      const one = await checkFile(file, terminal);
      checked.push(one);
      if (values.json !== true) terminal.out.write(reportOf(one));
    }
    if (values.json === true) {
      const [first] = checked.map(({ file: _, ...facts }) => facts);
      terminal.out.write(json(checked.length === 1 ? first : checked));
    }
    return checked.every(({ valid }) => valid) ? EXIT.finished : EXIT.usage;
  },
};

/** Files of one call; a shell passes about as many. */
const MAX_FILES = 10_000;

/** What is known of a document, as `--json` prints it. */
interface CheckedFile {
  readonly file: string;
  readonly valid: boolean;
  readonly version: number | null;
  readonly components: number;
  readonly issues: readonly DocumentIssue[];
}

async function checkFile(file: string, terminal: Terminal): Promise<CheckedFile> {
  const { plan, document, issues } = checkCanvas(await readSource(file, terminal));
  const components = Object.keys(document?.components ?? {}).length;
  return { file, valid: plan !== undefined, version: document?.version ?? null, components, issues };
}

/** A line for each issue, and one for the document. */
function reportOf({ file, valid, version, components, issues }: CheckedFile): string {
  const errors = issues.filter(({ severity }) => severity === 'error').length;
  const warnings = count(issues.length - errors, 'warning');
  const sum = valid
    ? `valid, version ${version}, ${count(components, 'component')}, ${warnings}`
    : `${count(errors, 'error')}, ${warnings}`;
  const lines = issues.map(({ severity, path, message, code }) => `${severity}: ${path}: ${message} [${code}]`);
  return [...lines, `${file}: ${sum}`, ''].join('\n');
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** `runnel convert`: a document in the other version. */
export const convertCommand: Command = {
  usage: 'convert <file> --to v1|v2',
  summary: 'write a document in the other version of the DSL',
  help: `  <file>             the document, version 1 or 2; "-" reads it from the standard input
  --to v1|v2         the version to write to the standard output

Version 2 has no place for variables, the conversation and the editor's layout; what is left out is named on the
standard error. Exit codes: 0 written, 2 the document is invalid or cannot be expressed in the other version.`,
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

/** `runnel draw`: a document as a picture in text. */
export const drawCommand: Command = {
  usage: 'draw <canvas.json>',
  summary: 'draw a canvas as a Mermaid flowchart',
  help: `  <canvas.json>      the document, version 1 or 2; "-" reads it from the standard input

Solid lines are edges, dotted lines lead where a node may go by its parameters, frames are bodies of loops.
Paste the output into any Mermaid viewer, or into a Markdown file between \`\`\`mermaid and \`\`\`.
Exit codes: 0 drawn, 2 the document is invalid.`,
  async run(args, terminal) {
    const { positionals } = parse(drawCommand, args, {}, { least: 1, most: 1 });
    terminal.out.write(drawDocument(parseDocument(await readSource(positionals[0] as string, terminal))));
    return EXIT.finished;
  },
};

/** `runnel components`: the catalogue of node types, the same as `docs/components.md`. */
export const componentsCommand: Command = {
  usage: 'components [NAME] [--json]',
  summary: 'describe the node types with their parameters and outputs',
  help: `  NAME               a node type, in any case; without it all are described, as Markdown
  --json             prints JSON instead of text: one description, or a list of them`,
  async run(args, terminal) {
    const { values, positionals } = parse(
      componentsCommand,
      args,
      { json: { type: 'boolean' } },
      { least: 0, most: 1 },
    );
    const [name] = positionals;
    if (name === undefined) {
      terminal.out.write(values.json === true ? json(components.map(describeComponent)) : componentPage(components));
      return EXIT.finished;
    }
    const found = createRegistry(components).get(name.toLowerCase());
    if (found === undefined) {
      const known = components.map(({ type }) => type).toSorted();
      const hint = didYouMean(name, known) || ` Known are: ${known.join(', ')}.`;
      throw new EngineError('USAGE', `There is no node type "${name}".${hint}`);
    }
    const described = describeComponent(found);
    terminal.out.write(values.json === true ? json(described) : formatComponent(described));
    return EXIT.finished;
  },
};

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
