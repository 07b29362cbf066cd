/** Where something ran, in words. */
import { defineTexts, useTexts } from '../shell/texts.js';
import { placeOf } from './trace-frames.js';
import { placeOfRound } from './trace-texts.js';

const texts = defineTexts({
  en: { pass: (container: string, round: string) => `${container}, pass ${round}` },
  zh: { pass: (container: string, round: string) => `${container} 第 ${round} 轮` },
});

/** Writes the containers and passes of a path such as `Loop:A/0`, outermost first; nothing for the top level. */
export function useWhereText(nameOf: (id: string) => string): (within: string | null | undefined) => string {
  const { pass } = useTexts(texts);
  return (within) => {
    const parts: string[] = [];
    for (let path = within ?? ''; path !== ''; ) {
      const { container, round, around } = placeOf(path);
      parts.unshift(pass(nameOf(container), placeOfRound(round)));
      path = around;
    }
    return parts.join(' › ');
  };
}
