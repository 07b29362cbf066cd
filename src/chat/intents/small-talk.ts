/** Words that the chat answers by itself: greetings, who it is, what it can do, thanks. */
import type { SystemTopic } from './intent.js';

/** Each must fit the whole of a part, so that no question is taken for small talk. */
const TOPICS: readonly (readonly [SystemTopic, RegExp])[] = [
  [
    'greeting',
    /^(?:(?:你好|您好|大家好|你们好|哈喽|哈啰|哈罗|嗨+|嘿|喂|早上好|上午好|中午好|下午好|晚上好|早安|午安|晚安|早|在吗|在不在|有人吗|好久不见|幸会|hello|hallo|hullo|helo|hi+|hey+|hiya|yo|howdy|greetings|good (?:morning|afternoon|evening|day)|morning|evening|what's up|whats up|sup|how are you(?: doing)?(?: today)?|how's it going|how do you do|nice to meet you|anyone there|anybody there|are you there) ?(?:(?:啊|呀|哦|吗|啦|哟|there|everyone|all|again|bot|friend|assistant|小助手|机器人|助手|runnel) ?)*)+$/,
  ],
  [
    'identity',
    /^(?:(?:那|请问|so)?(?:你(?:到底)?是(?:谁|什么|哪位|机器人吗?|ai吗?|人吗?|真人吗?|什么模型|什么助手|什么东西)|您是谁|你叫(?:什么|啥)(?:名字)?|您(?:叫什么|贵姓)|你的名字(?:是什么|叫什么)?|(?:请)?(?:介绍一下(?:你自己|自己)|自我介绍(?:一下)?|你介绍一下自己)|你是谁(?:开发|做|创造)的|who are you|who r u|what are you|what is your name|what's your name|whats your name|your name|who (?:made|created|built) you|are you (?:an? )?(?:bot|robot|ai|human|real person|chatbot|machine|person|real)|introduce yourself|tell me about yourself|tell me who you are|say who you are))$/,
  ],
  [
    'help',
    /^(?:请|能|please|can you|could you|i need (?:some )?)?(?:帮助|帮帮我|帮我|帮忙|求助|使用帮助|使用说明|怎么用(?:你)?|如何使用(?:你)?|怎么使用(?:你)?|你(?:都)?(?:能|可以|会)(?:做|干|帮我做|帮我干|帮我)?(?:些)?(?:什么|啥|哪些事情?|哪些)(?:事情?|呢|吗)?|你会(?:什么|做什么|干什么)|你有(?:什么|哪些)(?:功能|本事|能力|用)|有(?:什么|哪些)功能|(?:能|可以)帮我(?:做)?(?:什么|些什么|吗)|help|help me|help please|what can you do(?: for me)?|what do you do|what are you able to do|how can you help(?: me)?|what can i ask(?: you)?|what can i do here|how do i use (?:you|this)|how does this work|how do you work|what are your (?:features|capabilities|skills|functions)|can you help(?: me)?|commands|menu|功能列表|菜单)(?:吗|呢|啊)?$/,
  ],
  [
    'thanks',
    /^(?:(?:(?:非常|十分|太|真的?|很|万分|好的?|ok|okay|行|嗯|great|perfect|cool|awesome|nice|oh|many|a lot of) ?)?(?:感谢(?:你|您|帮助|你的帮助|您的帮助)?|谢谢(?:你|您|啦|了|你了|大家|你的帮助|您的帮助|帮助|你帮我)?|多谢(?:你|您|了|啦)?|谢啦|谢了|辛苦(?:了|你了|啦)?|麻烦你了|thanks|thank you|thank u|thankyou|thx|tks|ty|cheers|much appreciated|i appreciate it|appreciate it|appreciated|thanx)(?: (?:a lot|so much|very much|a million|a bunch|much|again|for (?:your|the|all your) (?:help|answer|support|time|reply)|for (?:helping|that|this|everything)(?: me)?|everyone|you|man|mate|buddy|all|anyway|bye|for your quick reply))*|再见|拜拜|回头见|下次见|bye|bye bye|goodbye|see you(?: later| soon| tomorrow)?|have a (?:nice|good|great) (?:day|one|evening|weekend)|晚安)$/,
  ],
];

/** What is said beside thanks and greetings: it praises, and asks nothing. */
const POLITE =
  /^(?:(?:that|this|it|you|your answer|the answer)(?:'s| was| is| has been|'ve been)? ?(?:really |very |so |all |just )?(?:helped(?: me)?(?: a lot| a ton)?|helps(?: a lot)?|helpful|great|perfect|works?|worked|good|nice|clear|useful|amazing|awesome|wonderful|i needed|what i needed|solved it|fixed it|did it|exactly what i needed)|great(?: job| work| answer)?|perfect|nice|cool|awesome|excellent|wonderful|well done|good job|good(?: bot)?|ok|okay|alright|got it|i see|understood|clear|very helpful|helpful|all good|that's all|that is all|you're the best|you are (?:great|the best|awesome|very helpful)|have a nice day|no more questions|解决了|问题解决了|已经解决了|明白了?|懂了|知道了|了解了?|清楚了|收到|好的?|好哒|行|嗯+|ok了|太好了|太棒了|很好|真好|不错|很有用|很有帮助|帮了大忙|帮大忙了|你真棒|厉害|棒|没问题了?|没有了|就这样|不用了|我明白了|我知道了|我懂了|辛苦|很清楚|非常有用|非常有帮助|对我(?:很|非常)有帮助)(?:了|啦|啊|呀|哦|吧)?$/;

/** The topic of a part in lower case and usual width; undefined when it is about something. */
export function smallTalkOf(lower: string): SystemTopic | undefined {
  const plain = plainPart(lower);
  if (plain === '' || plain.length > 80) return undefined;
  const without = plain.replace(/^(?:请问|那么?|so) ?/, '').replace(TONE, '');
  return TOPICS.find(([, pattern]) => pattern.test(plain) || pattern.test(without))?.[0];
}

/** Words of tone behind what is said. */
const TONE = /(?:[啊呀哦呢嘛吧哈啦哟咧捏]+| (?:exactly|really|anyway|then|again|though|by the way))$/;

/** Whether a part says nothing that has to be answered. */
export function isPolite(lower: string): boolean {
  const plain = plainPart(lower);
  return (
    plain === '' ||
    (plain.length <= 80 &&
      (POLITE.test(plain) ||
        /^(?:请问|麻烦|劳驾|打扰一下|不好意思|你好|excuse me|sorry|please|one question|quick question|by the way|请问一下|另外|对了|问一下|我想问一下|我想问)$/.test(
          plain,
        )))
  );
}

/** Without marks, and pictures such as emoji. */
function plainPart(lower: string): string {
  return lower
    .replaceAll(/[^\p{L}\p{N}' ]/gu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
}
