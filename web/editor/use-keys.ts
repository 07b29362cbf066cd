/** Keys of the editor, and the clipboard. */
import { type RefObject, useEffect } from 'react';
import { defineTexts, useTexts } from '../shell/texts.js';
import { useShortcuts } from '../shell/use-shortcuts.js';
import { clipText, duplicate, pasteText, removeAll } from './model/commands.js';
import type { EditorStore } from './model/editor-store.js';

const texts = defineTexts({
  en: {
    title: 'Editor',
    undo: 'Undo',
    redo: 'Redo',
    copy: 'Copy the selection as JSON',
    cut: 'Cut it',
    paste: 'Paste',
    duplicate: 'Duplicate the selection',
    all: 'Select all',
    remove: 'Delete the selection',
    move: 'Move the selection',
  },
  zh: {
    title: '编辑器',
    undo: '撤销',
    redo: '重做',
    copy: '将所选内容复制为 JSON',
    cut: '剪切',
    paste: '粘贴',
    duplicate: '复制一份所选内容',
    all: '全选',
    remove: '删除所选内容',
    move: '移动所选内容',
  },
});

const FIELDS = 'input, textarea, select, [contenteditable], [data-code], dialog, [role=menu]';

/** Keys work while the focus is in `root`, or nowhere. */
export function useKeys(store: EditorStore, root: RefObject<HTMLElement | null>): void {
  const words = useTexts(texts);
  useShortcuts(words.title, [
    { key: 'Ctrl+Z', label: words.undo },
    { key: 'Ctrl+Shift+Z', label: words.redo },
    { key: 'Ctrl+C', label: words.copy },
    { key: 'Ctrl+X', label: words.cut },
    { key: 'Ctrl+V', label: words.paste },
    { key: 'Ctrl+D', label: words.duplicate },
    { key: 'Ctrl+A', label: words.all },
    { key: 'Delete', label: words.remove },
  ]);
  useEffect(() => {
    const isOurs = ({ target, defaultPrevented }: Event): boolean => {
      const element = target as Element | null;
      if (defaultPrevented || root.current === null || element?.closest?.(FIELDS) != null) return false;
      return element === document.body || element === document.documentElement || root.current.contains(element);
    };
    const press = (event: KeyboardEvent) => {
      if (isOurs(event) && act(store, event)) event.preventDefault();
    };
    const copy = (event: ClipboardEvent) => {
      const isText = getSelection()?.isCollapsed === false;
      if (!isOurs(event) || isText) return;
      const text = clipText(store.document, store.state.selection);
      if (text === undefined) return;
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
      if (event.type === 'cut') removeAll(store, store.state.selection);
    };
    const paste = (event: ClipboardEvent) => {
      if (isOurs(event)) pasteText(store, event.clipboardData?.getData('text/plain') ?? '', bodyOf(store));
    };
    addEventListener('keydown', press);
    addEventListener('copy', copy);
    addEventListener('cut', copy);
    addEventListener('paste', paste);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener('copy', copy);
      removeEventListener('cut', copy);
      removeEventListener('paste', paste);
    };
  }, [store, root]);
}

/** Where something is pasted: beside what is selected. */
function bodyOf({ state: { selection, document } }: EditorStore): string | undefined {
  return document.components[selection[0] ?? '']?.parent;
}

function act(store: EditorStore, { key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  const { selection, document } = store.state;
  if (!ctrlKey && !metaKey) {
    if ((key !== 'Delete' && key !== 'Backspace') || selection.length === 0) return false;
    removeAll(store, selection);
    return true;
  }
  if (altKey) return false;
  switch (key.toLowerCase()) {
    case 'z':
      if (shiftKey) store.redo();
      else store.undo();
      return true;
    case 'y':
      store.redo();
      return true;
    case 'd':
      duplicate(store, selection);
      return true;
    case 'a':
      store.select(Object.keys(document.components));
      return true;
    default:
      return false;
  }
}
