/** Cities and countries by the names that people ask for: one a line, `English|other names|time zone`; countries have a `*` in front. */
export const PLACE_TABLE = `
Beijing|北京,北京市,peking,帝都|Asia/Shanghai
Shanghai|上海,上海市,魔都|Asia/Shanghai
Guangzhou|广州,广州市,canton|Asia/Shanghai
Shenzhen|深圳,深圳市|Asia/Shanghai
Hangzhou|杭州,杭州市|Asia/Shanghai
Chengdu|成都,成都市|Asia/Shanghai
Wuhan|武汉,武汉市|Asia/Shanghai
Xi'an|西安,西安市,xian,xi an|Asia/Shanghai
Nanjing|南京,南京市|Asia/Shanghai
Chongqing|重庆,重庆市|Asia/Shanghai
Tianjin|天津,天津市|Asia/Shanghai
Suzhou|苏州,苏州市|Asia/Shanghai
Changsha|长沙,长沙市|Asia/Shanghai
Qingdao|青岛,青岛市|Asia/Shanghai
Xiamen|厦门,厦门市,amoy|Asia/Shanghai
Harbin|哈尔滨,哈尔滨市|Asia/Shanghai
Changchun|长春,长春市|Asia/Shanghai
Shenyang|沈阳,沈阳市|Asia/Shanghai
Dalian|大连,大连市|Asia/Shanghai
Shijiazhuang|石家庄,石家庄市|Asia/Shanghai
Taiyuan|太原,太原市|Asia/Shanghai
Hohhot|呼和浩特|Asia/Shanghai
Jinan|济南,济南市|Asia/Shanghai
Zhengzhou|郑州,郑州市|Asia/Shanghai
Luoyang|洛阳,洛阳市|Asia/Shanghai
Hefei|合肥,合肥市|Asia/Shanghai
Nanchang|南昌,南昌市|Asia/Shanghai
Fuzhou|福州,福州市|Asia/Shanghai
Ningbo|宁波,宁波市|Asia/Shanghai
Wenzhou|温州,温州市|Asia/Shanghai
Wuxi|无锡,无锡市|Asia/Shanghai
Dongguan|东莞,东莞市|Asia/Shanghai
Foshan|佛山,佛山市|Asia/Shanghai
Zhuhai|珠海,珠海市|Asia/Shanghai
Nanning|南宁,南宁市|Asia/Shanghai
Guilin|桂林,桂林市|Asia/Shanghai
Haikou|海口,海口市|Asia/Shanghai
Sanya|三亚,三亚市|Asia/Shanghai
Guiyang|贵阳,贵阳市|Asia/Shanghai
Kunming|昆明,昆明市|Asia/Shanghai
Lijiang|丽江|Asia/Shanghai
Dali|大理|Asia/Shanghai
Lhasa|拉萨,拉萨市|Asia/Shanghai
Lanzhou|兰州,兰州市|Asia/Shanghai
Xining|西宁,西宁市|Asia/Shanghai
Yinchuan|银川,银川市|Asia/Shanghai
Urumqi|乌鲁木齐|Asia/Urumqi
Yantai|烟台,烟台市|Asia/Shanghai
Weihai|威海,威海市|Asia/Shanghai
Xuzhou|徐州,徐州市|Asia/Shanghai
Quanzhou|泉州,泉州市|Asia/Shanghai
Hong Kong|香港,hongkong,hk|Asia/Hong_Kong
Macau|澳门,macao|Asia/Macau
Taipei|台北,臺北,台北市|Asia/Taipei
Kaohsiung|高雄|Asia/Taipei
Tokyo|东京,東京|Asia/Tokyo
Osaka|大阪|Asia/Tokyo
Kyoto|京都|Asia/Tokyo
Sapporo|札幌|Asia/Tokyo
Nagoya|名古屋|Asia/Tokyo
Fukuoka|福冈|Asia/Tokyo
Yokohama|横滨|Asia/Tokyo
Seoul|首尔,汉城|Asia/Seoul
Busan|釜山|Asia/Seoul
Pyongyang|平壤|Asia/Pyongyang
Ulaanbaatar|乌兰巴托,ulan bator|Asia/Ulaanbaatar
Singapore|新加坡|Asia/Singapore
Kuala Lumpur|吉隆坡|Asia/Kuala_Lumpur
Bangkok|曼谷|Asia/Bangkok
Phuket|普吉,普吉岛|Asia/Bangkok
Chiang Mai|清迈|Asia/Bangkok
Hanoi|河内|Asia/Bangkok
Ho Chi Minh City|胡志明市,胡志明,saigon,西贡|Asia/Ho_Chi_Minh
Jakarta|雅加达|Asia/Jakarta
Bali|巴厘岛|Asia/Makassar
Manila|马尼拉|Asia/Manila
Phnom Penh|金边|Asia/Phnom_Penh
Yangon|仰光|Asia/Yangon
Delhi|德里|Asia/Kolkata
New Delhi|新德里|Asia/Kolkata
Mumbai|孟买,bombay|Asia/Kolkata
Bangalore|班加罗尔,bengaluru|Asia/Kolkata
Chennai|金奈|Asia/Kolkata
Kolkata|加尔各答,calcutta|Asia/Kolkata
Hyderabad|海得拉巴|Asia/Kolkata
Kathmandu|加德满都|Asia/Kathmandu
Dhaka|达卡|Asia/Dhaka
Colombo|科伦坡|Asia/Colombo
Karachi|卡拉奇|Asia/Karachi
Lahore|拉合尔|Asia/Karachi
Islamabad|伊斯兰堡|Asia/Karachi
Kabul|喀布尔|Asia/Kabul
Tashkent|塔什干|Asia/Tashkent
Almaty|阿拉木图|Asia/Almaty
Tehran|德黑兰|Asia/Tehran
Baghdad|巴格达|Asia/Baghdad
Dubai|迪拜|Asia/Dubai
Abu Dhabi|阿布扎比|Asia/Dubai
Doha|多哈|Asia/Qatar
Riyadh|利雅得|Asia/Riyadh
Mecca|麦加|Asia/Riyadh
Kuwait City|科威特城|Asia/Kuwait
Jerusalem|耶路撒冷|Asia/Jerusalem
Tel Aviv|特拉维夫|Asia/Jerusalem
Beirut|贝鲁特|Asia/Beirut
Amman|安曼|Asia/Amman
Damascus|大马士革|Asia/Damascus
Istanbul|伊斯坦布尔|Europe/Istanbul
Ankara|安卡拉|Europe/Istanbul
London|伦敦|Europe/London
Manchester|曼彻斯特|Europe/London
Liverpool|利物浦|Europe/London
Birmingham|伯明翰|Europe/London
Edinburgh|爱丁堡|Europe/London
Glasgow|格拉斯哥|Europe/London
Cambridge|剑桥|Europe/London
Oxford|牛津|Europe/London
Dublin|都柏林|Europe/Dublin
Paris|巴黎|Europe/Paris
Lyon|里昂|Europe/Paris
Marseille|马赛|Europe/Paris
Nice|尼斯|Europe/Paris
Berlin|柏林|Europe/Berlin
Munich|慕尼黑,münchen|Europe/Berlin
Hamburg|汉堡|Europe/Berlin
Frankfurt|法兰克福|Europe/Berlin
Cologne|科隆,köln|Europe/Berlin
Stuttgart|斯图加特|Europe/Berlin
Vienna|维也纳|Europe/Vienna
Zurich|苏黎世,zürich|Europe/Zurich
Geneva|日内瓦|Europe/Zurich
Bern|伯尔尼|Europe/Zurich
Basel|巴塞尔|Europe/Zurich
Amsterdam|阿姆斯特丹|Europe/Amsterdam
Rotterdam|鹿特丹|Europe/Amsterdam
Brussels|布鲁塞尔|Europe/Brussels
Luxembourg|卢森堡|Europe/Luxembourg
Rome|罗马|Europe/Rome
Milan|米兰|Europe/Rome
Venice|威尼斯|Europe/Rome
Florence|佛罗伦萨|Europe/Rome
Naples|那不勒斯|Europe/Rome
Madrid|马德里|Europe/Madrid
Barcelona|巴塞罗那|Europe/Madrid
Seville|塞维利亚|Europe/Madrid
Valencia|瓦伦西亚|Europe/Madrid
Lisbon|里斯本|Europe/Lisbon
Porto|波尔图|Europe/Lisbon
Athens|雅典|Europe/Athens
Oslo|奥斯陆|Europe/Oslo
Bergen|卑尔根|Europe/Oslo
Stockholm|斯德哥尔摩|Europe/Stockholm
Copenhagen|哥本哈根|Europe/Copenhagen
Helsinki|赫尔辛基|Europe/Helsinki
Reykjavik|雷克雅未克,reykjavík|Atlantic/Reykjavik
Warsaw|华沙|Europe/Warsaw
Krakow|克拉科夫,kraków|Europe/Warsaw
Prague|布拉格|Europe/Prague
Budapest|布达佩斯|Europe/Budapest
Bucharest|布加勒斯特|Europe/Bucharest
Sofia|索非亚|Europe/Sofia
Belgrade|贝尔格莱德|Europe/Belgrade
Zagreb|萨格勒布|Europe/Zagreb
Kyiv|基辅,kiev|Europe/Kiev
Minsk|明斯克|Europe/Minsk
Riga|里加|Europe/Riga
Vilnius|维尔纽斯|Europe/Vilnius
Tallinn|塔林|Europe/Tallinn
Moscow|莫斯科|Europe/Moscow
Saint Petersburg|圣彼得堡,st petersburg,st. petersburg|Europe/Moscow
Vladivostok|海参崴,符拉迪沃斯托克|Asia/Vladivostok
Novosibirsk|新西伯利亚|Asia/Novosibirsk
Cairo|开罗|Africa/Cairo
Casablanca|卡萨布兰卡|Africa/Casablanca
Tunis|突尼斯市|Africa/Tunis
Algiers|阿尔及尔|Africa/Algiers
Lagos|拉各斯|Africa/Lagos
Accra|阿克拉|Africa/Accra
Nairobi|内罗毕|Africa/Nairobi
Addis Ababa|亚的斯亚贝巴|Africa/Addis_Ababa
Johannesburg|约翰内斯堡|Africa/Johannesburg
Cape Town|开普敦|Africa/Johannesburg
Dakar|达喀尔|Africa/Dakar
New York|纽约,new york city,nyc|America/New_York
Boston|波士顿|America/New_York
Washington|华盛顿,washington dc,washington d.c.|America/New_York
Philadelphia|费城|America/New_York
Miami|迈阿密|America/New_York
Orlando|奥兰多|America/New_York
Atlanta|亚特兰大|America/New_York
Detroit|底特律|America/Detroit
Chicago|芝加哥|America/Chicago
Houston|休斯顿|America/Chicago
Dallas|达拉斯|America/Chicago
Austin|奥斯汀|America/Chicago
New Orleans|新奥尔良|America/Chicago
Minneapolis|明尼阿波利斯|America/Chicago
Denver|丹佛|America/Denver
Salt Lake City|盐湖城|America/Denver
Phoenix|凤凰城,菲尼克斯|America/Phoenix
Los Angeles|洛杉矶,la|America/Los_Angeles
San Francisco|旧金山,三藩市,sf|America/Los_Angeles
San Diego|圣迭戈,圣地亚哥市|America/Los_Angeles
San Jose|圣何塞,圣荷西|America/Los_Angeles
Seattle|西雅图|America/Los_Angeles
Portland|波特兰|America/Los_Angeles
Las Vegas|拉斯维加斯|America/Los_Angeles
Honolulu|檀香山,火奴鲁鲁|Pacific/Honolulu
Anchorage|安克雷奇|America/Anchorage
Toronto|多伦多|America/Toronto
Ottawa|渥太华|America/Toronto
Montreal|蒙特利尔,montréal|America/Toronto
Vancouver|温哥华|America/Vancouver
Calgary|卡尔加里|America/Edmonton
Mexico City|墨西哥城|America/Mexico_City
Havana|哈瓦那|America/Havana
Panama City|巴拿马城|America/Panama
Bogota|波哥大,bogotá|America/Bogota
Lima|利马|America/Lima
Quito|基多|America/Guayaquil
Caracas|加拉加斯|America/Caracas
Santiago|圣地亚哥|America/Santiago
Buenos Aires|布宜诺斯艾利斯|America/Argentina/Buenos_Aires
Montevideo|蒙得维的亚|America/Montevideo
Sao Paulo|圣保罗,são paulo|America/Sao_Paulo
Rio de Janeiro|里约热内卢,里约,rio|America/Sao_Paulo
Brasilia|巴西利亚,brasília|America/Sao_Paulo
Sydney|悉尼|Australia/Sydney
Melbourne|墨尔本|Australia/Melbourne
Brisbane|布里斯班|Australia/Brisbane
Perth|珀斯|Australia/Perth
Adelaide|阿德莱德|Australia/Adelaide
Canberra|堪培拉|Australia/Sydney
Darwin|达尔文市|Australia/Darwin
Auckland|奥克兰|Pacific/Auckland
Wellington|惠灵顿|Pacific/Auckland
Suva|苏瓦|Pacific/Fiji
*China|中国,中國|Asia/Shanghai
*Taiwan|台湾|Asia/Taipei
*Japan|日本|Asia/Tokyo
*South Korea|韩国,korea|Asia/Seoul
*India|印度|Asia/Kolkata
*Thailand|泰国|Asia/Bangkok
*Vietnam|越南|Asia/Ho_Chi_Minh
*Malaysia|马来西亚|Asia/Kuala_Lumpur
*Indonesia|印度尼西亚,印尼|Asia/Jakarta
*Philippines|菲律宾|Asia/Manila
*Pakistan|巴基斯坦|Asia/Karachi
*Nepal|尼泊尔|Asia/Kathmandu
*Iran|伊朗|Asia/Tehran
*Saudi Arabia|沙特,沙特阿拉伯|Asia/Riyadh
*UAE|阿联酋,united arab emirates|Asia/Dubai
*Israel|以色列|Asia/Jerusalem
*Turkey|土耳其|Europe/Istanbul
*UK|英国,united kingdom,britain,great britain,england,scotland|Europe/London
*Ireland|爱尔兰|Europe/Dublin
*France|法国|Europe/Paris
*Germany|德国|Europe/Berlin
*Austria|奥地利|Europe/Vienna
*Switzerland|瑞士|Europe/Zurich
*Netherlands|荷兰,the netherlands,holland|Europe/Amsterdam
*Belgium|比利时|Europe/Brussels
*Italy|意大利|Europe/Rome
*Spain|西班牙|Europe/Madrid
*Portugal|葡萄牙|Europe/Lisbon
*Greece|希腊|Europe/Athens
*Norway|挪威|Europe/Oslo
*Sweden|瑞典|Europe/Stockholm
*Denmark|丹麦|Europe/Copenhagen
*Finland|芬兰|Europe/Helsinki
*Iceland|冰岛|Atlantic/Reykjavik
*Poland|波兰|Europe/Warsaw
*Czech Republic|捷克|Europe/Prague
*Hungary|匈牙利|Europe/Budapest
*Ukraine|乌克兰|Europe/Kiev
*Russia|俄罗斯|Europe/Moscow
*Egypt|埃及|Africa/Cairo
*South Africa|南非|Africa/Johannesburg
*Kenya|肯尼亚|Africa/Nairobi
*Nigeria|尼日利亚|Africa/Lagos
*USA|美国,united states,the us,the states,us eastern|America/New_York
*Canada|加拿大|America/Toronto
*Mexico|墨西哥|America/Mexico_City
*Brazil|巴西|America/Sao_Paulo
*Argentina|阿根廷|America/Argentina/Buenos_Aires
*Chile|智利|America/Santiago
*Australia|澳大利亚,澳洲|Australia/Sydney
*New Zealand|新西兰|Pacific/Auckland
*California|加州,加利福尼亚|America/Los_Angeles
*Hawaii|夏威夷|Pacific/Honolulu
*Texas|德州,得克萨斯|America/Chicago
`;
