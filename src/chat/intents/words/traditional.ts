/** Traditional letters that rules read as simplified ones. */

/** Those whose simplified forms stand in the words of rules, as `opencc-js` 1.4.2 folds them; letters that stand there themselves, in names of places, are left out. */
const TRADITIONAL =
  '並乾亞佈佔併來係個們倖倫傘備傢價億優儲兌兒內兩冪別刪則剋創劃劄劍務勞匯區協厲參員問啓啟喫單喲嗎嘍噠噹嚮囉囌圍圓圖團埰執報' +
  '塊奧寀實寧寫尋對屬岡島崑帶幫幷幹幾庫廈廣張強彆彙彿後從復徹愛態慶憶應懞採換摺據擴擾攝敎數於昇時曏會朮査條業榦構樓標樣橋機' +
  '橫檔檢檯權歐氣決沒況洩減測溫溼滙滿漢濕濛濟濱瀋灣為烏無煙煩熱營爲爾牀狀現畢當發監盤盧眞矇碼磯禮稅穀積箇箚節範糰約納紐紮紹' +
  '組結絕給統絶經綫維網線編緩總績繫羅義聖聯脩臘與舉舊茲莊華菸萊萬蒐蔘薩蘇蘭處號術衕衚裏裡製複覈見規覺計託記設訴詞詢試話誌語' +
  '說説誰調請諾講謝識貝負貢貨貴買費資賓賣質賬賽躍車軸較載輔輯轉辦迴這連週進運過達適遲邁還邊邏鄭釋釐鈡銀銖銷錢錫錯錶鍾鎊鐘長' +
  '門閉開間閤閱閲闆關陞陣陰陸陽隊階雜電霧靈韆韓響順預頓頭題額類顯風颱颳飛飯餘餵馬駕驟體髮鬍鬥魯鳳鹽麗麥麪麫麵麼麽點齊齣';
const SIMPLIFIED =
  '并干亚布占并来系个们幸伦伞备家价亿优储兑儿内两幂别删则克创划札剑务劳汇区协厉参员问启启吃单哟吗喽哒当向啰苏围圆图团采执报' +
  '块奥采实宁写寻对属冈岛昆带帮并干几库厦广张强别汇佛后从复彻爱态庆忆应蒙采换折据扩扰摄教数于升时向会术查条业干构楼标样桥机' +
  '横档检台权欧气决没况泄减测温湿汇满汉湿蒙济滨沈湾为乌无烟烦热营为尔床状现毕当发监盘卢真蒙码矶礼税谷积个札节范团约纳纽扎绍' +
  '组结绝给统绝经线维网线编缓总绩系罗义圣联修腊与举旧兹庄华烟莱万搜参萨苏兰处号术同胡里里制复核见规觉计托记设诉词询试话志语' +
  '说说谁调请诺讲谢识贝负贡货贵买费资宾卖质账赛跃车轴较载辅辑转办回这连周进运过达适迟迈还边逻郑释厘钟银铢销钱锡错表钟镑钟长' +
  '门闭开间合阅阅板关升阵阴陆阳队阶杂电雾灵千韩响顺预顿头题额类显风台刮飞饭余喂马驾骤体发胡斗鲁凤盐丽麦面面面么么点齐出';

const FOLDED: ReadonlyMap<string, string> = new Map(
  [...TRADITIONAL].map((letter, at) => [letter, SIMPLIFIED[at] ?? letter]),
);
const ANY = new RegExp(`[${TRADITIONAL}]`, 'g');

/** A text with those letters folded, of the same length. All of a text is folded where it is searched: see `src/knowledge/words`. */
export function withSimplifiedLetters(text: string): string {
  return text.replaceAll(ANY, (letter) => FOLDED.get(letter) ?? letter);
}
