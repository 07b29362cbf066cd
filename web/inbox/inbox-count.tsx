/** How much waits for a person, in the bar. */
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './inbox.module.css';
import { useWaiting } from './use-waiting.js';

const texts = defineTexts({
  en: { waiting: (count: number) => (count === 1 ? '1 waits' : `${count} wait`) },
  zh: { waiting: (count: number) => `${count} 项等待处理` },
});

export function InboxCount() {
  const words = useTexts(texts);
  const { data = [] } = useWaiting();
  if (data.length === 0) return null;
  return (
    <>
      <span className={style.count} aria-hidden="true">
        {data.length > 99 ? '99+' : data.length}
      </span>
      <span className="unseen"> ({words.waiting(data.length)})</span>
    </>
  );
}
