/** A step as a Mermaid flowchart. */
import { invalidOption, requireOptions } from '../operators/invalid-option.js';
import { describe, type GraphDescription, type NodeDescription, type StepDescription } from './describe.js';
import { type AnyStepLike, END, type FieldMapping, START } from './step.js';

/** How a step is drawn. */
export interface DrawOptions {
  /** `down` or `right`. @default 'down' */
  readonly direction?: 'down' | 'right';
}

/** Fields named on a line; more are counted. */
const MAX_FIELDS = 3;

/**
 * Draws a step: a box for each node, a diamond for each branch with its labels on the lines, a frame around each graph inside; fields that a
 * workflow maps stand on their lines, and a dotted line is data without an edge.
 *
 * ```text
 * flowchart TD
 *   n0(["start"])
 *   n1["load"]
 *   n2(["end"])
 *   n0 --> n1
 *   n1 --> n2
 * ```
 *
 * Names are escaped, so that no text can leave its box.
 */
export function draw(step: AnyStepLike, options: DrawOptions = {}): string {
  requireOptions('draw', options, ['direction']);
  const { direction = 'down' } = options;
  if (direction !== 'down' && direction !== 'right')
    throw invalidOption('draw', 'direction', '"down" or "right"', direction);
  const drawing = new Drawing();
  const description = describe(step);
  drawing.lines.push(`flowchart ${direction === 'right' ? 'LR' : 'TD'}`);
  if (description.graph === undefined) drawing.box(description, description.name, '  ');
  else drawing.graph(description.graph, '  ');
  return `${drawing.lines.join('\n')}\n`;
}

class Drawing {
  readonly lines: string[] = [];
  #count = 0;

  graph(graph: GraphDescription, indent: string): void {
    const boxes = new Map([[START, this.#line(indent, `(["start"])`)]]);
    for (const node of graph.nodes) boxes.set(node.id, this.#node(node, indent));
    boxes.set(END, this.#line(indent, `(["end"])`));
    const inputs = new Map(graph.nodes.map(({ id, input }) => [id, input]));
    inputs.set(END, graph.end);
    const draw = (from: string, arrow: string, to: string, label: string): void => {
      const text = label === '' ? '' : `|"${label}"|`;
      this.lines.push(`${indent}${boxes.get(from)} ${arrow}${text} ${boxes.get(to)}`);
    };
    for (const { from, to, labels } of graph.edges) {
      draw(from, '-->', to, labels === undefined ? fieldsOf(from, inputs.get(to)) : labels.map(asLabel).join(', '));
    }
    for (const { id, reads = [] } of graph.nodes) {
      for (const from of reads) draw(from, '-.->', id, fieldsOf(from, inputs.get(id)));
    }
  }

  box(step: StepDescription, id: string, indent: string): string {
    const bodies = bodiesOf(step);
    const inside = (bodies.at(-1) ?? step).graph;
    const label = `${asLabel(id)}${note([repeated(step, bodies), ...[step, ...bodies].map(boundOf), kindOf(step, id)])}`;
    if (inside === undefined) return this.#line(indent, `["${label}"]`);
    const frame = this.#next();
    this.lines.push(`${indent}subgraph ${frame}["${label}"]`);
    this.graph(inside, `${indent}  `);
    this.lines.push(`${indent}end`);
    return frame;
  }

  #node({ id, step, branch }: NodeDescription, indent: string): string {
    return branch === undefined ? this.box(step, id, indent) : this.#line(indent, `{"${asLabel(id)}"}`);
  }

  #line(indent: string, shape: string): string {
    const name = this.#next();
    this.lines.push(`${indent}${name}${shape}`);
    return name;
  }

  #next(): string {
    const name = `n${this.#count}`;
    this.#count += 1;
    return name;
  }
}

/** What a map or a loop goes through: its body, the body of that where it is one as well, and so on. */
function bodiesOf({ body }: StepDescription): readonly StepDescription[] {
  return body === undefined ? [] : [body, ...bodiesOf(body)];
}

/** `each again review`: how a body is repeated, and what it is in the end. */
function repeated(step: StepDescription, bodies: readonly StepDescription[]): string {
  const last = bodies.at(-1);
  if (last === undefined) return '';
  const words = [step, ...bodies.slice(0, -1)].map(({ type }) => (type === 'map' ? 'each' : 'again'));
  return [...words, asLabel(last.name)].join(' ');
}

function boundOf({ concurrency, maxRounds }: StepDescription): string {
  if (concurrency !== undefined) return `${concurrency} at once`;
  return maxRounds === undefined ? '' : `at most ${maxRounds} rounds`;
}

/** What a node's box says beside its id. */
function kindOf({ name, kind }: StepDescription, id: string): string {
  if (kind !== 'function' && kind !== 'graph' && kind !== 'branch') return kind;
  return name === id || name === 'passthrough' ? '' : asLabel(name);
}

function note(parts: readonly string[]): string {
  const text = parts.filter((part) => part !== '').join(', ');
  return text === '' ? '' : `<br/><small>${text}</small>`;
}

/** The fields that a node takes from another one. */
function fieldsOf(from: string, mappings: readonly FieldMapping[] | undefined): string {
  const fields = (mappings ?? []).flatMap((mapping) => {
    if (!('from' in mapping) || mapping.from !== from) return [];
    const { path, to } = mapping;
    if (path === to) return to === '' ? [] : [asLabel(to)];
    if (path === '' || to === '') return [asLabel(`${path}${to}`)];
    return [`${asLabel(path)} as ${asLabel(to)}`];
  });
  const more = fields.length > MAX_FIELDS ? [`${fields.length - MAX_FIELDS} more`] : [];
  return [...fields.slice(0, MAX_FIELDS), ...more].join(', ');
}

/** Mermaid reads entities inside quotes; everything that could end a label or start markup becomes one. */
function asLabel(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:+-]/gu, (character) => `#${character.codePointAt(0)};`);
}
