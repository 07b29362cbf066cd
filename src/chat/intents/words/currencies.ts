/** Currencies by name, sign and code, in what users write. */

/** A currency in a text. */
export interface CurrencyFound {
  /** Three letters of ISO 4217. */
  readonly code: string;
  readonly start: number;
  readonly end: number;
  /** Signs and codes may stand before their amount. */
  readonly isSign: boolean;
}

/** One a line: code, names in Chinese, names in English, signs. */
const TABLE = `
USD|美元,美金,美刀,刀,美圆|us dollars,us dollar,american dollars,american dollar,u.s. dollars,dollars,dollar,bucks,buck|us$,$
CNY|人民币,人民幣,元人民币,块钱,块人民币,元钱,rmb,元,块|chinese yuan,yuan,renminbi,rmb,kuai|cn¥,¥
EUR|欧元,欧|euros,euro|€
JPY|日元,日圆,日币|japanese yen,yen|jp¥
GBP|英镑|british pounds,british pound,pounds sterling,pound sterling,pounds,pound,sterling,quid|£
HKD|港币,港元,港幣|hong kong dollars,hong kong dollar|hk$
TWD|新台币,台币,台幣|new taiwan dollars,taiwan dollars,taiwan dollar|nt$
KRW|韩元,韩币,韩圆|south korean won,korean won,won|₩
AUD|澳元,澳币,澳大利亚元|australian dollars,australian dollar,aussie dollars|a$,au$
CAD|加元,加币,加拿大元|canadian dollars,canadian dollar|c$,ca$
NZD|新西兰元,纽币,纽元|new zealand dollars,new zealand dollar|nz$
SGD|新加坡元,新加坡币,新币,坡币|singapore dollars,singapore dollar,sing dollars|s$
CHF|瑞士法郎,瑞郎,法郎|swiss francs,swiss franc,francs,franc|
INR|印度卢比,卢比|indian rupees,indian rupee,rupees,rupee|₹
RUB|俄罗斯卢布,卢布|russian rubles,russian ruble,rubles,ruble,roubles,rouble|₽
THB|泰铢,泰珠|thai baht,baht|฿
MYR|马来西亚林吉特,林吉特,令吉,马币|malaysian ringgit,ringgit|rm
IDR|印尼盾,印尼卢比|indonesian rupiah,rupiah|
PHP|菲律宾比索|philippine pesos,philippine peso|₱
VND|越南盾|vietnamese dong,dong|₫
BRL|巴西雷亚尔,雷亚尔|brazilian reais,brazilian real,reais|r$
MXN|墨西哥比索,比索|mexican pesos,mexican peso,pesos,peso|
ZAR|南非兰特,兰特|south african rand,rand|
SEK|瑞典克朗|swedish kronor,swedish krona,kronor,krona|
NOK|挪威克朗|norwegian kroner,norwegian krone,kroner,krone|
DKK|丹麦克朗|danish kroner,danish krone|
PLN|波兰兹罗提,兹罗提|polish zloty,zloty,złoty|zł
CZK|捷克克朗|czech koruna,koruna|
HUF|匈牙利福林,福林|hungarian forint,forint|
RON|罗马尼亚列伊|romanian leu|
BGN|保加利亚列弗|bulgarian lev|
ISK|冰岛克朗|icelandic krona|
ILS|以色列谢克尔,谢克尔|israeli shekels,israeli shekel,shekels,shekel|₪
TRY|土耳其里拉,里拉|turkish lira,lira|₺
AED|迪拉姆|uae dirhams,dirhams,dirham|
SAR|沙特里亚尔|saudi riyals,saudi riyal,riyals|
`;

/** Codes that are written without another name. */
const CODES_ALONE =
  'USD CNY CNH EUR JPY GBP HKD TWD KRW AUD CAD NZD SGD CHF INR RUB THB MYR IDR PHP VND BRL MXN ZAR SEK NOK DKK PLN CZK HUF RON BGN ISK ILS TRY AED SAR';

interface Name {
  readonly code: string;
  readonly isSign: boolean;
}

const NAMES: ReadonlyMap<string, Name> = readNames();
const LONGEST = Math.max(...[...NAMES.keys()].map((name) => name.length));

function readNames(): ReadonlyMap<string, Name> {
  const names = new Map<string, Name>();
  for (const line of TABLE.trim().split('\n')) {
    const [code = '', chinese = '', english = '', signs = ''] = line.split('|');
    for (const name of [...chinese.split(','), ...english.split(',')])
      if (name !== '') names.set(name, { code, isSign: false });
    for (const sign of signs.split(',')) if (sign !== '') names.set(sign, { code, isSign: true });
  }
  for (const code of CODES_ALONE.split(' ')) {
    names.set(code.toLowerCase(), { code: code === 'CNH' ? 'CNY' : code, isSign: true });
  }
  return names;
}

/** Names that are other words as well: they count only beside a number, or behind a word such as "to". */
const DOUBTFUL = new Set([
  '刀',
  '元',
  '块',
  '欧',
  'won',
  'rand',
  'try',
  'php',
  'ron',
  'cad',
  'rub',
  'rm',
  'dong',
  'quid',
  'buck',
  'bucks',
  'rio',
]);

/** Currencies in a text in lower case, from its beginning on, the longest name where several begin. */
export function findCurrencies(lower: string): readonly CurrencyFound[] {
  const found: CurrencyFound[] = [];
  let at = 0;
  while (at < lower.length) {
    const one = currencyAt(lower, at);
    if (one === undefined) at += 1;
    else {
      found.push(one);
      at = one.end;
    }
  }
  return found;
}

function currencyAt(lower: string, start: number): CurrencyFound | undefined {
  if (isLetter(lower[start]) && isLetter(lower[start - 1])) return undefined;
  for (let length = Math.min(LONGEST, lower.length - start); length > 0; length -= 1) {
    const end = start + length;
    const text = lower.slice(start, end);
    const name = NAMES.get(text);
    if (name === undefined) continue;
    if (isLetter(lower[end - 1]) && isLetter(lower[end])) continue;
    if (DOUBTFUL.has(text) && !isBesideAmount(lower, start, end)) continue;
    return { code: name.code, start, end, isSign: name.isSign };
  }
  return undefined;
}

function isLetter(sign: string | undefined): boolean {
  return sign !== undefined && sign >= 'a' && sign <= 'z';
}

function isBesideAmount(lower: string, start: number, end: number): boolean {
  const before = lower.slice(Math.max(0, start - 8), start);
  const after = lower.slice(end, end + 6);
  return (
    /(?:[\d万亿百千]|\bto|\bin|\binto|\bper|\/|[换兑成为])\s*$/.test(before) ||
    /^\s*(?:\d|to\b|into\b|\/|vs\b|[兑换])/.test(after)
  );
}
