/** A way from a question that one search may not answer to its research. */
import { Telescope } from 'lucide-react';
import type { ChatPicture } from '../../src/canvas/picture/picture.js';
import { useTexts } from '../shell/texts.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

/** A link to the page of researches, with the question and the datasets of the chat. */
export function ResearchOffer({ research }: { readonly research: ChatPicture['research'] }) {
  const words = useTexts(stagesTexts);
  if (research === undefined) return null;
  const { question, reason, datasetIds } = research;
  const asked = new URLSearchParams({ question });
  if (datasetIds.length > 0) asked.set('datasets', datasetIds.join(','));
  return (
    <p className={style.research}>
      <Telescope size={14} aria-hidden="true" /> {words.reasons[reason] ?? words.reasons.compound}{' '}
      <a href={`#/research?${asked.toString()}`}>{words.research}</a>
    </p>
  );
}
