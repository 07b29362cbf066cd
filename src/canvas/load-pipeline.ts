/** Opens a document as a pipeline that ingests documents. */
import { createHash } from 'node:crypto';
import { defer, EMPTY, switchMap, throwError } from 'rxjs';
import { createRegistry } from '../components/component.js';
import { pipelineComponents, pipelineTurns } from '../components/ingestion/index.js';
import { tokenizer } from '../components/ingestion/tokenizer.js';
import type { Document, DocumentIssue } from '../dsl/document.js';
import { documentError, readDocument } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import type { Plan } from '../graph/plan.js';
import { outcomeOf } from '../graph/run.js';
import type { RunOutcome } from '../graph/run-options.js';
import type { Pipeline } from '../ingestion/work.js';
import { checkAndCompile } from './compile.js';

/** The turn of each type, by its name in small letters. */
const TURNS: ReadonlyMap<string, number> = new Map(
  pipelineTurns.flatMap((types, turn) => types.map(({ type }) => [type.toLowerCase(), turn] as const)),
);
/** Types of which a pipeline has one: all but those that may follow each other. */
const ONCE: ReadonlySet<number> = new Set([0, 1, 4]);

/** A pipeline as far as it could be read, and everything that is wrong with it. */
export interface PipelineCheck {
  readonly document?: Document;
  readonly pipeline?: Pipeline;
  readonly issues: readonly DocumentIssue[];
}

/** Reads, validates and compiles a pipeline and reports all problems; never throws on bad input. */
export function checkPipeline(source: unknown): PipelineCheck {
  const { document, issues: found } = readDocument(source);
  // That it is a pipeline is what is wanted here.
  const issues = found.filter(({ code }) => code !== 'ingestion-pipeline');
  if (document === undefined) return { issues };
  if (found.length === issues.length && !hasErrors(issues)) {
    const message = 'this is no ingestion pipeline: it begins with Begin, and a pipeline with File';
    issues.push({ code: 'no-entry', severity: 'error', path: '$.components', message });
  }
  const line = lineOf(document, issues);
  if (hasErrors(issues)) return { document, issues };
  const whole = withTokenizer(document, line);
  const compiled = checkAndCompile(whole, createRegistry(pipelineComponents));
  const all = [...issues, ...compiled.issues];
  if (compiled.plan === undefined || hasErrors(all)) return { document, issues: all };
  return { document, pipeline: pipelineOf(compiled.plan, whole, line), issues: all };
}

/** A pipeline that ends before it is searchable gets the end that RAGFlow adds, too. */
function withTokenizer(document: Document, line: string[]): Document {
  const last = document.components[line.at(-1) ?? ''];
  if (last === undefined || TURNS.get(last.type.trim().toLowerCase()) === pipelineTurns.length - 1) return document;
  const id = `${tokenizer.type}:AtTheEnd`;
  line.push(id);
  const components = {
    ...document.components,
    [last.id]: { ...last, downstream: [id] },
    [id]: { ...last, id, name: id, type: tokenizer.type, params: {}, downstream: [] },
  };
  return { ...document, components };
}

/**
 * Opens a pipeline: JSON text or a parsed document.
 *
 * @throws EngineError DOCUMENT_NOT_JSON, DOCUMENT_UNKNOWN_VERSION, or DOCUMENT_INVALID listing every problem with its path
 */
export function loadPipeline(source: unknown): Pipeline {
  const { pipeline, issues } = checkPipeline(source);
  if (pipeline !== undefined) return pipeline;
  throw documentError(issues);
}

/** The nodes of a pipeline in their order; what keeps them from being a line of the right order is an issue. */
function lineOf({ components }: Document, issues: DocumentIssue[]): string[] {
  const all = Object.values(components);
  const report = (id: string, message: string): void => {
    const path = `$.components[${JSON.stringify(id)}]`;
    issues.push({ code: 'params-invalid', severity: 'error', path, message, component: id });
  };
  const turnOf = (type: string) => TURNS.get(type.trim().toLowerCase());
  const entries = all.filter(({ type }) => turnOf(type) === 0);
  const [entry] = entries;
  if (entry === undefined) {
    const message = 'there is no File component; a pipeline begins with one';
    issues.push({ code: 'no-entry', severity: 'error', path: '$.components', message });
    return [];
  }
  const line: string[] = [];
  let last = -1;
  for (let at: string | undefined = entry.id; at !== undefined; ) {
    const component: Document['components'][string] | undefined = components[at];
    if (component === undefined) break;
    if (line.includes(at)) {
      report(at, `the line leads back to "${at}"; a pipeline ends`);
      break;
    }
    const { id, type } = component;
    const downstream: readonly string[] = component.downstream;
    line.push(id);
    const turn = turnOf(type);
    if (turn !== undefined) {
      if (turn < last || (turn === last && ONCE.has(turn))) report(id, orderMessage(id));
      if (last === 0 && turn > 1) report(id, `"${id}" follows File; a Parser has to read the file first`);
      last = turn;
    }
    if (downstream.length > 1) {
      report(id, `"${id}" leads to ${downstream.length} nodes; a pipeline is one line, so that every chunk comes once`);
    }
    at = downstream[0];
  }
  if (last === 0) report(entry.id, 'a pipeline needs a Parser behind File');
  for (const { id } of all) if (!line.includes(id)) report(id, `"${id}" is not on the line that begins with File`);
  return line;
}

function orderMessage(id: string): string {
  const order = 'File, Parser, chunkers, Extractors, Tokenizer';
  return `"${id}" stands in the wrong place: a pipeline has ${order}, in this order`;
}

function hasErrors(issues: readonly DocumentIssue[]): boolean {
  return issues.some(({ severity }) => severity === 'error');
}

function pipelineOf(plan: Plan, document: Document, line: readonly string[]): Pipeline {
  const { components } = document;
  return {
    hash: createHash('sha256').update(JSON.stringify(components)).digest('base64url'),
    run: (work) =>
      defer(() => {
        work.line = line;
        return outcomeOf(plan, { input: {} }, { services: work });
      }).pipe(switchMap(ended)),
  };
}

function ended({ status, error, cause }: RunOutcome) {
  if (status === 'succeeded') return EMPTY;
  const message = error?.message ?? 'the pipeline was stopped';
  return throwError(() => causeOf(cause) ?? new EngineError('INGEST_FAILED', message));
}

/** The error that a node failed with, without what the engine put around it. */
function causeOf(error: EngineError | undefined): EngineError | undefined {
  return error?.code === 'NODE_FAILED' && EngineError.is(error.cause) ? causeOf(error.cause) : error;
}
