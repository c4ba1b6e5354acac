import { createInterface } from 'node:readline/promises';
import type { Question } from '#client';
import type { Choice, Part } from '#protocol';
import { choiceIn, createUserMessage } from '#protocol';
import type { Screen } from './terminal.ts';

/** Answers the agent's questions: a person, or answers given in advance. */
export interface Person {
  /** Undefined if there is no terminal, or the person has left. */
  answer(question: Question): Promise<readonly Part[] | undefined>;
}

/** How questions are answered. */
export interface PersonOptions {
  readonly screen: Screen;
  /** Answers given in advance, one for each question. */
  readonly answers: readonly string[];
  readonly approves: boolean;
  /** Prompts on the terminal. Undefined without a terminal. */
  readonly prompt: ((text: string) => Promise<string | undefined>) | undefined;
}

/** Answers questions from the given answers first, then by `--yes`, then by prompting. */
export function createPerson({ screen, answers, approves, prompt }: PersonOptions): Person {
  const prepared = [...answers];
  return {
    answer: async (question) => {
      const { choices } = question;
      const ready = prepared.shift() ?? (approves ? approval(choices) : undefined);
      if (ready !== undefined) {
        screen.note(`> ${ready}`, 'dim');
        return partsFor(ready, choices) ?? [{ text: ready }];
      }
      if (prompt === undefined) return undefined;
      return await asked(question, { screen, prompt });
    },
  };
}

type Asking = Pick<PersonOptions, 'screen'> & { readonly prompt: NonNullable<PersonOptions['prompt']> };

/** Prompts until the answer fits the question. */
async function asked({ choices, kind }: Question, { screen, prompt }: Asking): Promise<readonly Part[] | undefined> {
  for (const [at, choice] of choices.entries()) screen.note(`  ${at + 1}. ${choice.name}`);
  const words = choices.length > 0 ? 'Which? ' : kind === 'auth' ? 'Press Enter when that is done. ' : '> ';
  for (;;) {
    const said = await prompt(words);
    if (said === undefined) return undefined;
    const parts = said.trim() === '' && kind !== 'auth' ? undefined : partsFor(said, choices);
    if (parts !== undefined) return parts;
    screen.note(
      choices.length === 0 ? 'An answer is needed; Ctrl-D leaves the question open.' : `Choose 1 to ${choices.length}, or by name.`,
      'dim',
    );
  }
}

/** `--yes` approves once. Only a person can give a lasting permission. */
function approval(choices: readonly Choice[]): string | undefined {
  return choices.find(({ kind }) => kind === 'allow_once')?.optionId;
}

/** A choice by number, name, id, or yes and no. With choices, nothing else is accepted. */
function partsFor(said: string, choices: readonly Choice[]): readonly Part[] | undefined {
  const text = said.trim();
  if (choices.length === 0) return [{ text }];
  const numbered = /^\d+$/.test(text) ? choices[Number(text) - 1]?.optionId : undefined;
  const optionId = numbered ?? choiceIn(createUserMessage(text), choices);
  const chosen = choices.find((choice) => choice.optionId === optionId);
  return chosen === undefined ? undefined : [{ text: chosen.name }, { data: { optionId: chosen.optionId } }];
}

/** Reads lines from the terminal. */
export interface Prompt {
  ask(text: string): Promise<string | undefined>;
  close(): void;
}

/** Reads one line at a time. Undefined at the end of the input and after Ctrl-C. */
export function openPrompt(screen: Screen, onInterrupt: () => void): Prompt {
  const isTerminal = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: isTerminal });
  const waiting: ((line: string | undefined) => void)[] = [];
  const early: string[] = [];
  let isClosed = false;
  lines.on('line', (line) => {
    const next = waiting.shift();
    if (next === undefined) early.push(line);
    else next(line);
  });
  lines.on('SIGINT', onInterrupt);
  lines.on('close', () => {
    isClosed = true;
    for (const next of waiting.splice(0)) next(undefined);
  });
  return {
    ask: async (text) => {
      screen.clear();
      const ready = early.shift();
      if (ready !== undefined) return ready;
      if (isClosed) return undefined;
      if (isTerminal) {
        lines.setPrompt(text);
        lines.prompt();
      }
      return await new Promise((resolve) => waiting.push(resolve));
    },
    close: () => lines.close(),
  };
}
