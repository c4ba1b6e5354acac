import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseLaunch, createCodingAgent } from '#agents';
import type { Json, JsonObject, Task } from '#protocol';
import { isDataPart } from '#protocol';
import type { RunOptions } from '../../src/agents/run/agent.ts';
import { fakePrograms, replaying } from './fake-cli/programs.ts';
import { scratchFolder } from './scratch.ts';
import type { Talk } from './talk.ts';
import { talkTo } from './talk.ts';

const folder = realpathSync(scratchFolder());
const programs = fakePrograms(['claude', 'codex', 'gemini', 'opencode', 'copilot', 'cursor-agent', 'vibe'], replaying);

/** A fake CLI that replays a recording. */
export interface Played {
  readonly talk: Talk;
  readonly cwd: string;
  /** How the CLI was called, and its input at the end. */
  record(): readonly JsonObject[];
}

let count = 0;

export async function play(name: string, stream: string, options: RunOptions = {}): Promise<Played> {
  count += 1;
  const cwd = join(folder, `w${count}`);
  const record = join(folder, `r${count}`);
  mkdirSync(cwd);
  const env = {
    ...programs.env,
    REPLAY_RECORD: record,
    REPLAY_STREAM: fileURLToPath(new URL(`../agents/streams/${stream}.jsonl`, import.meta.url)),
  };
  const chosen = chooseLaunch(name, { env });
  if (chosen?.program === undefined) throw new Error(`no ${name}`);
  const agent = createCodingAgent(chosen, {
    cwd,
    state: join(folder, `s${count}`),
    sandbox: 'plain',
    env,
    environment: ['REPLAY_*'],
    ...options,
  });
  return {
    talk: await talkTo(agent),
    cwd,
    record: () =>
      readFileSync(record, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JsonObject),
  };
}

export const answer = (task: Task): string =>
  (task.artifacts ?? [])
    .filter(({ name }) => name === 'assistant-response')
    .flatMap(({ parts }) => parts)
    .map(({ text }) => text ?? '')
    .join('');
export const result = (task: Task): Json | undefined => task.artifacts?.find(({ name }) => name === 'result')?.parts.find(isDataPart)?.data;
/** The kinds of the events, with the tool's name. */
export const told = (task: Task): readonly string[] =>
  (task.history ?? [])
    .flatMap((message) => message.parts.filter(isDataPart))
    .map(({ data }) => {
      const { type, tool, isError } = data as JsonObject;
      return [type, tool, isError === true ? 'error' : undefined].filter((word) => word !== undefined).join(' ');
    });
