import type { CaseNode, RunTrace } from './case.js';
import { difference } from './compare-json.js';

/** What one Message said in one of its runs. */
interface Part {
  readonly node: string;
  readonly text: string;
}

/**
 * Compares answers where work runs side by side: the parts of Messages of which neither comes after the other in the
 * document may change places; all other parts keep their order.
 */
export function answerDifferences(
  nodes: readonly CaseNode[],
  expected: RunTrace,
  received: RunTrace,
  path: string,
): readonly string[] {
  if (expected.answer === received.answer) return [];
  const wrong = [difference(path, expected.answer, received.answer)];
  const wanted = partsByEnd(expected);
  // An answer that is more than its parts cannot be taken apart.
  if (textOf(wanted) !== expected.answer || received.answer.length !== expected.answer.length) return wrong;
  const places = placesOf(wanted, partsByNode(received));
  if (places === undefined) return wrong;
  const follows = createFollows(nodes);
  const isKept = wanted.every((later, index) =>
    wanted
      .slice(0, index)
      .every((earlier, before) => places[before]! < places[index]! || !follows(later.node, earlier.node)),
  );
  return isKept ? [] : wrong;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('');
}

/** Golden messages carry no ids, but come one Message after the other: each part belongs to the Message that ends next. */
function partsByEnd({ events }: RunTrace): readonly Part[] {
  const parts: Part[] = [];
  const open: string[] = [];
  let text = '';
  for (const { event, component_id: id = '', component_type: type, data } of events) {
    if (event === 'message') text += data?.content ?? '';
    if (event === 'message_end') {
      open.push(text);
      text = '';
    }
    if (event === 'node_finished' && type === 'Message' && open.length > 0) {
      parts.push({ node: id, text: open.shift() ?? '' });
    }
  }
  return parts;
}

/** Our messages may be mixed, and carry the id of their Message. */
function partsByNode({ events }: RunTrace): readonly Part[] {
  const open = new Map<string, string>();
  const parts: Part[] = [];
  for (const { event, component_id: id = '', data } of events) {
    if (event === 'message') open.set(id, (open.get(id) ?? '') + (data?.content ?? ''));
    if (event === 'message_end') {
      parts.push({ node: id, text: open.get(id) ?? '' });
      open.delete(id);
    }
  }
  return parts;
}

/** Where each wanted part stands among the received ones; undefined when they are not the same parts. */
function placesOf(wanted: readonly Part[], received: readonly Part[]): readonly number[] | undefined {
  if (wanted.length !== received.length) return undefined;
  const taken = new Set<number>();
  const places: number[] = [];
  for (const { node, text } of wanted) {
    const place = received.findIndex((part, index) => !taken.has(index) && part.node === node && part.text === text);
    if (place === -1) return undefined;
    taken.add(place);
    places.push(place);
  }
  return places;
}

/** Whether one node comes after another: the same node in a later run, or one that the other leads to. */
function createFollows(nodes: readonly CaseNode[]): (later: string, earlier: string) => boolean {
  const leadsTo = new Map<string, readonly string[]>();
  for (const { id, downstream, parent } of nodes) {
    // Whatever follows a container follows its body.
    leadsTo.set(
      id,
      parent === undefined
        ? downstream
        : [...downstream, ...(nodes.find((node) => node.id === parent)?.downstream ?? [])],
    );
  }
  return (later, earlier) => {
    if (later === earlier) return true;
    const reached = new Set<string>();
    const open = [earlier];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const next of leadsTo.get(node) ?? []) {
        if (next === later) return true;
        if (!reached.has(next)) {
          reached.add(next);
          open.push(next);
        }
      }
    }
    return false;
  };
}
