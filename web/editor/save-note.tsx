/** How the draft stands with the server, in words, and the way out of a conflict. */
import { Button } from '../parts/button.js';
import { useObservable } from '../parts/use-observable.js';
import { useChoices } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './editor.module.css';
import type { DraftSaver, SaveState } from './model/draft-saver.js';

const texts = defineTexts({
  en: {
    draft: 'Draft',
    saved: (time: string) => `Draft, saved ${time}`,
    unsaved: 'Draft, not saved yet',
    saving: 'Saving …',
    kept: 'The server is away: kept in this tab',
    notKept: 'The server is away, and this tab cannot keep the draft: leave it open',
    conflict: 'Changed elsewhere',
    refused: (why: string) => `Not saved: ${why}`,
    changed: 'This draft was changed elsewhere. Yours is kept in this tab.',
    reload: 'Load the other one',
    keepMine: 'Keep mine',
  },
  zh: {
    draft: '草稿',
    saved: (time: string) => `草稿，已于 ${time} 保存`,
    unsaved: '草稿，尚未保存',
    saving: '正在保存…',
    kept: '服务器无法连接：已保存在此标签页',
    notKept: '服务器无法连接，且此标签页无法保存草稿：请勿关闭',
    conflict: '已在别处修改',
    refused: (why: string) => `未保存：${why}`,
    changed: '此草稿已在别处修改。你的版本保存在此标签页。',
    reload: '加载另一版本',
    keepMine: '保留我的',
  },
});

type Words = (typeof texts)['en'];

export function SaveNote({ saver }: { readonly saver: DraftSaver }) {
  const words = useTexts(texts);
  const { language } = useChoices();
  const state = useObservable(saver.state$, saver.state);
  const look =
    state.is === 'away' || state.is === 'conflict' ? style.away : state.is === 'refused' ? style.refused : '';
  const text = textOf(state, words, language);
  return (
    <span role="status" className={`${style.saved} ${look}`} title={text}>
      {text}
    </span>
  );
}

function textOf(state: SaveState, words: Words, language: string): string {
  switch (state.is) {
    case 'saved': {
      if (state.atMs === undefined) return words.draft;
      return words.saved(new Date(state.atMs).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' }));
    }
    case 'away':
      return state.isKept ? words.kept : words.notKept;
    case 'refused':
      return words.refused(state.error instanceof Error ? state.error.message : String(state.error));
    default:
      return words[state.is];
  }
}

interface ConflictNoteProps {
  readonly saver: DraftSaver;
  readonly onReload: () => void;
}

export function ConflictNote({ saver, onReload }: ConflictNoteProps) {
  const words = useTexts(texts);
  const { is } = useObservable(saver.state$, saver.state);
  if (is !== 'conflict') return null;
  const reload = () => {
    saver.giveUp();
    onReload();
  };
  return (
    <div role="alert" className={style.conflict}>
      <p>{words.changed}</p>
      <Button onClick={reload}>{words.reload}</Button>
      <Button onClick={() => void saver.keepMine()}>{words.keepMine}</Button>
    </div>
  );
}
