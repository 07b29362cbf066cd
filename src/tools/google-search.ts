import { z } from 'zod';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { ownObject, ownValue } from '../dsl/json-copy.js';
import { oneOf, queryArgument, text, wholeNumber, words } from './fields.js';
import { defineJsonSearch } from './json-search.js';
import { listAt, requireKey, textAt } from './upstream.js';

const MAX_RESULTS = 100;

/** Countries to search from, in lower case. */
const GOOGLE_COUNTRIES = words(`
  af al dz as ad ao ai aq ag ar am aw au at az bs bh bd bb by be bz bj bm bt bo ba bw bv br io bn bg bf bi kh cm ca cv
  ky cf td cl cn cx cc co km cg cd ck cr ci hr cu cy cz dk dj dm do ec eg sv gq er ee et fk fo fj fi fr gf pf tf ga gm
  ge de gh gi gr gl gd gp gu gt gn gw gy ht hm va hn hk hu is in id ir iq ie il it jm jp jo kz ke ki kp kr kw kg la lv
  lb ls lr ly li lt lu mo mk mg mw my mv ml mt mh mq mr mu yt mx fm md mc mn ms ma mz mm na nr np nl an nc nz ni ne ng
  nu nf mp no om pk pw ps pa pg py pe ph pn pl pt pr qa re ro ru rw sh kn lc pm vc ws sm st sa sn rs sc sl sg sk si sb
  so za gs es lk sd sr sj sz se ch sy tw tj tz th tl tg tk to tt tn tr tm tc tv ug ua ae uk gb us um uy uz vu ve vn vg
  vi wf eh ye zm zw
`);

/** Languages of the page of results, jokes of Google included. */
const GOOGLE_LANGUAGES = words(`
  af ak sq ws am ar hy az eu be bem bn bh xx-bork bs br bg bt km ca chr ny zh-cn zh-tw co hr cs da nl xx-elmer en eo
  et ee fo tl fi fr fy gaa gl ka de el kl gn gu xx-hacker ht ha haw iw hi hu is ig id ia ga it ja jw kn kk rw rn
  xx-klingon kg ko kri ku ckb ky lo la lv ln lt loz lg ach mk mg ms ml mt mv mi mr mfe mo mn sr-me my ne pcm nso no nn
  oc or om ps fa xx-pirate pl pt pt-br pt-pt pa qu ro rm nyn ru gd sr sh st tn crs sn sd si sk sl so es es-419 su sw
  sv tg ta tt te th ti to lua tum tr tk tw ug uk ur uz vu vi cy wo xh yi yo zu
`);

/** Searches Google through SerpApi. Errors: `TOOL_FAILED` without a key, or with what SerpApi answers. */
export const googleSearch = defineJsonSearch({
  component: 'Google',
  name: 'google_search',
  summary: 'Searches the web with Google.',
  advice: 'Search with a few keywords; the operators of Google such as `site:` work as well.',
  arguments: {
    q: queryArgument('Keywords to search for.'),
    start: z.coerce.number().int().min(0).optional().describe('Results to pass over, for later pages; default 0.'),
    num: z.coerce.number().int().min(1).max(MAX_RESULTS).optional().describe('Results at most; default 6.'),
  },
  params: {
    api_key: text('Key of SerpApi; default the environment variable SERPAPI_API_KEY.'),
    country: oneOf(GOOGLE_COUNTRIES, 'cn', 'Country to search from, as two letters; default cn.'),
    language: oneOf(GOOGLE_LANGUAGES, 'en', 'Language of the page of results; default en.'),
    start: wholeNumber(0, 'Results to pass over; default 0.', { min: 0 }),
    num: wholeNumber(6, 'Results at most, 1 to 100; default 6.', { max: MAX_RESULTS }),
  },
  subject: 'q',
  request({ q, ...paging }, call) {
    const { country, language, ...usual } = call.params;
    const { start = usual.start, num = usual.num } = paging;
    const key = requireKey(call, 'api_key', 'SERPAPI_API_KEY');
    return {
      base: 'https://serpapi.com',
      path: '/search.json',
      query: {
        api_key: key,
        engine: 'google',
        q,
        google_domain: 'google.com',
        gl: country,
        hl: language,
        start,
        num,
      },
      timeoutSeconds: 20,
      attempts: 2,
      secrets: [key],
      most: num,
    };
  },
  results(answer, { secrets }) {
    const results = listAt(answer, 'organic_results');
    if (results !== undefined) return results;
    throw toolFailed(quoteResponse(textAt(answer, 'error'), secrets) || 'the answer holds no results');
  },
  passage: (result) => ({
    title: textAt(result, 'title'),
    url: textAt(result, 'link'),
    // Google's description of the site, for results without a snippet.
    content:
      textAt(result, 'snippet') || textAt(ownObject(ownValue(result, 'about_this_result'), 'source'), 'description'),
  }),
});
