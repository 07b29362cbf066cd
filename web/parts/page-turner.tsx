/** Turns the pages of a list. */
import { defineTexts, useTexts } from '../shell/texts.js';
import { Button } from './button.js';
import style from './page-turner.module.css';

const texts = defineTexts({
  en: {
    pages: 'Pages',
    back: 'Back',
    next: 'Next',
    place: (page: number, of: number) => `Page ${page} of ${of}`,
  },
  zh: {
    pages: '分页',
    back: '上一页',
    next: '下一页',
    place: (page: number, of: number) => `第 ${page} 页，共 ${of} 页`,
  },
});

export interface PageTurnerProps {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  readonly onTurn: (page: number) => void;
}

export function PageTurner({ page, pages, onTurn }: PageTurnerProps) {
  const words = useTexts(texts);
  return (
    <nav className={style.pages} aria-label={words.pages}>
      <Button disabled={page <= 1} onClick={() => onTurn(page - 1)}>
        {words.back}
      </Button>
      <span>{words.place(page, pages)}</span>
      <Button disabled={page >= pages} onClick={() => onTurn(page + 1)}>
        {words.next}
      </Button>
    </nav>
  );
}
