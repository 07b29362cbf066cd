/** Opens a document as something that can run. */

import { createRegistry, type Registry } from '../components/component.js';
import { components } from '../components/index.js';
import type { Document, DocumentIssue } from '../dsl/document.js';
import { initialVariables } from '../dsl/globals.js';
import { documentError, readDocument } from '../dsl/read.js';
import type { Plan } from '../graph/plan.js';
import { invalidOption, requireObject } from '../operators/invalid-option.js';
import { adviseDocument } from './advise-document.js';
import { checkAndCompile, type TimeoutResolver } from './compile.js';
import { conversationHooks, newConversation } from './conversation.js';

/** What a document is loaded with. */
export interface LoadOptions {
  /** Node types by name. @default the built-in ones */
  readonly registry?: Registry;
  /** Clocks of nodes. @default what components declare */
  readonly timeouts?: TimeoutResolver;
}

/** A document that can run. */
export interface Canvas {
  readonly document: Document;
  readonly plan: Plan;
  /** Warnings. */
  readonly issues: readonly DocumentIssue[];
}

/** A document as far as it could be read, and everything that is wrong with it. */
export interface CanvasCheck {
  readonly document?: Document;
  readonly plan?: Plan;
  readonly issues: readonly DocumentIssue[];
}

/** The built-in node types. */
export const builtInComponents: Registry = createRegistry(components);

/** Reads, validates and compiles a document and reports all problems; never throws on bad input. */
export function checkCanvas(source: unknown, options: LoadOptions = {}): CanvasCheck {
  const { document, issues } = readDocument(source);
  // A pipeline has no node that could run here: one reason says more than one for each of them.
  const isOther = issues.some(({ code }) => code === 'ingestion-pipeline');
  if (document === undefined || isOther) return { ...(document === undefined ? {} : { document }), issues };
  const registry = options.registry ?? builtInComponents;
  const compiled = checkAndCompile(document, registry, {
    variables: newConversation(initialVariables(document)),
    hooks: conversationHooks,
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
  });
  // Advice for a document that is too large to be compiled would cost as much as compiling it.
  if (compiled.issues.some(({ code }) => code === 'too-large'))
    return { document, issues: [...issues, ...compiled.issues] };
  const all = [...issues, ...compiled.issues, ...adviseDocument(document, registry)];
  const isSound = all.every((issue) => issue.severity === 'warning');
  return { document, ...(isSound && compiled.plan !== undefined ? { plan: compiled.plan } : {}), issues: all };
}

/**
 * Opens a canvas: JSON text or a parsed document of either version.
 *
 * @throws EngineError DOCUMENT_NOT_JSON, DOCUMENT_UNKNOWN_VERSION, or DOCUMENT_INVALID listing every problem with its path
 * (`details.issues`).
 */
export function loadCanvas(source: unknown, options: LoadOptions = {}): Canvas {
  if (source === undefined)
    throw invalidOption('loadCanvas', 'source', 'the JSON text of a document, or the document', source);
  requireObject('loadCanvas', 'options', options);
  const { document, plan, issues } = checkCanvas(source, options);
  if (document !== undefined && plan !== undefined) return { document, plan, issues };
  throw documentError(issues);
}
