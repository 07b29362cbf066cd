import { expect, it, vi } from 'vitest';
import { Shortcuts } from '../../../web/shell/shortcuts.js';

/** A key that is pressed on the page itself. */
const pressed = (key: string, more: Partial<KeyboardEvent> = {}) =>
  ({ key, target: null, defaultPrevented: false, preventDefault: vi.fn(), ...more }) as unknown as KeyboardEvent;

it('does what the newest group says, and what is below it once that has gone', () => {
  const done: string[] = [];
  const shortcuts = new Shortcuts();
  shortcuts.add({ title: 'page', shortcuts: [{ key: 'f', label: 'find', act: () => done.push('page') }] });
  const leave = shortcuts.add({
    title: 'part',
    shortcuts: [{ key: 'f', label: 'find', act: () => done.push('part') }],
  });
  expect(shortcuts.press(pressed('f'))).toBe(true);
  leave();
  shortcuts.press(pressed('f'));
  expect(done).toEqual(['part', 'page']);
});

it('leaves alone what belongs to the browser, what was handled, and what is only listed', () => {
  const act = vi.fn();
  const shortcuts = new Shortcuts();
  shortcuts.add({
    title: 'page',
    shortcuts: [
      { key: 'f', label: 'find', act },
      { key: 'g', label: 'go' },
    ],
  });
  const refused = [
    pressed('f', { ctrlKey: true }),
    pressed('f', { metaKey: true }),
    pressed('f', { altKey: true }),
    pressed('f', { defaultPrevented: true }),
    pressed('g'),
    pressed('x'),
  ];
  expect(refused.map((event) => shortcuts.press(event))).toEqual(refused.map(() => false));
  expect(act).not.toHaveBeenCalled();
});

it('tells the same key with Shift apart where it is written so', () => {
  const done: string[] = [];
  const shortcuts = new Shortcuts();
  const key = (name: string) => ({ key: name, label: name, act: () => done.push(name) });
  shortcuts.add({ title: 'page', shortcuts: [key('Shift+ArrowLeft'), key('ArrowLeft')] });
  shortcuts.press(pressed('ArrowLeft', { shiftKey: true }));
  shortcuts.press(pressed('ArrowLeft'));
  expect(done).toEqual(['Shift+ArrowLeft', 'ArrowLeft']);
});
