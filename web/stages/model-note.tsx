/** Says that answers come from the built-in script, where no model is set up: without it, an answer that repeats what was found looks broken. */
import { useModelList } from '../parts/use-model-list.js';
import { useTexts } from '../shell/texts.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

export function ModelNote() {
  const words = useTexts(stagesTexts);
  const { data } = useModelList();
  return data?.scripted === true ? <p className={style.scripted}>{words.scripted}</p> : null;
}
