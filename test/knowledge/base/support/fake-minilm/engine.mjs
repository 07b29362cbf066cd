/** Stands for `@lat.md/embed`: a vector is the length of the text, how many texts there were before, and the priority of the thread. */
import { readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import path from 'node:path';

export async function createEmbedder({ model }) {
  if (model.id !== 'fake') throw new Error(`no such model: ${model.id}`);
  let before = 0;
  return {
    embed: async (texts) =>
      texts.map((text) => {
        if (text === 'broken') throw new Error('the engine broke');
        if (text === 'crash') process.exit(3);
        before += 1;
        return [text.length, before - 1, priority()];
      }),
  };
}

function priority() {
  return process.platform === 'linux' ? getPriority(Number(path.basename(readlinkSync('/proc/thread-self')))) : 0;
}
