/**
 * Radicals of the supplement of Unicode, and below each the character that it stands for.
 *
 * Source: the property `Equivalent_Unified_Ideograph` of Unicode, without the thirteen whose characters are behind the basic plane.
 */
const SUPPLEMENT =
  '⺁⺂⺃⺄⺅⺆⺈⺉⺊⺋⺌⺍⺎⺏⺐⺒⺓⺔⺕⺖⺗⺘⺙⺛⺜⺝⺞⺟⺠⺡⺢⺣⺤⺥⺦⺧⺨⺩⺫⺬⺭⺯⺰⺱⺲⺳⺴⺶⺹⺺⺻⺼⺾⺿⻀⻁⻂⻃⻄⻅⻆⻈⻉⻋⻌⻍⻎⻏⻐⻑⻒⻓⻔⻖⻗⻘⻙⻚⻛⻜⻝⻟⻠⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳';
const CHARACTERS =
  '厂乛乚乙亻冂刀刂卜㔾小小兀尣尢巳幺彑彐忄心扌攵旡日月歺母民氵氺灬爫爫丬牛犭王目示礻糹纟罓罒㓁冗羊耂肀聿肉艹艹艹虎衤覀西见角讠贝车辶辶辶邑钅長镸长门阝雨青韦页风飞食飠饣马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟';

const BY_RADICAL: ReadonlyMap<string, string> = new Map(
  [...SUPPLEMENT].map((radical, at) => [radical, CHARACTERS[at] as string] as const),
);

/** Both blocks: the supplement, and the Kangxi radicals, which the form NFKC replaces. */
const RADICALS = /[\u2e80-\u2ef3\u2f00-\u2fd5]/g;

/**
 * Puts Chinese characters in place of radicals that look the same, of which a text keeps its length.
 *
 * Fonts draw both with one picture, so a PDF that was printed by a browser often has the radical, which no question contains.
 */
export function withoutRadicals(text: string): string {
  return text.replace(RADICALS, (radical) => BY_RADICAL.get(radical) ?? radical.normalize('NFKC'));
}
