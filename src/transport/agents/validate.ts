/** A document looked at without keeping it: for previews of imports, and for editors. */
import { z } from 'zod';
import { checkCanvas } from '../../canvas/load-canvas.js';
import type { AnyComponent, Registry } from '../../components/component.js';
import { toV2 } from '../../dsl/convert.js';
import type { Document, DocumentIssue } from '../../dsl/document.js';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, jsonExcess } from '../../json.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { type Validation, validationShape } from './issue-shapes.js';

/** A document as it would be saved or imported. */
const validateSchema = z.looseObject({
  dsl: z
    .unknown()
    .optional()
    .describe('The document, an object or its JSON text; also the content of a template file.'),
});

export const validateRoutes: RouteGroup = {
  name: 'validation',
  description: 'What is wrong with a document, before it is saved.',
  routes: [
    route('POST /agents/validate', {
      summary: 'Checks a document and says what it is made of; keeps nothing',
      body: validateSchema,
      data: validationShape,
      handle: async ({ body }, parts) =>
        success(await validate(boundedDsl(body.dsl, parts.config.documentBytes), parts)),
    }),
  ],
};

/** What may be looked at: what may be saved, and what is no document at all. @throws EngineError BAD_REQUEST for more. */
function boundedDsl(dsl: unknown, maxBytes: number): unknown {
  if (dsl === undefined || dsl === null) throw badArgument('No DSL data in request.');
  const text = typeof dsl === 'string' ? dsl : JSON.stringify(dsl);
  const excess = jsonExcess(text, { maxBytes });
  if (excess === undefined) return dsl;
  throw badArgument(`The DSL ${excess}. RUNNEL_DOCUMENT_BYTES of the server says how many bytes it takes.`);
}

async function validate(dsl: unknown, { registry, timeouts }: ServerParts): Promise<Validation> {
  const { document, plan, issues } = checkCanvas(dsl, { registry, ...(timeouts && { timeouts }) });
  if (!issues.some(({ code }) => code === 'ingestion-pipeline')) {
    return describe(dsl, { document, issues, isValid: plan !== undefined, kind: 'agent', registry });
  }
  const [{ checkPipeline }, { pipelineComponents }, { createRegistry }] = await Promise.all([
    import('../../canvas/load-pipeline.js'),
    import('../../components/ingestion/index.js'),
    import('../../components/component.js'),
  ]);
  const checked = checkPipeline(dsl);
  return describe(dsl, {
    document: checked.document,
    issues: checked.issues,
    isValid: checked.pipeline !== undefined,
    kind: 'pipeline',
    registry: createRegistry(pipelineComponents as readonly AnyComponent[]),
  });
}

/** What was found out about a document. */
interface Found {
  readonly document: Document | undefined;
  readonly issues: readonly DocumentIssue[];
  readonly isValid: boolean;
  readonly kind: NonNullable<Validation['kind']>;
  readonly registry: Registry;
}

function describe(dsl: unknown, { document, issues, isValid, kind, registry }: Found): Validation {
  const components = Object.values(document?.components ?? {});
  const types = new Map<string, number>();
  for (const { type } of components) types.set(type, (types.get(type) ?? 0) + 1);
  return {
    valid: isValid,
    kind: document === undefined ? null : kind,
    version: document?.version ?? null,
    components: components.length,
    types: Object.fromEntries(types),
    unknown_types: [...types.keys()].filter((type) => !registry.has(type.trim().toLowerCase())),
    losses: document === undefined ? [] : [...besideCanvas(dsl), ...lossesOf(document)],
    issues: issues.map((issue) => ({ ...issue })),
  };
}

/** An import of a template file keeps its canvas alone. */
function besideCanvas(dsl: unknown): Validation['losses'] {
  if (!isJsonObject(dsl) || !isJsonObject(dsl.dsl) || 'components' in dsl || 'graph' in dsl) return [];
  return Object.keys(dsl)
    .filter((part) => part !== 'dsl')
    .map((part) => ({ part, message: 'It stands beside the canvas in the file; an import keeps the canvas alone.' }));
}

function lossesOf(document: Document): Validation['losses'] {
  try {
    const { keys: _, globals, ...others } = toV2(document).sidecar;
    // Variables that every conversation begins with are no loss.
    const isUsual = Object.entries(globals ?? {}).every(
      ([key, value]) => key.startsWith('sys.') && isEmpty(value || null),
    );
    const sidecar = isUsual ? others : { ...others, globals };
    const message = 'Version 2 of the DSL has no place for it; an export in version 2 leaves it out.';
    return Object.entries(sidecar).flatMap(([part, value]) => (isEmpty(value) ? [] : [{ part, message }]));
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return [{ part: 'document', message: `It cannot be written in version 2 of the DSL: ${error.message}` }];
  }
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.keys(value).length === 0 : value === undefined || value === null;
}
