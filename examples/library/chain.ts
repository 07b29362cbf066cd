/** A prompt, a model and a parser, one behind the other. */
import { chain, chatModel, createScriptedModel, fString, invoke, messageParser, system, user } from 'runnel';
import { z } from 'zod';

const model = createScriptedModel({ default: { reply: '{"city": "Oslo", "country": "Norway"}' } });

const locate = chain(
  fString(system('Answer with JSON: city and country.'), user('Where is {place}?')),
  chatModel(model),
  messageParser(z.object({ city: z.string(), country: z.string() })),
  ({ city, country }) => `${city} (${country})`,
);

console.log(await invoke(locate, { place: 'the Munch museum' }));
