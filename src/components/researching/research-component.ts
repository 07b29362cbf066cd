/** What the components that research have in common. */
import { mergeMap } from 'rxjs';
import { fromAbortable } from '../../operators/from-abortable.js';
import { type Component, defineComponent } from '../component.js';
import { referencedOutputs } from '../values/text-reader.js';
import type { ResearchWay } from './research-node.js';
import { RESEARCH_SECONDS, type ResearchParams, researchOutputs } from './research-params.js';

/** What a component that researches says of itself. */
export interface ResearchComponent<P> extends Pick<Component<P>, 'type' | 'summary' | 'params' | 'thoughts'> {
  /** How it researches unless a request says otherwise. */
  readonly way: ResearchWay;
}

/** A component whose node researches the question of a turn. */
export function defineResearch<P extends ResearchParams>({ way, ...about }: ResearchComponent<P>): Component<P> {
  return defineComponent<P>({
    ...about,
    group: 'model',
    outputs: researchOutputs,
    primaryOutput: 'content',
    speaks: true,
    timeoutSeconds: RESEARCH_SECONDS,
    needs: ({ query }) => referencedOutputs([query ?? '']),
    create(params) {
      return (activation) =>
        // Few processes research.
        fromAbortable(() => import('./research-node.js')).pipe(
          mergeMap(({ researchNode }) => researchNode(params, activation, way)),
        );
    },
  });
}
