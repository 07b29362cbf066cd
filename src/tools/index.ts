/** The built-in tools: one line each, sorted. */
import { akshareStockNews } from './akshare-stock-news.js';
import { arxivSearch } from './arxiv-search.js';
import { bgptSearch } from './bgpt-search.js';
import { codeExec } from './code-exec.js';
import { deeplTranslate } from './deepl-translate.js';
import { duckduckgoSearch } from './duckduckgo-search.js';
import { email } from './email.js';
import { calculator } from './everyday/calculator.js';
import { currency } from './everyday/currency.js';
import { datetime } from './everyday/datetime.js';
import { knowledgeLookup } from './everyday/knowledge-lookup.js';
import { sales } from './everyday/sales.js';
import { systemMetrics } from './everyday/system-metrics.js';
import { ticket } from './everyday/ticket.js';
import { weather } from './everyday/weather.js';
import { exeSql } from './exe-sql.js';
import { githubSearch } from './github-search.js';
import { googleScholarSearch } from './google-scholar-search.js';
import { googleSearch } from './google-search.js';
import { graphSearch } from './graph-search.js';
import { iwencai } from './iwencai.js';
import { jin10 } from './jin10.js';
import { keenableSearch } from './keenable-search.js';
import { pubmedSearch } from './pubmed-search.js';
import { queritContents } from './querit-contents.js';
import { queritSearch } from './querit-search.js';
import { qweather } from './qweather.js';
import { retrieval } from './retrieval.js';
import { searxngSearch } from './searxng-search.js';
import { tavilyExtract } from './tavily-extract.js';
import { tavilySearch } from './tavily-search.js';
import type { AnyTool } from './tool.js';
import { tushare } from './tushare.js';
import { webCrawler } from './web-crawler.js';
import { wikipediaSearch } from './wikipedia-search.js';
import { yahooFinance } from './yahoo-finance.js';

/** All tools of the library. */
export const tools: readonly AnyTool[] = [
  akshareStockNews,
  arxivSearch,
  bgptSearch,
  calculator,
  codeExec,
  currency,
  datetime,
  deeplTranslate,
  duckduckgoSearch,
  email,
  exeSql,
  githubSearch,
  googleScholarSearch,
  googleSearch,
  graphSearch,
  iwencai,
  jin10,
  keenableSearch,
  knowledgeLookup,
  pubmedSearch,
  queritContents,
  queritSearch,
  qweather,
  retrieval,
  sales,
  searxngSearch,
  systemMetrics,
  tavilyExtract,
  tavilySearch,
  ticket,
  tushare,
  weather,
  webCrawler,
  wikipediaSearch,
  yahooFinance,
];

/** Tools that clients of the server may call by themselves, without a canvas: they need no parameters, and change nothing. */
export const everydayTools: readonly AnyTool[] = [
  calculator,
  currency,
  datetime,
  knowledgeLookup,
  sales,
  systemMetrics,
  ticket,
  weather,
];
