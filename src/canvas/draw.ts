/** A document as a Mermaid flowchart. */

import type { Registry } from '../components/component.js';
import { indexIds } from '../dsl/component-id.js';
import type { Document, DocumentComponent } from '../dsl/document.js';
import { groupBy } from '../group-by.js';
import { requireMethods, requireObject } from '../operators/invalid-option.js';
import { exceptionTargets } from './compile.js';
import { builtInComponents } from './load-canvas.js';

/**
 * Draws a document: a box for each component, a frame around each body, a dotted line where parameters may lead.
 *
 * Names come from the document and are escaped, so that no text can leave its box.
 */
export function drawDocument(document: Document, registry: Registry = builtInComponents): string {
  requireMethods('drawDocument', 'registry', registry, ['get'], 'what createRegistry(…) gives');
  requireObject('drawDocument', 'document', document?.components, 'what parseDocument(…) gives');
  const components = Object.values(document.components);
  const boxes = new Map(components.map(({ id }, at) => [id, `n${at}`]));
  const bodies = groupBy(components, ({ parent }) => parent);
  const ids = indexIds(boxes.keys());
  const lines = ['flowchart TD'];

  const drawBoxes = (members: readonly DocumentComponent[], indent: string): void => {
    for (const component of members) {
      const box = boxes.get(component.id);
      const body = bodies.get(component.id);
      const [open, close] = body === undefined ? ['[', ']'] : ['[[', ']]'];
      lines.push(`${indent}${box}${open}"${labelOf(component)}"${close}`);
      if (body === undefined) continue;
      lines.push(`${indent}subgraph ${box}_body["${asLabel(component.name)}: body"]`);
      drawBoxes(body, `${indent}  `);
      lines.push(`${indent}end`, `${indent}${box} --- ${box}_body`);
    }
  };
  const drawLine = (from: string, line: string, to: string): void => {
    const target = boxes.get(ids.resolve(to) ?? to);
    if (target !== undefined) lines.push(`  ${boxes.get(from)} ${line} ${target}`);
  };

  drawBoxes(bodies.get(undefined) ?? [], '  ');
  for (const component of components) {
    const edges = new Set(component.downstream);
    for (const to of edges) drawLine(component.id, '-->', to);
    for (const to of targetsOf(component, registry)) if (!edges.has(to)) drawLine(component.id, '-.->', to);
  }
  return `${lines.join('\n')}\n`;
}

function labelOf({ name, type }: DocumentComponent): string {
  return name === type ? asLabel(name) : `${asLabel(name)}<br/><small>${asLabel(type)}</small>`;
}

/** Mermaid reads entities inside quotes; everything that could end a label or start markup becomes one. */
function asLabel(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:+-]/gu, (character) => `#${character.codePointAt(0)};`);
}

/** Where a component may go by its parameters, as far as they are valid. */
function targetsOf({ type, params }: DocumentComponent, registry: Registry): ReadonlySet<string> {
  const component = registry.get(type.trim().toLowerCase());
  const parsed = component?.params.safeParse(params);
  const own = parsed?.success === true ? (component?.targets?.(parsed.data) ?? []) : [];
  return new Set([...own, ...exceptionTargets(params)]);
}
