/** Which nodes of a run tell their text to the user. */
import { useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { useSpeakingTypes } from '../canvas/catalogue.js';
import type { Speaks } from './transcript.js';

/** Not shown and taken away again: a run of many nodes says much that is not told. */
const NONE_SPEAKS: Speaks = () => false;

/** By the types of the nodes, such as Message; undefined, for all, where no node speaks, and where types are not known. */
export function useSpeaks(nodes: RunPicture['nodes']): Speaks | undefined {
  const { types, isAsked } = useSpeakingTypes();
  return useMemo(() => {
    if (isAsked) return NONE_SPEAKS;
    const isSpeaker = (id: string): boolean => types?.has(nodes.get(id)?.type?.trim().toLowerCase() ?? '') ?? true;
    return [...nodes.keys()].some(isSpeaker) ? isSpeaker : undefined;
  }, [types, isAsked, nodes]);
}
