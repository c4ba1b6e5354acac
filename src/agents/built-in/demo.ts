import type { Agent } from '#protocol';
import { getChoicesFromMessage } from '#protocol';
import { defineAgent } from '../define.ts';
import type { Act, DemoConversation, DemoTurn, Pace } from './demo-acts.ts';
import { about, approve, decided, dialects, facts, file, slow, stream } from './demo-acts.ts';
import { aboutFile } from './picture.ts';

interface Command {
  readonly words: readonly string[];
  readonly hint: string;
  readonly act: Act;
}

const COMMANDS: readonly Command[] = [
  { words: ['stream', 'story', 'poem'], hint: 'I answer word by word, as a language model would', act: stream },
  { words: ['approve', 'approval', 'ask'], hint: 'I ask for your approval and wait for it, as long as it takes', act: approve },
  { words: ['file', 'files'], hint: 'I make a file for you. Send me a picture, and I say something about it', act: file },
  { words: ['data', 'json'], hint: 'I answer with data, for programs', act: facts },
  { words: ['dialects', 'dialect', 'languages', 'language'], hint: 'who can talk to me, and how', act: dialects },
  { words: ['slow', 'work'], hint: 'ten steps of work: watch them, leave and come back, or cancel', act: slow },
  { words: ['about', 'parley', 'what', 'why', 'who'], hint: 'what Parley is', act: about },
  { words: ['help', 'menu', 'hello', 'hi', 'hey', 'start'], hint: 'this list', act: help },
];

/** The agent for a first conversation. Everything it shows is real, and none of it needs a network. */
export function createDemo({ wordMs = 30, stepMs = 1000 }: Partial<Pace> = {}): Agent {
  const pace: Pace = { wordMs, stepMs };
  return defineAgent({
    name: 'demo',
    description: 'A guide to Parley: streams, asks for an approval, makes files, and shows what an A2A agent can do. Say "help".',
    skills: [
      {
        id: 'tour',
        name: 'A tour of Parley',
        description: 'Shows streaming, approvals, files, data, cancellation and the dialects that Parley speaks.',
        tags: ['demo', 'guide', 'a2a'],
        examples: ['help', 'stream', 'approve', 'file', 'dialects', 'slow'],
      },
    ],
    inputModes: ['text/plain', 'application/json', 'image/*', '*/*'],
    outputModes: ['text/plain', 'application/json', 'text/markdown'],
    recovery: 'retry',
    open: (): DemoConversation => ({ messages: 0 }),
    run: (turn) => {
      turn.opened.messages += 1;
      const act = isAnswer(turn) ? decided : actFor(turn.text);
      return act(turn, pace);
    },
  });
}

/** The agent's last message in this task offered choices, so this message chooses one. */
function isAnswer({ history }: DemoTurn): boolean {
  const asked = history.at(-1);
  return asked?.role === 'ROLE_AGENT' && getChoicesFromMessage(asked).length > 0;
}

/** A command may be anywhere in a sentence, and the first one counts: "please stream something". */
function actFor(text: string): Act {
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const found = COMMANDS.find(({ words }) => words.includes(word));
    if (found !== undefined) return found.act;
  }
  return reply;
}

async function* help(turn: DemoTurn): ReturnType<Act> {
  const isFirst = turn.opened.messages === 1;
  yield isFirst
    ? 'Hello! I am the demo agent of Parley. I need no key and no network. Try one of these words:\n\n'
    : 'Try one of these words:\n\n';
  for (const { words, hint } of COMMANDS) yield `  ${(words[0] ?? '').padEnd(9)} ${hint}\n`;
  yield '\nAnything else I take as conversation.';
}

async function* reply(turn: DemoTurn): ReturnType<Act> {
  const { messages } = turn.opened;
  const count = messages === 1 ? 'your first message' : `message ${messages}`;
  const sent = turn.files.length > 0 ? `${turn.files.length} file${turn.files.length === 1 ? '' : 's'}` : 'no file';
  yield `This is ${count} in this conversation, with ${sent} and ${turn.text.length} characters. `;
  for (const sentFile of turn.files) yield aboutFile(sentFile);
  yield 'I am no language model, so that is all I make of it. ';
  yield 'Say "help" for what I can show you, or write an agent that knows better: it takes ten lines.';
}
