/** What the canvas uses of the picture of a run. */

/** How a node stands, as the fold of runs says it. */
export type NodeStatus =
  | 'idle'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'retrying'
  | 'done'
  | 'skipped'
  | 'failed'
  | 'stopped';

export interface ActivationPicture {
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly text: string;
  readonly thinking: string;
  readonly next?: readonly string[];
  readonly error?: { readonly message: string };
  readonly missing?: readonly string[];
}

export interface NodePicture {
  readonly status: NodeStatus;
  readonly attempt?: number;
  readonly attempts?: number;
  readonly activations: readonly ActivationPicture[];
  readonly rounds?: { readonly begun: number; readonly of?: number };
  readonly sums: {
    readonly activations: number;
    readonly busyMs: number;
    readonly usage: { readonly totalTokens: number };
  };
}

export interface EdgePicture {
  readonly count: number;
}

export interface RunPicture {
  readonly lastSeq: number;
  /** Milliseconds since 1970. */
  readonly lastAtMs?: number;
  readonly nodes: ReadonlyMap<string, NodePicture>;
  readonly edges: ReadonlyMap<string, EdgePicture>;
}

/** The key of an edge in the edges of a picture. */
export function edgeKey(from: string, to: string): string {
  return `${from}\n${to}`;
}
