/** What readers of the screen hear of a node: "Reply, Message, done", and what it does. */

import type { NodePicture } from '../../../src/canvas/picture/picture.js';
import { useTexts } from '../../shell/texts.js';
import type { DrawnNode } from '../drawing.js';
import { nameId, summaryId } from '../flow.js';
import { roundsText, stateTexts, stateWords } from '../live/node-state.js';
import { useSurroundings } from './surroundings.js';

export function NodeNames(props: {
  readonly node: DrawnNode;
  readonly picture: NodePicture | undefined;
  /** Words of the card beside its state, such as that its type is unknown. */
  readonly about: string;
}) {
  const { node, picture, about } = props;
  const { scope } = useSurroundings();
  const words = useTexts(stateTexts);
  const state = picture === undefined ? [] : [stateWords(picture, words), roundsText(picture, words)];
  return (
    <>
      <span id={nameId(scope, node.id)} className="unseen">
        {[node.name, node.type, ...state].filter((part) => part !== '').join(', ')}
      </span>
      <span id={summaryId(scope, node.id)} className="unseen">
        {about}
      </span>
    </>
  );
}
