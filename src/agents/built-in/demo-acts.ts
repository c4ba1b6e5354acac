import type { ChoiceLike, Part } from '#protocol';
import { createFilePartFromBytes, DIALECTS } from '#protocol';
import { artifact, ask, complete, data, status } from '../outputs.ts';
import { sleep } from '../sleep.ts';
import type { BaseTurn } from '../turn.ts';
import type { Yielded } from '../yielded.ts';

/** How fast the demo works, in milliseconds. Tests set it to 0. */
export interface Pace {
  /** Delay between two words of a streamed answer. */
  readonly wordMs: number;
  /** Duration of one step of the slow work. */
  readonly stepMs: number;
}

/** What the demo remembers of a conversation. */
export interface DemoConversation {
  messages: number;
}
export type DemoTurn = BaseTurn<DemoConversation>;
/** What the demo does for one command word. */
export type Act = (turn: DemoTurn, pace: Pace) => AsyncGenerator<Yielded>;

const STORY =
  'Two envoys met under a white flag. One spoke in the old way, with a kind before every word; the other had long dropped it. ' +
  'Neither would change. So a third sat down between them, who had learned both, and said to each in his own words what the other meant. ' +
  'They called it a parley. Every word of this came to you as an event of its own, and each was on disk before you saw it.';

export async function* stream({ signal }: DemoTurn, { wordMs }: Pace): ReturnType<Act> {
  for (const word of STORY.match(/\S+\s*/g) ?? []) {
    yield word;
    if (wordMs > 0) await sleep(wordMs, signal);
  }
}

const DECISION: readonly ChoiceLike[] = [
  { optionId: 'allow', name: 'Yes, make it', kind: 'allow_once' },
  { optionId: 'reject', name: 'No, leave it', kind: 'reject_once' },
];

export async function* approve(): ReturnType<Act> {
  yield ask('May I make a file named approved.md? Answer "yes" or "no". I will wait, even if I am restarted meanwhile.', {
    options: DECISION,
  });
}

export async function* decided(turn: DemoTurn): ReturnType<Act> {
  if (turn.option === 'allow') {
    yield markdown('approved.md', `# Approved\n\nYou said yes, so here it is.\n`);
    yield complete('Thank you. approved.md is in your answer.');
  } else {
    yield complete('Then I leave it. Nothing was made.');
  }
}

export async function* file(turn: DemoTurn): ReturnType<Act> {
  const note = `# A file from Parley\n\nAn artifact of task ${turn.task.id}, made for ${turn.principal.id}.\n\n> ${turn.text.replaceAll('\n', '\n> ')}\n`;
  yield markdown('hello.md', note);
  yield 'I made hello.md. A file is an artifact with a name, a media type and its bytes.';
}

export async function* facts(turn: DemoTurn): ReturnType<Act> {
  const { task, contextId, parts } = turn;
  yield data(
    { taskId: task.id, contextId, principal: turn.principal.id, parts: parts.length, messages: turn.opened.messages },
    { name: 'facts' },
  );
}

export async function* dialects(): ReturnType<Act> {
  yield 'You may call me in any of these, at this same address. I find out which it is from what you send, and answer in kind:\n\n';
  for (const { title } of DIALECTS) yield `  ${title}\n`;
  yield '\nThe other way round, I call agents that speak any of them.';
}

const STEPS = 10;

export async function* slow({ signal }: DemoTurn, { stepMs }: Pace): ReturnType<Act> {
  yield status(`This takes ${STEPS} steps. You can leave and come back, or cancel the task.`);
  for (let step = 1; step <= STEPS; step += 1) {
    await sleep(stepMs, signal);
    yield status(`Step ${step} of ${STEPS}`);
  }
  yield 'Done. Every subscriber of this task, now or after a restart, sees the same history.';
}

export async function* about(): ReturnType<Act> {
  yield 'Parley is a runtime for A2A, the protocol in which agents talk to each other. ';
  yield 'It makes an agent out of a function, keeps every task on disk, and lets every A2A client of every version reach it. ';
  yield 'I am such a function. Say "dialects" to see who can talk to me, or "help" for everything.';
}

function markdown(name: string, text: string): Yielded {
  const part: Part = createFilePartFromBytes(new TextEncoder().encode(text), { name, mediaType: 'text/markdown' });
  return artifact({ name, parts: [part] });
}
