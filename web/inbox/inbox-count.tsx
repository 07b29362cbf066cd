/** How much waits for a person, in the bar. */
import { useRunUpdates } from '../runs/use-run-news.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './inbox.module.css';
import { useWaiting } from './use-waiting.js';

const texts = defineTexts({
  en: { waiting: (count: number) => (count === 1 ? '1 waits' : `${count} wait`) },
  zh: { waiting: (count: number) => `${count} 项等待处理` },
});

export function InboxCount() {
  const words = useTexts(texts);
  const { runs } = useWaiting().data ?? { runs: [] };
  useRunUpdates();
  if (runs.length === 0) return null;
  return (
    <>
      <span className={style.count} aria-hidden="true">
        {runs.length > 99 ? '99+' : runs.length}
      </span>
      <span className="unseen"> ({words.waiting(runs.length)})</span>
    </>
  );
}
