/** Says when the connection to a run is lost, and when it has caught up. */
import { useEffect, useRef } from 'react';
import { ErrorNote } from '../parts/notes.js';
import type { Connection } from '../run/run-store.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './turn.module.css';

const texts = defineTexts({
  en: {
    lost: (seconds: string) =>
      `The connection to the server is lost. The run goes on there; trying again in ${seconds} s.`,
    back: 'Connected again, and caught up.',
  },
  zh: {
    lost: (seconds: string) => `与服务器的连接已断开。运行仍在服务器上继续；${seconds} 秒后重试。`,
    back: '已重新连接，并已追上进度。',
  },
});

export function ConnectionNote({ connection }: { readonly connection: Connection }) {
  const words = useTexts(texts);
  const wasLost = useRef(false);
  useEffect(() => {
    if (connection.is === 'lost') wasLost.current = true;
  }, [connection]);
  if (connection.is === 'refused') return <ErrorNote error={connection.error} />;
  // The region is there before it says something: readers of the screen miss one that appears with its words.
  return (
    <p role="status" className={connection.is === 'lost' ? style.lost : style.back}>
      {connection.is === 'lost' && words.lost(Math.max(1, Math.round(connection.pauseMs / 1_000)).toString())}
      {connection.is !== 'lost' && wasLost.current && words.back}
    </p>
  );
}
