/** Which nodes of a run tell their text to the user. */
import { useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { useSpeakingTypes } from '../canvas/catalogue.js';
import type { Speaks } from './transcript.js';

/** By the types of the nodes, such as Message; undefined, for all, until those are known, and where no node speaks. */
export function useSpeaks(nodes: RunPicture['nodes']): Speaks | undefined {
  const types = useSpeakingTypes();
  return useMemo(() => {
    const isSpeaker = (id: string): boolean => types?.has(nodes.get(id)?.type?.trim().toLowerCase() ?? '') ?? true;
    return [...nodes.keys()].some(isSpeaker) ? isSpeaker : undefined;
  }, [types, nodes]);
}
