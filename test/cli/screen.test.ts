import { describe, expect, it } from 'vitest';
import { Screen } from '../../src/cli/screen.js';
import { fakeTerminal } from './fake-terminal.js';

const WIPE = '\r\u001b[K';

function draw(isTTY: boolean, use: (screen: Screen) => void, env = {}) {
  const terminal = fakeTerminal({ isTTY, env });
  use(new Screen(terminal));
  return terminal.text;
}

describe('the screen', () => {
  it('shows a status until there is something to read, and none behind an unfinished line', () => {
    const use = (screen: Screen) => {
      screen.status('First');
      screen.status('Second');
      screen.answer('Hel');
      screen.status('Third');
      screen.answer('lo\n');
      screen.status('Fourth');
      screen.end();
    };
    expect(draw(true, use).both).toBe(`… First${WIPE}… Second${WIPE}Hello\n… Fourth${WIPE}`);
    expect(draw(true, use, { TERM: 'dumb' }).both).toBe('Hello\n');
    expect(draw(false, use)).toMatchObject({ out: 'Hello\n', err: '' });
  });

  it('keeps a status on one line', () => {
    const { both } = draw(true, (screen) => screen.status(`two\nlines ${'x'.repeat(100)}`));
    expect(both).toBe(`… two lines ${'x'.repeat(50)}`);
  });

  it('puts remarks on lines of their own', () => {
    const use = (screen: Screen) => {
      screen.answer('Hel');
      screen.remark('warning');
      screen.aside('think');
      screen.remark('note');
      screen.aside('more');
      screen.answer('lo');
      screen.end();
      screen.end();
    };
    expect(draw(true, use).both).toBe('Hel\nwarning\nthink\nnote\nmore\nlo\n');
    expect(draw(false, use)).toMatchObject({ out: 'Hello\n', err: 'warning\nthink\nnote\nmore\n' });
  });

  it('lets no text steer the terminal, and changes nothing on its way into a pipe', () => {
    const evil = 'a\u001b]0;title\u0007\u009b2Jb\r\n\tc';
    const use = (screen: Screen) => {
      screen.answer(evil);
      screen.remark(evil);
    };
    expect(draw(true, use).out).toBe('a]0;title2Jb\n\tc');
    expect(draw(false, use)).toMatchObject({ out: evil, err: 'a]0;title2Jb\n\tc\n' });
  });
});
