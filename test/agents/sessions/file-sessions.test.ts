import { spawn } from 'node:child_process';
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileSessions } from '../../../src/agents/sessions/file-sessions.js';
import { loadSession } from '../../../src/agents/sessions/fold-session.js';
import type { SessionFact } from '../../../src/agents/sessions/session-store.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { createRandom } from '../../support/random.js';

const PROGRAM = fileURLToPath(new URL('./support/append-forever.ts', import.meta.url));
const accepted = (id: string): SessionFact => ({
  type: 'input-accepted',
  input: { id, content: `content of ${id} "ü"` },
});

describe('fileSessions', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeFolder();
  });
  afterEach(() => removeFolder(folder));

  const filesIn = async (): Promise<string[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  };
  /** The file of a session with two batches, the line of the second one, and what its claim would be called. */
  const twoBatches = async () => {
    const log = fileSessions(folder);
    await log.append('s', [accepted('a')], 0);
    const [file = ''] = await filesIn();
    const before = await readFile(file);
    await log.append('s', [accepted('b'), accepted('c')], 1);
    const line = (await readFile(file)).subarray(before.length);
    const { id } = JSON.parse(before.toString('utf8', 0, before.indexOf('\n')));
    const claim = `${file}.${id}.2.next`;
    return { file, before, line, claim, claimed: Buffer.concat([Buffer.from(`${before.length}\n`), line]) };
  };
  const idsOf = async (): Promise<string[]> => [...(await loadSession(fileSessions(folder), 's')).seenInputIds];

  it('has nothing of an id in the name of a file, and leaves nothing but that file', async () => {
    await fileSessions(folder).append('../../evil', [accepted('a')], 0);
    await fileSessions(folder).append('../../evil', [accepted('b')], 1);
    const files = await filesIn();
    expect(files.map((file) => path.relative(folder, file))).toEqual([
      expect.stringMatching(/^[0-9a-f]{40}\/[0-9a-f]{40}\.jsonl$/),
    ]);
    await fileSessions(folder).delete('../../evil');
    expect(await filesIn()).toEqual([]);
  });

  it('finishes what a process had claimed when it was killed, wherever in the line that was', async () => {
    const { file, before, line, claim, claimed } = await twoBatches();
    for (let cut = 0; cut <= line.length; cut += 7) {
      await writeFile(file, Buffer.concat([before, line.subarray(0, cut)]));
      await writeFile(claim, claimed);
      expect(await idsOf(), `cut at ${cut}`).toEqual(['a', 'b', 'c']);
      expect(await filesIn()).toEqual([file]);
      expect(await readFile(file)).toEqual(Buffer.concat([before, line]));
    }
  });

  it('lets a writer finish it, too, who then is told to read', async () => {
    const { file, before, claim, claimed } = await twoBatches();
    await writeFile(file, before);
    await writeFile(claim, claimed);
    const log = fileSessions(folder);
    await expect(log.append('s', [accepted('d')], 1)).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      details: { newest: 3 },
    });
    expect(await log.append('s', [accepted('d')], 3)).toMatchObject([{ at: 4 }]);
    expect(await idsOf()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('drops a claim that was left behind a line that is stored, or that was torn itself', async () => {
    const { file, claim, claimed } = await twoBatches();
    await writeFile(claim, Buffer.from(claimed.toString().replace('"b"', '"z"')));
    expect(await idsOf()).toEqual(['a', 'b', 'c']);
    const torn = claim.replace('.2.next', '.4.next');
    await writeFile(torn, claimed.subarray(0, 20));
    expect(await fileSessions(folder).append('s', [accepted('d')], 3)).toMatchObject([{ at: 4 }]);
    expect(await idsOf()).toEqual(['a', 'b', 'c', 'd']);
    expect((await filesIn()).filter((one) => one === torn)).toEqual([]);
    expect(await readFile(file, 'utf8')).not.toContain('"z"');
  });

  it('drops a torn last line, and writes over it', async () => {
    const { file, before, line } = await twoBatches();
    for (const tail of [
      line.subarray(0, line.length - 1),
      Buffer.from(`${'x'.repeat(5_000)}`),
      Buffer.alloc(300),
      Buffer.from('{}\n'),
    ]) {
      await writeFile(file, Buffer.concat([before, tail]));
      expect(await idsOf()).toEqual(['a']);
      await fileSessions(folder).append('s', [accepted('z')], 1);
      expect(await idsOf()).toEqual(['a', 'z']);
      await fileSessions(folder).append('s', [accepted('y')], 2);
      expect(await idsOf()).toEqual(['a', 'z', 'y']);
    }
  });

  it('says which entry was damaged that others follow, and which file is no session', async () => {
    const { file, before, line } = await twoBatches();
    await writeFile(file, Buffer.concat([before, Buffer.from('{"batch":7}\n'), line]));
    await expect(fileSessions(folder).read('s')).rejects.toMatchObject({
      code: 'SESSION_INVALID',
      message: expect.stringContaining('Entry 2 of session "s" cannot be read'),
    });
    await writeFile(file, 'something else\n');
    await expect(fileSessions(folder).read('s')).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    await fileSessions(folder).delete('s');
    expect(await idsOf()).toEqual([]);
  });

  it('notices that another process deleted a session and began it anew', async () => {
    const [here, there] = [fileSessions(folder), fileSessions(folder)];
    for (let at = 0; at < 5; at += 1) await here.append('s', [accepted(`old-${at}`)], at);
    await there.delete('s');
    await there.append('s', [accepted('new')], 0);
    expect(await here.read('s')).toMatchObject([{ at: 1, input: { id: 'new' } }]);
    await expect(here.append('s', [accepted('x')], 5)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(await here.append('s', [accepted('x')], 1)).toMatchObject([{ at: 2 }]);
  });

  it('reads a long session in pages, from any place', async () => {
    const log = fileSessions(folder);
    for (let after = 0; after < 2_000; after += 100) {
      await log.append(
        's',
        Array.from({ length: 100 }, (_, at) => accepted(`i${after + at}`)),
        after,
      );
    }
    for (const reader of [log, fileSessions(folder)]) {
      for (const after of [0, 1_999, 1_650, 42, 999, 1_000, 1_001, 1_650]) {
        const numbers = (await reader.read('s', { after, limit: 150 })).map(({ at }) => at);
        const expected = Array.from({ length: Math.min(150, 2_000 - after) }, (_, at) => after + 1 + at);
        expect(numbers).toEqual(expected);
      }
    }
  });

  it('keeps within the bytes of a session, and removes drafts that a killed process left', async () => {
    const log = fileSessions(folder, { maxSessionBytes: 1_000 });
    await log.append('s', [accepted('a')], 0);
    const [file = ''] = await filesIn();
    const draft = path.join(path.dirname(file), 'left.draft');
    const fresh = path.join(path.dirname(file), 'fresh.draft');
    await writeFile(draft, 'x');
    await writeFile(fresh, 'x');
    await utimes(draft, 1, 1);
    const large = accepted('x'.repeat(200));
    await log.append('s', [large], 1);
    await expect(log.append('s', [large], 2)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await expect(fileSessions(folder, { maxSessionBytes: 10 }).append('t', [large], 0)).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
    });
    expect((await filesIn()).sort()).toEqual([file, fresh].sort());
  });

  it('says what the system said when the folder cannot be used', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    await expect(fileSessions(file).append('s', [accepted('a')], 0)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/^Session "s" cannot be read or written in its folder \((EEXIST|ENOTDIR)\)/),
    });
    await rm(file);
  });

  /** Runs the program; resolves with the rounds that it said were stored, once it has ended. */
  const runProgram = (name: string, { rounds, killAfter }: { rounds?: number; killAfter?: number }): Promise<number> =>
    new Promise((resolve, reject) => {
      const args = ['--import', 'tsx', PROGRAM, folder, 's', name, ...(rounds === undefined ? [] : [String(rounds)])];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let said = 0;
      child.stdout.on('data', (text: Buffer) => {
        said += text.toString().split('\n').length - 1;
        if (killAfter !== undefined && said >= killAfter) child.kill('SIGKILL');
      });
      child.on('close', (code) => {
        if (killAfter === undefined && code !== 0) reject(new Error(`the program ended with ${code}`));
        else resolve(said);
      });
    });

  it('loses nothing that was acknowledged, and keeps halves of nothing, when processes are killed', async () => {
    const random = createRandom(Number(process.env.SEED ?? 1));
    for (let kill = 0; kill < 6; kill += 1) {
      const said = await runProgram(`p${kill}`, { killAfter: 1 + random.int(12) });
      const ids = (await idsOf()).filter((id) => id.startsWith(`p${kill}-`));
      expect(ids.length % 2).toBe(0);
      // At most the append at work when it was killed is stored beyond what was said; some of what was said may not have been read.
      expect(ids.length / 2).toBeGreaterThanOrEqual(said);
      expect(ids).toEqual(
        Array.from({ length: ids.length / 2 }, (_, at) => [
          `p${kill}-${at + 1}-first`,
          `p${kill}-${at + 1}-second`,
        ]).flat(),
      );
    }
    // Drafts apart, which are removed when they are an hour old, nothing but the session is left.
    expect((await filesIn()).filter((file) => !file.endsWith('.draft'))).toHaveLength(1);
  });

  it('lets processes append at once, each append once', async () => {
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => runProgram(name, { rounds: 15 })));
    const ids = await idsOf();
    expect(ids).toHaveLength(names.length * 15 * 2);
    for (const name of names) {
      const own = ids.filter((id) => id.startsWith(`${name}-`));
      expect(own).toEqual(
        Array.from({ length: 15 }, (_, at) => [`${name}-${at + 1}-first`, `${name}-${at + 1}-second`]).flat(),
      );
    }
    for (let at = 0; at < ids.length; at += 2) expect(ids[at + 1]).toBe(ids[at]?.replace('first', 'second'));
  });
});
