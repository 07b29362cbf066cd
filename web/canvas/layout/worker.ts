/** The worker of layouts: each message is a question with its number, each answer has the same. */
import { arrange } from './arrange.js';
import { layOut } from './lay-out.js';
import type { LayoutAnswer, LayoutQuestion } from './scene.js';

addEventListener('message', ({ data: { number, scene } }: MessageEvent<LayoutQuestion>) => {
  const answer: LayoutAnswer = { number, placement: layOut(scene, arrange) ?? new Map() };
  postMessage(answer);
});
