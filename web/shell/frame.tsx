/** What stands around every screen: the bar with the places to go, language and theme. */
import { Moon, Sun } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { InboxCount } from '../inbox/inbox-count.js';
import { Button, IconButton } from '../parts/button.js';
import style from './frame.module.css';
import { ShortcutButton } from './shortcut-list.js';
import { useChoices, useStudio } from './studio.js';
import { defineTexts, useTexts } from './texts.js';
import { useSystem } from './use-system.js';

const texts = defineTexts({
  en: {
    skip: 'To the content',
    places: 'Places',
    agents: 'Agents',
    runs: 'Runs',
    sessions: 'Sessions',
    inbox: 'Inbox',
    datasets: 'Datasets',
    chat: 'Chat',
    research: 'Research',
    evaluations: 'Evaluation',
    settings: 'Settings',
    language: 'Language: 中文',
    dark: 'Dark theme',
    light: 'Light theme',
  },
  zh: {
    skip: '跳到内容',
    places: '导航',
    agents: '智能体',
    runs: '运行记录',
    sessions: '会话',
    inbox: '待办',
    datasets: '知识库',
    chat: '对话',
    research: '研究',
    evaluations: '评估',
    settings: '设置',
    language: '语言：English',
    dark: '深色主题',
    light: '浅色主题',
  },
});

/** Places of the bar: address, the text that names it, and the part of the server that it needs. */
const PLACES = [
  ['/agents', 'agents', 'agents'],
  ['/runs', 'runs', 'runs'],
  ['/sessions', 'sessions', 'runs'],
  ['/inbox', 'inbox', 'runs'],
  ['/datasets', 'datasets', 'datasets'],
  ['/chat', 'chat', 'chat'],
  ['/research', 'research', 'datasets'],
  ['/evaluations', 'evaluations', 'datasets'],
  ['/settings', 'settings', 'agents'],
] as const;

/** Parts that every server has: their places are there before the server has said so. */
const ALWAYS: readonly string[] = ['agents', 'runs'];

export function Frame({ children }: { readonly children: ReactNode }) {
  const words = useTexts(texts);
  const [path] = useLocation();
  const { parts = ALWAYS } = useSystem().data ?? {};
  const places = useRef<HTMLElement>(null);
  const offered = PLACES.filter(([, , part]) => parts.includes(part));
  useCurrentInSight(places);
  return (
    <div className={style.frame}>
      <Button className={style.skip} onClick={() => document.getElementById('content')?.focus()}>
        {words.skip}
      </Button>
      <header className={style.bar}>
        <Link href="/agents" className={style.brand}>
          Runnel
        </Link>
        <nav aria-label={words.places} ref={places}>
          {offered.map(([to, name]) => (
            <Link key={to} href={to} aria-current={path.startsWith(to) ? 'page' : undefined}>
              {words[name]}
              {name === 'inbox' && <InboxCount />}
            </Link>
          ))}
        </nav>
        <Switches />
      </header>
      <main id="content" tabIndex={-1} className={style.content}>
        {children}
      </main>
    </div>
  );
}

/** On a phone the places are a line that is moved: to the one that is open, also when others have come or have become wider. */
function useCurrentInSight(places: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const line = places.current;
    if (line === null) return undefined;
    const show = (): void => {
      line.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    };
    const observer = new MutationObserver(show);
    observer.observe(line, { subtree: true, childList: true, characterData: true, attributeFilter: ['aria-current'] });
    show();
    return () => observer.disconnect();
  }, [places]);
}

function Switches() {
  const words = useTexts(texts);
  const { preferences } = useStudio();
  const { language, theme } = useChoices();
  const isDark = theme === 'dark';
  return (
    <div className={style.switches}>
      <Button
        look="quiet"
        aria-label={words.language}
        onClick={() => preferences.choose({ language: language === 'en' ? 'zh' : 'en' })}
      >
        <span aria-hidden="true" lang={language === 'en' ? 'zh' : 'en'}>
          {language === 'en' ? '中文' : 'English'}
        </span>
      </Button>
      <IconButton
        label={isDark ? words.light : words.dark}
        onClick={() => preferences.choose({ theme: isDark ? 'light' : 'dark' })}
      >
        {isDark ? <Sun size={18} aria-hidden="true" /> : <Moon size={18} aria-hidden="true" />}
      </IconButton>
      <ShortcutButton />
    </div>
  );
}
