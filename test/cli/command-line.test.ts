import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { example, says, temporaryFile } from './canvases.js';
import { call } from './fake-terminal.js';

const HELLO = example('hello');

describe('the command line', () => {
  it.each<[string, string[], number, RegExp]>([
    ['help', ['--help'], 0, /^Runnel runs agent canvases[\s\S]*\n {2}serve {7}.*\n {2}run {9}/],
    [
      'help of a command',
      ['run', '--help'],
      0,
      /^Usage: runnel run <canvas\.json>[\s\S]*--session FILE[\s\S]*130 interrupted/,
    ],
    ['help, in the other order', ['help', 'draw'], 0, /^Usage: runnel draw/],
    ['help although the rest is wrong', ['validate', '--wrong', '-h'], 0, /^Usage: runnel validate/],
    ['the version', ['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    ['a run', ['run', HELLO, '--query', 'hi'], 0, /^Hello! You said "hi", and this is turn 1\.\n$/],
    ['a run with options before the file', ['run', '--query=hi', '--user=u', HELLO], 0, /^Hello! You said "hi"/],
    ['a valid document', ['validate', HELLO], 0, /hello.canvas\.json: valid, version 1, 2 components, 0 warnings\n$/],
    [
      'the page of node types',
      ['components'],
      0,
      /^# Components\n[\s\S]*\n## Switch\n[\s\S]*\| `conditions` \| array of object \|/,
    ],
    ['one node type, in any case', ['components', 'switch'], 0, /^Switch\n[\s\S]*\n {2}conditions: array of object\n/],
    ['a drawing', ['draw', HELLO], 0, /^flowchart TD\n {2}n0\["Begin"\]\n/],
  ])('gives %s', async (_name, args, exit, out) => {
    const called = await call(args);
    expect(called).toMatchObject({ exit, err: '' });
    expect(called.out).toMatch(out);
  });

  it.each<[string, string[], RegExp]>([
    ['no command', [], /^Runnel runs agent canvases/],
    ['a command that does not exist', ['fly'], /^error: there is no command "fly"\n/],
    [
      'a command that resembles one',
      ['rn'],
      /^error: there is no command "rn"\. Did you mean "run"\? runnel --help lists the commands\.\n$/,
    ],
    [
      'a flag that resembles one',
      ['run', HELLO, '--qury=x'],
      /Unknown option '--qury'\. Did you mean --query\?\nUsage: /,
    ],
    [
      'a node type that resembles one',
      ['components', 'Mesage'],
      /There is no node type "Mesage"\. Did you mean "Message"\? \[/,
    ],
    ['a name that every object has', ['toString'], /there is no command "toString"/],
    ['help of a command that does not exist', ['help', 'fly'], /there is no command "fly"/],
    ['no file', ['run'], /An argument is missing\.\nUsage: runnel run <canvas\.json>.* \[USAGE\]\n$/],
    ['two files', ['run', HELLO, 'second.json'], /"second\.json" is one argument too many/],
    ['an unknown flag', ['run', HELLO, '--fast'], /Unknown option '--fast'[\s\S]*Usage: runnel run/],
    ['a flag without its value', ['run', HELLO, '--query'], /Option '--query <value>' argument missing/],
    ['a file that is not there', ['run', 'ghost.json'], /Cannot read "ghost\.json": ENOENT.* \[USAGE\]/],
    ['a folder', ['run', import.meta.dirname], /Cannot read ".*": EISDIR/],
    ['inputs that are no JSON', ['run', HELLO, '--inputs', '{a}'], /--inputs takes a JSON object .* received \{a\}/],
    ['inputs that are a list', ['run', HELLO, '--inputs', '[1]'], /--inputs takes a JSON object .* received \[1\]/],
    ['a variable without a value', ['run', HELLO, '--env', 'A'], /--env takes NAME=VALUE; received "A"/],
    ['a variable without a name', ['run', HELLO, '--env', '=1'], /--env takes NAME=VALUE; received "=1"/],
    ['a target version that is none', ['convert', HELLO, '--to', 'v3'], /--to takes v1 or v2; received "v3"/],
    ['no target version', ['convert', HELLO], /--to takes v1 or v2; received nothing/],
    [
      'a node type that does not exist',
      ['components', 'Ghost'],
      /There is no node type "Ghost"\. Known are: .*Begin, /,
    ],
  ])('refuses %s with exit code 2', async (_name, args, err) => {
    const called = await call(args);
    expect(called).toMatchObject({ exit: 2, out: '' });
    expect(called.err).toMatch(err);
  });

  it('refuses documents that cannot run with exit code 2, whatever is asked of them', async () => {
    const broken = temporaryFile('broken.json', '{"components": ');
    const unknown = temporaryFile('unknown.json', { what: 'is this' });
    const invalid = says('{ghost@x}').replace(/says\.json$/, 'ghost.json');
    const wrong = temporaryFile('wrong.json', readFileSync(HELLO, 'utf8').replaceAll('"Message"', '"Ghost"'));
    for (const [file, code] of [
      [broken, 'DOCUMENT_NOT_JSON'],
      [unknown, 'DOCUMENT_UNKNOWN_VERSION'],
      [invalid, 'USAGE'],
      [wrong, 'DOCUMENT_INVALID'],
    ] as const) {
      const called = await call(['run', file]);
      expect(called).toMatchObject({ exit: 2, out: '' });
      expect(called.err).toContain(`[${code}]`);
    }
    for (const command of [
      ['draw', broken],
      ['convert', broken, '--to', 'v2'],
      ['validate', wrong],
    ]) {
      expect((await call(command)).exit).toBe(2);
    }
  });

  it.each([
    ['MAX_CONCURRENT_CHATS', 'many'],
    ['RUNNEL_ALLOW_PRIVATE_NETWORK', 'maybe'],
    ['RUNNEL_MODELS', 'ghost.json'],
  ])('says that %s is wrong, with exit code 2', async (name, value) => {
    const called = await call(['run', HELLO], { env: { [name]: value } });
    expect(called).toMatchObject({ exit: 2, out: '' });
    expect(called.err).toContain(name);
    expect(called.err).toContain('[CONFIG_INVALID]');
  });
});

describe('validate', () => {
  it('reports every problem with its path', async () => {
    const file = temporaryFile('wrong.json', readFileSync(HELLO, 'utf8').replaceAll('"Message"', '"Ghost"'));
    const text = await call(['validate', file]);
    expect(text.exit).toBe(2);
    expect(text.out).toContain('error: $.components["Message:Greet"].obj.component_name: There is no component named');
    expect(text.out).toMatch(/wrong\.json: 1 error, 0 warnings\n$/);
    const json = await call(['validate', file, '--json']);
    expect(json.exit).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({
      valid: false,
      version: 1,
      components: 2,
      issues: [{ code: 'component-unknown', severity: 'error', component: 'Message:Greet' }],
    });
  });

  it('takes several documents, and says which is which', async () => {
    const wrong = temporaryFile('wrong.json', readFileSync(HELLO, 'utf8').replaceAll('"Message"', '"Mesage"'));
    const broken = temporaryFile('broken.json', '{"components": {\n  "a"');
    const text = await call(['validate', HELLO, wrong, broken]);
    expect(text.exit).toBe(2);
    expect(text.out).toMatch(/^[^\n]*hello.canvas\.json: valid, version 1, 2 components, 0 warnings\n/);
    expect(text.out).toContain('There is no component named "Mesage". Did you mean "Message"? [component-unknown]\n');
    expect(text.out).toMatch(
      /error: \$: .*\(line 2, column 6\) \[not-json\]\n[^\n]*broken\.json: 1 error, 0 warnings\n$/,
    );
    const json = await call(['validate', HELLO, wrong, '--json']);
    expect(JSON.parse(json.out)).toMatchObject([
      { file: HELLO, valid: true, version: 1 },
      { file: wrong, valid: false, issues: [{ code: 'component-unknown' }] },
    ]);
  });

  it('reads the standard input', async () => {
    const called = await call(['validate', '-', '--json'], { input: readFileSync(HELLO, 'utf8') });
    expect(called.exit).toBe(0);
    expect(JSON.parse(called.out)).toEqual({ valid: true, version: 1, components: 2, issues: [] });
  });
});

describe('convert', () => {
  it('goes to version 2 and back, and names what version 2 has no place for', async () => {
    const there = await call(['convert', HELLO, '--to', 'v2']);
    expect(there).toMatchObject({ exit: 0, err: expect.stringMatching(/^left out.*: globals, graph\n$/) });
    const v2 = JSON.parse(there.out);
    expect([v2.version, Object.keys(v2.components)]).toEqual([2, ['begin_', 'message_greet']]);
    const back = await call(['convert', '-', '--to', 'v1'], { input: there.out });
    expect(back).toMatchObject({ exit: 0, err: '' });
    expect((await call(['run', '-', '--query', 'hi'], { input: back.out })).out).toMatch(/^Hello! You said "hi"/);
  });
});

describe('components', () => {
  it('describes as JSON', async () => {
    const all = JSON.parse((await call(['components', '--json'])).out);
    const one = JSON.parse((await call(['components', 'Loop', '--json'])).out);
    expect(all).toContainEqual(one);
    expect(one).toMatchObject({ type: 'Loop', hasBody: true });
    expect(one.parameters.map(({ name }: { name: string }) => name)).toContain('maximum_loop_count');
  });
});
