import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, type FilesOptions, files, memoryFiles } from '../../../../src/entries/agents.js';
import { defineTool, invoke, run, type StepTool } from '../../../../src/index.js';
import { type Reply, recordingModel } from '../support.js';

const LONG = 'word '.repeat(1_000);
const dump = defineTool({ name: 'dump', description: 'Says much.', run: () => LONG });

/** What the model got for its calls, made one after the other. */
async function results(calls: readonly Exclude<Reply, string>[], options: FilesOptions, tools: StepTool[] = []) {
  const model = recordingModel(...calls, 'done');
  const clerk = agent({ name: 'clerk', model, tools, use: [files(options)] });
  const events = await lastValueFrom(run(clerk, { input: 'go' }).pipe(toArray()));
  const messages = model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
  return { model, messages, texts: messages.map(({ content }) => String(content)), events: JSON.stringify(events) };
}

describe('files', () => {
  it('lists, reads, writes, edits, finds and searches', async () => {
    const space = memoryFiles({ files: { 'a.md': 'one\ntwo\n' } });
    const { texts, events } = await results(
      [
        [{ tool: 'write_file', args: { path: './b/c.md', content: 'three\nfour' } }],
        [{ tool: 'edit_file', args: { path: 'b/c.md', find: 'four', replace: 'five' } }],
        [{ tool: 'ls' }],
        [{ tool: 'read_file', args: { path: 'b/c.md', offset: 1 } }],
        [{ tool: 'read_file', args: { path: 'a.md', limit: 1 } }],
        [{ tool: 'glob', args: { pattern: '**/*.md' } }],
        [{ tool: 'grep', args: { pattern: 'T', ignore_case: true } }],
        [{ tool: 'grep', args: { pattern: 'nowhere' } }],
      ],
      { space },
    );
    expect(texts).toEqual([
      './b/c.md is written.',
      'b/c.md is changed in 1 place.',
      'a.md\t8\nb/',
      '2\tfive',
      '1\tone\n[1 more lines; go on with offset 1.]',
      'a.md\nb/c.md',
      'a.md:2: two\nb/c.md:1: three',
      'There is nothing.',
    ]);
    expect(events.match(/file-changed/g)).toHaveLength(2);
  });

  it.each([
    ['a path outside', { tool: 'read_file', args: { path: '../secret' } }, 'leads upwards'],
    ['a file that is not there', { tool: 'read_file', args: { path: 'none' } }, 'There is no file "none"'],
    ['a pattern that cannot be read', { tool: 'grep', args: { pattern: '(' } }, 'RE2'],
  ])('tells the model of %s, and goes on', async (_, call, text) => {
    const { texts } = await results([[call]], { space: memoryFiles() });
    expect(texts[0]).toContain(text);
  });

  it('offers no tool that changes files when it may only read, and none that runs code without an executor', async () => {
    const { model } = await results([], { space: memoryFiles(), readOnly: true });
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['ls', 'read_file', 'glob', 'grep']);
  });

  it('shows pictures and PDFs as parts', async () => {
    const bytes = Uint8Array.from([1, 2, 3]);
    const { messages } = await results(
      [[{ tool: 'read_file', args: { path: 'p.PNG' } }], [{ tool: 'read_file', args: { path: 'd/x.pdf' } }]],
      { space: memoryFiles({ files: { 'p.PNG': bytes, 'd/x.pdf': bytes } }) },
    );
    expect(messages.map((message) => (message.role === 'tool' ? message.parts?.[1] : undefined))).toEqual([
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
      { type: 'file', data: 'AQID', mimeType: 'application/pdf', name: 'x.pdf' },
    ]);
  });

  it('refuses pictures that are too large', async () => {
    const { texts } = await results([[{ tool: 'read_file', args: { path: 'p.png' } }]], {
      space: memoryFiles({ files: { 'p.png': new Uint8Array(11) } }),
      maxMediaBytes: 10,
    });
    expect(texts[0]).toContain('11 bytes; at most 10');
  });

  it('puts long results of other tools into a file, each into its own', async () => {
    const space = memoryFiles();
    const { texts, events } = await results(
      [[{ tool: 'dump' }, { tool: 'dump' }], [{ tool: 'dump' }]],
      { space, offloadAt: 100 },
      [dump],
    );
    const { found } = await space.glob('tool-results/*');
    expect(found).toHaveLength(3);
    expect(Buffer.from(await space.readBytes(found[0] as string)).toString()).toBe(LONG);
    for (const text of texts) {
      expect(text.startsWith(LONG.slice(0, 100))).toBe(true);
      expect(text.length).toBeLessThan(400);
      expect(found.some((path) => text.includes(path))).toBe(true);
    }
    expect(events.match(/"offloaded"/g)).toHaveLength(3);
  });

  it('leaves short ones, those that it read itself, and all of them where it should not', async () => {
    const space = memoryFiles({ files: { long: LONG } });
    const read = await results([[{ tool: 'read_file', args: { path: 'long' } }]], { space, offloadAt: 100 });
    expect(read.texts[0]).toContain(LONG);
    const off = await results([[{ tool: 'dump' }]], { space, offloadAt: false }, [dump]);
    expect(off.texts).toEqual([LONG]);
    expect((await space.glob('tool-results/*')).found).toEqual([]);
  });

  it('keeps a result whose file cannot be written, and tells of it', async () => {
    const space = memoryFiles({ maxFileBytes: 10 });
    const { texts, events } = await results([[{ tool: 'dump' }]], { space, offloadAt: 100 }, [dump]);
    expect(texts).toEqual([LONG]);
    expect(events).toContain('offload-failed');
  });

  it('cuts what one call reads, and says so', async () => {
    const space = memoryFiles({ files: { long: LONG } });
    const { texts } = await results([[{ tool: 'read_file', args: { path: 'long' } }]], { space, maxCharacters: 20 });
    expect(texts[0]).toBe('1\tword word word wor\n[There is more; ask for less at a time.]');
  });

  it('runs scripts by its executor, and tells how they failed', async () => {
    const base = { stdout: 'out', stderr: '', exitCode: 0, timeUsedMs: 1, artifacts: [] };
    const asked: unknown[] = [];
    const executor: FilesOptions['executor'] = {
      run: (request) => {
        asked.push(request);
        return asked.length === 1
          ? of({ ...base, status: 'success', result: { value: { n: 1 } } })
          : of({ ...base, status: 'program_error', stderr: 'boom', detail: 'broke' });
      },
    };
    const call = [{ tool: 'run', args: { language: 'python', source: 'def main(): pass' } }];
    const { texts, messages } = await results([call, call], { space: memoryFiles(), executor });
    expect(asked[0]).toEqual({ language: 'python', source: 'def main(): pass', args: {} });
    expect(texts).toEqual(['{"n":1}\n\nstdout:\nout', 'stdout:\nout\n\nstderr:\nboom\n\nprogram_error: broke']);
    expect(messages[1]).toMatchObject({ isError: true });
  });

  it('speaks Chinese', async () => {
    const { model, texts } = await results([[{ tool: 'ls' }]], { space: memoryFiles(), language: 'zh' });
    expect(String(model.requests[0]?.messages[0]?.content)).toContain('你可以使用文件');
    expect(texts).toEqual(['没有内容。']);
  });

  it.each([[{}], [{ space: {} }], [{ offloadAt: 0 }], [{ executor: {} }], [{ readOnly: 'yes' }], [{ language: 'de' }]])(
    'refuses %j',
    (options) => {
      const given =
        'space' in options ? options : Object.keys(options).length === 0 ? {} : { space: memoryFiles(), ...options };
      expect(() => files(given as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    },
  );

  it('works in an agent that answers at once', async () => {
    const model = recordingModel('ok');
    expect(await invoke(agent({ name: 'clerk', model, use: [files({ space: memoryFiles() })] }), 'go')).toBe('ok');
  });
});
