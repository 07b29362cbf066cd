/** How a component runs, as small marks on its card: retries, time limit, a value in place of a failure, several ways in. */
import { Merge, RotateCw, ShieldCheck, Timer } from 'lucide-react';
import { defineTexts, useTexts } from '../../shell/texts.js';
import type { Badge } from '../describe.js';
import style from './badges.module.css';

const texts = defineTexts({
  en: {
    retry: (amount = 0) =>
      amount === 1 ? 'tries once more when it fails' : `tries ${amount} times more when it fails`,
    timeout: (amount = 0) => `has ${amount} s`,
    fallback: () => 'gives a value when it fails',
    join: () => 'several ways lead to it',
    mode: (text: string, mode: string) => `${text}: ${mode}`,
  },
  zh: {
    retry: (amount = 0) => `失败时再试 ${amount} 次`,
    timeout: (amount = 0) => `限时 ${amount} 秒`,
    fallback: () => '失败时给出默认值',
    join: () => '有多条路径汇入',
    mode: (text: string, mode: string) => `${text}：${mode}`,
  },
});

const ICONS = { retry: RotateCw, timeout: Timer, fallback: ShieldCheck, join: Merge };

export function Badges({ badges }: { readonly badges: readonly Badge[] }) {
  const words = useTexts(texts);
  return badges.map(({ kind, amount, mode }) => {
    const Icon = ICONS[kind];
    const about = mode === undefined ? words[kind](amount) : words.mode(words[kind](amount), mode);
    return (
      <span key={kind} className={style.badge} title={about}>
        <Icon size={11} aria-hidden="true" />
        {amount ?? mode}
        <span className="unseen">{about}</span>
      </span>
    );
  });
}
