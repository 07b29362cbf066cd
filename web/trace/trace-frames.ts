/** The activations of a run by where they ran: its top level, and each pass of each container. */
import type { ActivationPicture, NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';

/** One activation of a node within a frame, or several: further tries, or because the graph leads to it again. */
export interface FrameNode {
  readonly node: NodePicture;
  /** In the order in which they began. */
  readonly activations: readonly ActivationPicture[];
  /** When it is a container: its passes, in the order in which they began. */
  readonly passes: readonly TraceFrame[];
  /** Number of the first event. */
  readonly firstSeq: number;
}

/** The top level of a run, or one pass of a container. */
export interface TraceFrame {
  /** `container/round`, outermost first; empty for the top level. */
  readonly path: string;
  /** The last part of the path: which pass it is. */
  readonly round: string;
  /** In the order in which they began. */
  readonly nodes: readonly FrameNode[];
  readonly firstSeq: number;
}

interface Building {
  readonly path: string;
  readonly nodes: Map<string, { activations: ActivationPicture[]; passes: string[] }>;
}

/** The frames of a run, from its top level down. */
export function framesOf({ nodes }: Pick<RunPicture, 'nodes'>): TraceFrame {
  const frames = new Map<string, Building>();
  frameAt(frames, '');
  for (const [id, { activations }] of nodes) {
    for (const one of activations) entryOf(frames, one.within ?? '', id).activations.push(one);
  }
  return finish(frames, nodes);
}

/** The frame of a path; what is around it is made, too. */
function frameAt(frames: Map<string, Building>, path: string): Building {
  const known = frames.get(path);
  if (known !== undefined) return known;
  const frame: Building = { path, nodes: new Map() };
  frames.set(path, frame);
  const { container, around } = placeOf(path);
  if (container !== '') entryOf(frames, around, container).passes.push(path);
  return frame;
}

function entryOf(frames: Map<string, Building>, path: string, id: string) {
  const { nodes } = frameAt(frames, path);
  let entry = nodes.get(id);
  if (entry === undefined) {
    entry = { activations: [], passes: [] };
    nodes.set(id, entry);
  }
  return entry;
}

/** Container, round and the path around of a path `…/container/round`. */
export function placeOf(path: string): { readonly container: string; readonly round: string; readonly around: string } {
  const atRound = path.lastIndexOf('/');
  if (atRound < 0) return { container: '', round: '', around: '' };
  const atContainer = path.lastIndexOf('/', atRound - 1);
  return {
    container: path.slice(atContainer + 1, atRound),
    round: path.slice(atRound + 1),
    around: atContainer < 0 ? '' : path.slice(0, atContainer),
  };
}

/** Inner frames first, since those around them hold them. */
function finish(frames: ReadonlyMap<string, Building>, nodes: ReadonlyMap<string, NodePicture>): TraceFrame {
  const done = new Map<string, TraceFrame>();
  const inward = [...frames.values()].sort((one, other) => depthOf(other.path) - depthOf(one.path));
  for (const { path, nodes: entries } of inward) {
    const listed: FrameNode[] = [];
    for (const [id, { activations, passes }] of entries) {
      const node = nodes.get(id);
      if (node === undefined) continue;
      const inside = passes.map((one) => done.get(one) as TraceFrame).sort(bySeq);
      const firstSeq = Math.min(activations[0]?.startSeq ?? Infinity, inside[0]?.firstSeq ?? Infinity);
      listed.push({ node, activations, passes: inside, firstSeq });
    }
    listed.sort(bySeq);
    done.set(path, { path, round: placeOf(path).round, nodes: listed, firstSeq: listed[0]?.firstSeq ?? Infinity });
  }
  return done.get('') as TraceFrame;
}

const bySeq = (one: { readonly firstSeq: number }, other: { readonly firstSeq: number }) =>
  one.firstSeq - other.firstSeq;

function depthOf(path: string): number {
  let depth = 0;
  for (let at = 0; at < path.length; at += 1) if (path[at] === '/') depth += 1;
  return depth;
}
