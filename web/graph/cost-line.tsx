/** What a build is expected to take, in a line. */
import type { BuildCost } from '../../src/knowledge/graph/build/graph-builds.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { buildTexts } from './build-texts.js';
import style from './graph.module.css';

interface CostLineProps {
  readonly name: string;
  readonly cost: BuildCost;
}

export function CostLine({ name, cost }: CostLineProps) {
  const words = useTexts(buildTexts);
  const { language } = useChoices();
  const { chunks, calls, prompt_tokens: read, completion_tokens: written, money, ms } = cost;
  const number = (value: number): string => value.toLocaleString(language, { maximumFractionDigits: 4 });
  const parts = [
    words.chunks(number(chunks)),
    ...(calls === 0
      ? [words.noCalls]
      : [
          words.calls(number(calls)),
          words.tokens(number(read + written)),
          money === null ? words.moneyUnknown : words.money(number(money)),
        ]),
    words.time(number(Math.ceil(ms / 1_000))),
  ];
  return (
    <p className={style.text}>
      <strong>{name}</strong>: {parts.join(', ')}
    </p>
  );
}
