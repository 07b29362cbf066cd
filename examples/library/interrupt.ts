/** Two questions at once, answered one by one, each by a program that was started anew. */
import { ask, chain, EngineError, invoke, parallel, type Question, resumeFrom } from 'runnel';
import { z } from 'zod';

const makeTrip = () =>
  chain(
    parallel({
      hotel: ask(z.object({ stars: z.number() }), (city: string) => `How many stars in ${city}?`),
      flight: ask(z.enum(['window', 'aisle']), 'Window or aisle?'),
    }),
    ({ hotel, flight }) => `${hotel.stars} stars, ${flight} seat`,
  );

async function attempt(input: string | ReturnType<typeof resumeFrom>) {
  try {
    console.log('Booked:', await invoke(makeTrip(), input));
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'RUN_INTERRUPTED') throw error;
    const { questions, checkpoint } = error.details as { questions: readonly Question[]; checkpoint: unknown };
    for (const { address, question } of questions) console.log(`${address}: ${question}`);
    return JSON.stringify(checkpoint);
  }
  return '';
}

const restart = (file: string) => JSON.parse(file);
const first = await attempt('Oslo');
const second = await attempt(resumeFrom(restart(first), { 'parallel/flight': 'window' }));
await attempt(resumeFrom(restart(second), { 'parallel/hotel': { stars: 4 } }));
