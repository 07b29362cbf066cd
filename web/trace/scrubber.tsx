/** Moves through the events of a run: one by one, by dragging, or playing them again. */
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Pause, Play, Radio } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { ForkButton } from '../debug/fork-button.js';
import { Button, IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { useShortcuts } from '../shell/use-shortcuts.js';
import { type PlayedEvents, play } from './playback.js';
import type { RunSource } from './run-source.js';
import style from './scrubber.module.css';
import type { ShownRun } from './use-run.js';

const texts = defineTexts({
  en: {
    scrubber: 'Moment of the run',
    event: (at: number, of: number) => `Event ${at.toLocaleString('en')} of ${of.toLocaleString('en')}`,
    first: 'First event',
    previous: 'Previous event',
    next: 'Next event',
    last: 'Last event',
    play: 'Play',
    pause: 'Pause',
    speed: 'Speed',
    live: 'Live',
    end: 'End',
    toLive: 'Back to the newest event',
  },
  zh: {
    scrubber: '运行时刻',
    event: (at: number, of: number) => `事件 ${at.toLocaleString('zh')} / ${of.toLocaleString('zh')}`,
    first: '第一个事件',
    previous: '上一个事件',
    next: '下一个事件',
    last: '最后一个事件',
    play: '播放',
    pause: '暂停',
    speed: '速度',
    live: '实时',
    end: '末尾',
    toLive: '回到最新事件',
  },
});

const SPEEDS = [1, 4, 16] as const;

export interface ScrubberProps extends ShownRun {
  readonly store: RunSource;
}

export function Scrubber({ store, live, at, shown, seek }: ScrubberProps) {
  const words = useTexts(texts);
  const [speed, setSpeed] = useState<number>(1);
  const last = live.lastSeq;
  const now = at ?? last;
  const { isPlaying, toggle, stop } = usePlayback(store, now, speed, seek);
  const go = (seq: number) => {
    stop();
    seek(Math.min(last, Math.max(1, seq)));
  };
  const toEnd = () => {
    stop();
    seek(undefined);
  };
  useShortcuts(words.scrubber, [
    { key: ',', label: words.previous, act: () => go(now - 1) },
    { key: '.', label: words.next, act: () => go(now + 1) },
    { key: 'Shift+Home', label: words.first, act: () => go(1) },
    { key: 'Shift+End', label: words.toLive, act: toEnd },
    { key: 'k', label: `${words.play} / ${words.pause}`, act: toggle },
  ]);
  const isLive = live.status === 'running' || live.status === 'stopping';
  const text = words.event(now, last);
  const since = shown.lastAtMs === undefined || live.startedAtMs === undefined ? 0 : shown.lastAtMs - live.startedAtMs;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring a frame and a legend
    <div role="group" aria-label={words.scrubber} className={style.scrubber}>
      <div className={style.buttons}>
        <IconButton label={words.first} disabled={now <= 1} onClick={() => go(1)}>
          <ChevronFirst size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.previous} disabled={now <= 1} onClick={() => go(now - 1)}>
          <ChevronLeft size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={isPlaying ? words.pause : words.play} disabled={last === 0} onClick={toggle}>
          {isPlaying ? <Pause size={16} aria-hidden="true" /> : <Play size={16} aria-hidden="true" />}
        </IconButton>
        <IconButton label={words.next} disabled={now >= last} onClick={() => go(now + 1)}>
          <ChevronRight size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.last} disabled={now >= last} onClick={() => go(last)}>
          <ChevronLast size={16} aria-hidden="true" />
        </IconButton>
        <select aria-label={words.speed} value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
        <span className={style.place}>
          {text} · {formatMs(Math.max(0, since))}
        </span>
        <span className={style.right}>
          <ForkButton store={store} at={now} className={style.fork} />
          <Button className={style.live} aria-pressed={at === undefined} title={words.toLive} onClick={toEnd}>
            <Radio size={14} aria-hidden="true" />
            {isLive ? words.live : words.end}
          </Button>
        </span>
      </div>
      <input
        type="range"
        aria-label={words.scrubber}
        aria-valuetext={text}
        min={Math.min(1, last)}
        max={last}
        value={now}
        onChange={(event) => go(Number(event.target.value))}
      />
    </div>
  );
}

/** Plays from the moment that is shown; from the beginning when that is the end. */
function usePlayback(store: RunSource, now: number, speed: number, seek: (seq: number | undefined) => void) {
  const [isPlaying, setIsPlaying] = useState(false);
  const newest = useRef({ now, seek });
  useEffect(() => {
    newest.current = { now, seek };
  });
  useEffect(() => {
    if (!isPlaying) return undefined;
    const events = playedEvents(store);
    const { now: shown } = newest.current;
    const from = shown >= events.first + events.atMs.length - 1 ? events.first : shown;
    const subscription = play(events, from, speed).subscribe({
      next: (seq) => seq !== newest.current.now && newest.current.seek(seq),
      complete: () => setIsPlaying(false),
    });
    return () => subscription.unsubscribe();
  }, [isPlaying, speed, store]);
  return useMemo(
    () => ({ isPlaying, toggle: () => setIsPlaying((plays) => !plays), stop: () => setIsPlaying(false) }),
    [isPlaying],
  );
}

function playedEvents({ events }: RunSource): PlayedEvents {
  return { first: events[0]?.seq ?? 1, atMs: events.map(({ at }) => at) };
}
