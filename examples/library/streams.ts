/** Chunks that go on as they come: a branch that looks at the first ones, and a reader that takes its time. */
import { setTimeout as pause } from 'node:timers/promises';
import { chain, generator, operator, stream, streamBranch } from 'runnel';
import { map } from 'rxjs';

async function* speak(text: string) {
  for (const word of text.split(' ')) yield `${word} `;
}

const answer = chain(
  speak,
  streamBranch((words: readonly string[]) => (words.join('').startsWith('Error') ? 'alarm' : 'calm'), {
    alarm: operator(map((word: string) => word.toUpperCase())),
    calm: generator(async function* (words: AsyncIterable<string>) {
      for await (const word of words) yield word.toLowerCase();
    }),
  }),
);

for (const text of ['Error in line three', 'All Is Well']) {
  for await (const word of stream(answer, text)) {
    await pause(1);
    process.stdout.write(word);
  }
  process.stdout.write('\n');
}
